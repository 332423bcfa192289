//! A confined command ends with the process that runs it, and leaves nothing behind.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use phasegate_confine::{Level, Request};
use rustix::process::{Pid, Signal, kill_process};

use crate::scratch::{Scratch, User};

/// How often a command is killed at some point.
const KILLED: u64 = 100;
/// How many commands are run in turn.
const LINES: usize = 30;
/// The longest wait for processes that are ending.
const LONGEST: Duration = Duration::from_secs(20);

/// A test at one level.
type Test = fn(&Scratch, Level) -> Result<(), Failed>;

/// Each test as every user, at each level that works here.
pub(crate) fn trials() -> Vec<Trial> {
    let tests: [(&str, Test); 5] = [
        ("signals reach the command", signals),
        ("a daemon ends with the command", daemons),
        ("nothing is left of commands that ended", ended),
        ("nothing is left of commands that were killed", killed),
        ("a command ends with the parent of its process", parent),
    ];
    let mut trials = Vec::new();
    for user in User::all() {
        let first = Scratch::new(user);
        for level in Level::READ_ONLY {
            let refused = first.refused(&first.request(level)).is_some();
            for (name, test) in tests {
                let trial = Trial::test(format!("lifetime/{}/{level}/{name}", user.name()), move || {
                    test(&Scratch::new(user), level)
                });
                trials.push(trial.with_ignored_flag(refused));
            }
        }
    }
    trials
}

fn signals(scratch: &Scratch, level: Level) -> Result<(), Failed> {
    let line = "trap 'exit 42' TERM; touch /proc/self/fd 2>/dev/null; echo ready; sleep 30 & wait";
    let mut child =
        scratch.confined(&scratch.request(level), line).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut ready = [0_u8; 6];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut ready).unwrap();
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    match child.wait().unwrap().code() {
        Some(42) => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}

fn daemons(scratch: &Scratch, level: Level) -> Result<(), Failed> {
    let line = marked(scratch, "(setsid bash -c 'exec -a MARK sleep 300' >/dev/null 2>&1 &); sleep 0.1");
    let status = scratch.confined(&scratch.request(level), &line).stderr(Stdio::null()).status().unwrap();
    if status.success() { gone(scratch) } else { Err(format!("{status}").into()) }
}

fn ended(scratch: &Scratch, level: Level) -> Result<(), Failed> {
    let mounts = || fs::read_to_string("/proc/self/mountinfo").unwrap().matches(scratch.id()).count();
    let before = mounts();
    for at in 0..LINES {
        let line = format!("echo {at} > src/a.txt; mkdir -p locked && chmod 000 locked; true");
        scratch.confined(&scratch.request(level), &line).stderr(Stdio::null()).status().unwrap();
    }
    if mounts() != before {
        return Err("a mount is left".into());
    }
    no_folders(scratch)?;
    gone(scratch)
}

fn killed(scratch: &Scratch, level: Level) -> Result<(), Failed> {
    for at in 0..KILLED {
        let line = marked(scratch, "echo x > src/a.txt; (exec -a MARK sleep 300) & exec -a MARK sleep 300");
        let mut child = scratch
            .confined(&scratch.request(level), &line)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        sleep(Duration::from_micros(at * at * 5));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // At the level of Landlock a child that was left alone goes on, without rights; the others end at once.
    if level != Level::Landlock {
        gone(scratch)?;
    }
    let begun = Instant::now();
    loop {
        scratch.confined(&scratch.request(level), "true").stderr(Stdio::null()).status().unwrap();
        match no_folders(scratch) {
            Err(error) if begun.elapsed() > LONGEST => return Err(error),
            Err(_) => sleep(Duration::from_millis(50)),
            Ok(()) => break,
        }
    }
    end_all(scratch);
    Ok(())
}

fn parent(scratch: &Scratch, level: Level) -> Result<(), Failed> {
    let request = Request { with_parent: true, ..scratch.request(level) };
    let before = scratch.confining(&request);
    let line = marked(scratch, "echo ready; exec -a MARK sleep 300");
    let mut shell = scratch.with_program("bash".as_ref());
    shell.args(["-c", "\"$@\" & wait", "parent"]).args(&before).args(["bash", "-c", &line]);
    let mut shell = shell.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut ready = [0_u8; 6];
    std::io::Read::read_exact(shell.stdout.as_mut().unwrap(), &mut ready).unwrap();
    shell.kill().unwrap();
    shell.wait().unwrap();
    gone(scratch)
}

/// A line whose processes can be found by their name.
fn marked(scratch: &Scratch, line: &str) -> String {
    line.replace("MARK", scratch.id())
}

fn processes(scratch: &Scratch) -> Vec<Pid> {
    let marked = |pid: &str| {
        let line = fs::read(Path::new("/proc").join(pid).join("cmdline")).ok()?;
        line.starts_with(scratch.id().as_bytes()).then(|| Pid::from_raw(pid.parse().ok()?))?
    };
    fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| marked(entry.file_name().to_str()?)).collect()
}

fn gone(scratch: &Scratch) -> Result<(), Failed> {
    let begun = Instant::now();
    while begun.elapsed() < LONGEST {
        if processes(scratch).is_empty() {
            return Ok(());
        }
        sleep(Duration::from_millis(10));
    }
    end_all(scratch);
    Err("a process is left".into())
}

fn end_all(scratch: &Scratch) {
    for pid in processes(scratch) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

fn no_folders(scratch: &Scratch) -> Result<(), Failed> {
    let left: Vec<_> = fs::read_dir(scratch.work()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    if left.is_empty() { Ok(()) } else { Err(format!("{left:?}").into()) }
}
