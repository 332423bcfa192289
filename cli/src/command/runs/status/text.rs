//! The text of `phasegate status`.

use std::time::{Duration, SystemTime};

use owo_colors::OwoColorize as _;
use phasegate_runtime::policies::reload::Reload;
use phasegate_runtime::sessions::snapshot::{NotKept, Violation};
use phasegate_runtime::timestamp::timestamp;
use serde_json::Value;

use super::found::{Found, Shared, Shown, given, is_shared, words};
use super::{budgets, plan};
use crate::command::keep::reload::trusted;
use crate::command::runs::live::found::{list, text};
use crate::output::{Output, duration, to_a_person};

/// The most ended sessions that are listed.
const ENDED: usize = 3;

/// Prints what was found, with the whole of its lists if `full`.
pub(super) fn print(out: Output, found: &Found, full: bool) {
    let Found { project, guarded, shown, fresh, .. } = found;
    out.line(format_args!("{} {}: {}", project.root.display().bold(), guarded.state, guarded.text));
    if !guarded.access.is_normal() {
        out.line(format_args!("access {}, by the config", guarded.access.word().bold()));
    }
    if let Some(granted) = guarded.granted {
        let until = granted.until.map(|until| format!(" until {}", timestamp(until))).unwrap_or_default();
        out.line(format_args!("access {}{until}, set by a person", granted.access.word().bold()));
    }
    budgets::print(out, &guarded.spent, "");
    for (skill, mode) in &guarded.in_force {
        let given = given(guarded.inputs.get(skill));
        out.line(format_args!("{}{given} is in force for every session ({} mode)", skill.bold(), mode.word()));
    }
    problems(out, found);
    let (ended, live): (Vec<&Shown>, Vec<&Shown>) =
        shown.iter().partition(|shown| shown.session.state.session.ended && !full);
    if !full {
        of_project(out, &found.shared);
    }
    for one in &live {
        session(out, one, found, full);
    }
    if live.is_empty() {
        out.line(match (ended.is_empty(), guarded.state) {
            (false, _) => "\nno session is under way",
            (true, "guarded") => "no session yet: start the client in this folder",
            (true, _) => "no session yet",
        });
    }
    let mut skills = words(fresh.get("available_skills"));
    let alone: Vec<&str> = skills.extract_if(.., |skill| guarded.by_itself.iter().any(|one| one == skill)).collect();
    if !alone.is_empty() && found.shared.runs.is_empty() && live.iter().all(|shown| shown.runs.is_empty()) {
        out.line(format_args!("skills that begin by themselves: {}", alone.join(", ")));
    }
    if !skills.is_empty() && found.shared.runs.is_empty() && live.iter().all(|shown| shown.runs.is_empty()) {
        out.line(format_args!(
            "skills that apply: {}; the agent or {} starts one, `phasegate start NAME` puts one in force for every \
             session",
            skills.join(", "),
            guarded.invocation
        ));
    }
    past(out, &ended, shown);
}

/// What keeps the guard from judging, and how a person ends that.
fn problems(out: Output, found: &Found) {
    for (platform, why) in &found.guarded.off {
        let help = "`phasegate doctor` says what to do";
        out.line(format_args!("{} {platform} does not start the guard now: {why}; {help}", "off:".red().bold()));
    }
    if let Some(offer) = &found.guarded.offer {
        let (waits, what) = ("waits for you:".yellow(), offer.difference.join("; "));
        out.line(format_args!("{waits} the configs changed, and the accepted ones stay in force: {what}"));
        out.line(format_args!("  {}", offer.way));
    }
    if !found.guarded.unaccepted.is_empty() {
        let (waits, what) = ("waits for you:".yellow(), found.guarded.unaccepted.join("; "));
        out.line(format_args!("{waits} {what}; `phasegate reload` accepts it"));
    }
    for Violation { change, .. } in &found.violations {
        let (path, call) = (change.path.bold(), &change.call);
        out.line(format_args!(
            "{} {call} changed {path}, which was not allowed: only calls that read pass",
            "stopped:".red()
        ));
        out.line("  `phasegate restore` puts it back, `phasegate restore --keep` accepts it");
    }
    for alarm in &found.guarded.alarms {
        let help = "`phasegate doctor` says what to look at; `phasegate reload` accepts it";
        out.line(format_args!("{} {} (session `{}`); {help}", "alarm:".red().bold(), alarm.text(), alarm.session));
    }
    for (_, problem) in &found.damaged {
        let help = "`phasegate repair` shows what can be read, and lets its session go on";
        out.line(format_args!("{} {problem}; {help}", "damaged:".red()));
    }
    if found.unread > 0 {
        let why = "`phasegate doctor` says why";
        out.line(format_args!("{} messages of a platform could not be read; {why}", found.unread.yellow()));
    }
    for name in &found.changed_tools {
        out.line(format_args!(
            "{} the description of a server's tool changed; `phasegate approve {name}` accepts it",
            "waits for you:".yellow()
        ));
    }
}

/// The runs of the project: each session has them, whether one goes on or not.
fn of_project(out: Output, shared: &Shared) {
    if shared.runs.is_empty() {
        return;
    }
    out.line(format_args!("\n{}", "the project".bold()));
    for one in &shared.runs {
        run(out, one, false);
        kept(out, one, &shared.kept);
    }
    for gate in list(&shared.approvals, "waiting") {
        waits(out, gate, "", false);
    }
    approved(out, list(&shared.approvals, "approved"));
}

/// That a run keeps an older version of its skill.
fn kept(out: Output, run: &Value, kept: &[String]) {
    let (skill, older) = (text(run, "skill_name"), "older configs:".yellow());
    if run.get("part_of").is_none() && kept.iter().any(|kept| kept == skill) {
        out.line(format_args!(
            "    {older} the run keeps the version of {skill} that it began with; `phasegate end {skill}` ends it"
        ));
    }
}

fn session(out: Output, shown: &Shown, found: &Found, full: bool) {
    let Shown { session, runs, approvals, .. } = shown;
    let ended = if session.state.session.ended { "ended" } else { "active" };
    let records = if session.records == 1 { "record" } else { "records" };
    let (when, count) = (ago(session.active), session.records);
    out.line(format_args!("\nsession {} ({ended} {when}, {count} {records})", session.id.bold()));
    let older = "older configs:".yellow();
    if shown.reload.as_ref().is_some_and(Reload::changes_configs) {
        out.line(format_args!("  {older} the session began before they changed; `phasegate reload` applies them"));
    }
    let lost = shown.reload.iter().flat_map(|reload| &reload.distrusted);
    for readers in lost.map(|readers| trusted(*readers)) {
        out.line(format_args!(
            "  {} a call changed files that say what {readers} may run: no longer taken to only read; `phasegate reload` trusts \
             them again",
            "trust lost:".yellow()
        ));
    }
    let own: Vec<&Value> = runs.iter().filter(|run| full || !is_shared(run)).collect();
    if runs.is_empty() {
        out.line("  no skill is active");
    } else if own.is_empty() {
        out.line("  no skill is active but those of the project");
    }
    for one in own {
        run(out, one, full);
        kept(out, one, shown.reload.as_ref().map(|reload| reload.kept.as_slice()).unwrap_or_default());
    }
    for denied in session.state.session.denied.iter().filter(|denied| denied.times > 1) {
        let again = "denied again:".yellow();
        let (tool, times) = (denied.tool.bold(), denied.times);
        out.line(format_args!("  {again} the agent made the same call of {tool} {times} times since the last prompt"));
    }
    for NotKept { end, .. } in &session.not_kept {
        let (more, level) = (end.changes.len().saturating_sub(1) + end.more, &end.level);
        let first = end.changes.first().map(|change| change.path.as_str()).unwrap_or_default();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        out.line(format_args!("  not kept of a command, as the phase only reads: {}{more} ({level})", first.bold()));
    }
    budgets::print(out, &found.guarded.budgets.of_session(&session.state), "  ");
    waiting(out, shown, &found.shown, full);
    approved(out, list(approvals, "approved").filter(|given| full || !is_shared(given)));
}

fn approved<'v>(out: Output, all: impl Iterator<Item = &'v Value>) {
    for given in all {
        let at = given.get("at").and_then(Value::as_u64).map(Duration::from_millis);
        let when = at.map(|at| format!(", {}", ago(SystemTime::UNIX_EPOCH + at))).unwrap_or_default();
        let stale = if given.get("holds") == Some(&Value::Bool(false)) { ", and changed since" } else { "" };
        let (name, skill) = (text(given, "name"), text(given, "skill"));
        let skill = if skill.is_empty() { String::new() } else { format!(" for {skill}") };
        out.line(format_args!("  approved: {}{}{skill}{when}{stale}", name.bold(), of(given)));
    }
}

/// What waits for a person's approval, and how it is given.
fn waiting(out: Output, shown: &Shown, all: &[Shown], full: bool) {
    let ended = shown.session.state.session.ended;
    for gate in list(&shown.approvals, "waiting").filter(|gate| full || !is_shared(gate)) {
        let name = text(gate, "name");
        let elsewhere =
            all.iter().filter(|other| list(&other.approvals, "waiting").any(|one| text(one, "name") == name));
        let is_one = is_shared(gate) || (!ended && elsewhere.count() < 2);
        let option = if is_one { String::new() } else { format!(" --session {}", shown.session.id) };
        waits(out, gate, &option, ended);
    }
}

fn waits(out: Output, gate: &Value, option: &str, ended: bool) {
    let (name, of) = (text(gate, "name"), of(gate));
    let skill = match text(gate, "skill") {
        "" => String::new(),
        skill => format!(" for {skill}"),
    };
    let (bold, approve) = (name.bold(), format!("`phasegate approve {name}{option}`"));
    if gate.get("rejected") == Some(&Value::Bool(true)) {
        let label = "rejected:".yellow();
        out.line(format_args!("  {label} {bold}{of}{skill}, as it is now; {approve} approves it after all"));
    } else if ended {
        out.line(format_args!("    if it is resumed, {bold}{of}{skill} waits for you; {approve} approves it"));
    } else {
        out.line(format_args!(
            "  {} {bold}{of}{skill}: {approve} in a terminal approves it, or `/phasegate approve {name}` as a prompt",
            "waits for you:".yellow(),
        ));
    }
}

fn run(out: Output, run: &Value, full: bool) {
    let number = |key: &str| run.get(key).and_then(Value::as_u64).unwrap_or(0);
    let project = if text(run, "scope") == "project" { ", for the whole project" } else { "" };
    let (skill, phase) = (text(run, "skill_name"), text(run, "current_phase"));
    let (place, total, mode) = (number("phase_index") + 1, number("total_phases"), text(run, "mode"));
    let (bold, phase) = (skill.bold(), phase.green());
    let branch = run.get("branch").and_then(Value::as_str).map(|name| format!(", {name},")).unwrap_or_default();
    let given = given(run.get("inputs"));
    out.line(format_args!("  {bold}{given}{branch} in phase {phase} ({place} of {total}), {mode} mode{project}"));
    if run.get("judges") == Some(&Value::Bool(false)) {
        out.line("    its parts judge the calls; it only forbids");
    }
    if run.get("unfinished") == Some(&Value::Bool(true)) {
        out.line(format_args!("    {}: the agent stopped before it was done", "unfinished".yellow()));
    }
    if let Some(session) = run.get("held_by").and_then(Value::as_str) {
        out.line(format_args!("    session {} works on its parts; others may only read", session.bold()));
    }
    if let Some(why) = run.get("stopped").and_then(Value::as_str) {
        out.line(format_args!("    {} {why}", "waits for you:".yellow()));
        out.line(format_args!("      {}", text(run, "ways_on")));
    }
    for warning in run.get("warnings").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        out.line(format_args!("    {}: {warning}", "warning".yellow()));
    }
    plan::waves(out, run);
    plan::steps(out, run);
    line(out, "missing", &words(run.get("needs")).join("; "));
    if let Some(why) = run.get("uncounted").and_then(Value::as_str) {
        out.line(format_args!("    {}", to_a_person(why)));
    }
    if run.get("finished") == Some(&Value::Bool(true)) {
        line(out, "finished", &end_of(run));
    } else if run.get("done") == Some(&Value::Bool(true)) {
        line(out, "done", "the phase needs nothing more");
    }
    let requires = words(run.get("next_requires")).join("; ");
    let requires = if requires.is_empty() { requires } else { format!(", which requires {requires}") };
    match text(run, "next") {
        "" => {}
        next => line(out, "next", &format!("{next}{requires}")),
    }
    if full {
        for (label, key) in
            [("allowed", "allowed_tools"), ("forbidden", "forbidden_tools"), ("history", "tool_history")]
        {
            line(out, label, &words(run.get(key)).join(", "));
        }
    } else {
        line(out, "allowed", text(run, "allows"));
        line(out, "forbidden", text(run, "forbids"));
    }
}

/// How a run ends that has nothing more to do.
pub(crate) fn end_of(run: &Value) -> String {
    let skill = text(run, "skill_name");
    match text(run, "left_by") {
        "human" => format!("`phasegate end {skill}` ends the skill"),
        "finished" => "the skill ends with the next call that is no part of it".to_string(),
        _ => format!("the agent or `phasegate end {skill}` ends the skill"),
    }
}

fn past(out: Output, ended: &[&Shown], all: &[Shown]) {
    if !ended.is_empty() {
        out.line("\nended sessions");
    }
    let waits = |shown: &Shown| list(&shown.approvals, "waiting").any(|gate| !is_shared(gate));
    let (told, more) = ended.split_at(ended.len().min(ENDED));
    for shown in told.iter().chain(more.iter().filter(|shown| waits(shown))) {
        let Shown { session, runs, .. } = shown;
        let own = runs.iter().filter(|run| text(run, "scope") == "session");
        let place = |run: &Value| {
            let left = if run.get("unfinished") == Some(&Value::Bool(true)) { ", left unfinished" } else { "" };
            format!("{} in phase {}{left}", text(run, "skill_name"), text(run, "current_phase"))
        };
        let runs: Vec<String> = own.map(place).collect();
        let goes_on =
            if runs.is_empty() { String::new() } else { format!("; a resume goes on with {}", runs.join(", ")) };
        out.line(format_args!("  {} ended {}{goes_on}", session.id.bold(), ago(session.active)));
        waiting(out, shown, all, false);
    }
    if let Some(more) = ended.len().checked_sub(ENDED).filter(|more| *more > 0) {
        out.line(format_args!("  and {more} more; `phasegate --json status` lists them"));
    }
}

fn line(out: Output, label: &str, text: &str) {
    if !text.is_empty() {
        out.line(format_args!("    {label}: {text}"));
    }
}

fn of(approval: &Value) -> String {
    match text(approval, "of") {
        "" => String::new(),
        of => format!(" ({of})"),
    }
}

fn ago(moment: SystemTime) -> String {
    match moment.elapsed().unwrap_or_default() {
        recent if recent.as_secs() < 60 => "just now".to_string(),
        past => format!("{} ago", duration(past)),
    }
}
