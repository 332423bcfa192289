//! `phasegate approve [NAME]`.

mod plan;

use owo_colors::OwoColorize as _;
use phasegate_core::Code;
use phasegate_core::commands::slash_command::{PLAN, PLAN_MODE};
use phasegate_core::state::pins::{Pins, approval_name};
use phasegate_runtime::sessions::{SessionInfo, pins, sessions};
use serde_json::{Value, json};

use self::plan::{Waiting, waiting};
use super::control::{Target, give, in_full};
use super::step_line::Line;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate approve`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The name in the skill's condition (`approved: NAME`), or `tool:SERVER/TOOL`; without it, the names that wait and the
    /// approvals that were given are listed
    pub name: Option<String>,
    /// Of a plan: its path, or the end of it; default: the only one that waits
    pub path: Option<String>,
    /// Take the approval of this name back
    #[arg(long, requires = "name", conflicts_with_all = ["path", "reject"])]
    pub revoke: bool,
    /// Say no to what waits, as it is now
    #[arg(long, requires = "name")]
    pub reject: bool,
    /// Only this session; default: the one that waits for the approval
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

/// Approves something in one run of one session, takes an approval back, or lists both.
///
/// # Errors
///
/// As for [`give`]. Several sessions wait for the name.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let known = asked(args, context)?;
    let Some(name) = &args.name else { return list(&known, context) };
    let Waiting { path, session } = match args.revoke {
        true => Waiting { path: None, session: args.session.clone() },
        false => waiting(name, args.path.as_ref(), args.session.as_ref(), context)?,
    };
    let session = match session {
        Some(session) => Some(session),
        None => meant(name, args.revoke, &known)?,
    };
    let target = Target { session };
    let command = match (args.revoke, args.reject) {
        (true, _) => "revoke",
        (_, true) => "reject",
        (false, false) => "approve",
    };
    let is_known = known.iter().any(|asked| asked.has("waiting", name) || asked.has("approved", name));
    let mut given = json!({"name": name});
    if let (Value::Object(fields), Some(path)) = (&mut given, &path) {
        fields.insert("path".to_owned(), json!(path));
    }
    let answer = give(context, &target, command, given).map_err(|failure| {
        // A name that nothing has is a mistake of the command line.
        let unknown = !is_known && failure.code == Some(Code::CommandInvalid);
        if unknown { Failure { exit: Exit::Failed, ..failure } } else { failure }
    })?;
    if context.out.value_if_asked(&answer.result) {
        return Ok(Exit::Done);
    }
    if args.reject {
        let (which, session) = (path.as_ref().unwrap_or(name), &answer.session);
        context
            .out
            .line(format_args!("{which} is rejected in session {session}; the agent is told with its next prompt"));
        return Ok(Exit::Done);
    }
    let status = if args.revoke { "is approved no more" } else { "is approved" };
    let of_project = known.iter().any(|asked| asked.shared_run(listed(args.revoke), name).is_some());
    match answer.result.get("skill").and_then(Value::as_str) {
        Some(skill) if of_project || answer.session.is_empty() => {
            context.out.line(format_args!("{} {status} in the run of {skill} of the project", name.bold()));
        }
        Some(skill) => {
            let session = &answer.session;
            context.out.line(format_args!("{} {status} in the run of {skill} in session {session}", name.bold()));
        }
        None => context.out.line(format_args!("{} {status}", name.bold())),
    }
    show_steps(&answer.result, context);
    if answer.result.get("waits") == Some(&Value::Bool(false)) {
        let text = |key: &str| answer.result.get(key).and_then(Value::as_str).unwrap_or_default();
        let (skill, phase, session) = (text("skill"), text("phase"), &answer.session);
        context.out.note(format_args!(
            "{}: what it opened stays open: the run is in {phase} already and goes on there; `phasegate end {skill} \
             --session {session}` ends it",
            "warning".yellow()
        ));
    }
    Ok(Exit::Done)
}

/// Where a plan was approved: its file, and what each of its steps permits.
fn show_steps(approved: &Value, context: &Context) {
    let Some(path) = approved.get("path").and_then(Value::as_str) else { return };
    context.out.line(path.bold());
    for step in approved.get("steps").and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| step.get(key).and_then(Value::as_str);
        let after =
            step.get("after").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let (id, calls) = (text("id").unwrap_or_default(), text("permits"));
        context.out.line(Line { id, after, calls, text: text("text").unwrap_or_default() }.shown("open"));
    }
}

/// A session, and what it waits for.
struct Asked {
    session: String,
    ended: bool,
    answer: Value,
}

impl Asked {
    fn names(&self, list: &str) -> impl Iterator<Item = &Value> {
        self.answer.get(list).and_then(Value::as_array).into_iter().flatten()
    }

    /// The run of the project that alone has the name in this list.
    fn shared_run(&self, list: &str, name: &str) -> Option<&Value> {
        let mut all = self.names(list).filter(|one| one.get("name").and_then(Value::as_str) == Some(name));
        let first = all.next().filter(|one| one.get("scope").and_then(Value::as_str) == Some("project"))?;
        let run = first.get("run")?;
        all.all(|one| one.get("run") == Some(run)).then_some(run)
    }

    /// Whether plan mode waits for the approval of a plan: one of a session that ended may be old.
    fn of_plan_mode(&self) -> bool {
        let text = |one: &Value, key: &str| one.get(key).and_then(Value::as_str).map(str::to_string);
        let is = |one: &Value| {
            text(one, "name").as_deref() == Some(PLAN) && text(one, "skill").as_deref() == Some(PLAN_MODE)
        };
        self.names("waiting").any(is)
    }

    fn has(&self, list: &str, name: &str) -> bool {
        self.names(list).any(|one| one.get("name").and_then(Value::as_str) == Some(name))
    }
}

fn asked(args: &Args, context: &Context) -> Result<Vec<Asked>, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let mut all = Vec::new();
    let id = in_full(&project, args.session.as_ref())?;
    let wanted = |session: &SessionInfo| id.as_ref().is_none_or(|id| session.id == *id);
    for session in sessions(&project)?.known.into_iter().filter(wanted) {
        // A session whose policy is gone waits for nothing that a person could approve.
        if let Ok(answer) = runtime.approvals(&project, Some(&session)) {
            all.push(Asked { ended: session.state.session.ended, session: session.id, answer });
        }
    }
    all.sort_by_key(|asked| asked.ended);
    if args.name.is_none() && args.session.is_none() {
        all.extend(changed_tools(&pins(&project)?));
    }
    Ok(all)
}

/// The tools that servers describe otherwise than before: they wait in every session.
fn changed_tools(pins: &Pins) -> Option<Asked> {
    let tools = pins.iter().flat_map(|(server, tools)| tools.iter().map(move |(tool, pin)| (server, tool, pin)));
    let changed = tools.filter(|(_, _, pin)| pin.changed.is_some());
    let waiting: Vec<Value> = changed
        .map(|(server, tool, _)| json!({"name": approval_name(server, tool), "of": "its description changed"}))
        .collect();
    let answer = json!({"waiting": waiting});
    (!waiting.is_empty()).then(|| Asked { session: String::new(), ended: false, answer })
}

/// The list that a name is looked for in.
fn listed(revoke: bool) -> &'static str {
    if revoke { "approved" } else { "waiting" }
}

/// The session that is meant: the only one that goes on and waits for the name, else the last one that did. Any of them,
/// where all mean the same run of the project.
fn meant(name: &str, revoke: bool, known: &[Asked]) -> Result<Option<String>, Failure> {
    let list = listed(revoke);
    let meant: Vec<&Asked> = known.iter().filter(|asked| asked.has(list, name)).collect();
    let live: Vec<&&Asked> = meant.iter().filter(|asked| !asked.ended).collect();
    if name == PLAN
        && live.is_empty()
        && !revoke
        && let Some(ended) = meant.first().filter(|asked| asked.of_plan_mode())
    {
        let what = format!("no session that goes on waits for the approval of `{name}`; {} has ended", ended.session);
        let help = format!("`--session {}` approves it there, for when that session is resumed", ended.session);
        return Err(Failure { exit: Exit::No, ..Failure::new(what).with_help(help) });
    }
    let shared = meant.first().and_then(|asked| asked.shared_run(list, name));
    let is_one = shared.is_some() && live.iter().all(|asked| asked.shared_run(list, name) == shared);
    if live.len() > 1 && !is_one {
        let word = if revoke { "have an approval of" } else { "wait for the approval of" };
        let ids: Vec<&str> = live.iter().map(|asked| asked.session.as_str()).collect();
        return Err(Failure::new(format!("{} sessions {word} `{name}`: {}", live.len(), ids.join(", ")))
            .with_help("say which one with `--session ID`"));
    }
    Ok(meant.first().map(|asked| asked.session.clone()))
}

fn list(known: &[Asked], context: &Context) -> Result<Exit, Failure> {
    if context.out.json {
        let each = known.iter().map(|asked| json!({"session": asked.session, "approvals": asked.answer}));
        context.out.value(&Value::from(each.collect::<Vec<_>>()));
        return Ok(Exit::Done);
    }
    let mut nothing = true;
    let mut shared: Vec<(&str, &Value)> = Vec::new();
    for asked in known {
        for (list, words) in [("waiting", "waits for a person"), ("approved", "is approved")] {
            for one in asked.names(list) {
                let rejected = one.get("rejected") == Some(&Value::Bool(true));
                let words = if rejected { "is rejected as it is now" } else { words };
                nothing = false;
                let of_project = one.get("scope").and_then(Value::as_str) == Some("project");
                // What a run of the project waits for is the same in each session.
                if of_project && shared.contains(&(list, one)) {
                    continue;
                }
                shared.extend(of_project.then_some((list, one)));
                let text = |key: &str| one.get(key).and_then(Value::as_str).unwrap_or_default();
                let of = if text("of").is_empty() { String::new() } else { format!(" ({})", text("of")) };
                let stale = if one.get("holds") == Some(&Value::Bool(false)) { ", and changed since" } else { "" };
                let (name, skill, session) = (text("name"), text("skill"), &asked.session);
                let place = match (of_project, session.is_empty()) {
                    (true, _) => format!(": {skill} of the project"),
                    (false, true) => String::new(),
                    (false, false) if skill.is_empty() => format!(": session {session}"),
                    (false, false) => format!(": {skill} in session {session}"),
                };
                context.out.line(format_args!("{}{of} {words}{stale}{place}", name.bold()));
            }
        }
    }
    if nothing {
        context.out.line("nothing waits for approval, and nothing is approved");
    }
    Ok(Exit::Done)
}
