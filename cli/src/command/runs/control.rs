//! What `start`, `end`, `approve`, `skip` and `mode` share: a command of a person, given to one session or to
//! the project.

use std::io::IsTerminal as _;

use phasegate_core::commands::slash_command;
use phasegate_core::events::event::By;
use phasegate_core::{Code, Decision, Event, EventKind, Outcome};
use phasegate_runtime::processes::attribution::Sign;
use phasegate_runtime::sessions::sessions;
use phasegate_runtime::{Project, Runtime};
use serde_json::{Map, Value};

use crate::args::ModeArg;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::{Failure, duration};

/// Which session a command is for.
#[derive(Debug, clap::Args)]
pub struct Target {
    /// The session; default: the one of the project that was active last
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

/// The arguments of a command about a run: of this skill, or of the one that was activated last.
pub(crate) fn about(skill: Option<&String>) -> Map<String, Value> {
    skill.map(|skill| ("skill_name".to_string(), Value::from(skill.clone()))).into_iter().collect()
}

/// The arguments of a command that begins a run.
pub(crate) fn activation(skill: &str, inputs: &[(String, String)], mode: Option<ModeArg>) -> Map<String, Value> {
    let mut command = Map::from_iter([("skill_name".to_string(), Value::from(skill))]);
    if !inputs.is_empty() {
        let values = inputs.iter().map(|(name, value)| (name.clone(), Value::from(value.clone())));
        command.insert("inputs".to_string(), Value::Object(values.collect()));
    }
    command.extend(mode.map(|mode| ("mode".to_string(), Value::from(mode.mode().word()))));
    command
}

/// That the project has no such session.
pub(crate) fn no_session(project: &Project, id: &str) -> Failure {
    Failure::new(format!("no session `{id}` is known in `{}`", project.root.display()))
        .with_help("`phasegate status` lists the sessions of a project")
}

/// The answer to a command.
#[derive(Debug)]
pub struct Answer {
    /// The session it was given to; empty: to the runs of a project that no session has seen.
    pub session: String,
    /// The answer itself.
    pub result: Value,
    /// Who the command counted as.
    pub by: By,
}

/// Gives a command to a session. A refusal is a failure like any other: nothing goes to standard output.
///
/// # Errors
///
/// No session is known, nothing guards the project, the command was refused, or the guard could not work.
pub fn give(context: &Context, target: &Target, name: &str, args: Value) -> Result<Answer, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let Giver { sign, by } = giver(&runtime, &project)?;
    if sign.is_none() && target.session.is_none() && has_unseen_runs(&runtime, &project)? {
        let step = runtime.command_project(&project, by, name, args)?;
        return Ok(Answer { session: String::new(), result: result(&project, step, name, None)?, by });
    }
    let session = match sign.as_ref().and_then(own_session) {
        Some(own) => agents_own(&project, target, own)?,
        None => chosen(&project, target)?,
    };
    let kind = EventKind::Command { by, name: name.to_string(), args };
    let step = runtime.handle_event(project.clone(), &session, Event::new(&session, kind))?;
    let sign = sign.as_ref();
    Ok(Answer { session, result: result(&project, step, name, sign)?, by })
}

/// Whether the project has live runs and no session.
fn has_unseen_runs(runtime: &Runtime, project: &Project) -> Result<bool, Failure> {
    let has_runs = || Ok(runtime.runs(project, None)?.as_array().is_some_and(|runs| !runs.is_empty()));
    if sessions(project)?.known.is_empty() { has_runs() } else { Ok(false) }
}

/// Gives a command to the project as a whole, whether it has a session or not.
///
/// # Errors
///
/// As for [`give`].
pub fn give_project(context: &Context, name: &str, args: Value) -> Result<Value, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let Giver { sign, by } = giver(&runtime, &project)?;
    result(&project, runtime.command_project(&project, by, name, args)?, name, sign.as_ref())
}

/// The session that a command is for: the named one, else the one that was active last. One that has ended is only meant
/// if all have.
fn chosen(project: &Project, target: &Target) -> Result<String, Failure> {
    let (wanted, mut known) = (in_full(project, target.session.as_ref())?, sessions(project)?.known);
    known.sort_by_key(|session| session.state.session.ended);
    let session = known.into_iter().find(|session| wanted.as_ref().is_none_or(|id| session.id == *id));
    session.map(|session| session.id).ok_or_else(|| {
        let named = target.session.as_ref().map(|id| format!(" `{id}`")).unwrap_or_default();
        Failure::new(format!("no session{named} is known in `{}`", project.root.display()))
            .with_help("start a session on a platform that phasegate guards; `phasegate status` lists known sessions")
    })
}

/// The session of the agent that gives a command, as far as a sign names it.
fn own_session(sign: &Sign) -> Option<&str> {
    match sign {
        Sign::Ancestor { session } | Sign::Variable { session, .. } => Some(session),
        // Which of the sessions with an open call it is, nobody can tell.
        Sign::Call(_) | Sign::Journal(_) => None,
    }
}

/// The session of the agent that gives a command: an agent gives none to another one.
fn agents_own(project: &Project, target: &Target, own: &str) -> Result<String, Failure> {
    let wanted = in_full(project, target.session.as_ref())?;
    match wanted.filter(|wanted| wanted != own) {
        None => chosen(project, &Target { session: Some(own.to_owned()) }).map_err(|_| Failure {
            exit: Exit::No,
            code: Some(Code::CommandRefused),
            ..Failure::new(format!(
                "the command counts as the agent's of session `{own}`, which this project does not know"
            ))
            .with_help("ask the user to give the command in a terminal")
        }),
        Some(other) => Err(Failure {
            exit: Exit::No,
            code: Some(Code::CommandRefused),
            ..Failure::new(format!("the command is for session `{other}`, and the agent that gives it is of `{own}`"))
                .with_help("leave `--session` out, or ask the user to give the command in a terminal")
        }),
    }
}

/// The session that an id or the beginning of one names; what no session begins with stays as it is.
///
/// # Errors
///
/// Several sessions begin so, or the journals cannot be listed.
pub(crate) fn in_full(project: &Project, id: Option<&String>) -> Result<Option<String>, Failure> {
    let Some(id) = id else { return Ok(None) };
    if id.is_empty() || project.session_journal(id).exists() {
        return Ok(Some(id.clone()));
    }
    let known = sessions(project)?.known.into_iter().map(|session| session.id);
    let fitting: Vec<String> = known.filter(|known| known.starts_with(id.as_str())).collect();
    match fitting.as_slice() {
        [] => Ok(Some(id.clone())),
        [one] => Ok(Some(one.clone())),
        several => Err(Failure::new(format!("{} sessions begin with `{id}`: {}", several.len(), several.join(", ")))
            .with_help("write more of the one that is meant")),
    }
}

/// Who gives a command.
struct Giver {
    /// Why it counts as the agent's, if it does.
    sign: Option<Sign>,
    by: By,
}

fn giver(runtime: &Runtime, project: &Project) -> Result<Giver, Failure> {
    let sign = runtime.sign_of_an_agent(project)?;
    let by = if sign.is_some() { By::Agent } else { By::Human };
    Ok(Giver { sign, by })
}

fn result(project: &Project, outcome: Option<Outcome>, name: &str, sign: Option<&Sign>) -> Result<Value, Failure> {
    let outcome = outcome.ok_or_else(|| {
        Failure::new(format!("nothing guards `{}`", project.root.display())).with_help("run `phasegate init` first")
    })?;
    match outcome.decision {
        Some(decision) if !decision.lets_through() => Err(refused(&decision, name, sign)),
        _ => Ok(outcome.result.unwrap_or_default()),
    }
}

fn refused(decision: &Decision, name: &str, sign: Option<&Sign>) -> Failure {
    let for_a_person = matches!(decision.code, Some(Code::CommandRefused | Code::SkillNotLeft));
    let (note, help) = match sign.filter(|_| for_a_person) {
        // The decision's own remedy can be this command.
        Some(sign) => (
            format!("; {}, so the command counts as the agent's", because(sign)),
            instead(slash_command::word(name), sign),
        ),
        None => (String::new(), typed_instead(decision).unwrap_or_else(|| decision.recovery.clone())),
    };
    // What an agent would call, a person types.
    let reason = decision.reason.trim_end_matches("; call deactivate_skill first");
    // A name that nothing has is a mistake of the command line.
    let exit = if decision.code == Some(Code::SkillUnknown) { Exit::Failed } else { Exit::No };
    Failure {
        exit,
        code: decision.code,
        message: format!("{reason}{note}"),
        help: Some(help).filter(|help| !help.is_empty()),
    }
}

/// What a person types, where the remedy of a refusal is an agent's or a prompt.
fn typed_instead(decision: &Decision) -> Option<String> {
    match decision.code? {
        Code::InputsMissing => Some("write each as NAME=VALUE behind the name of the skill".to_owned()),
        Code::SkillActive => Some("`phasegate end` ends it; `phasegate status` shows where it stands".to_owned()),
        _ => None,
    }
}

/// The refusal of a command that is for a person.
pub(crate) fn refused_to_agent(command: &str, sign: &Sign) -> Failure {
    Failure {
        exit: Exit::No,
        code: Some(Code::CommandRefused),
        message: format!("only a person may run `phasegate {command}`; {}, so it counts as the agent's", because(sign)),
        help: Some(instead(command, sign)),
    }
}

/// Checks that a person changes what guards a project, where something guards it. An agent may set a project up that
/// nothing guards yet.
///
/// # Errors
///
/// The project is guarded, and the command counts as the agent's.
pub(crate) fn for_a_person(command: &str, runtime: &Runtime, project: &Project) -> Result<(), Failure> {
    if !project.is_guarded_anywhere(&runtime.locations) {
        return Ok(());
    }
    // Where the configs are gone, a call that nobody ends keeps nobody from writing them anew.
    let sign = if project.has_configs() { runtime.sign_of_an_agent(project)? } else { runtime.sign_above(project)? };
    sign.map_or(Ok(()), |sign| Err(refused_to_agent(command, &sign)))
}

/// Does what changes the configs for a person, who accepts by that what they then are; but not what waited before.
///
/// # Errors
///
/// As for what is done, or the project's journal cannot be used.
pub(crate) fn accepting<T>(
    runtime: &Runtime,
    project: &Project,
    change: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let waited = runtime.offer(project).map_or(true, |offer| offer.is_some());
    let done = change()?;
    if !waited {
        // What cannot decide waits, and the next session says why.
        let _ = runtime.accept(project);
    }
    Ok(done)
}

/// Checks that standard input is a terminal: a command that helps where nothing shows whether an agent is at work.
///
/// # Errors
///
/// It is none.
pub(crate) fn in_a_terminal(command: &str) -> Result<(), Failure> {
    if std::io::stdin().is_terminal() {
        return Ok(());
    }
    let message = format!("`phasegate {command}` is for a person in a terminal, and standard input is no terminal");
    let help = Some("give the command in a terminal".to_string());
    Err(Failure { exit: Exit::No, code: Some(Code::CommandRefused), message, help })
}

/// What makes a command the agent's, as a part of a sentence.
pub(crate) fn because(sign: &Sign) -> String {
    match sign {
        Sign::Ancestor { session } => format!("it was given by a program that the client of session `{session}` runs"),
        Sign::Variable { name, session } => {
            format!("`{name}` says that a program of session `{session}` gave it")
        }
        Sign::Call(call) => {
            let asked = if call.asked { ", about which a person was asked," } else { "" };
            let place = call.project.as_ref().map(|root| format!(" of `{}`", root.display())).unwrap_or_default();
            let (tool, session, age) = (&call.tool, &call.session, duration(call.age));
            format!(
                "a call of `{tool}` that can run programs{asked} has been open in session `{session}`{place} for {age}"
            )
        }
        Sign::Journal(path) => format!("`{}` was damaged or removed, and may hide a call that is open", path.display()),
    }
}

/// What a person does instead of giving this command, in the words that they type.
pub(crate) fn instead(command: &str, sign: &Sign) -> String {
    let as_prompt = slash_command::is_prompt(command);
    match sign {
        Sign::Ancestor { .. } | Sign::Variable { .. } => {
            let typed = if as_prompt { ", or type it as a prompt: `/phasegate ...`" } else { "" };
            format!("give the command in a terminal that no agent's client has opened{typed}")
        }
        Sign::Call(call) => {
            let session = &call.session;
            let over = if call.asked {
                format!(
                    "answer the question; if you said no to it, any prompt in session `{session}` shows that the call is over"
                )
            } else {
                "let that call end, or stop it".to_owned()
            };
            let typed = if as_prompt { ", or type it as a prompt of that session: `/phasegate ...`" } else { "" };
            format!(
                "{over}; `phasegate end {session}` ends the session if its client is gone; then give the command again{typed}"
            )
        }
        Sign::Journal(_) => "run `phasegate repair` in a terminal, or restore the journal".into(),
    }
}
