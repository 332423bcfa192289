//! Journals that another program changes or removes between two batches.

use std::io::Write as _;
use std::path::PathBuf;

use phasegate_core::{Code, Event};
use phasegate_runtime::deadline::{Deadline, LIMIT};
use phasegate_runtime::project::Project;
use phasegate_runtime::scratch;
use serde_json::{Value, json};

use crate::batch::{Input, Request};
use crate::oneshot::{Oneshot, Sender};
use crate::session_cache::SessionCache;

const SKILL: &str = "skill: work\ndescription: Look first.\nmode: block\nphases:\n  look:\n    allowed: [Read]\n";

struct Place {
    _folder: tempfile::TempDir,
    project: Project,
    cache: SessionCache,
}

impl Place {
    /// A loaded session.
    fn new() -> Self {
        let (folder, runtime, project) = scratch::project(SKILL).unwrap();
        let mut place = Self { _folder: folder, cache: SessionCache::new(runtime.into(), project.clone()), project };
        place.give(json!({"event": "session_start", "source": "startup"})).unwrap();
        place.give(json!({"event": "skill", "name": "work", "by": "human"})).unwrap();
        place
    }

    fn give(&mut self, event: Value) -> Result<(), Code> {
        let (slot, deadline) = (Oneshot::default(), Deadline::new(LIMIT));
        let input = Input::Event(Box::new(Event::from_value(event).unwrap()));
        let request = Request { session: "s".to_string(), input, deadline, answer: Sender(slot.clone()) };
        self.cache.take(request, true).unwrap();
        self.cache.finish(None);
        slot.try_take().unwrap().map(|_| ()).map_err(|problem| problem.code)
    }

    fn read(&mut self) -> Result<(), Code> {
        self.give(json!({"event": "tool_call", "id": "1", "tool": "Read", "input": {}}))
    }

    fn journal(&self) -> PathBuf {
        self.project.session_journal("s")
    }
}

#[test]
fn a_journal_that_another_program_changes_is_read_again() {
    let mut place = Place::new();
    let mut file = std::fs::OpenOptions::new().append(true).open(place.journal()).unwrap();
    file.write_all(b"not a record\n").unwrap();
    assert_eq!(place.read(), Err(Code::StateUnreadable));

    let mut place = Place::new();
    let text = std::fs::read_to_string(place.journal()).unwrap();
    std::fs::write(place.journal(), text.replacen("startup", "resume!", 1)).unwrap();
    assert_eq!(place.read(), Err(Code::StateUnreadable), "a change deep in the history");
}

#[test]
fn a_journal_that_is_taken_away_is_missed() {
    for whose in [|place: &Place| place.journal(), |place: &Place| place.project.journal()] {
        let mut place = Place::new();
        std::fs::remove_file(whose(&place)).unwrap();
        assert_eq!(place.read(), Err(Code::StateMissing));
        let mut place = Place::new();
        let away = whose(&place).with_extension("away");
        std::fs::rename(whose(&place), away).unwrap();
        assert_eq!(place.read(), Err(Code::StateMissing));
    }
}
