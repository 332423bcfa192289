//! What a trace of system calls shows: programs that were run, connections and signals that were tried.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

/// The system calls that are traced. Each says something that no file shows.
pub(super) const CALLS: &str = "execve,execveat,clone,clone3,fork,vfork,connect,kill,tkill,tgkill,sethostname,\
                                setdomainname,settimeofday,clock_settime,adjtimex,mount,umount2,reboot,ptrace";

/// Those of them that make a process.
const MAKE: &[&str] = &["clone(", "clone3(", "fork(", "vfork("];

/// What the processes of a line did besides files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Trace {
    /// Programs that were run, with the program that ran each (empty for the line's own shell).
    pub(super) executed: BTreeSet<Executed>,
    /// Programs that were asked for and are not there.
    pub(super) missing: BTreeSet<String>,
    /// Places that a connection was tried to, with the program that tried.
    pub(super) connected: BTreeSet<(String, String)>,
    /// Further system calls that change something outside of files.
    pub(super) other: BTreeSet<String>,
}

/// A program that was run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Executed {
    /// The path as it was given to the system.
    pub(super) path: String,
    /// The program that ran it; empty for the line's own shell.
    pub(super) by: String,
}

/// The state while a trace is read.
#[derive(Default)]
struct Reading {
    trace: Trace,
    /// The program of each process; the empty name is the line's shell.
    programs: BTreeMap<u32, String>,
    /// Who made each process or thread, and whether it is a thread. A child may act before its maker's call returns.
    makers: BTreeMap<u32, (u32, bool)>,
    asked: BTreeMap<(u32, String), bool>,
    started: bool,
}

/// Reads what `strace` wrote about a line that `shell` (an absolute path) ran.
pub(super) fn read(text: &str, shell: &str) -> Trace {
    let calls = calls(text);
    let mut reading = Reading::default();
    for (pid, call) in &calls {
        let made = call.rsplit_once(" = ").and_then(|(_, result)| result.parse::<u32>().ok());
        if let Some(child) = made.filter(|_| MAKE.iter().any(|name| call.starts_with(name))) {
            reading.makers.insert(child, (*pid, call.contains("CLONE_THREAD")));
        }
    }
    for (pid, call) in &calls {
        reading.call(*pid, call, shell);
    }
    let found: BTreeSet<&String> =
        reading.asked.iter().filter(|(_, there)| **there).map(|((_, name), _)| name).collect();
    let missing = reading.asked.iter().filter(|((_, name), there)| !**there && !found.contains(name));
    reading.trace.missing = missing.map(|((_, name), _)| name.clone()).collect();
    reading.trace
}

/// The calls with who made them, put together where another process interrupted one.
fn calls(text: &str) -> Vec<(u32, String)> {
    let mut open: BTreeMap<u32, String> = BTreeMap::new();
    let mut calls = Vec::new();
    for line in text.lines() {
        let Some((pid, rest)) = line.split_once(' ') else { continue };
        let Ok(pid) = pid.parse::<u32>() else { continue };
        let rest = rest.trim_start();
        if let Some(begin) = rest.strip_suffix("<unfinished ...>") {
            open.insert(pid, begin.to_string());
        } else if rest.starts_with("<... ") {
            let begin = open.remove(&pid).unwrap_or_default();
            let end = rest.split_once("resumed>").map_or("", |(_, end)| end);
            calls.push((pid, format!("{begin}{end}")));
        } else {
            calls.push((pid, rest.to_string()));
        }
    }
    // What never came back was tried all the same.
    calls.extend(open.into_iter().map(|(pid, begin)| (pid, format!("{begin}) = ?"))));
    calls
}

impl Reading {
    fn call(&mut self, pid: u32, text: &str, shell: &str) {
        let Some((name, args)) = text.split_once('(') else { return };
        let result = text.rsplit_once(" = ").map_or("", |(_, result)| result);
        if !self.started {
            self.started = name == "execve" && quoted(args) == shell && result == "0";
            if self.started {
                self.programs.insert(pid, String::new());
            }
            return;
        }
        let program = self.program(pid);
        match name {
            "execve" | "execveat" => self.exec(pid, &quoted(args), result),
            "clone" | "clone3" | "fork" | "vfork" => {
                if let Ok(child) = result.parse::<u32>() {
                    self.programs.entry(child).or_insert(program);
                }
            }
            "connect" => {
                // The name service of the C library asks a daemon that need not be there.
                if !args.contains("nscd/socket") {
                    let place =
                        args.split_once('{').and_then(|(_, rest)| rest.split_once('}')).map_or("", |(to, _)| to);
                    self.trace.connected.insert((place.to_string(), program));
                }
            }
            "kill" | "tkill" | "tgkill" => self.signal(pid, args, &program),
            _ => {
                self.trace.other.insert(name.to_string());
            }
        }
    }

    fn exec(&mut self, pid: u32, path: &str, result: &str) {
        let name = base(path).to_string();
        if result != "0" {
            let absent = result.contains("ENOENT");
            if absent && !path.is_empty() {
                self.asked.entry((pid, name)).or_insert(false);
            }
            return;
        }
        self.asked.insert((pid, name.clone()), true);
        let by = self.program(pid);
        self.programs.insert(pid, name);
        self.trace.executed.insert(Executed { path: path.to_string(), by });
    }

    /// The program of a process, or that of its maker.
    fn program(&self, pid: u32) -> String {
        let mut at = pid;
        // A process is never made by one that comes after it, so that this ends.
        while !self.programs.contains_key(&at) {
            let Some((maker, _)) = self.makers.get(&at).filter(|(maker, _)| *maker != at) else { break };
            at = *maker;
        }
        self.programs.get(&at).cloned().unwrap_or_default()
    }

    /// The process of a thread.
    fn process(&self, pid: u32) -> u32 {
        let mut at = pid;
        while let Some((maker, true)) = self.makers.get(&at) {
            at = *maker;
        }
        at
    }

    /// A signal to another process; a test whether the process exists is no signal.
    fn signal(&mut self, pid: u32, args: &str, program: &str) {
        let mut parts = args.trim_end().split([',', ')']).map(str::trim);
        let target = parts.next().unwrap_or_default();
        let signal = parts.find(|part| part.starts_with("SIG") || *part == "0").unwrap_or_default();
        if signal != "0" && target != self.process(pid).to_string() {
            self.trace.other.insert(format!("{signal} by {}", if program.is_empty() { "bash" } else { program }));
        }
    }
}

/// The last part of a path.
pub(super) fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The first text in quotes.
fn quoted(args: &str) -> String {
    args.split_once('"')
        .and_then(|(_, rest)| rest.split_once('"'))
        .map(|(text, _)| text.to_string())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_connections_and_signals_are_read_and_what_came_before_the_shell_is_not() {
        let text = "6     execve(\"/usr/bin/setpriv\", [\"setpriv\"], 0x7 /* 3 vars */) = 0\n\
            6     execve(\"/usr/bin/bash\", [\"bash\"], 0x7 /* 3 vars */) = 0\n\
            6     clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>\n\
            6     <... clone resumed>, child_tidptr=0x7f) = 7\n\
            7     execve(\"/usr/bin/env\", [\"env\"], 0x5 /* 3 vars */) = 0\n\
            7     execve(\"/usr/local/bin/ls\", [\"ls\"], 0x5 /* 3 vars */) = -1 ENOENT (No such file or directory)\n\
            7     execve(\"/usr/bin/ls\", [\"ls\"], 0x5 /* 3 vars */) = 0\n\
            7     execve(\"/usr/bin/rg\", [\"rg\"], 0x5 /* 3 vars */) = -1 ENOENT (No such file or directory)\n\
            7     connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr(\"1.1.1.1\")}, 16) = -1 E\n\
            7     connect(3, {sa_family=AF_UNIX, sun_path=\"/var/run/nscd/socket\"}, 110) = -1 ENOENT (No)\n\
            7     kill(6, SIGTERM) = 0\n7     kill(6, 0) = 0\n7     kill(7, SIGTERM) = 0\n7     +++ exited with 0 +++\n";
        let trace = read(text, "/usr/bin/bash");
        let executed: Vec<(&str, &str)> =
            trace.executed.iter().map(|executed| (executed.path.as_str(), executed.by.as_str())).collect();
        assert_eq!(executed, [("/usr/bin/env", ""), ("/usr/bin/ls", "env")]);
        assert_eq!(trace.missing.iter().collect::<Vec<_>>(), ["rg"]);
        assert_eq!(trace.connected.len(), 1);
        assert_eq!(trace.other.iter().collect::<Vec<_>>(), ["SIGTERM by ls"]);
    }
}
