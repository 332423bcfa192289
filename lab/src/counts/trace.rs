//! What `strace` wrote of one hook: its system calls from the moment at which it reads its input.

use std::collections::BTreeMap;

/// System calls that manage memory and threads: they hang on where things lie.
const LEFT_OUT: [&str; 8] = ["brk", "mmap", "munmap", "mremap", "mprotect", "madvise", "futex", "sched_yield"];

/// What the main thread did.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Trace {
    pub(super) calls: u64,
    pub(super) read: u64,
    pub(super) written: u64,
    /// How often each file was opened.
    pub(super) opened: BTreeMap<String, u64>,
}

/// Reads the lines `PID NAME(ARGUMENTS) = RESULT`. Another thread may come between the two halves of a line.
pub(super) fn read(text: &str) -> Trace {
    let mut lines = text.lines().filter_map(|line| line.split_once(' '));
    let Some((main, _)) = lines.next() else { return Trace::default() };
    let calls = lines.filter(|(process, _)| *process == main).map(|(_, call)| call.trim_start());
    let mut trace = Trace::default();
    let mut name = "";
    for call in calls.skip_while(|call| !call.starts_with("read(0,")) {
        if !call.starts_with("<... ") {
            let Some((begun, _)) = call.split_once('(') else { continue };
            name = begun;
            trace.calls += u64::from(!LEFT_OUT.contains(&name));
        }
        if call.ends_with("<unfinished ...>") {
            trace.open(name, call);
            continue;
        }
        let result = call.rsplit_once("= ").and_then(|(_, result)| result.split(' ').next()?.parse().ok()).unwrap_or(0);
        match name {
            "read" | "pread64" | "readv" => trace.read += result,
            "write" | "pwrite64" | "writev" => trace.written += result,
            _ if !call.starts_with("<... ") => trace.open(name, call),
            _ => {}
        }
    }
    trace
}

impl Trace {
    fn open(&mut self, name: &str, call: &str) {
        let path = call.split('"').nth(1).filter(|_| name == "openat" || name == "open");
        if let Some(path) = path {
            *self.opened.entry(plain(path)).or_default() += 1;
        }
    }
}

/// The last two names of a path, with `*` for a name that is a digest or by chance.
fn plain(path: &str) -> String {
    let digest = |name: &str| name.len() >= 32 && name.chars().all(|letter| letter.is_ascii_hexdigit());
    let names = path.rsplit('/').take(2).map(|name| {
        // A file that is moved to its place when it is whole.
        if name.starts_with(".phasegate-") {
            return ".phasegate-*".to_owned();
        }
        let (stem, end) = name.split_once('.').unwrap_or((name, ""));
        match (digest(stem), end) {
            (true, "") => "*".to_owned(),
            (true, end) => format!("*.{end}"),
            (false, _) => name.to_owned(),
        }
    });
    let names: Vec<String> = names.collect();
    names.into_iter().rev().collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_count_from_the_input_on_and_of_the_main_thread_alone() {
        let text = "7 execve(\"/p\", []) = 0\n7 read(3, \"x\", 9) = 1\n7 read(0,  <unfinished ...>\n8 write(1, \"\", 1) = 1\n\
                    7 <... read resumed>\"abc\", 8192) = 3\n7 brk(NULL) = 0x1\n\
                    7 openat(AT_FDCWD, \"/s/projects/4c1e44898328b6f826efa85958155054/guarded\", O_RDONLY) = 3\n\
                    7 openat(AT_FDCWD, \"/s/4c1e44898328b6f826efa85958155054.json\", O_RDONLY <unfinished ...>\n\
                    7 <... openat resumed>) = -1 ENOENT (No such file)\n7 pread64(3, \"x\", 9, 0) = 20\n\
                    7 write(4, \"y\"..., 909) = 909\n7 exit_group(0) = ?\n";
        let opened = [("*/guarded", 1), ("s/*.json", 1)].map(|(path, times)| (path.to_owned(), times));
        assert_eq!(read(text), Trace { calls: 6, read: 23, written: 909, opened: opened.into() });
    }
}
