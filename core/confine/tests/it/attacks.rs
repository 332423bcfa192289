//! Attacks as data: each must succeed without the guard, and change nothing with it.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use phasegate_confine::{Fake, Level, Request};
use serde::Deserialize;

use crate::scratch::{Scratch, Snapshot, User, difference, has};

#[derive(Deserialize)]
struct Table {
    attack: Vec<Attack>,
}

/// A row of a table; the head of the table says what the keys mean.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Attack {
    name: String,
    class: String,
    run: String,
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default)]
    server: bool,
    #[serde(default)]
    later: bool,
    #[serde(default)]
    slow: bool,
    user: Option<String>,
    before: Option<String>,
    after: Option<String>,
    #[serde(default)]
    also: Vec<String>,
    #[serde(default)]
    through: BTreeMap<String, String>,
}

/// The longest wait for a change that comes later.
const LATER: Duration = Duration::from_millis(1200);

/// Every attack as every user, at each level that works here.
pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for user in User::all() {
        let scratch = Scratch::new(user);
        let works = |level: &Level| match scratch.refused(&scratch.request(*level)) {
            None => true,
            Some(cause) => {
                eprintln!("{}: the level `{level}` is refused here, so nothing is tried at it: {cause}", user.name());
                false
            }
        };
        let read_only: Vec<Level> = Level::READ_ONLY.into_iter().filter(works).collect();
        let protect: Vec<Level> = [Level::Protect].into_iter().filter(works).collect();
        add(&mut trials, include_str!("../read_only.toml"), user, &read_only);
        add(&mut trials, include_str!("../protect.toml"), user, &protect);
    }
    trials
}

fn add(trials: &mut Vec<Trial>, table: &str, user: User, levels: &[Level]) {
    let table: Table = toml::from_str(table).unwrap();
    for attack in table.attack {
        let missing: Vec<_> = attack.needs.iter().filter(|need| !has(need)).cloned().collect();
        let other = attack.user.as_deref().is_some_and(|wanted| wanted != user.name());
        let kind = if levels == [Level::Protect] { "protect" } else { "read-only" };
        let name = format!("{kind}/{}/{}/{}", user.name(), attack.class, attack.name);
        let ignored = other || !missing.is_empty() || levels.is_empty() || (attack.server && !has("python3"));
        let levels = levels.to_vec();
        let trial = Trial::test(name, move || play(&attack, user, &levels));
        trials.push(trial.with_ignored_flag(ignored));
    }
}

fn play(attack: &Attack, user: User, levels: &[Level]) -> Result<(), Failed> {
    let bare = once(attack, user, None, &[]);
    if bare.is_empty() {
        return Err("it changes nothing without the guard, so it proves nothing".into());
    }
    let mut kept = Vec::new();
    for level in levels {
        let mut changed = once(attack, user, Some(*level), &[]);
        if changed.is_empty() && user != User::Root && ["other processes", "ptrace"].contains(&attack.class.as_str()) {
            // Where the processes outside are in sight.
            changed = once(attack, user, Some(*level), &[Fake::NoProc]);
        }
        match attack.through.get(level.name()) {
            _ if changed.is_empty() => {}
            Some(why) => eprintln!("through at `{level}` as {}: {} ({why})", user.name(), attack.name),
            None => kept.push(format!("{level}: {}", changed.join("\n  "))),
        }
    }
    if kept.is_empty() { Ok(()) } else { Err(kept.join("\n").into()) }
}

/// Plays it in scratch folders of its own. What has changed then.
fn once(attack: &Attack, user: User, level: Option<Level>, fakes: &[Fake]) -> Vec<String> {
    let scratch = Scratch::new(user);
    let _server = attack.server.then(|| Server::start(&scratch));
    if let Some(line) = &attack.before {
        assert!(scratch.bare(line).status().unwrap().success(), "{line}");
    }
    let look = || -> Snapshot {
        if level == Some(Level::Protect) || attack.run.contains("GUARD") || attack.run.contains(".guard") {
            scratch.snapshot_of_guarded()
        } else {
            scratch.snapshot(&attack.also)
        }
    };
    let before = look();
    let request = level.map(|level| Request { fakes: fakes.to_vec(), ..scratch.request(level) });
    let command = request.map(|request| scratch.confining(&request)).unwrap_or_default();
    let mut line = scratch.with_descriptors(&command, &attack.run);
    let done = line.stdout(Stdio::null()).stderr(Stdio::piped()).output().unwrap();
    if std::env::var_os("PHASEGATE_SHOW").is_some() {
        eprintln!("{level:?} {} {}", done.status, String::from_utf8_lossy(&done.stderr));
    }
    let begun = Instant::now();
    let mut changed = difference(&before, &look());
    let wait = if attack.later { LATER } else { Duration::from_millis(u64::from(attack.server) * 300) };
    while changed.is_empty() && begun.elapsed() < wait {
        sleep(Duration::from_millis(30));
        changed = difference(&before, &look());
    }
    if let Some(line) = &attack.after {
        let _ = scratch.bare(line).stderr(Stdio::null()).status();
    }
    let _ = attack.slow;
    changed
}

/// The program outside that attacks reach for.
struct Server(Child);

impl Server {
    fn start(scratch: &Scratch) -> Self {
        let script = crate::scratch::program().with_file_name("server.py");
        let mut line = scratch.bare(&format!("exec python3 {}", script.display()));
        let child = line.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::inherit()).spawn().unwrap();
        let begun = Instant::now();
        while !fs::exists(scratch.outside().join("pid")).unwrap() {
            assert!(begun.elapsed() < Duration::from_secs(20), "the server does not start");
            sleep(Duration::from_millis(10));
        }
        Self(child)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
