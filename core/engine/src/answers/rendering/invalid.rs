//! Commands that mean nothing: what is wrong with them, and what to do about it.

use crate::answers::code::Code;
use crate::answers::denial::InvalidCommand;
use crate::answers::phrase;
use crate::prelude::*;
use crate::values::one_line::one_line;

/// What is wrong with the arguments of a command.
pub(super) fn words(invalid: &InvalidCommand) -> String {
    use InvalidCommand as Invalid;
    match invalid {
        Invalid::ArgumentMissing { command, argument } => format!("`{command}` needs `{argument}`"),
        Invalid::ArgumentUnknown { command, argument } => format!("`{command}` has no argument `{argument}`"),
        Invalid::ArgumentNotText { argument } => format!("`{argument}` is a text"),
        Invalid::ArgumentsNotObject { command } => format!("the arguments of `{command}` are an object"),
        Invalid::NotActive { skill, active } => match (skill, active.is_empty()) {
            (None, _) => "no skill is active in this session".to_string(),
            (Some(skill), true) => format!("skill \"{skill}\" is not active in this session, and no other is"),
            (Some(skill), false) => {
                format!("skill \"{skill}\" is not active in this session; active skills: [{}]", active.join(", "))
            }
        },
        Invalid::AlreadyApproved { name } => format!("`{name}` is approved already"),
        Invalid::AccessInvalid { why } => (*why).to_string(),
        Invalid::StateNotImported { why } => format!("the state is not imported: {why}"),
        Invalid::ActionUnknown { command, action, known } => unknown_action(command, action, known),
        Invalid::ScopeUnknown => "a skill is in force for a `session` or for the `project`".to_string(),
        Invalid::NotInForce { skill, in_force } => not_in_force(skill.as_deref(), &in_force.join(", ")),
        Invalid::NoPhaseFollows => "no phase follows the current one".to_string(),
        Invalid::RunNotLive { run, live } => format!("no run `{run}` is live; live runs: [{}]", live.join(", ")),
        Invalid::NoRunHasPhase { phase } => no_phase(phase),
        Invalid::RunUnclear { name, runs } => format!("`{name}` may be of several runs: [{}]", runs.join(", ")),
        Invalid::PhaseUnclear { runs } => unclear(runs),
        Invalid::NotAhead { skill, phase, ahead } => {
            format!("`{phase}` does not follow in the run of \"{skill}\"; phases that follow: [{}]", ahead.join(", "))
        }
        Invalid::NeverSkipped { skill, phases } => never_skipped(skill, phases),
        Invalid::WouldSkip { to, phases } => would_skip(to, phases),
        Invalid::AlreadySkipped { phase } => format!("`{phase}` is skipped already"),
        Invalid::NoElement { id, known } => no_element(id, known),
        Invalid::ElementFinished { id } => format!("`{id}` has finished already"),
        Invalid::ElementNotBegun { id } => format!("`{id}` has not begun, so it cannot begin anew"),
        Invalid::NothingWaits { name, waiting } => nothing_waits(name, waiting),
        Invalid::NothingToApprove { name, what } => of_what(name, what, "does not exist or cannot be read"),
        Invalid::PlanUnusable { name, why } => format!("`{name}` cannot be approved as it is: {}", one_line(why)),
        Invalid::Rewritten { path } => {
            format!("another session rewrote `{}`, so it is not this session's", one_line(path))
        }
        Invalid::OtherPlan { named, waiting } => {
            format!("no plan `{}` waits in this session, only `{}`", one_line(named), waiting.join("`, `"))
        }
        Invalid::ChangedSinceShown { name, what } => of_what(name, what, "changed after the agent's turn ended"),
        Invalid::NothingApproved { name, approved } => {
            format!("`{name}` is not approved; names that are: [{}]", approved.join(", "))
        }
        Invalid::NothingDenied => "the last call of this session was not denied by a skill or by a rule".to_string(),
        Invalid::NoToolChanged { name } => format!("no tool `{name}` has changed"),
        Invalid::Merged { prompt, now } => format!("`{prompt}` is no command any more; write `/phasegate {now}`"),
        Invalid::NoCommand { prompt, forms } => format!("`{prompt}` is no command; write {forms}, and nothing else"),
    }
}

fn never_skipped(skill: &str, phases: &[String]) -> String {
    format!("nobody skips {} in the skill \"{skill}\"", phrase::listed(phases))
}

fn would_skip(to: &str, phases: &[String]) -> String {
    format!("to go on to `{to}` would skip {}: say `phasegate advance {to} --yes` if it may", phrase::listed(phases))
}

fn not_in_force(skill: Option<&str>, known: &str) -> String {
    match skill {
        None if !known.is_empty() => format!("several skills are in force; name one of [{known}]"),
        None => "no skill is in force".to_string(),
        Some(skill) => format!("skill \"{skill}\" is not in force; skills in force: [{known}]"),
    }
}

fn nothing_waits(name: &str, waiting: &[String]) -> String {
    if waiting.is_empty() {
        format!("nothing waits for the approval of `{name}`, or of any other name, in this session")
    } else {
        format!("nothing waits for the approval of `{name}`; names that wait: [{}]", waiting.join(", "))
    }
}

fn no_element(id: &str, known: &[String]) -> String {
    if known.is_empty() {
        format!("there is no element `{id}`: no live run is in a phase with a plan")
    } else {
        format!("no plan has an element `{id}`; elements: {}", phrase::listed(known))
    }
}

fn unclear(runs: &[String]) -> String {
    format!("the phase of several runs may be meant, a skill's or that of a part of it: [{}]", runs.join(", "))
}

fn no_phase(phase: &str) -> String {
    format!("no live run has a phase `{phase}`, and none is of a skill `{phase}`")
}

fn unknown_action(command: &str, action: &str, known: &[String]) -> String {
    format!("`{command}` has no action `{action}`; actions: [{}]", known.join(", "))
}

fn of_what(name: &str, what: &str, why: &str) -> String {
    format!("`{name}` is the approval of `{what}`, which {why}")
}

/// What to do about a command that means nothing.
pub(super) fn remedy(invalid: &InvalidCommand) -> &'static str {
    use InvalidCommand as Invalid;
    match invalid {
        Invalid::NothingWaits { .. } => {
            "`phasegate approve` without a name lists what waits for a person; `phasegate allow` lets the last denied call pass once"
        }
        Invalid::NothingApproved { .. } | Invalid::AlreadyApproved { .. } => {
            "`phasegate approve` without a name lists what waits for a person and what is approved"
        }
        Invalid::NotActive { .. } | Invalid::NotInForce { .. } => {
            "`phasegate status` lists the sessions and the skills that are active in each"
        }
        Invalid::NoPhaseFollows => "`phasegate end` ends the skill; `phasegate status` shows where each one stands",
        Invalid::PhaseUnclear { .. } => {
            "name the skill (`phasegate skip SKILL`), or its phase and the run (`phasegate skip PHASE --run ID`)"
        }
        Invalid::NeverSkipped { .. } => {
            "`phasegate advance` has the run go on, phase by phase; what you call done counts as done"
        }
        Invalid::WouldSkip { .. } => "`phasegate advance` without a name goes on to the next phase alone",
        Invalid::RunUnclear { .. } => "say which run: its id after the name, or `--run ID`",
        Invalid::RunNotLive { .. }
        | Invalid::NoRunHasPhase { .. }
        | Invalid::NotAhead { .. }
        | Invalid::AlreadySkipped { .. }
        | Invalid::NoElement { .. }
        | Invalid::ElementFinished { .. }
        | Invalid::ElementNotBegun { .. } => "`phasegate status runs` shows each run with its phases and tasks",
        Invalid::NothingToApprove { .. } => "let the agent write it first",
        Invalid::Rewritten { .. } => {
            "`phasegate status plans` names the session whose plan it is now; have the agent of this one write its plan anew"
        }
        Invalid::OtherPlan { .. } => "name that one; `phasegate status plans` lists all plans, with their sessions",
        Invalid::PlanUnusable { .. } => {
            "let the agent write it anew, as one file that lists its steps, and remove others; `phasegate status plans PATH` shows \
             what each means"
        }
        Invalid::ChangedSinceShown { .. } => "look at it as it is now, and give the same command again",
        Invalid::NothingDenied => {
            "`phasegate audit show` lists what was denied; what protects the guard, and limits for all sessions, is not let pass so"
        }
        Invalid::NoToolChanged { .. } => "`phasegate doctor` lists the tools that changed",
        Invalid::Merged { .. } | Invalid::NoCommand { .. } => "`phasegate help all` lists the commands",
        Invalid::ArgumentMissing { .. }
        | Invalid::ArgumentUnknown { .. }
        | Invalid::ArgumentNotText { .. }
        | Invalid::ArgumentsNotObject { .. }
        | Invalid::AccessInvalid { .. }
        | Invalid::StateNotImported { .. }
        | Invalid::ActionUnknown { .. }
        | Invalid::ScopeUnknown => Code::CommandInvalid.remedy(),
    }
}
