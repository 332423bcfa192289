//! Audit records: what an event meant, derived from its changes.

use serde::{Deserialize, Serialize};

use crate::answers::code::Code;
use crate::calls::cause::By;
use crate::calls::outcome::CallOutcome;
use crate::commands::slash_command;
use crate::events::event::{Event, EventKind};
use crate::policy::access::AccessMode;
use crate::policy::{Mode, Policy, Scope, Spent};
use crate::prelude::*;
use crate::state::change::Change;
use crate::state::pins;
use crate::state::{State, Status};

/// The audit records of a change: the original's four audit events, and more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case", deny_unknown_fields)]
pub enum Record {
    /// A run began.
    ActivateSkill {
        /// The id of the new run.
        run: String,
        /// The skill's name.
        skill: String,
        /// The name of the phase it begins in.
        phase: String,
        /// The mode it begins with: the stricter of what was asked for and what the configs demand.
        mode: Mode,
        /// Who activated or invoked the skill.
        by: By,
    },
    /// A run ended.
    DeactivateSkill {
        /// The id of the run, which no longer judges calls.
        run: String,
        /// The skill's name.
        skill: String,
        /// The name of the phase it was in when it ended.
        phase: String,
        /// `finished` if its last phase was done, else `left`.
        status: Status,
        /// Who ended it; the platform, where it ended by itself or its call turned out not to have invoked the skill.
        by: By,
    },
    /// What commands of a program do was registered.
    SafetyRegistered {
        /// The name of the program.
        tool: String,
        /// How many patterns are registered of it now.
        commands: usize,
        /// For whom: one session, or the project.
        scope: Scope,
        /// Who registered it.
        by: By,
    },
    /// A person let agents classify the commands of a program, or took that back.
    SafetyApproved {
        /// The name of the program.
        program: String,
        /// Whether they may.
        approved: bool,
    },
    /// A person set the access of the project.
    AccessSet {
        /// The access; `normal`: as the configs say, where it has no end.
        access: AccessMode,
        /// When it ends, in milliseconds since 1970-01-01 UTC.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<i64>,
    },
    /// A run moved.
    PhaseAdvance {
        /// The id of the run.
        run: String,
        /// The skill's name.
        skill: String,
        /// The name of the phase that was left.
        from: String,
        /// The name of the phase that was entered.
        phase: String,
        /// The canonical name of the tool whose call moved it, or the name of the event or command that did.
        triggered_by: String,
    },
    /// A rollback edge of a run was asked for once more than its limit says.
    LimitSpent {
        /// The id of the run.
        run: String,
        /// The skill's name.
        skill: String,
        /// The name of the phase the run is in.
        phase: String,
        /// The name of the phase that the edge leads to.
        to: String,
        /// How often a run may take it.
        limit: u32,
        /// What becomes of the run.
        then: Spent,
    },
    /// A call broke a rule of a run.
    PhaseViolation {
        /// The id of the run whose rule was broken.
        run: String,
        /// The skill's name.
        skill: String,
        /// The name of the phase the run was in, and stays in.
        phase: String,
        /// The canonical name of the tool that was called.
        tool: String,
        /// Which rule was broken, by the code that the agent is told.
        code: Code,
        /// Whether this run denies the call (block mode) or only warns.
        blocked: bool,
    },
    /// A call's outcome proved something.
    EvidenceSeen {
        /// The id of the run for which it counts.
        run: String,
        /// The name of the phase in whose visit the call was decided.
        phase: String,
        /// The canonical name of the tool that was called.
        tool: String,
        /// How the call ended.
        outcome: CallOutcome,
    },
    /// A server's description of a tool changed since it was first seen.
    ToolChanged {
        /// The server's name.
        server: String,
        /// The tool's name, as the server gives it.
        tool: String,
    },
    /// A person approved something.
    Approved {
        /// The name that was approved, as conditions ask for it (`approved: NAME`).
        name: String,
    },
    /// A person took an approval back.
    ApprovalRevoked {
        /// The name that had been approved.
        name: String,
    },
}

/// The records that the changes of an event stand for.
///
/// `before` is the state before the event. The policy only gives the name of a phase in [`Record::EvidenceSeen`].
pub fn records(policy: &Policy, before: &State, event: &Event, changes: &[Change]) -> Vec<Record> {
    let mut records = Vec::new();
    if !changes.iter().any(is_recorded) {
        return records;
    }
    let mut state = before.clone();
    let mut ended = Ended { tool: String::new(), outcome: CallOutcome::Unknown };
    for change in changes {
        if let Change::CallOutcome { call, outcome } = change {
            let tool = state.session.calls.iter().find(|open| open.number == *call).map(|open| open.tool.clone());
            ended = Ended { tool: tool.unwrap_or_default(), outcome: *outcome };
        }
        records.extend(record(policy, &state, event, change, &ended));
        state.apply(change);
    }
    records
}

/// The call whose outcome was seen last.
struct Ended {
    tool: String,
    outcome: CallOutcome,
}

fn is_recorded(change: &Change) -> bool {
    match change {
        Change::Judged { broke, .. } => broke.is_some(),
        Change::Proved(proved) => !proved.atoms.is_empty(),
        Change::ApprovalGiven { .. } | Change::ApprovalRevoked { .. } | Change::LimitSpent { .. } => true,
        Change::Approved { .. } | Change::ToolsSeen { .. } | Change::ToolAccepted { .. } => true,
        Change::QuestionAnswered { .. } => true,
        Change::SafetyRegistered { .. } | Change::SafetyApproved { .. } | Change::AccessSet { .. } => true,
        change => change.moves_a_run(),
    }
}

#[expect(clippy::too_many_lines, reason = "an arm for each change, so that a new one must say what is told of it")]
fn record(policy: &Policy, state: &State, event: &Event, change: &Change, ended: &Ended) -> Vec<Record> {
    let one = match change {
        Change::RunBegun(run) => Record::ActivateSkill {
            run: run.id.clone(),
            skill: run.skill.clone(),
            phase: run.phase.clone(),
            mode: run.mode,
            by: run.by,
        },
        Change::RunEnded { run, status, by } => {
            let Some(run) = state.run(run) else { return Vec::new() };
            let (skill, phase) = (run.skill.clone(), run.phase.clone());
            Record::DeactivateSkill { run: run.id.clone(), skill, phase, status: *status, by: *by }
        }
        Change::PhaseEntered { run, phase, by, .. } | Change::PhaseBack { run, phase, by, .. } => {
            return advance(state, run, Some(phase), &cause(event, *by));
        }
        Change::LimitSpent { run, edge } => {
            let Some(run) = state.run(run) else { return Vec::new() };
            Record::LimitSpent {
                run: run.id.clone(),
                skill: run.skill.clone(),
                phase: run.phase.clone(),
                to: edge.to.clone(),
                limit: edge.limit,
                then: edge.then,
            }
        }
        Change::PhaseReturned { run } => return advance(state, run, None, &cause(event, By::Agent)),
        Change::Judged { run, tool, broke: Some(code), .. } => {
            let Some(run) = state.run(run) else { return Vec::new() };
            Record::PhaseViolation {
                run: run.id.clone(),
                skill: run.skill.clone(),
                phase: run.phase.clone(),
                tool: tool.clone(),
                code: *code,
                blocked: run.mode == Mode::Block,
            }
        }
        Change::Proved(proved) if !proved.atoms.is_empty() => {
            let skill = state.run(&proved.run).and_then(|run| policy.skill_version(&run.skill, &run.version));
            let phase = skill.and_then(|skill| skill.phases.get(proved.phase)).map(|phase| phase.name.clone());
            let (tool, outcome) = (ended.tool.clone(), ended.outcome);
            Record::EvidenceSeen { run: proved.run.clone(), phase: phase.unwrap_or_default(), tool, outcome }
        }
        Change::ToolsSeen { server, tools } => {
            let changed = tools.iter().filter(|tool| tool.changed.is_some());
            return changed
                .map(|tool| Record::ToolChanged { server: server.clone(), tool: tool.name.clone() })
                .collect();
        }
        Change::Approved { name, .. } => Record::Approved { name: name.clone() },
        Change::ApprovalGiven { approval, .. } => Record::Approved { name: approval.gate.name.clone() },
        Change::ApprovalRevoked { name, .. } => Record::ApprovalRevoked { name: name.clone() },
        Change::QuestionAnswered { name, .. } => Record::Approved { name: name.clone() },
        Change::ToolAccepted { server, tool } => Record::Approved { name: pins::approval_name(server, tool) },
        Change::AccessSet { granted } => Record::AccessSet {
            access: granted.map_or(AccessMode::Normal, |granted| granted.access),
            until: granted.and_then(|granted| granted.until),
        },
        change => return of_safety(change).into_iter().collect(),
    };
    alloc::vec![one]
}

/// The record of a change to what is registered of commands.
fn of_safety(change: &Change) -> Option<Record> {
    match change {
        Change::SafetyRegistered { entry, scope } => {
            let (tool, commands, by) = (entry.tool.clone(), entry.commands.len(), entry.by);
            Some(Record::SafetyRegistered { tool, commands, scope: *scope, by })
        }
        Change::SafetyApproved { program, approved } => {
            Some(Record::SafetyApproved { program: program.clone(), approved: *approved })
        }
        _ => None,
    }
}

fn advance(state: &State, run: &str, to: Option<&String>, cause: &str) -> Vec<Record> {
    let Some(run) = state.run(run) else { return Vec::new() };
    let Some(phase) = to.or(run.provisional.as_ref().map(|before| &before.phase)) else { return Vec::new() };
    alloc::vec![Record::PhaseAdvance {
        run: run.id.clone(),
        skill: run.skill.clone(),
        from: run.phase.clone(),
        phase: phase.clone(),
        triggered_by: cause.to_owned(),
    }]
}

/// What moved a run: the tool that the agent called, the command of a person, or the event itself.
fn cause(event: &Event, by: By) -> String {
    match by {
        By::Agent => event.tool_name().unwrap_or_else(|| event.name()).to_string(),
        By::Human => match &event.kind {
            EventKind::Command { name, .. } => name.clone(),
            EventKind::Prompt { text, .. } => slash_command::name(text).unwrap_or("skip_phase").to_string(),
            _ => "skip_phase".to_string(),
        },
        By::Platform => event.name().to_string(),
    }
}
