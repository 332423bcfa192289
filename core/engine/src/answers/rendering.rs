//! Rendering: the code, the texts and the JSON of every kind of denial. No other place writes them.

mod admission;
mod invalid;
mod phase;
mod recovery;
mod registered;
mod steps;
mod stopped;
mod words;

pub(crate) use self::phase::not_kept;

use serde_json::{Value, json};

use crate::answers::code::{Area, Code};
use crate::answers::decision::{Decision, Effect, Gate};
use crate::answers::denial::{BegunBy, Changed, Denial, DenialKind, Guidance, NotRegistered};
use crate::answers::doubt::NamedLine;
use crate::calls::analysis::Part;
use crate::calls::forbidden_change::ForbiddenChange;
use crate::commands::slash_command;
use crate::policy::plan::{NamedElement, Waits};
use crate::prelude::*;
use crate::state::pins::approval_name;
use words::{because, misplaced_words, near};

pub(crate) use recovery::{repeated, uncounted};
pub(crate) use stopped::{reason as why_stopped, ways as ways_on};

/// The most characters of a question, before its code.
const MAX_QUESTION_CHARS: usize = recovery::MAX_CHARS - 30;

/// What a kind of denial says.
struct Rendered {
    gate: Gate,
    code: Code,
    reason: String,
    recovery: String,
}

impl Denial {
    /// The answer that the denial stands for.
    pub fn decision(self) -> Decision {
        let Rendered { gate, code, reason, recovery: general } = render(&self.kind);
        let plain = self.run.as_ref().filter(|run| !run.compat && self.attempted.is_none());
        let reason = match plain {
            Some(run) if code.area() == Area::Phase => phase::reason(&self.kind, &self.guidance, run, reason),
            _ => waiting(&self.kind, &self.guidance).unwrap_or(reason),
        };
        let reason = registered::with_blame(self.blame.as_deref(), reason);
        // A point, two blanks and the code in brackets stand there, too.
        let said = reason.chars().count().saturating_add(code.id().len()).saturating_add(5);
        let room = plain.map(|_| recovery::MAX_CHARS.saturating_sub(said));
        let recovery = recovery::recovery(&self.guidance, room).unwrap_or(general);
        // A label would be of the wrong server.
        let recovery = match self.guidance {
            Guidance::OtherServer { .. } => recovery,
            _ => registered::instead(self.blame.as_deref(), recovery),
        };
        let mut decision = Decision {
            effect: self.effect,
            code: Some(code),
            gate: Some(gate),
            tool: self.tool,
            reason,
            recovery,
            missing: self.missing,
            attempted: self.attempted,
            ..Decision::allow()
        };
        decision.admission = match self.kind {
            DenialKind::Admission(why) => Some(why),
            DenialKind::Rule(ruled) => Some(Box::new(ruled.reason())),
            _ => None,
        };
        if let Some(run) = self.run {
            decision.line = run.line;
            decision.compat = run.compat;
            if run.began && decision.attempted.is_some() {
                decision.reason = format!("skill \"{}\" began with this call; {}", run.skill, decision.reason);
            }
            decision.skill = Some(run.skill);
            decision.phase_before.clone_from(&run.phase);
            decision.phase = run.phase;
        }
        decision
    }
}

impl DenialKind {
    /// The stable code of the kind.
    pub fn code(&self) -> Code {
        render(self).code
    }

    /// The answer to a command that is refused for this.
    pub fn refusal(self) -> Decision {
        Denial::new(self, Effect::Deny).decision()
    }

    /// The result of a command that is refused for this, as JSON.
    pub fn result(&self) -> Value {
        let Rendered { code, reason, .. } = render(self);
        json!({"is_error": true, "code": code.id(), "text": reason})
    }
}

#[expect(clippy::too_many_lines, reason = "an arm for each kind, so that a new one must have a text")]
fn render(kind: &DenialKind) -> Rendered {
    use DenialKind as Kind;
    match kind {
        Kind::SelfProtection { tool, path, part } => Rendered {
            gate: Gate::Protection,
            code: Code::SelfProtection,
            reason: match part {
                Part::Client | Part::Command => format!("{tool} would run `{path}`, which {}", part.in_words()),
                Part::Unread => format!("{tool} would run a line that {}: {path}", part.in_words()),
                _ => format!("{tool} would change `{path}`, which {}", part.in_words()),
            },
            recovery: match part {
                Part::Unread => PLAINER,
                Part::Client => BY_SUBAGENT,
                _ => OF_THE_USER,
            }
            .to_string(),
        },
        Kind::GuardRemoved { path, why } => Rendered {
            gate: Gate::Protection,
            code: Code::SelfProtection,
            reason: format!("with the settings as they are now in `{path}`, the guard would be gone: {why}"),
            recovery: "The session keeps the settings it had; the user can undo the change, or start a new session."
                .to_string(),
        },
        Kind::SettingsKept { path } => {
            let reason = format!("this session keeps the client's settings it began with; a new one takes `{path}` up");
            by_remedy(Gate::Protection, Code::SettingsKept, reason)
        }
        Kind::Changed(changed) => changed_files(changed),
        Kind::ToolChanged { server, tool } => Rendered {
            gate: Gate::Pin,
            code: Code::ToolChanged,
            reason: format!("server `{server}` describes {tool} otherwise than when it was first seen"),
            recovery: format!(
                "Ask the user to look at the tool and to accept it: `phasegate approve {}`.",
                approval_name(server, tool)
            ),
        },
        Kind::PolicyGone { skill } => policy_gone(skill),
        Kind::SkillMissing { skill } => Rendered {
            gate: Gate::Phase,
            code: Code::PolicyMissing,
            reason: format!("skill \"{skill}\" is in force, and the configs that this session uses do not have it"),
            recovery: format!(
                "Ask the user to restore the config of \"{skill}\" and to have it read with `phasegate reload`."
            ),
        },
        Kind::StartUnclear { branches, pending, named } => start_unclear(branches, *pending, named.as_deref()),
        Kind::HeldElsewhere { tool, skill, session } => held_elsewhere(tool, skill, session),
        Kind::Readonly { tool, why } => {
            let (reason, recovery) = admission::readonly(tool, *why);
            Rendered { gate: Gate::Access, code: Code::Readonly, reason, recovery }
        }
        Kind::Admission(why) => {
            let (gate, code) = admission::named(why);
            Rendered { gate, code, reason: why.render(), recovery: admission::recovery(why) }
        }
        Kind::Rule(ruled) => {
            let code = admission::named(&ruled.reason()).1;
            let recovery = ruled.recovery().unwrap_or_else(|| code.remedy().to_string());
            Rendered { gate: Gate::Rules, code, reason: ruled.render(), recovery }
        }
        Kind::Stopped(why) => in_phase(Code::Stopped, stopped::reason(why), stopped::recovery(why)),
        Kind::GlobalForbidden { .. }
        | Kind::NotDone { .. }
        | Kind::ArtifactPath { .. }
        | Kind::LineRequires { .. }
        | Kind::PhaseForbidden { .. }
        | Kind::Unlisted { .. }
        | Kind::Unfinished { .. } => render_violation(kind),
        Kind::SkillActive { .. }
        | Kind::InputsMissing { .. }
        | Kind::SkillUnknown { .. }
        | Kind::SkillNotLeft { .. }
        | Kind::ModeUnknown { .. }
        | Kind::CommandUnknown { .. }
        | Kind::CommandRefused { .. }
        | Kind::NotTyped { .. }
        | Kind::NotRegistered(_)
        | Kind::CommandInvalid(_) => render_refusal(kind),
    }
}

fn changed_files(changed: &Changed) -> Rendered {
    let Changed { first, more } = changed;
    let ForbiddenChange { path, call, by } = first;
    let others = match more {
        0 => String::new(),
        1 => " and one more file".to_string(),
        more => format!(" and {more} more files"),
    };
    let why = match by {
        Some(by) => format!("the \"{}\" phase of {} forbids to change", by.phase, by.skill),
        None => "the guard depends on".to_string(),
    };
    by_remedy(
        Gate::Effects,
        Code::ForbiddenChange,
        format!("put `{path}`{others} back first (`phasegate restore`): {call} changed what {why}"),
    )
}

fn policy_gone(skill: &str) -> Rendered {
    by_remedy(Gate::Phase, Code::PolicyMissing, format!("the policy that skill \"{skill}\" began with is gone"))
}

fn held_elsewhere(tool: &str, skill: &str, session: &str) -> Rendered {
    let reason = stopped::held_elsewhere(tool, skill, session);
    in_phase(Code::HeldElsewhere, reason, stopped::of_other_session(session))
}

/// A kind about the phase of a run.
fn in_phase(code: Code, reason: String, recovery: String) -> Rendered {
    Rendered { gate: Gate::Phase, code, reason, recovery }
}

/// A kind that says no more about the recovery than its code.
fn by_remedy(gate: Gate, code: Code, reason: String) -> Rendered {
    Rendered { gate, code, reason, recovery: code.remedy().to_string() }
}

fn render_violation(kind: &DenialKind) -> Rendered {
    use DenialKind as Kind;
    match kind {
        Kind::GlobalForbidden { tool, skill, by } => Rendered {
            gate: Gate::Phase,
            code: Code::GlobalForbidden,
            reason: format!("{tool} is globally forbidden during the {skill} skill{}", by_line(by.as_ref())),
            recovery: match by {
                Some(_) => format!("No phase of {skill} allows it: go on without it, or ask the user."),
                None => format!("This tool is not used in the {skill} workflow."),
            },
        },
        Kind::ArtifactPath { file, not_done } => {
            let code = if *not_done { Code::NotDone } else { Code::Unlisted };
            by_remedy(Gate::Phase, code, misplaced_words(file))
        }
        Kind::NotDone { tool, target, blocking, may } => {
            let belongs = belongs(may.as_ref());
            let reason = if target == blocking {
                format!("{tool} {belongs} the \"{target}\" phase, and what that phase requires does not hold")
            } else {
                format!("{tool} {belongs} the \"{target}\" phase, and the \"{blocking}\" phase is not done")
            };
            by_remedy(Gate::Phase, Code::NotDone, reason)
        }
        Kind::LineRequires { tool, phase, line } => {
            let may = if line.doubt.is_some() { "may be" } else { "is" };
            let NamedLine { line: text, .. } = line;
            let doubt = because(line);
            let reason = format!(
                "{tool} {may} what {text}{doubt} allows in the \"{phase}\" phase, and what that line requires does not hold"
            );
            by_remedy(Gate::Phase, Code::NotDone, reason)
        }
        Kind::PhaseForbidden { tool, phase, by } => {
            let reason = format!("{tool} is forbidden in the \"{phase}\" phase{}", by_line(by.as_ref()));
            by_remedy(Gate::Phase, Code::PhaseForbidden, reason)
        }
        Kind::Unlisted { .. } => by_remedy(Gate::Phase, Code::Unlisted, unlisted(kind)),
        Kind::Unfinished { skill, phase, done } => {
            let why = if *done { "is done, and another phase is to follow" } else { "is not done" };
            let reason =
                format!("the turn cannot end: skill \"{skill}\" must be finished, and its \"{phase}\" phase {why}");
            by_remedy(Gate::Phase, Code::Unfinished, reason)
        }
        _ => by_remedy(Gate::Phase, Code::Internal, String::new()),
    }
}

/// The reason of a call that no line lists.
fn unlisted(kind: &DenialKind) -> String {
    let DenialKind::Unlisted { tool, phase, read_only, may, denied, asks, why, .. } = kind else {
        return String::new();
    };
    let whose = if *asks { "the user's to allow" } else { "denied" };
    match (may, why) {
        (_, Some(why)) => format!("{tool} is {whose}: {why}"),
        (by @ Some(_), None) if *denied => {
            let line = by_line(by.as_ref());
            format!("{tool} is not listed for the \"{phase}\" phase, and is {whose}{line} under `unlisted`")
        }
        (may, None) => {
            let doubt = if *read_only { ", and is not known to only read" } else { "" };
            let near = may.as_ref().map(near).unwrap_or_default();
            format!("{tool} is not listed for the \"{phase}\" phase{doubt}{near}")
        }
    }
}

/// How to get on from a question: the answer is the user's. What leads on without the user is told where there is room.
pub(crate) fn asked(decision: &Decision, name: &str) -> String {
    let typed = format!("`{} approve {name}`", slash_command::WORD);
    let yes = |ask: &str| {
        format!("{ask} the user: they allow it here, or type {typed} and you repeat it within ten minutes.")
    };
    let other = decision.recovery.as_str();
    let both = format!("{other} {}", yes("Or ask"));
    let fits = decision.reason.chars().count().saturating_add(both.chars().count()) <= MAX_QUESTION_CHARS;
    if other.is_empty() || !fits { yes("Ask") } else { both }
}

/// What the agent is told where a person rejected what it made.
pub(crate) fn rejected(name: &str) -> String {
    format!(
        "phasegate: the user rejected `{name}` as it is now. Change it or write another one, show it to the user, and stop."
    )
}

/// The reason where nothing but a person's approval is missing. It says so: some clients show a person no more.
fn waiting(kind: &DenialKind, guidance: &Guidance) -> Option<String> {
    let (DenialKind::NotDone { tool, target, blocking, may }, Guidance::Strict(standing)) = (kind, guidance) else {
        return None;
    };
    let gates: Vec<String> = standing.gates.iter().map(|gate| format!("`{gate}`")).collect();
    let who = if target == blocking { ", which".to_string() } else { format!(", and the \"{blocking}\" phase") };
    let wait = || {
        let belongs = belongs(may.as_ref());
        format!("{tool} {belongs} the \"{target}\" phase{who} waits for the user to approve {}", gates.join(" and "))
    };
    standing.only_gates.then(wait)
}

/// How a call and a phase go together: `may` is the line of the phase that may mean the call.
fn belongs(may: Option<&NamedLine>) -> String {
    may.map_or_else(|| "belongs to".to_string(), |may| format!("may be what {}{} means in", may.line, because(may)))
}

/// Names the line of the policy that forbids a call.
fn by_line(by: Option<&NamedLine>) -> String {
    by.map(|by| format!(" by {}{}", by.line, because(by))).unwrap_or_default()
}

fn render_refusal(kind: &DenialKind) -> Rendered {
    use DenialKind as Kind;
    let refused = |code, reason| by_remedy(Gate::Control, code, reason);
    match kind {
        Kind::SkillActive { skill, by } => {
            let ends = format!("`/phasegate end {skill}` as a prompt or `phasegate end {skill}` in a terminal");
            let how = match by {
                BegunBy::Tool => "; call deactivate_skill first".to_string(),
                BegunBy::Person => format!("; {ends} ends it"),
                BegunBy::Invocation => format!(" with other values; the user ends it by {ends}"),
            };
            refused(Code::SkillActive, format!("skill \"{skill}\" is already active{how}"))
        }
        Kind::InputsMissing { skill, inputs, wrong } => inputs_missing(skill, inputs, wrong),
        Kind::SkillUnknown { name, available } => {
            let reason = format!("unknown skill \"{name}\"; available skills: [{}]", available.join(", "));
            refused(Code::SkillUnknown, reason)
        }
        Kind::SkillNotLeft { skill, person_only, missing } => {
            let why = if *person_only { "only a person may deactivate it" } else { "its last phase is not done" };
            let missing: String = missing.iter().flat_map(|missing| ["; ", missing]).collect();
            refused(Code::SkillNotLeft, format!("skill \"{skill}\" stays active: {why}{missing}"))
        }
        Kind::ModeUnknown { name } => {
            refused(Code::ModeUnknown, format!("unknown mode \"{name}\"; modes: [warn, block]"))
        }
        Kind::CommandUnknown { name } => refused(Code::CommandUnknown, format!("there is no command `{name}`")),
        Kind::CommandRefused { name } => {
            let reason = format!("only a person may give the command `phasegate {}`", slash_command::word(name));
            refused(Code::CommandRefused, reason)
        }
        Kind::NotTyped { prompt } => {
            let reason = format!("`{prompt}` counts only where a person types it into a session in a terminal");
            refused(Code::CommandRefused, reason)
        }
        Kind::NotRegistered(why) => {
            let (reason, recovery) = registered::refused(why);
            let gate = if *why == NotRegistered::Subagent { Gate::Registry } else { Gate::Control };
            Rendered { gate, code: Code::NotRegistered, reason, recovery }
        }
        Kind::CommandInvalid(invalid) => Rendered {
            recovery: invalid::remedy(invalid).to_string(),
            ..refused(Code::CommandInvalid, invalid::words(invalid))
        },
        _ => refused(Code::Internal, String::new()),
    }
}

fn start_unclear(branches: &[String], pending: bool, named: Option<&NamedElement>) -> Rendered {
    let names: Vec<String> = branches.iter().map(|name| format!("`{name}`")).collect();
    let names = names.join(", ");
    let (reason, recovery) = if pending {
        (
            "another subagent was started, and has not begun".to_string(),
            "Start this one again when that one runs.".to_string(),
        )
    } else if branches.is_empty() {
        let reason = named.map_or_else(|| "no part of the plan waits for a subagent now".to_string(), waits);
        let recovery =
            "Each part that is to be done now has a subagent, or is done: go on with what the phase still needs.";
        (reason, recovery.to_string())
    } else if let Some(named) = named {
        (waits(named), format!("Start a subagent for one of {names}, and say its name in the prompt."))
    } else {
        let recovery = format!("Say in the prompt which branch the subagent is for, one of {names}.");
        (format!("the subagent may be for each of {names}, and its prompt names not exactly one"), recovery)
    };
    Rendered { gate: Gate::Phase, code: Code::StartUnclear, reason, recovery }
}

/// Why a subagent cannot begin an element of a plan.
fn waits(named: &NamedElement) -> String {
    let name = &named.name;
    match &named.waits {
        Waits::Finished => format!("`{name}` is done"),
        Waits::Wave { own, present } if own > present => {
            format!("`{name}` belongs to wave {own}, and wave {present} is not done")
        }
        Waits::Wave { own, .. } => format!("`{name}` belongs to wave {own}, which is done"),
        Waits::After(before) => format!("`{name}` comes after `{before}`, which is not done"),
        Waits::Begun => format!("`{name}` has a subagent, or needs none in its phase"),
    }
}

fn inputs_missing(skill: &str, inputs: &[(String, String)], wrong: &[String]) -> Rendered {
    if inputs.is_empty() {
        return by_remedy(Gate::Control, Code::InputsMissing, format!("skill \"{skill}\" has no inputs"));
    }
    let needs: Vec<String> = inputs.iter().map(|(name, pattern)| format!("`{name}` (`{pattern}`)")).collect();
    let values: Vec<String> = inputs.iter().map(|(name, _)| format!("{name}=VALUE")).collect();
    let (needs, values) = (needs.join(", "), values.join(" "));
    let wrong = if wrong.is_empty() { String::new() } else { format!("; {}", wrong.join(", ")) };
    Rendered {
        gate: Gate::Control,
        code: Code::InputsMissing,
        reason: format!(
            "skill \"{skill}\" needs a value for each input, of letters, digits and `._-/@+:=`: {needs}{wrong}"
        ),
        recovery: format!(
            "Invoke it with the arguments `{values}`, or ask the user to type `{} activate {skill} {values}`.",
            slash_command::WORD
        ),
    }
}

/// How to get on where a call would change what is the guard's.
const OF_THE_USER: &str =
    "It is the user's to change: ask them to do it themselves, outside of the session, or go on without it.";
/// How to get on where a line would start a client.
const BY_SUBAGENT: &str = "Use a subagent of this session, or ask the user to run it in a terminal of their own.";
/// How to get on where a line is not read to its end.
const PLAINER: &str = "Write it plainer, or as several shorter lines, each in a call of its own; write long texts to \
                       files with the file tool.";
