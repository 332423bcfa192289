//! Which sessions the start of another one looks at, by the index of the project's journal (rules 8.2).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, SystemTime};

use phasegate_adapter::Problem;

use crate::processes::ancestors::Process;
use crate::project::{Project, session_key};
use crate::sessions::index::{Rested, Resting, SessionIndex};
use crate::sessions::snapshot::{ProjectChange, ProjectSnapshot};
use crate::sessions::{
    LIVE_FOR, OPEN_FOR, SessionInfo, Sessions, all_sessions, changed, is_strict, kept, moment, read, since,
};

/// So many sessions that were active last stay awake for a while, so that they need not be announced again at once.
const RECENT: usize = 8;
/// How long they do.
const RECENT_FOR: Duration = Duration::from_secs(2 * 60);

/// Whether a run in block mode may be live in some session of the project: one is, or a journal cannot be read or is gone.
pub(crate) fn may_be_strict(project: &Project) -> bool {
    let Ok(shared) = kept(project) else { return true };
    let found = live(project, &shared, &awake(project, &shared), None);
    let hides = !found.damaged.is_empty() || found.hidden.is_some();
    hides || found.known.iter().any(|session| is_strict(&session.state))
}

/// The sessions of a project, those alone that can have a call open or a client at work, and of some more.
///
/// # Errors
///
/// As for [`crate::sessions::sessions`].
pub(crate) fn awake_sessions(project: &Project) -> Result<Sessions, Problem> {
    Ok(awake(project, &kept(project)?).within(LIVE_FOR))
}

/// As [`awake_sessions`], also where the project's own journal cannot be read: then all of the last week.
pub(crate) fn readable_sessions(project: &Project) -> Sessions {
    awake(project, &kept(project).unwrap_or_default()).within(LIVE_FOR)
}

/// As [`awake_sessions`], of a project whose journal was read, and of any age.
pub(crate) fn awake(project: &Project, shared: &ProjectSnapshot) -> Sessions {
    let Some(index) = &shared.index else { return all_sessions(project, shared) };
    let paths = index.awake.iter().map(|key| project.session_file(key)).collect();
    read(project, shared, paths, &|key| index.awake.contains(key))
}

/// Every session whose runs another one may join, if `awake` are those awake: those at rest have a live run in block mode,
/// and of each skill only the latest is read. The session `named` is read too, if there is one.
pub(crate) fn live(project: &Project, shared: &ProjectSnapshot, awake: &Sessions, named: Option<&str>) -> Sessions {
    let Some(index) = &shared.index else { return awake.clone().within(LIVE_FOR) };
    let mut reading = Reading { project, shared, found: awake.clone() };
    if let Some(named) = named.map(session_key).filter(|key| !index.awake.contains(key)) {
        reading.add(&named);
    }
    let mut kinds = BTreeMap::<_, Vec<&Resting>>::new();
    for kind in &index.resting {
        kinds.entry((&kind.skill, kind.ended, kind.principal.is_some())).or_default().push(kind);
    }
    reading.latest_of(kinds)
}

/// As [`live`], of those alone that a new session of this principal may go on from: awake or not, or with others.
pub(crate) fn cut_off(project: &Project, shared: &ProjectSnapshot, awake: &Sessions, principal: &str) -> Sessions {
    let Some(index) = &shared.index else { return awake.clone().within(LIVE_FOR) };
    let is_own = |kind: &&Resting| kind.principal.as_deref() == Some(principal) && !kind.ended && !kind.is_served();
    let mut kinds = BTreeMap::<_, Vec<&Resting>>::new();
    for kind in index.resting.iter().filter(is_own) {
        kinds.entry(&kind.skill).or_default().push(kind);
    }
    Reading { project, shared, found: awake.clone() }.latest_of(kinds)
}

/// Reads sessions at rest.
struct Reading<'a> {
    project: &'a Project,
    shared: &'a ProjectSnapshot,
    found: Sessions,
}

impl Reading<'_> {
    /// Reads a session; the skills of its live runs in block mode.
    fn add(&mut self, key: &str) -> Vec<String> {
        let mut more = read(self.project, self.shared, vec![self.project.session_file(key)], &|name| name == key);
        let found = &mut self.found;
        found.damaged.append(&mut more.damaged);
        found.hidden = found.hidden.take().or(more.hidden);
        let new = more.known.pop().filter(|new| !found.known.iter().any(|session| session.id == new.id));
        let strict: Vec<String> = new.iter().flat_map(SessionInfo::strict_skills).map(str::to_string).collect();
        found.known.extend(new);
        strict
    }

    /// Reads of each of these groups, which have a skill each, the latest session that has a live run in block mode of it.
    fn latest_of<K>(mut self, groups: BTreeMap<K, Vec<&Resting>>) -> Sessions {
        let young = |time: &i64| since(moment(*time)) < LIVE_FOR;
        for kinds in groups.into_values() {
            let mut latest: Vec<_> = kinds.iter().flat_map(|kind| kind.latest_first()).collect();
            latest.sort_by_key(|(_, time)| Reverse(*time));
            let skill = kinds.first().map_or("", |kind| &kind.skill);
            let mut listed = latest.into_iter().take_while(|(_, time)| young(time));
            let serves = listed.find(|(key, _)| {
                let known = self.found.known.iter().find(|session| session_key(&session.id) == *key);
                let skills = known.map(|known| known.strict_skills().map(str::to_string).collect());
                skills.unwrap_or_else(|| self.add(key)).iter().any(|name| name == skill)
            });
            let later = |unlisted: &i64| young(unlisted) && serves.is_none_or(|(_, time)| time < *unlisted);
            if kinds.iter().filter_map(|kind| kind.unlisted).any(|unlisted| later(&unlisted)) {
                return all_sessions(self.project, self.shared).within(LIVE_FOR);
            }
        }
        self.found.sort();
        self.found.within(LIVE_FOR)
    }
}

/// What the next start needs to know of the sessions, if `awake` are those awake: which of them rest, and which guards are
/// gone; `own` is the one that starts now.
pub(crate) fn at_rest(shared: &ProjectSnapshot, awake: &Sessions, own: &str) -> Vec<ProjectChange> {
    let mut clients = BTreeSet::new();
    let mut keys = BTreeSet::from([session_key(own)]);
    let mut rested = Vec::new();
    for (rank, session) in awake.known.iter().enumerate() {
        let served = session.principal.is_some();
        let present = session.clients.iter().filter(|client| !client.gone());
        // Of the sessions of a client the latest counts.
        let is_latest = present.filter(|client| clients.insert((**client, served))).count() > 0;
        let is_at_work = is_latest && since(session.active) < LIVE_FOR;
        let key = session_key(&session.id);
        let is_recent = rank < RECENT && since(session.active) < RECENT_FOR;
        let counts = is_recent || session.open_program().is_some() || session.expects_a_strict_run();
        if is_at_work || counts || session.id == own {
            keys.insert(key);
        } else {
            rested.push(rested_of(session));
        }
    }
    // What cannot be read, or has no record yet, is looked at again, as long as it counts.
    let unread = awake.damaged.iter().map(|(path, _)| (path, since(changed(path)) < LIVE_FOR));
    let nothing = awake.empty.iter().chain(&awake.nameless).map(|path| (path, is_checked(shared, path)));
    for (path, counts) in unread.chain(nothing) {
        let Some(key) = path.file_stem().and_then(|name| name.to_str()) else { continue };
        if counts {
            keys.insert(key.to_string());
        } else {
            rested.push(Rested { session: key.to_string(), ..Rested::default() });
        }
    }
    let Some(index) = &shared.index else {
        let mut index = SessionIndex { awake: keys, ..SessionIndex::default() };
        rested.iter().for_each(|session| index.rest(session));
        return vec![ProjectChange::Index(Some(index))];
    };
    let gone = guards_gone(index);
    let gone = (!gone.is_empty()).then_some(ProjectChange::GuardsGone(gone));
    let rested = (!rested.is_empty()).then_some(ProjectChange::Rested(rested));
    gone.into_iter().chain(rested).collect()
}

/// The guards of sessions at rest that are gone, or whose sessions all pass on nothing any more.
fn guards_gone(index: &SessionIndex) -> Vec<Process> {
    let is_young =
        |kind: &Resting| kind.latest_first().first().is_some_and(|(_, time)| since(moment(*time)) < LIVE_FOR);
    let of_young = index.resting.iter().filter(|kind| is_young(kind)).flat_map(|kind| &kind.guards);
    let stay: BTreeSet<&Process> = of_young.filter(|guard| !guard.gone()).collect();
    let all: BTreeSet<&Process> = index.resting.iter().flat_map(|kind| &kind.guards).collect();
    all.difference(&stay).map(|guard| **guard).collect()
}

fn milliseconds(moment: SystemTime) -> i64 {
    let since = moment.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// What the index keeps of a session at rest.
fn rested_of(session: &SessionInfo) -> Rested {
    let is_live = since(session.active) < LIVE_FOR;
    Rested {
        session: session_key(&session.id),
        time: milliseconds(session.active),
        ended: session.state.session.ended,
        principal: session.principal.clone(),
        guards: session.guards.iter().filter(|guard| !guard.gone()).copied().collect(),
        skills: session.strict_skills().filter(|_| is_live).map(str::to_string).collect(),
    }
}

/// Whether the project noted the session of this journal in the last day.
fn is_checked(shared: &ProjectSnapshot, path: &Path) -> bool {
    let key = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    shared.sessions.get(key).is_some_and(|at| since(moment(at.time)) < OPEN_FOR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::lineage::joined;
    use crate::{Locations, Runtime};
    use phasegate_core::{Event, state};
    use phasegate_store::file_store::FileStore;
    use phasegate_store::journal::read_last;
    use serde_json::{Value, json};

    const SKILL: &str = "skill: NAME\nmode: block\nfinish: agent\nphases:\n  look:\n    allowed: [Read]\n";

    struct World {
        _folder: tempfile::TempDir,
        runtime: Runtime,
        project: Project,
    }

    impl World {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let top = folder.path().canonicalize().unwrap();
            let [state, user, machine, home] = ["state", "user", "machine", "home"].map(|name| top.join(name));
            let runtime = Runtime::new(Locations { state, user, machine, home }, []);
            let skills = top.join("project/.phasegate/skills");
            std::fs::create_dir_all(&skills).unwrap();
            for name in ["one", "two"] {
                std::fs::write(skills.join(format!("{name}.yaml")), SKILL.replace("NAME", name)).unwrap();
            }
            let project = Project::at(&runtime.locations, &top.join("project"));
            Self { _folder: folder, runtime, project }
        }

        fn give(&self, session: &str, event: Value) {
            // Two records may not have the same time.
            std::thread::sleep(Duration::from_millis(2));
            let event = Event::from_value(event).unwrap();
            let _ = self.runtime.handle_event(self.project.clone(), session, event).unwrap().unwrap();
        }

        fn shared(&self) -> ProjectSnapshot {
            read_last(&FileStore, &self.project.journal()).unwrap().unwrap().state
        }

        /// The index lets sessions rest at once, with no regard to how recent they are.
        fn rest(&self, shared: &mut ProjectSnapshot) {
            use phasegate_store::state::JournalState as _;
            for session in awake(&self.project, shared).known {
                let rested = rested_of(&session);
                shared.apply(&ProjectChange::Rested(vec![rested]));
            }
        }
    }

    type Names = Vec<(String, Vec<String>)>;

    fn names<'a>(ended: bool, sessions: impl Iterator<Item = (&'a str, &'a state::Session)>) -> Names {
        let joined = joined(None, ended, sessions).into_iter();
        joined.map(|(from, runs)| (from, runs.into_iter().map(|run| run.skill).collect())).collect()
    }

    fn of(found: &Sessions, ended: bool) -> Names {
        names(ended, found.known.iter().map(|session| (session.id.as_str(), &session.state.session)))
    }

    fn own(found: &Sessions, principal: &str) -> Names {
        let own = found.known.iter().filter(|session| session.principal.as_deref() == Some(principal));
        let unserved = own.filter(|session| !session.is_served());
        names(false, unserved.map(|session| (session.id.as_str(), &session.state.session)))
    }

    #[test]
    fn the_index_finds_the_runs_that_all_journals_show() {
        let world = World::new();
        let mut number: u64 = 7;
        let mut random = |below: u64| {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (number >> 33) % below
        };
        world.give("first", json!({"event": "session_start", "source": "startup"}));
        for _ in 0..24 {
            for _ in 0..6 {
                let number = random(24);
                let session = format!("s{number}");
                let mut event = match random(8) {
                    0..=1 => json!({"event": "session_start", "source": "resume"}),
                    2..=3 => json!({"event": "skill", "name": "one", "by": "human"}),
                    4 => json!({"event": "skill", "name": "two", "by": "human"}),
                    5..=6 => json!({"event": "command", "by": "human", "name": "deactivate_skill", "args": {}}),
                    _ => json!({"event": "session_end"}),
                };
                if number.is_multiple_of(3) {
                    event["principal"] = json!(["ann", "bob"][usize::from(number.is_multiple_of(2))]);
                }
                world.give(&session, event);
            }
            let mut shared = world.shared();
            for _ in 0..2 {
                let awake = awake(&world.project, &shared);
                let (few, all) = (live(&world.project, &shared, &awake, None), all_sessions(&world.project, &shared));
                for ended in [false, true] {
                    assert_eq!(of(&few, ended), of(&all, ended), "{:#?}", shared.index);
                }
                for principal in ["ann", "bob"] {
                    let few = cut_off(&world.project, &shared, &awake, principal);
                    assert_eq!(own(&few, principal), own(&all, principal), "{:#?}", shared.index);
                }
                world.rest(&mut shared);
            }
            assert!(shared.index.unwrap().awake.is_empty());
        }
    }

    #[test]
    fn a_start_looks_at_few_sessions_whatever_is_kept() {
        let world = World::new();
        for at in 0..40 {
            let session = format!("s{at}");
            world.give(&session, json!({"event": "session_start", "source": "startup"}));
            world.give(&session, json!({"event": "skill", "name": "one", "by": "human"}));
        }
        let shared = world.shared();
        let awake = awake(&world.project, &shared);
        assert!(awake.known.len() <= RECENT + 2, "{}", awake.known.len());
        let live = live(&world.project, &shared, &awake, Some("s0"));
        assert!(live.known.len() <= awake.known.len() + 2, "the latest at rest, and the one that was named");
        assert_eq!(of(&live, false), [("s39".to_string(), vec!["one".to_string()])]);
    }

    #[test]
    fn a_start_of_a_principal_reads_the_latest_of_its_sessions_that_no_guard_serves() {
        let world = World::new();
        world.give("first", json!({"event": "session_start", "source": "startup", "principal": "ann"}));
        world.give("first", json!({"event": "skill", "name": "one", "by": "human", "principal": "ann"}));
        let mut shared = world.shared();
        world.rest(&mut shared);
        let index = shared.index.as_mut().unwrap();
        let here = crate::processes::ancestors::own_process().unwrap();
        for at in 0..20 {
            let (session, principal, skills) = (format!("k{at}"), Some("ann".to_string()), vec!["one".to_string()]);
            let (time, guards) = (milliseconds(SystemTime::now()) + at, vec![here]);
            index.rest(&Rested { session, time, ended: false, principal, guards, skills });
        }
        let found = cut_off(&world.project, &shared, &awake(&world.project, &shared), "ann");
        assert_eq!(own(&found, "ann"), [("first".to_string(), vec!["one".to_string()])]);
        let ids: Vec<&str> = found.known.iter().map(|session| session.id.as_str()).collect();
        assert_eq!(ids, ["first"], "what a guard serves is not read, and there is no file of it");
    }
}
