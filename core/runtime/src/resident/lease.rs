//! What is locked stays locked for a moment after a batch, because most events are soon followed by another: the result of a
//! call, or the next call. Whoever else wants the lock gets it after that moment, and in a guard that is always asked, in
//! the pauses that it makes.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use phasegate_adapter::Problem;
use phasegate_core::policy::Mode;

use super::{Batch, Pending, Resident};
use crate::project::Remembered;
use crate::stance::{Stance, Watch};
use crate::transaction::unrecorded;

/// How long it stays locked without an event.
pub(super) const MOMENT: Duration = Duration::from_micros(500);
/// How long it stays locked at most.
const LONGEST: Duration = Duration::from_millis(20);
/// How long nothing stays locked after that.
const PAUSE: Duration = Duration::from_millis(5);

/// The most sessions that stay locked.
const MOST: usize = 4;

/// Since when something is locked, and for how long it may be.
#[derive(Debug, Default)]
pub(super) struct Lease {
    since: Option<Instant>,
    used: Option<Instant>,
    pause: Option<Instant>,
}

/// What could not be written of a batch.
#[derive(Debug, Default)]
pub(super) struct Unsaved {
    shared: Option<Problem>,
    sessions: BTreeMap<String, Problem>,
}

impl Lease {
    /// Something was locked.
    pub(super) fn begin(&mut self) {
        self.since = Some(Instant::now());
    }

    /// Whether what is locked may stay so.
    fn lasts(&mut self) -> bool {
        let now = Instant::now();
        if self.since.is_some_and(|since| now.duration_since(since) > LONGEST) {
            (self.since, self.pause) = (None, Some(now + PAUSE));
        }
        let lasts = self.since.is_some() && self.pause.is_none_or(|pause| pause < now);
        self.used = Some(now);
        lasts
    }

    fn is_over(&self) -> bool {
        let longer = |since: Option<Instant>, limit| since.is_none_or(|since| since.elapsed() >= limit);
        longer(self.used, MOMENT) || longer(self.since, LONGEST)
    }
}

impl Unsaved {
    pub(super) fn is_empty(&self) -> bool {
        self.shared.is_none() && self.sessions.is_empty()
    }

    /// Whether what is loaded of the session is what was written.
    pub(super) fn kept(&self, session: &str) -> bool {
        !self.sessions.contains_key(session)
    }

    /// Whether what is loaded of the project is.
    pub(super) fn kept_shared(&self) -> bool {
        self.shared.is_none()
    }

    /// Gives the answers whose records are written, or a problem where one is not.
    pub(super) fn give(&self, answers: Vec<Pending>) {
        for Pending { session, shared, answer, outcome } in answers {
            let unsaved = self.sessions.get(&session).or(self.shared.as_ref().filter(|_| shared));
            answer.0.give(match (outcome, unsaved) {
                (Ok(steps), None) => Ok(steps),
                (Ok(_), Some(problem)) => Err(problem.clone()),
                (Err(problem), None) => Err(problem),
                (Err(problem), Some(unsaved)) => Err(unrecorded(&problem, unsaved)),
            });
        }
    }
}

impl Batch {
    /// Writes what is held back, and makes durable what must be.
    pub(super) fn write(&mut self) -> Unsaved {
        let shared = self.journal.write_held(false).err();
        let mut sessions = BTreeMap::new();
        for (id, open) in &mut self.sessions {
            match open.journal.write_held(false) {
                Ok(()) => open.own.write_late(),
                Err(problem) => {
                    sessions.insert(id.clone(), problem);
                }
            }
        }
        Unsaved { shared, sessions }
    }
}

impl Resident {
    /// As [`Resident::finish`], but what is locked stays so for a moment, until [`Resident::expire`] finds that it is over.
    /// Whether it does.
    pub(crate) fn pause(&mut self) -> bool {
        let several = self.batch.as_ref().is_some_and(|batch| batch.sessions.len() > MOST);
        if several || !self.lease.lasts() {
            self.finish(None);
            return false;
        }
        let Some(batch) = &mut self.batch else { return false };
        let unsaved = batch.write();
        let answers = std::mem::take(&mut batch.answers);
        self.collect_syncs();
        self.tell_ours();
        if !unsaved.is_empty() {
            self.close(None, &unsaved);
        }
        unsaved.give(answers);
        self.batch.is_some()
    }

    /// Gives locks back that have stayed for a moment. Whether some still do.
    pub(crate) fn expire(&mut self) -> bool {
        let waits = self.batch.as_ref().is_some_and(|batch| !batch.answers.is_empty());
        if !waits && self.lease.is_over() {
            self.finish(None);
        }
        self.batch.is_some()
    }

    /// Whether a journal that is locked, the project's or this session's, is not as it was left: it is to be read again.
    pub(super) fn is_stale(&self, session: &str) -> bool {
        self.batch.as_ref().is_some_and(|batch| {
            let open = batch.sessions.get(session);
            !batch.journal.is_as_left() || open.is_some_and(|open| !open.journal.is_as_left())
        })
    }

    /// Whether the session is locked still, or already: then everything was looked at a moment ago.
    pub(super) fn is_open(&mut self, session: &str, watch: &Watch) -> bool {
        let Some(batch) = &mut self.batch else { return false };
        let Some(open) = batch.sessions.get_mut(session).filter(|open| open.checked) else { return false };
        open.own.looked();
        watch.set(match batch.shared.remembered {
            Some(Remembered { mode: Mode::Block, .. }) => Stance::Block,
            Some(_) | None => Stance::Unsure,
        });
        true
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::io::Write as _;
    use std::path::Path;

    use phasegate_core::{Code, Event};
    use serde_json::json;

    use super::*;
    use crate::deadline::{Deadline, LIMIT};
    use crate::journal::Journal;
    use crate::project::Project;
    use crate::resident::slot::{Answer, Slot};
    use crate::resident::{Asked, Job};
    use crate::scratch;

    const SKILL: &str = "skill: work\ndescription: Look first.\nmode: block\nphases:\n  look:\n    allowed: [Read]\n";

    struct Place {
        _folder: tempfile::TempDir,
        project: Project,
        resident: Resident,
    }

    impl Place {
        /// A session under way, whose locks have stayed.
        fn new() -> Self {
            let (folder, runtime, project) = scratch::project(SKILL).unwrap();
            let mut place = Self { _folder: folder, resident: Resident::new(runtime.into(), project.clone()), project };
            place.give(json!({"event": "session_start", "source": "startup"})).unwrap();
            place.give(json!({"event": "skill", "name": "work", "by": "human"})).unwrap();
            while !place.stays() {
                place.give(json!({"event": "stop"})).unwrap();
            }
            place
        }

        fn stays(&self) -> bool {
            self.resident.batch.is_some()
        }

        fn give(&mut self, event: serde_json::Value) -> Result<(), Code> {
            let (slot, deadline) = (Slot::default(), Deadline::new(LIMIT));
            let asked = Asked::Event(Box::new(Event::from_value(event).unwrap()));
            let job = Job { session: "s".to_string(), asked, deadline, answer: Answer(slot.clone()) };
            self.resident.take(job, true).unwrap();
            self.resident.pause();
            slot.taken().unwrap().map(|_| ()).map_err(|problem| problem.code)
        }

        fn read(&mut self) -> Result<(), Code> {
            self.give(json!({"event": "tool_call", "id": "1", "tool": "Read", "input": {}}))
        }

        fn journal(&self) -> std::path::PathBuf {
            self.project.session_journal("s")
        }
    }

    fn open(path: &Path) -> Result<Journal, Code> {
        Journal::open(path, &Deadline::new(Duration::ZERO)).map_err(|problem| problem.code)
    }

    #[test]
    fn what_stays_locked_is_given_back_after_a_moment() {
        let mut place = Place::new();
        assert_eq!(open(&place.journal()).unwrap_err(), Code::StateBusy);
        while place.resident.expire() {
            std::thread::yield_now();
        }
        drop(open(&place.journal()).unwrap());
        assert_eq!(place.read(), Ok(()));
    }

    #[test]
    fn nothing_stays_locked_for_long_however_much_is_asked() {
        let mut place = Place::new();
        assert!((0..100_000).any(|_| place.read() == Ok(()) && !place.stays()));
    }

    #[test]
    fn a_journal_that_another_hand_changes_meanwhile_is_read_again() {
        let mut place = Place::new();
        assert!(place.stays());
        let mut file = std::fs::OpenOptions::new().append(true).open(place.journal()).unwrap();
        file.write_all(b"not a record\n").unwrap();
        assert_eq!(place.read(), Err(Code::StateUnreadable));

        let mut place = Place::new();
        let text = std::fs::read_to_string(place.journal()).unwrap();
        std::fs::write(place.journal(), text.replacen("startup", "resume!", 1)).unwrap();
        assert_eq!(place.read(), Err(Code::StateUnreadable), "a change deep in the history");
    }

    #[test]
    fn a_journal_that_is_taken_away_meanwhile_is_missed() {
        for whose in [|place: &Place| place.journal(), |place: &Place| place.project.journal()] {
            let mut place = Place::new();
            assert!(place.stays());
            std::fs::remove_file(whose(&place)).unwrap();
            assert_eq!(place.read(), Err(Code::StateMissing));
            let mut place = Place::new();
            let away = whose(&place).with_extension("away");
            std::fs::rename(whose(&place), away).unwrap();
            assert_eq!(place.read(), Err(Code::StateMissing));
        }
    }
}
