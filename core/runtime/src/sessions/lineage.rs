//! Joining: who began a session, and which runs it goes on with (rules 4).

use std::collections::BTreeSet;

use phasegate_adapter::{Frame, Problem};
use phasegate_core::commands::slash_command;
use phasegate_core::events::event::SessionSource;
use phasegate_core::policy::Mode;
use phasegate_core::state::{self, Run, State, Status};
use phasegate_core::{Event, EventKind};

use crate::locations::Locations;
use crate::processes::ancestors::{Process, client, near, note};
use crate::project::Project;
use crate::sessions::integrity::check_project_journal;
use crate::sessions::live::{self, at_rest, awake, live};
use crate::sessions::snapshot::{ProjectChange, ProjectSnapshot};
use crate::sessions::{OPEN_FOR, SessionInfo, Sessions};

/// Where an event comes from, beside what it says itself.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The client's process, where it is seen.
    client: Option<Process>,
    /// Variables that name the session of the agent that started a program.
    names: Vec<String>,
}

/// A session that an event reaches.
pub struct Reached<'a> {
    /// The folders outside of projects.
    pub locations: &'a Locations,
    /// The project.
    pub project: &'a Project,
    /// The session's id.
    pub session: &'a str,
    /// The state before the event.
    pub state: &'a State,
    /// What the project's journal keeps.
    pub shared: &'a ProjectSnapshot,
    /// How many records the project's journal has, those that were set aside included.
    pub records: u64,
}

/// Who began a session.
enum Begun {
    /// A person did, afresh: nothing is joined.
    Afresh,
    /// It goes on from the session with this id, or a call of that session started it.
    From(String),
    /// An agent may have started it, or its parent is unknown. `ended`: the parent may be a session that has ended.
    Somehow { ended: bool },
}

impl Origin {
    /// The client and the processes above it, nearest first; none where it is not seen.
    pub(crate) fn processes(&self) -> Vec<Process> {
        let above = self.client.map(Process::ancestors).unwrap_or_default();
        self.client.into_iter().chain(above).collect()
    }

    /// The sessions that variables of these processes name.
    pub(crate) fn sessions_named(&self, processes: &[Process]) -> Vec<String> {
        processes.iter().flat_map(|process| process.variables(&self.names).into_values()).collect()
    }

    /// The origin of a frame of a session that these processes have served so far; a new one is noted there.
    pub fn of(names: Vec<String>, frame: &Frame, events: &[Event], session: &str, clients: &mut Vec<Process>) -> Self {
        // What is known already is found with two short files; only a start must know the nearest client of all.
        let starts = events.iter().any(|event| matches!(event.kind, EventKind::SessionStart { .. }));
        if !starts && near(clients) {
            return Self { client: clients.last().copied(), names };
        }
        let client = client(&frame.environment, &names, session);
        if let Some(client) = client {
            note(clients, client);
        }
        Self { client, names }
    }
}

/// Completes the events of a frame: who began the session, if they begin it, and before them the runs that it joins,
/// each session's in an event of its own. A prompt that an agent may have typed is not interactive. Returns what the
/// project's journal is to keep of the sessions that were looked at.
///
/// # Errors
///
/// `state-unreadable`, `state-version`: the sessions whose runs may have to be joined cannot be read. `state-missing`: another
/// session saw more records of the project's journal than it has.
pub fn complete(
    origin: &Origin,
    reached: &Reached<'_>,
    events: &mut Vec<Event>,
) -> Result<Vec<ProjectChange>, Problem> {
    let Some(first) = events.first_mut() else { return Ok(Vec::new()) };
    let new = reached.state.session.events == 0;
    match &mut first.kind {
        EventKind::Prompt { text, interactive: typed @ Some(true) } if slash_command::addressed(text) => {
            *typed = Some(!typed_by_an_agent(origin, reached));
        }
        EventKind::SessionStart { source: SessionSource::Compact, .. } | EventKind::Join { .. } => {
            return Ok(Vec::new());
        }
        _ => {}
    }
    if !new && !matches!(first.kind, EventKind::SessionStart { .. }) {
        return Ok(Vec::new());
    }
    // Clients of a server for many never come from each other.
    let principal = first.principal.clone();
    let served = principal.is_some();
    let others = |mut found: Sessions| {
        found.known.retain(|session| session.id != reached.session && !(served && session.principal.is_some()));
        found
    };
    // What starts up or is resumed is a person's unless a busy session shows otherwise; the rest may come from any.
    let alone = matches!(
        first.kind,
        EventKind::SessionStart { source: SessionSource::Startup | SessionSource::Resume, parent: None }
    );
    let named = match &first.kind {
        EventKind::SessionStart { parent, .. } => parent.clone(),
        _ => None,
    };
    let awake = awake(reached.project, reached.shared);
    // A new session has seen nothing of the project; those that go on have, and miss what was cut off.
    let saw = awake.known.iter().map(|session| session.saw).max().unwrap_or_default();
    if saw > reached.records {
        check_project_journal(reached.project, None, reached.records, saw)?;
    }
    let live = || others(live(reached.project, reached.shared, &awake, named.as_deref()));
    let mut found = if alone { others(awake.clone().within(OPEN_FOR)) } else { live() };
    let mut begun = begun(origin, reached, &first.kind, &found);
    if let Begun::Somehow { .. } = begun {
        found = live();
        if let Some((_, problem)) = found.damaged.first() {
            return Err(problem.clone());
        }
    } else if matches!(begun, Begun::Afresh) && new && found.hidden.is_some() {
        // A damaged journal may hide an open call. A person may still start anew beside it, so nothing is refused here.
        found = live();
        begun = Begun::Somehow { ended: false };
    }
    name_parent(&mut first.kind, &begun);
    let mut joined = runs(&begun, &found);
    if let Some(principal) = principal.filter(|_| new && joined.is_empty()) {
        joined = cut_off(reached, &awake, &principal);
    }
    let joins: Vec<Event> = joined
        .into_iter()
        .map(|(from, runs)| Event {
            kind: EventKind::Join { from, runs },
            ..Event::new(reached.session, EventKind::Idle {})
        })
        .collect();
    let rests = at_rest(reached.shared, &awake, reached.session);
    events.splice(0..0, joins);
    Ok(rests)
}

fn begun(origin: &Origin, reached: &Reached<'_>, kind: &EventKind, found: &Sessions) -> Begun {
    let new = reached.state.session.events == 0;
    let (source, parent) = match kind {
        EventKind::SessionStart { source, parent } => (Some(*source), parent.as_deref()),
        _ => (None, None),
    };
    let known = |session: Option<&SessionInfo>| session.map(|session| Begun::From(session.id.clone()));
    let named = parent.and_then(|parent| found.known.iter().find(|session| session.id == parent));
    let above = origin.client.map(Process::ancestors).unwrap_or_default();
    let sure = known(named).or_else(|| known(served_by(found, &above)));
    if let Some(sure) = sure {
        return sure;
    }
    match source {
        Some(SessionSource::Fork | SessionSource::Clear) | None if new => {
            let same = origin.client.as_slice();
            let ended = source.is_some();
            known(served_by(found, same)).unwrap_or(Begun::Somehow { ended })
        }
        Some(SessionSource::Child) => Begun::Somehow { ended: false },
        _ if marked(origin, reached.locations) => Begun::Somehow { ended: false },
        _ if new && found.known.iter().any(|session| session.open_program().is_some()) => {
            Begun::Somehow { ended: false }
        }
        _ => Begun::Afresh,
    }
}

/// The session that was served last by the nearest of these processes that served any.
fn served_by<'a>(found: &'a Sessions, processes: &[Process]) -> Option<&'a SessionInfo> {
    // Those that are known are in the order of their last record.
    processes.iter().find_map(|process| found.known.iter().find(|session| session.clients.contains(process)))
}

/// Whether the client was started with a variable that names a guarded session, as programs of its agent are.
fn marked(origin: &Origin, locations: &Locations) -> bool {
    let variables = origin.client.map(|client| client.variables(&origin.names)).unwrap_or_default();
    variables.values().any(|session| !matches!(Project::of_session(locations, session), Ok(None)))
}

/// A terminal that a program of an agent opened has that agent's session among its ancestors, or its variables; and while
/// a call runs that can run programs, keys may be its own.
fn typed_by_an_agent(origin: &Origin, reached: &Reached<'_>) -> bool {
    let found = awake(reached.project, reached.shared).within(OPEN_FOR);
    let above = origin.client.map(Process::ancestors).unwrap_or_default();
    let others = |session: &&SessionInfo| session.id != reached.session;
    let running = found.known.iter().filter(others).flat_map(SessionInfo::open_programs).any(|call| !call.launched);
    let unseen = found.hidden.is_some();
    running || unseen || served_by(&found, &above).is_some() || marked(origin, reached.locations)
}

/// The event says who began the session, as far as is known now.
fn name_parent(kind: &mut EventKind, begun: &Begun) {
    let EventKind::SessionStart { source, parent } = kind else { return };
    if *source == SessionSource::Startup && !matches!(begun, Begun::Afresh) {
        *source = SessionSource::Child;
    }
    if let Begun::From(session) = begun {
        parent.get_or_insert_with(|| session.clone());
    }
}

fn runs(begun: &Begun, found: &Sessions) -> Vec<(String, Vec<Run>)> {
    let known = || found.known.iter().map(|session| (session.id.as_str(), &session.state.session));
    match begun {
        Begun::Afresh => Vec::new(),
        Begun::From(session) => joined(Some(session), false, known()),
        Begun::Somehow { ended } => joined(None, *ended, known()),
    }
}

/// The runs that a client of a server for many goes on with: those in block mode of sessions of its principal that neither
/// ended nor have a guard that serves them. A relay that was started anew, or a session that was idle, is no way out.
fn cut_off(reached: &Reached<'_>, awake: &Sessions, principal: &str) -> Vec<(String, Vec<Run>)> {
    let found = live::cut_off(reached.project, reached.shared, awake, principal);
    let is_own =
        |session: &&SessionInfo| session.principal.as_deref() == Some(principal) && session.id != reached.session;
    let known = found.known.iter().filter(is_own).filter(|session| !session.is_served());
    joined(None, false, known.map(|session| (session.id.as_str(), &session.state.session)))
}

/// The runs that a session joins, by the session that they are copied from: all live ones of its `parent`, if that is
/// known; else those in block mode of every session that may be meant, ended ones too if `ended` says so. The sessions come
/// in the order of their last record, the latest first: of a skill's runs the first counts.
pub fn joined<'a>(
    parent: Option<&str>,
    ended: bool,
    sessions: impl Iterator<Item = (&'a str, &'a state::Session)>,
) -> Vec<(String, Vec<Run>)> {
    let least = if parent.is_some() { Mode::Warn } else { Mode::Block };
    let meant = |id: &str, session: &state::Session| match parent {
        Some(parent) => parent == id,
        None => ended || !session.ended,
    };
    let mut skills = BTreeSet::new();
    let mut joined = Vec::new();
    for (id, session) in sessions.filter(|(id, session)| meant(id, session)) {
        let live = session.runs.iter().filter(|run| run.status == Status::Active && run.mode >= least);
        let runs: Vec<Run> = live.filter(|run| skills.insert(run.skill.as_str())).cloned().collect();
        if !runs.is_empty() {
            joined.push((id.to_string(), runs));
        }
    }
    joined
}
