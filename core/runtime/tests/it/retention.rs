//! Retention: old sessions go and are not missed; what is live, damaged or named stays.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use phasegate_core::{Code, Event, Outcome};
use phasegate_runtime::operate::retention::{Report, Why, retention};
use phasegate_runtime::operate::verify::verify;
use phasegate_runtime::sessions::snapshot::SessionSnapshot;
use phasegate_runtime::{Locations, Project, Runtime};
use phasegate_store::file_store::FileStore;
use phasegate_store::journal::Journal;
use serde_json::{Value, json};

const SKILL: &str = "skill: work\ndescription: Look first.\nmode: MODE\nfinish: agent\nphases:\n  look:\n    \
                     allowed: [Read]\n    forbidden: [Edit]\n    done_when: { ok: Read }\n  change:\n    allowed: [Edit]\n";

struct World {
    folder: tempfile::TempDir,
    runtime: Runtime,
    project: Project,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [state, user, machine, home] = ["state", "user", "machine", "home"].map(|name| folder.path().join(name));
        let runtime = Runtime::new(Locations { state, user, machine, home }, []);
        let root = folder.path().canonicalize().unwrap().join("project");
        let project = Project::at(&runtime.locations, &root);
        let world = Self { folder, runtime, project };
        world.config("block");
        world
    }

    fn config(&self, mode: &str) {
        let skills = self.folder.path().join("project/.phasegate/skills");
        fs::create_dir_all(&skills).unwrap();
        fs::write(skills.join("work.yaml"), SKILL.replace("MODE", mode)).unwrap();
    }

    fn give(&self, session: &str, event: Value) -> Outcome {
        let event = Event::from_value(event).unwrap();
        self.runtime.handle_event(self.project.clone(), session, event).unwrap().unwrap()
    }

    fn start(&self, session: &str) {
        let _ = self.give(session, json!({"event": "session_start", "source": "startup"}));
    }

    fn activate(&self, session: &str) {
        let _ = self.give(session, json!({"event": "skill", "name": "work", "by": "human"}));
    }

    fn deactivate(&self, session: &str) {
        let _ = self.give(session, json!({"event": "command", "by": "human", "name": "deactivate_skill", "args": {}}));
    }

    fn retain(&self, older_than: Duration, dry_run: bool) -> Report {
        retention(&self.runtime.locations, older_than, dry_run, &mut |done, of| assert!(done <= of)).unwrap()
    }

    fn fits(&self) {
        let report = verify(&self.runtime.locations, &self.project, &mut |_, _| {});
        assert!(report.fits(), "{:#?}", report.findings);
    }

    fn files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        list(&self.runtime.locations.state, &mut found);
        found.sort();
        found
    }

    /// Makes every stored policy old.
    fn age_policies(&self) {
        let old = std::time::SystemTime::now() - Duration::from_secs(100 * 24 * 60 * 60);
        for path in self.files().iter().filter(|path| path.to_str().unwrap().contains("/compiled/")) {
            fs::File::options().write(true).open(path).unwrap().set_modified(old).unwrap();
        }
    }
}

fn list(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { list(&path, found) } else { found.push(path) }
    }
}

fn removed(report: &Report) -> Vec<&str> {
    report.removed.iter().filter_map(|removed| removed.session.as_deref()).collect()
}

#[test]
fn a_session_that_is_over_goes_is_not_missed_and_may_come_again() {
    let world = World::new();
    world.start("over");
    world.activate("over");
    world.deactivate("over");
    world.start("quiet");
    let before = world.files();
    assert_eq!(world.retain(Duration::from_secs(60), false).removed, [], "nothing is old enough");

    let told = world.retain(Duration::ZERO, true);
    assert_eq!(world.files(), before, "only told");
    let done = world.retain(Duration::ZERO, false);
    let mut names = removed(&done);
    names.sort_unstable();
    assert_eq!(names, ["over", "quiet"]);
    assert_eq!((done.bytes(), removed(&done)), (told.bytes(), removed(&told)));
    assert!(world.project.session_journals().is_empty());
    world.fits();

    world.start("over");
    world.activate("over");
    world.fits();
    let text = fs::read_to_string(world.project.journal()).unwrap();
    assert!(text.contains(r#""event":{"event":"removed""#), "{text}");
}

#[test]
fn a_live_run_in_block_mode_a_damaged_journal_and_one_in_use_stay() {
    let world = World::new();
    for session in ["live", "damaged", "busy"] {
        world.start(session);
    }
    world.activate("live");
    let damaged = world.project.session_journal("damaged");
    let text = fs::read_to_string(&damaged).unwrap();
    fs::write(&damaged, text.replacen("session_start", "session_stert", 1)).unwrap();
    let busy = fs::File::open(world.project.session_journal("busy")).unwrap();
    busy.lock().unwrap();

    let report = world.retain(Duration::ZERO, false);
    assert_eq!(report.removed, []);
    for kept in &report.kept {
        let fits = match &kept.why {
            Why::LiveRun => kept.session.as_deref() == Some("live"),
            Why::Damaged(problem) => kept.path == damaged && problem.code == Code::StateUnreadable,
            Why::InUse => kept.path == world.project.session_journal("busy"),
        };
        assert!(fits, "{kept:?}");
    }
    assert_eq!(report.kept.len(), 3);

    drop(busy);
    world.deactivate("live");
    let report = world.retain(Duration::ZERO, false);
    let mut names = removed(&report);
    names.sort_unstable();
    assert_eq!(names, ["busy", "live"]);
}

#[test]
fn a_policy_goes_when_no_record_that_is_kept_names_it() {
    let world = World::new();
    world.config("warn");
    world.start("a");
    world.activate("a");
    world.deactivate("a");
    // A stricter one comes in force by itself.
    world.config("block");
    world.start("b");
    world.activate("b");
    let policies = |world: &World| {
        let files = world.files();
        files.iter().filter(|path| path.to_str().unwrap().contains("/compiled/policies/")).count()
    };
    assert_eq!(policies(&world), 2);
    world.age_policies();
    world.retain(Duration::from_secs(60), false);
    assert_eq!(policies(&world), 2, "both are named");
    fs::File::options()
        .write(true)
        .open(world.project.session_journal("a"))
        .unwrap()
        .set_modified(std::time::SystemTime::now() - Duration::from_secs(3600))
        .unwrap();
    let report = world.retain(Duration::from_secs(60), false);
    assert_eq!(removed(&report), ["a"]);
    assert_eq!(policies(&world), 1);
    world.fits();
    let call = json!({"event": "tool_call", "id": "1", "tool": "Edit", "input": {"file_path": "a"}});
    assert_eq!(world.give("b", call).decision.unwrap().code, Some(Code::NotDone), "the other is in use");
}

#[test]
fn a_journal_that_went_while_its_lock_was_waited_for_is_made_anew() {
    let world = World::new();
    world.start("a");
    let path = world.project.session_journal("a");
    let lock = fs::File::open(&path).unwrap();
    lock.lock().unwrap();
    let open = {
        let path = path.clone();
        std::thread::spawn(move || {
            let deadline = phasegate_runtime::deadline::Deadline::new(phasegate_runtime::deadline::LIMIT);
            Journal::open::<SessionSnapshot>(&FileStore, &path, &deadline).unwrap().0.seq()
        })
    };
    std::thread::sleep(Duration::from_millis(50));
    fs::remove_file(&path).unwrap();
    drop(lock);
    assert_eq!(open.join().unwrap(), 0);
    assert!(path.exists());
}

#[test]
fn a_start_removes_a_few_old_journals_and_the_next_start_the_next() {
    let mut world = World::new();
    for at in 0..20 {
        let session = format!("s{at}");
        world.start(&session);
        world.activate(&session);
        if at % 4 != 0 {
            world.deactivate(&session);
        }
    }
    assert_eq!(world.project.session_journals().len(), 20, "they are young");
    world.runtime.keep_sessions = Duration::ZERO;
    let mut left = Vec::new();
    for at in 0..4 {
        // A round that is over begins again after a day.
        world.runtime.now = [|| now_at(0), || now_at(0), || now_at(0), || now_at(1)][at];
        world.start(&format!("new{at}"));
        left.push(world.project.session_journals().len());
    }
    assert!((13..=20).contains(&left[0]), "a few at once: {left:?}");
    assert!(left[2] < left[0], "the next start goes on: {left:?}");
    assert!(left[3] >= 6, "those with a live run in block mode stay, and the one that starts: {left:?}");
    world.fits();
}

fn now_at(round: i64) -> i64 {
    1_900_000_000_000 + round * 25 * 60 * 60 * 1000
}
