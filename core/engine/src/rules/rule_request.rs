//! What rules see of a call (rules 4.9): who calls, which tool, with which arguments, and each part of the call.
//!
//! [`RuleCall`] is the one place that makes this of a call. The gate evaluates its [`RuleCall::request`]; facts ask for the
//! same parts, so that both see the same values.

mod path;
mod secret;

use alloc::collections::BTreeMap;

use phasegate_rules::{Action, Part, Principal, Request, Value, action_id, builtin_argument};
use serde_json::Value as Json;

use self::path::Place;
pub use self::secret::is_secret_path;
use crate::calls::analysis::{MayRun, PathInPart, PathUse, SimpleCommand, UNKNOWN, UNNAMED};
use crate::calls::tool::{BASH, Call, SHELL, only_reads};
use crate::decide::judge::Caller;
use crate::events::event::Event;
use crate::evidence::eval::World;
use crate::gates::gate::Context;
use crate::gates::permitting;
use crate::policy::access::AccessMode;
use crate::prelude::*;
use crate::rules::RuleTool;
use crate::shell::classifier::is_child;
use crate::shell::command_view::{self, Words, of_server};
use crate::shell::words::is_plain;
use crate::state::change::Change;

/// Tools of clients that look into a file which no adapter takes for their path.
const LOOKING_INTO: [&str; 3] = ["LSP", "ReadMcpResourceTool", "ReadMcpResourceDirTool"];

/// What rules see that only the state says.
#[derive(Clone, Debug, Default)]
pub(crate) struct OfState {
    /// Whether the session is a subagent's of its own.
    child: bool,
    /// The skills of the live runs.
    skills: Vec<String>,
    /// The phases that the live runs would be in with the call, each as `SKILL/PHASE`.
    phases: Vec<String>,
    access: AccessMode,
}

impl OfState {
    pub(crate) fn of(world: &mut World<'_>, context: &Context<'_>) -> Self {
        let Context { policy, state, asked, .. } = *context;
        let (mut skills, mut phases) = (Vec::new(), Vec::new());
        for run in state.live_runs() {
            let verdict = context.verdicts.iter().find(|verdict| verdict.judges && verdict.run == run.id);
            let phase = match verdict.and_then(|verdict| verdict.moved(world, run)) {
                Some(Change::RunEnded { .. }) => None,
                Some(Change::PhaseReturned { .. }) => run.provisional.as_ref().map(|before| before.phase.clone()),
                Some(Change::PhaseEntered { phase, .. } | Change::PhaseBack { phase, .. }) => Some(phase),
                _ => Some(run.phase.clone()),
            };
            let Some(phase) = phase else { continue };
            skills.push(run.skill.clone());
            phases.push(alloc::format!("{}/{phase}", run.skill));
        }
        let readonly = permitting::readonly(policy, state, asked).is_some();
        let admin = permitting::skips_budgets(state, asked);
        let access = match (readonly, admin) {
            (true, _) => AccessMode::Readonly,
            (false, true) => AccessMode::Admin,
            (false, false) => AccessMode::Normal,
        };
        Self { child: is_child(&state.session), skills, phases, access }
    }
}

/// Where a part of a call stands in it.
pub(crate) struct Origin<'a> {
    /// Its simple command, with the number of it.
    pub(crate) command: Option<(usize, &'a SimpleCommand)>,
    /// Its path as the call gives it.
    written: Option<&'a str>,
}

impl Origin<'_> {
    /// Whether it is of the same command and, where that is asked, of the same path.
    pub(crate) fn is_same(&self, other: &Self, by_path: bool) -> bool {
        let number = |origin: &Self| origin.command.map(|(number, _)| number);
        let path = |origin: &Self| origin.written.map(str::as_ptr);
        number(self) == number(other) && (!by_path || path(self) == path(other))
    }
}

/// A call, with the texts that its request needs beside those of the call itself.
pub(crate) struct RuleCall<'a> {
    call: &'a Call,
    event: &'a Event,
    caller: Caller<'a>,
    /// What the level of the rules says of the tool.
    tool: Option<&'a RuleTool>,
    /// The id of the action.
    action: String,
    /// The names in the name of its server.
    server_names: Vec<String>,
    /// The words of each simple command.
    commands: Vec<Words>,
}

impl<'a> RuleCall<'a> {
    /// A call as the rules of a level see it that says this of tools.
    pub(crate) fn new(
        tools: &'a BTreeMap<String, RuleTool>,
        call: &'a Call,
        event: &'a Event,
        caller: Caller<'a>,
    ) -> Self {
        let action = action_id(call.tool.server.as_deref(), &call.tool.name);
        let words = |all: &'a [SimpleCommand]| {
            (0..).zip(all).map(|(at, command)| Words::of(command, all.get(..at).unwrap_or_default()))
        };
        let commands: Vec<Words> = words(commands_of(call)).chain(words(tasks_of(call))).collect();
        let server_names = call.tool.server.as_deref().map(of_server).unwrap_or_default();
        Self { call, event, caller, tool: tools.get(&action), action, server_names, commands }
    }

    /// The call as rules see it.
    pub(crate) fn request<'s>(&'s self, state: &'s OfState) -> Request<'s> {
        let server = self.call.tool.server.as_ref().and_then(|_| self.action.split_once('/'));
        Request {
            principal: self.principal(state),
            action: Action {
                id: &self.action,
                name: &self.call.tool.name,
                server: server.map_or("", |(server, _)| server),
                names: self.server_names.iter().map(String::as_str).collect(),
                labels: self.labels(),
            },
            input: self.input(),
            context: self.context(state),
            parts: self.parts(),
            known: None,
            open: self.call.analysis.open,
            facts: None,
        }
    }

    /// A part of the call as a person reads it.
    pub(crate) fn shown(&self, part: usize) -> Option<String> {
        let place = self.places().into_iter().nth(part)?;
        let text = place.command.and_then(|number| self.commands.get(number)).and_then(|words| words.text.clone());
        let is_path = |written: &&str| ![UNKNOWN, UNNAMED].contains(written);
        text.or_else(|| place.written.filter(is_path).map(String::from))
    }

    /// The simple command of each part of the call.
    pub(crate) fn commands_of_parts(&self) -> Vec<Option<&'a SimpleCommand>> {
        self.places().into_iter().map(|place| nth_command(self.call, place.command?)).collect()
    }

    /// Where each part of the call stands in it.
    pub(crate) fn origins(&self) -> Vec<Origin<'_>> {
        let command = |number: usize| Some((number, nth_command(self.call, number)?));
        let places = self.places().into_iter();
        places.map(|place| Origin { command: place.command.and_then(command), written: place.written }).collect()
    }

    fn principal<'s>(&'s self, state: &'s OfState) -> Principal<'s> {
        let main = self.caller.agent.is_none() && !state.child;
        Principal {
            id: self.caller.agent.unwrap_or(if state.child { &self.event.session } else { "main" }),
            main,
            kind: if main || !self.caller.kind.is_empty() { Value::Text(self.caller.kind) } else { Value::Unknown },
            session: &self.event.session,
            user: self.event.principal.as_deref(),
        }
    }

    fn labels(&self) -> Vec<&str> {
        let own = &self.call.tool.labels;
        let more = self.tool.iter().flat_map(|tool| &tool.labels).filter(|label| !own.contains(*label));
        own.iter().chain(more).map(String::as_str).collect()
    }

    fn input(&self) -> Value<'_> {
        let fields = match &self.call.input {
            Json::Object(fields) if !self.call.analysis.open => fields,
            Json::Null if !self.call.analysis.open => return Value::record(Vec::new()),
            _ => return Value::Unknown,
        };
        let known = fields.iter().filter_map(|(name, value)| {
            let found = match self.kind_of(name) {
                Some(kind) => Value::of_kind(value, kind),
                None => Value::of_json(value),
            };
            Some((name.as_str(), found?))
        });
        Value::record(known.collect())
    }

    fn kind_of(&self, argument: &str) -> Option<phasegate_rules::Kind> {
        let said = self.tool.and_then(|tool| tool.arguments.get(argument)).copied();
        said.or_else(|| builtin_argument(&self.action, argument))
    }

    fn context<'s>(&'s self, state: &'s OfState) -> Vec<(&'s str, Value<'s>)> {
        let texts = |all: &'s [String]| Value::set(all.iter().map(|text| Value::Text(text)));
        let mut context = vec![
            ("skills", texts(&state.skills)),
            ("phases", texts(&state.phases)),
            ("access", Value::Text(state.access.word())),
            ("time", self.event.time.map_or(Value::Unknown, Value::Long)),
        ];
        context.extend(self.event.permission_mode.as_deref().map(|mode| ("permission_mode", Value::Text(mode))));
        context
    }

    fn parts(&self) -> Vec<Part<'_>> {
        let unknown = || Part { command: Some(Value::Unknown), path: Some(Value::Unknown) };
        let analysis = &self.call.analysis;
        if let Some(before) = &analysis.redacted {
            // What it was is known by the tests of arguments alone.
            return vec![unknown(); before.rules.as_ref().map_or(1, |seen| seen.parts)];
        }
        if analysis.open || self.is_unread_line() {
            return vec![unknown()];
        }
        self.places().into_iter().map(|place| Part { command: self.command(place.command), path: place.path }).collect()
    }

    fn command(&self, number: Option<usize>) -> Option<Value<'_>> {
        let words = number.and_then(|number| Some((nth_command(self.call, number)?, self.commands.get(number)?)));
        let none = || self.is_shell().then(command_view::none);
        words.map(|(command, words)| words.value(command)).or_else(none)
    }

    /// The parts of the call: each simple command with each path that it accesses. A command that only runs the one inside
    /// it is no part of its own. What belongs to no command belongs to each.
    fn places(&self) -> Vec<Place<'_>> {
        let analysis = &self.call.analysis;
        let mut places = Vec::new();
        if analysis.commands.is_empty() {
            let named = analysis.paths.iter().filter(|path| !path.guess).flat_map(|path| path::values(path, None));
            places.extend(named);
            places.extend(analysis.in_part.iter().map(|path| path::in_part(path, None)));
            if places.is_empty() && !self.is_shell() && self.says_nothing_of_paths() {
                places = path::of_arguments(&self.call.input, &analysis.in_project);
            }
            places.extend(may_run(self.call).into_iter().flat_map(places_of));
        }
        for (number, command) in analysis.commands.iter().enumerate() {
            let is_own =
                |path: &&PathUse| !path.guess && path.command.is_none_or(|of| usize::try_from(of) == Ok(number));
            let before = places.len();
            let own = analysis.paths.iter().filter(is_own);
            places.extend(own.flat_map(|path| path::values(path, Some(number))));
            let is_own = |path: &&PathInPart| path.command.is_none_or(|of| usize::try_from(of) == Ok(number));
            places.extend(analysis.in_part.iter().filter(is_own).map(|path| path::in_part(path, Some(number))));
            if places.len() == before && !(command.transparent && is_plain(command)) {
                places.push(Place { command: Some(number), path: None, written: None });
            }
        }
        for (number, _) in (0_u32..).zip(tasks_of(self.call)).filter(|(_, command)| !command.transparent) {
            let at = usize::try_from(number).ok().map(|number| number.saturating_add(analysis.commands.len()));
            let is_own = |path: &&PathUse| !path.guess && path.command == Some(number);
            let own = analysis.tasks.iter().flat_map(|tasks| &tasks.paths).filter(is_own);
            let before = places.len();
            places.extend(own.flat_map(|path| path::values(path, at)));
            if places.len() == before {
                places.push(Place { command: at, path: None, written: None });
            }
        }
        if places.is_empty() {
            places.push(Place { command: None, path: None, written: None });
        }
        places
    }

    fn is_shell(&self) -> bool {
        self.call.tool.labels.contains(SHELL) || (self.call.tool.name == BASH && self.call.tool.server.is_none())
    }

    /// Whether it is a line of which no command is known, and that may do more than read.
    fn is_unread_line(&self) -> bool {
        let labels = &self.call.tool.labels;
        let takes_line = || labels.is_empty() && self.call.command().is_some_and(Json::is_string);
        commands_of(self.call).is_empty() && !only_reads(labels) && (self.is_shell() || takes_line())
    }

    /// Whether nothing tells which of its arguments are paths.
    fn says_nothing_of_paths(&self) -> bool {
        let tool = &self.call.tool;
        tool.server.is_some() || tool.labels.is_empty() || LOOKING_INTO.contains(&tool.name.as_str())
    }
}

/// What the tool may run, where nothing says what it does.
fn may_run(call: &Call) -> Option<&MayRun> {
    call.analysis.may_run.as_deref().filter(|_| call.tool.labels.is_empty() && call.analysis.commands.is_empty())
}

/// The commands of a call, or those that it may run.
fn commands_of(call: &Call) -> &[SimpleCommand] {
    may_run(call).map_or(call.analysis.commands.as_slice(), |run| run.commands.as_slice())
}

/// The commands of the tasks that a call starts, which stand after its own.
fn tasks_of(call: &Call) -> &[SimpleCommand] {
    call.analysis.tasks.as_ref().map_or(&[], |tasks| tasks.commands.as_slice())
}

/// The command of this number, those of its tasks included.
fn nth_command(call: &Call, number: usize) -> Option<&SimpleCommand> {
    let own = commands_of(call);
    own.get(number).or_else(|| tasks_of(call).get(number.checked_sub(own.len())?))
}

/// The parts of what a tool may run.
fn places_of(run: &MayRun) -> impl Iterator<Item = Place<'_>> {
    let of = |number: usize| move |path: &&PathInPart| path.command.is_none_or(|of| usize::try_from(of) == Ok(number));
    (0..run.commands.len()).flat_map(move |number| {
        let own = run.paths.iter().filter(of(number)).map(move |path| path::in_part(path, Some(number)));
        own.chain([Place { command: Some(number), path: None, written: None }])
    })
}
