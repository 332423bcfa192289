//! Replay: a neutral transcript, line by line, through the same engine (`phasegate replay`).
//!
//! The names and fields of lines and outputs are fixed; later versions add, never change.

mod files;
mod invoked;
mod key;
mod output;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use phasegate_core::events::event::{By, EventKind, SessionSource};
use phasegate_core::policy::Mode;
use phasegate_core::rules::rule_report::{RulesTold, rules_told};
use phasegate_core::runs::import::TASK_GRAPH;
use phasegate_core::shell::classifier::Classifier;
use phasegate_core::shell::safety::Registry;
use phasegate_core::state::pins::OWN_TOOLS;
use phasegate_core::state::{Project, Session, Status};
use phasegate_core::{COMMANDS, Decision, Event, Policy, Record, State};
use serde_json::{Value, json};

use self::files::Files;
use crate::analysis::{Shell, count_words, name_paths, read_line};
use crate::driver::decide::{Decided, decide, not_kept};
use crate::operate::audit::line::Place;
use crate::operate::audit::log::{append, lines};
use crate::policies::policy_store::made;
use crate::sessions::lineage::joined;
use crate::timestamp::milliseconds;

/// Where facts about files come from, besides the `file` lines.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The project's folder, which paths are relative to; `None`: the first working directory that a line names.
    pub root: Option<String>,
    /// A project folder whose files are read for facts; `None`: only `file` lines count.
    pub live_files: Option<PathBuf>,
    /// A skill that is activated before the first line, in every session.
    pub skill: Option<String>,
    /// The least strict mode that any run may have.
    pub mode: Option<Mode>,
    /// Whether the invocation of a skill that the policy does not have is passed over, as a guard does; else it is an error.
    pub other_skills: bool,
    /// A file that audit events are appended to.
    pub audit_log: Option<PathBuf>,
    /// Whether the client's shell is taken to hold lines of which nothing is to stay.
    pub confine: bool,
    /// What is registered of commands for the project.
    pub safety: Arc<Registry>,
}

/// A transcript during its replay.
#[derive(Clone, Debug)]
pub struct Replay {
    policy: Arc<Policy>,
    options: Options,
    project: Project,
    sessions: BTreeMap<String, Session>,
    /// The sessions in the order of their last line, the latest first.
    latest: Vec<String>,
    /// The working directory of each session, as last named.
    places: BTreeMap<String, String>,
    files: Files,
    time: Option<i64>,
    lines: u64,
}

/// Why a line cannot be applied. Nothing of it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineError(pub String);

impl std::fmt::Display for LineError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LineError {}

/// What a line meets: the state, and the records of the runs that the session joined.
struct Begun {
    state: State,
    records: Vec<Record>,
}

impl Replay {
    /// Begins a transcript.
    ///
    /// # Errors
    ///
    /// `options.skill` is not a skill of the policy; the text lists those that are.
    pub fn new(mut policy: Policy, options: Options) -> Result<Self, LineError> {
        if let Some(name) = &options.skill
            && policy.skill(name).is_none()
        {
            return Err(unknown_skill(&policy, name));
        }
        for skill in &mut policy.skills {
            skill.mode = skill.mode.max(options.mode);
        }
        let files = Files::new(options.live_files.clone(), options.root.clone());
        let project = Project { safety: Arc::clone(&options.safety), ..Project::default() };
        Ok(Self {
            policy: Arc::new(policy),
            options,
            project,
            sessions: BTreeMap::new(),
            latest: Vec::new(),
            places: BTreeMap::new(),
            files,
            time: None,
            lines: 0,
        })
    }

    /// Steps one line. The answer is one output object.
    ///
    /// # Errors
    ///
    /// The line is not JSON, or has an unknown event, field or name; nothing of it is applied.
    pub fn line(&mut self, text: &str) -> Result<Value, LineError> {
        let event = self.read(text)?;
        self.event(event)
    }

    /// Steps one event. The answer is one output object.
    ///
    /// # Errors
    ///
    /// It names what is not known; nothing of it is applied.
    pub fn event(&mut self, event: Event) -> Result<Value, LineError> {
        let (event, as_tool) = self.prepared(self.known(event)?);
        let name = if as_tool { "tool_call" } else { event.name() };
        let Begun { state: before, mut records } = self.begun(&event)?;
        let Decided { outcome: mut done, facts } = self.decide(&before, &event)?;
        records.extend(phasegate_core::records(&self.policy, &before, &event, &done.changes));
        let after = done.state_after(&before);
        if done.decision.as_ref().is_none_or(Decision::lets_through) {
            self.files.called(&event);
        }
        if as_tool && done.decision.is_none() {
            done.decision = Some(Decision::allow());
        }
        self.time = event.time;
        self.lines += 1;
        self.log(&event, &records);
        let output = output::object(&output::Line {
            seq: self.lines,
            event: name,
            before: &before,
            after: &after,
            outcome: &done,
            records: &records,
            facts: &facts,
            policy_version: &self.policy.version,
        });
        self.latest.retain(|session| *session != event.session);
        self.latest.insert(0, event.session.clone());
        self.sessions.insert(event.session, after.session);
        self.project = after.project;
        Ok(output)
    }

    /// What the rules say of the call that a line would make now. Nothing of it is applied. `None`: the line is no call.
    ///
    /// # Errors
    ///
    /// As for [`Replay::line`].
    pub fn told(&mut self, text: &str) -> Result<Option<RulesTold>, LineError> {
        let (event, _) = self.prepared(self.read(text)?);
        let Begun { state, .. } = self.begun(&event)?;
        let facts = self.decide(&state, &event)?.facts;
        Ok(rules_told(&self.policy, &state, &event, &facts))
    }

    /// An event whose call is read, and whether it is a command that the agent gives as a call.
    fn prepared(&mut self, mut event: Event) -> (Event, bool) {
        if event.time.is_none() {
            event.time = self.time;
        }
        match &event.cwd {
            Some(cwd) => {
                self.files.seen_from(cwd);
                self.places.insert(event.session.clone(), cwd.clone());
            }
            None => event.cwd = self.places.get(&event.session).cloned(),
        }
        let tool_command = command_of(&event);
        let as_tool = tool_command.is_some();
        event.kind = tool_command.unwrap_or(event.kind);
        let made = made(&self.policy, &event);
        if let Some(made) = made {
            Arc::make_mut(&mut self.policy).earlier.push(made);
        }
        if let EventKind::File { path, content, sha256, .. } = &event.kind {
            self.files.set(path, event.cwd.as_deref(), content.as_deref(), sha256.as_deref());
        }
        let shell = self.shell(&event.session);
        let of_line = read_line(&mut event, &shell, self.files.root(), &|| None).is_some();
        if let EventKind::ToolCall { analysis, .. } = &mut event.kind {
            analysis.confinable = of_line && self.options.confine;
        }
        self.files.read_paths(&mut event, of_line);
        name_paths(&mut event, self.files.root(), "");
        self.files.name_read(&mut event, &self.policy);
        invoked::read(&mut event);
        count_words(&mut event, &self.policy);
        (event, as_tool)
    }

    /// The shipped table, beside what is registered in a session and for the project.
    fn shell(&self, session: &str) -> Shell {
        let of_session = self.sessions.get(session).map(|session| Arc::clone(&session.safety)).unwrap_or_default();
        let classifier = Classifier::with([Arc::clone(&self.project.safety), of_session], &self.policy.safety);
        Shell::default().with(classifier).under(&self.policy)
    }

    /// Appends the audit events among `records` to the log, if there is one.
    fn log(&self, event: &Event, records: &[Record]) {
        if let Some(path) = &self.options.audit_log {
            let place = Place {
                time: event.time.unwrap_or_default(),
                session: &event.session,
                seq: Some(self.lines),
                policy: &self.policy.version,
                agent: event.subagent(),
                principal: event.principal.as_deref(),
            };
            let lines = lines(&place, records);
            if !lines.is_empty() {
                append(path, &lines);
            }
        }
    }

    fn read(&self, text: &str) -> Result<Event, LineError> {
        let mut value: Value = serde_json::from_str(text).map_err(|error| LineError(format!("not JSON: {error}")))?;
        // What a test expects of the answer is none of the event.
        value.as_object_mut().and_then(|fields| fields.remove("expect"));
        if let Some(time) = value.get_mut("time")
            && let Some(stamp) = time.as_str()
        {
            let parsed = milliseconds(stamp)
                .ok_or_else(|| LineError(format!("`time` is neither milliseconds nor an RFC 3339 time: `{stamp}`")))?;
            *time = json!(parsed);
        }
        self.known(Event::from_value(value).map_err(LineError)?)
    }

    /// The event, if all that it names is known.
    fn known(&self, event: Event) -> Result<Event, LineError> {
        match &event.kind {
            EventKind::State { format, .. } if format != TASK_GRAPH => {
                Err(LineError(format!("unknown state format `{format}`; there is `{TASK_GRAPH}`")))
            }
            EventKind::Skill { name, .. } if !self.options.other_skills && self.policy.invoked(name).is_none() => {
                Err(unknown_skill(&self.policy, name))
            }
            EventKind::Command { name, .. } if !COMMANDS.contains(&name.as_str()) => {
                Err(LineError(format!("unknown command `{name}`; the commands are [{}]", COMMANDS.join(", "))))
            }
            _ => Ok(event),
        }
    }

    /// The state before a line, and the changes by inheritance. A session that begins as another's child, fork or clear
    /// inherits that one's runs. A session that starts up without a parent is a fresh session of a person.
    fn begun(&mut self, event: &Event) -> Result<Begun, LineError> {
        let mut state = self.state(&event.session)?;
        let mut records = Vec::new();
        let EventKind::SessionStart { source, parent } = &event.kind else { return Ok(Begun { state, records }) };
        let known = parent.as_deref().filter(|parent| self.sessions.contains_key(*parent));
        let follows = matches!(source, SessionSource::Fork | SessionSource::Clear);
        if self.sessions.contains_key(&event.session)
            || (known.is_none() && !follows && *source != SessionSource::Child)
        {
            return Ok(Begun { state, records });
        }
        let others = self.latest.iter().filter_map(|id| Some((id.as_str(), self.sessions.get(id)?)));
        for (from, runs) in joined(known, follows, others) {
            let join = Event { kind: EventKind::Join { from, runs }, ..event.clone() };
            let done = self.decide(&state, &join)?.outcome;
            records.extend(phasegate_core::records(&self.policy, &state, &join, &done.changes));
            done.apply_to(&mut state);
        }
        Ok(Begun { state, records })
    }

    /// The state of a session; a new one begins with the skill that was asked for.
    fn state(&mut self, session: &str) -> Result<State, LineError> {
        let known = self.sessions.get(session).cloned();
        let new = known.is_none();
        let state = State { session: known.unwrap_or_default(), project: self.project.clone() };
        let Some(skill) = self.options.skill.clone().filter(|_| new) else { return Ok(state) };
        let live = state.live_runs().any(|run| run.skill == skill && run.status == Status::Active);
        if live {
            return Ok(state);
        }
        let args = json!({ "skill_name": skill });
        let kind = EventKind::Command { by: By::Human, name: "activate_skill".into(), args };
        let begun = self.decide(&state, &Event::new(session, kind))?.outcome;
        if let Some(refused) = &begun.decision {
            return Err(LineError(format!(
                "the skill `{skill}` does not begin: {}. {}",
                refused.reason, refused.recovery
            )));
        }
        let mut state = begun.state_after(&state);
        state.session.events = 0;
        Ok(state)
    }

    /// Decides the event by what the lines and the live files say.
    fn decide(&mut self, before: &State, event: &Event) -> Result<Decided, LineError> {
        let gather = |policy: &_, keys: &[_], found: &mut _| self.files.gather(policy, keys, found);
        decide(&mut self.policy, before, event, gather, not_kept).map_err(|problem| LineError(problem.message))
    }
}

fn unknown_skill(policy: &Policy, name: &str) -> LineError {
    let known: Vec<_> = policy.skills.iter().map(|skill| skill.name.as_str()).collect();
    LineError(format!("unknown skill `{name}`; the skills here are [{}]", known.join(", ")))
}

/// A call of one of the original's three tools is that command, given by the agent.
fn command_of(event: &Event) -> Option<EventKind> {
    let EventKind::ToolCall { tool, server, input, .. } = &event.kind else { return None };
    let ours = server.as_deref().is_none_or(|server| server == "phasegate");
    (ours && OWN_TOOLS.contains(&tool.as_str())).then(|| EventKind::Command {
        by: By::Agent,
        name: tool.clone(),
        args: input.clone(),
    })
}
