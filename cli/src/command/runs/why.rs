//! `phasegate why [CALL]`: the last denial, or a record decided again, with what led to it.

use std::ops::ControlFlow;

use owo_colors::OwoColorize as _;
use phasegate_core::answers::decision::Gate;
use phasegate_core::decide::Line;
use phasegate_core::{Code, Decision, Effect};
use phasegate_runtime::operate::audit::again::{Again, Opinion};
use phasegate_runtime::operate::audit::history::{Past, walk};
use phasegate_runtime::policies::policy_store::Current;
use phasegate_runtime::sessions::sessions;
use phasegate_runtime::timestamp::timestamp;
use phasegate_runtime::{Project, Runtime};
use serde_json::{Value, json};

use super::status::words;
use crate::command::keep::audit::{event, session};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::{Failure, to_a_person};

/// The arguments of `phasegate why`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The id of a call, or the number of a record as `phasegate audit show` prints it; default: the last denial, in short
    pub call: Option<String>,
    /// The session; default: the one of the project that was active last
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

/// Explains the last denial; or decides a record again and explains the result. Exits 1 if nothing was denied, or if deciding
/// it again gives something else than what was recorded, in more than its words.
///
/// # Errors
///
/// The session or the record is not known, or a journal cannot be read.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let session = session::named(&project, args.session.as_ref())?;
    let Some(call) = &args.call else { return last_denial(context, &runtime, &project, &session) };
    let seq = match call.parse() {
        Ok(seq) => seq,
        Err(_) => {
            let is_it = |past: &Past| past.event.get("id").and_then(Value::as_str) == Some(call.as_str());
            let found = last(&runtime, &project, &session, is_it)?.map(|past| past.seq);
            found.ok_or_else(|| {
                Failure::new(format!("session {session} has no call `{call}`"))
                    .with_help("`phasegate audit show` lists the records")
            })?
        }
    };
    let again = runtime.again(&project, &session, seq).map_err(|problem| match problem.code {
        Code::CommandInvalid => Failure::from(problem).with_help("`phasegate audit show` lists the records"),
        _ => problem.into(),
    })?;
    if context.out.json {
        context.out.value(&as_json(&session, &again));
    } else {
        print(context, &session, &again);
    }
    let same = again.outcome.as_ref().map_or(true, |outcome| outcome.differs.iter().all(|what| *what == "text"));
    Ok(if same { Exit::Done } else { Exit::No })
}

/// The last record of a session that is meant.
fn last(
    runtime: &Runtime,
    project: &Project,
    session: &str,
    is_meant: impl Fn(&Past) -> bool,
) -> Result<Option<Past>, Failure> {
    let mut found = None;
    walk(&runtime.policies, project, session, |past| {
        if is_meant(&past) {
            found = Some(past);
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// What was denied last, why, what the agent has to do, and what a person can type.
fn last_denial(context: &Context, runtime: &Runtime, project: &Project, session: &str) -> Result<Exit, Failure> {
    let of_agent = |past: &Past| past.event.get("event").and_then(Value::as_str) != Some("command");
    let denied = |past: &Past| of_agent(past) && past.decision.as_ref().is_some_and(|one| one.effect == Effect::Deny);
    let found = last(runtime, project, session, denied)?;
    let Some((past, decision)) = found.as_ref().and_then(|past| Some((past, past.decision.as_ref()?))) else {
        let nothing = format!("nothing was denied in session {session}");
        return Err(
            Failure { exit: Exit::No, ..Failure::new(nothing) }.with_help("`phasegate status` lists the sessions")
        );
    };
    let known = sessions(project)?.known.into_iter().find(|known| known.id == *session);
    let approvals = runtime.approvals(project, known.as_ref())?;
    let waiting = words(approvals.get("waiting"));
    let goes_on = match (runtime.current(project)?, &decision.skill, &decision.phase) {
        (Current::Ready(ready), Some(name), Some(phase)) => ready.policy.skill(name).is_some_and(|skill| {
            skill.phases.iter().find(|known| known.name == *phase).is_some_and(|phase| !phase.next.is_empty())
        }),
        _ => true,
    };
    let is_call = past.event.get("event").and_then(Value::as_str) == Some("tool_call");
    let fits = |way: &&str| (is_call || !way.contains("allow")) && (goes_on || !way.contains("skip"));
    let (out, ways) = (context.out, ways_out(decision, &waiting, fits));
    if out.json {
        out.value(&json!({
            "session": session, "seq": past.seq, "time": timestamp(past.time), "event": past.event,
            "decision": decision, "ways_out": ways,
        }));
        return Ok(Exit::Done);
    }
    let row = |label: &str, text: &str| out.line(format_args!("  {} {text}", format!("{label}:").cyan()));
    out.line(format_args!("{} in session {}, {}", event::words(past).bold(), session, timestamp(past.time)));
    let code = decision.code.map(|code| format!(" [{code}]")).unwrap_or_default();
    row("why", &format!("{}{code}", decision.reason));
    if !decision.recovery.is_empty() {
        row("to do", &to_a_person(&decision.recovery));
    }
    ways.iter().for_each(|way| row("you", way));
    row("more", &format!("`phasegate why {}` says which line decided", past.seq));
    Ok(Exit::Done)
}

/// What a person can type, from the smallest: what waits for an approval, then what lifts the denial.
fn ways_out(decision: &Decision, waiting: &[&str], fits: impl Fn(&&str) -> bool) -> Vec<String> {
    const ALL: [&str; 4] = [
        "`phasegate allow` lets this call pass once",
        "`phasegate skip` leaves the phase, done or not",
        "`phasegate mode warn` has the run tell, and deny nothing",
        "`phasegate end` ends the run",
    ];
    let approves = |name: &&str| format!("`phasegate approve {name}` gives what a condition asks for");
    let lifts: Vec<&str> = match decision.gate {
        Some(Gate::Phase) => ALL.into_iter().filter(fits).collect(),
        Some(Gate::Rules) => ALL.into_iter().take(1).collect(),
        _ => return Vec::new(),
    };
    waiting.iter().map(approves).chain(lifts.into_iter().map(str::to_owned)).collect()
}

fn print(context: &Context, session: &str, again: &Again) {
    let (out, past) = (context.out, &again.past);
    let row = |label: &str, text: &str| out.line(format_args!("  {} {text}", format!("{label}:").cyan()));
    out.line(format_args!("record {} of session {}", past.seq.bold(), session.bold()));
    row("event", &format!("{} by {}", event::words(past), event::subject(past)));
    row("time", &timestamp(past.time));
    let policy = if past.policy.is_empty() { "none could be used" } else { &past.policy };
    row("policy", &format!("{policy} (phasegate {})", past.engine));
    for opinion in &again.opinions {
        row("run", &said(opinion));
    }
    if again.opinions.is_empty() {
        row("runs", "none was live");
    }
    for (key, fact) in &past.facts {
        row("looked at", &event::fact(key, fact));
    }
    if let Some(decision) = &past.decision {
        answered(&row, decision);
    }
    if let Some(problem) = &past.problem {
        let field = |name: &str| problem.get(name).and_then(Value::as_str).unwrap_or_default();
        row("problem", &format!("[{}] {}", field("code"), field("message")));
    }
    for record in &past.records {
        row("change", &event::change(record));
    }
    row("checked", &verdict(again));
}

fn answered(row: &impl Fn(&str, &str), decision: &Decision) {
    let code = decision.code.map(|code| format!(" [{code}]")).unwrap_or_default();
    row("answer", &format!("{}{code}", event::effect(decision.effect)));
    let gate = match decision.gate {
        Some(Gate::Phase) => reason_of(decision).unwrap_or("the phases of the live runs"),
        Some(Gate::Protection) => "it would change a protected path",
        Some(Gate::Registry) => "only the main agent registers what commands do",
        Some(Gate::Effects) => {
            "an earlier call changed a file that it was not allowed to change, and the file is not as it was"
        }
        Some(Gate::Pin) => "the tool's description changed since it was first seen",
        Some(Gate::Version) => "the caller was told of another version of the policy",
        Some(Gate::Access) => "the access does not permit it",
        Some(Gate::Budget) => "a budget does not permit it",
        Some(Gate::Rules) => "the rules do not permit it",
        Some(Gate::Control) => "a command that was refused",
        Some(Gate::Input) => "the guard could not decide",
        None => "no run judged it",
    };
    row("because", gate);
    for (label, text) in [("reason", &decision.reason), ("recovery", &decision.recovery)] {
        if !text.is_empty() {
            row(label, text);
        }
    }
    decision.missing.iter().for_each(|missing| row("missing", missing));
}

/// Why the phase of a run decided so.
fn reason_of(decision: &Decision) -> Option<&'static str> {
    match decision.code {
        Some(Code::Unfinished) => Some("a skill that must be finished is not (rules 3.1, `finish: required`)"),
        Some(Code::Stopped) => Some("the run stands still until a person says how it goes on (rules 3.1)"),
        Some(Code::HeldElsewhere) => Some("another session works on the parts of the run (rules 3.1)"),
        _ => decision.line.map(because),
    }
}

/// Why a line decided, with its place in `docs/rules`.
fn because(line: Line) -> &'static str {
    match line {
        Line::GlobalForbidden => "the skill forbids it in every phase (rules 3.2, line 1)",
        Line::Allowed => "the current phase allows it (rules 3.2, line 2)",
        Line::Returned => {
            "the phase before allows it, and no call of the current one has succeeded yet (rules 3.2, line 2)"
        }
        Line::Entered => "a following phase allows it and is reachable (rules 3.2, line 3)",
        Line::NotDone => "a following phase allows it and is not yet reachable (rules 3.2, line 3)",
        Line::Back => "the target of a rollback edge allows it (rules 3.2, line 4)",
        Line::Forbidden => "the current phase forbids it (rules 3.2, line 5)",
        Line::Unlisted => "no reachable phase lists it, and the phase allows such calls (rules 3.2, line 6)",
        Line::Confined => "the phase only reads, so the line runs and nothing of it stays (rules 3.2)",
        Line::UnlistedDenied => "no reachable phase lists it, and the phase denies such calls (rules 3.2, line 6)",
    }
}

fn said(opinion: &Opinion) -> String {
    let place = format!(
        "{} {} in phase {}, {} mode",
        opinion.run,
        opinion.skill.bold(),
        opinion.phase.green(),
        opinion.mode.word()
    );
    let of = opinion.part_of.as_ref().map(|whole| format!(", a part of {whole}")).unwrap_or_default();
    let forbids = if opinion.has_parts { "; its parts judge calls, it only forbids" } else { "" };
    match &opinion.decision {
        Some(decision) => {
            let line = reason_of(decision).map(|line| format!(" ({line})")).unwrap_or_default();
            let alone = match (opinion.has_parts, &opinion.part_of) {
                (true, _) => "alone it and its parts say",
                (false, Some(_)) => "it says",
                (false, None) => "alone it says",
            };
            format!("{place}{of}{forbids}; {alone} {}{line}", event::effect(decision.effect))
        }
        None => format!("{place}{of}{forbids}"),
    }
}

fn verdict(again: &Again) -> String {
    match &again.outcome {
        Err(why) => format!("it cannot be decided again: {why}"),
        Ok(outcome) if outcome.differs.is_empty() => {
            "deciding it again gives the same answer and the same changes".green().to_string()
        }
        Ok(outcome) if outcome.differs == ["text"] => {
            let told =
                "deciding it again gives the same answer in other words: the text changed since that build".green();
            told.to_string()
        }
        Ok(outcome) => {
            let words = outcome.differs.join(", ");
            format!(
                "deciding it again {}: {words}; a value that was too long to keep is one reason",
                "differs".red().bold()
            )
        }
    }
}

fn as_json(session: &str, again: &Again) -> Value {
    let past = &again.past;
    let runs: Vec<_> = again
        .opinions
        .iter()
        .map(|opinion| {
            json!({
                "run": opinion.run,
                "part_of": opinion.part_of,
                "skill": opinion.skill,
                "phase": opinion.phase,
                "mode": opinion.mode.word(),
                "decision": opinion.decision,
            })
        })
        .collect();
    let outcome = match &again.outcome {
        Ok(outcome) => json!({"possible": true, "decision": outcome.decision, "differs": outcome.differs}),
        Err(why) => json!({"possible": false, "why": why}),
    };
    json!({
        "session": session,
        "seq": past.seq,
        "time": timestamp(past.time),
        "engine": past.engine,
        "policy_version": past.policy,
        "event": past.event,
        "facts": past.facts,
        "runs": runs,
        "decision": past.decision,
        "because": past.decision.as_ref().and_then(reason_of),
        "records": past.records,
        "problem": past.problem,
        "again": outcome,
    })
}
