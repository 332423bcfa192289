//! `phasegate audit show`: what happened in a session, newest last.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use owo_colors::OwoColorize as _;
use phasegate_runtime::operate::audit::history::{Past, walk};
use phasegate_runtime::timestamp::timestamp;
use serde_json::{Value, json};

use super::{event, session};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate audit show`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session; default: the one of the project that was active last
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// How many records to show, counted from the end
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub last: usize,
}

/// Shows the records.
///
/// # Errors
///
/// The session is not known, or its journal cannot be read to its end; what could be read is shown before.
pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let session = session::named(&project, args.session.as_ref())?;
    let mut shown: VecDeque<Past> = VecDeque::new();
    let mut all = 0_u64;
    let read = walk(&runtime.policies, &project, &session, |past| {
        all += 1;
        shown.push_back(past);
        if shown.len() > args.last {
            shown.pop_front();
        }
        ControlFlow::Continue(())
    });
    if context.out.json {
        context.out.value(&shown.iter().map(|past| as_json(&session, past)).collect());
    } else {
        context.out.line(format_args!("session {} ({all} records)", session.bold()));
        let left_out = all.saturating_sub(shown.len() as u64);
        if left_out > 0 {
            context
                .out
                .line(format_args!("{left_out} earlier records are left out; `--last {all}` shows all").dimmed());
        }
        shown.iter().for_each(|past| print(context, past));
    }
    read?;
    Ok(Exit::Done)
}

fn print(context: &Context, past: &Past) {
    let out = context.out;
    let decision = past.decision.as_ref();
    let answer = decision.map(|decision| event::effect(decision.effect)).unwrap_or_default();
    let code = decision.and_then(|decision| decision.code).map(|code| format!(" [{code}]")).unwrap_or_default();
    let arrow = if decision.is_some() { " -> " } else { "" };
    out.line(format_args!(
        "{:>5} {} {} {}{arrow}{answer}{}",
        past.seq,
        moment(past.time).dimmed(),
        event::subject(past).cyan(),
        event::words(past),
        code.red(),
    ));
    let reason = decision.map(|decision| decision.reason.as_str()).filter(|reason| !reason.is_empty());
    if let Some(reason) = reason {
        out.line(format_args!("        {reason}"));
    }
    for record in &past.records {
        out.line(format_args!("        {}", event::change(record)));
    }
    if let Some(problem) = &past.problem {
        let field = |name: &str| problem.get(name).and_then(Value::as_str).unwrap_or_default();
        let code = format!("problem [{}]", field("code"));
        out.line(format_args!("        {}: {}", code.red(), field("message")));
    }
    if let Some(bytes) = past.cut {
        out.line(format_args!("        {bytes} bytes of a torn record were cut off before this one").yellow());
    }
}

/// A time to the second, in UTC.
fn moment(time: i64) -> String {
    timestamp(time.saturating_sub(time.rem_euclid(1000)))
}

fn as_json(session: &str, past: &Past) -> Value {
    let decision = past.decision.as_ref();
    json!({
        "seq": past.seq,
        "time": timestamp(past.time),
        "session": session,
        "subject": event::subject(past),
        "principal": past.event.get("principal"),
        "event": past.event.get("event"),
        "tool": Some(event::tool(past)).filter(|tool| !tool.is_empty()),
        "what": event::words(past),
        "decision": decision.map(|decision| decision.effect.word()),
        "code": decision.and_then(|decision| decision.code).map(|code| code.id()),
        "reason": decision.map(|decision| decision.reason.as_str()).filter(|reason| !reason.is_empty()),
        "skill": decision.and_then(|decision| decision.skill.as_ref()),
        "phase": decision.and_then(|decision| decision.phase.as_ref()),
        "records": past.records,
        "problem": past.problem,
        "policy_version": Some(&past.policy).filter(|policy| !policy.is_empty()),
        "cut": past.cut,
    })
}
