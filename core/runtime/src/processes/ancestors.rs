//! Processes: who started whom, as far as the system shows it.
//!
//! Read from `/proc`, so on Linux only. Elsewhere no process has ancestors that anybody sees: there the variables that a
//! platform sets for the programs of its agents, and calls that are open, are the only signs (rules 4).

use std::collections::BTreeMap;
use std::fs;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

/// How far up a client is looked for from its hook: wrappers between the two are few.
const WRAPPERS: usize = 8;
/// The most processes that one session is remembered to have been served by.
const CLIENTS: usize = 16;

/// A process. Its number can come again; with the time it was started, it is one of a kind until the system restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Process(
    /// Its number.
    pub u32,
    /// When it was started, in the system's ticks since its own start.
    pub u64,
    /// The namespace in which it has that number; 0 where that is not known, as for one that an earlier version noted.
    #[serde(default)]
    pub u64,
);

impl Process {
    /// The process with this id and the id of its parent; `None` if there is none or the system does not show it.
    fn read(pid: u32) -> Option<(Self, u32)> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The program's name comes second, in parentheses, and may hold anything.
        let (_, rest) = stat.rsplit_once(')')?;
        let mut fields = rest.split_ascii_whitespace();
        // One that has ended and was not waited for is still listed.
        let parent = fields.next().filter(|state| !matches!(*state, "Z" | "X")).and(fields.next())?.parse().ok()?;
        let start = fields.nth(17)?.parse().ok()?;
        Some((Self(pid, start, namespace()), parent))
    }

    /// The process with this id; `None` if there is none or the system does not show it.
    pub fn of(pid: u32) -> Option<Self> {
        Self::read(pid).map(|(process, _)| process)
    }

    /// A name that no other process has until the system restarts.
    pub fn name(self) -> String {
        format!("{}-{}", self.0, self.1)
    }

    /// The process of this name.
    pub fn named(name: &str) -> Option<Self> {
        let (pid, start) = name.split_once('-')?;
        Some(Self(pid.parse().ok()?, start.parse().ok()?, namespace()))
    }

    /// Whether it is seen to run.
    pub fn alive(self) -> bool {
        Self::read(self.0).is_some_and(|(now, _)| now == self)
    }

    /// Whether it is known to have ended. One of another namespace is never seen here, whether it runs or not.
    pub fn gone(self) -> bool {
        self.2 != 0 && self.2 == namespace() && !self.alive()
    }

    /// What it was started with under these names; nothing where that is not shown.
    pub fn variables(self, names: &[String]) -> BTreeMap<&str, String> {
        let environment = fs::read(format!("/proc/{}/environ", self.0)).unwrap_or_default();
        let mut found = BTreeMap::new();
        for entry in environment.split(|byte| *byte == 0) {
            let entry = String::from_utf8_lossy(entry);
            if let Some((name, value)) = entry.split_once('=')
                && let Some(name) = names.iter().find(|wanted| *wanted == name)
            {
                found.entry(name.as_str()).or_insert_with(|| value.to_string());
            }
        }
        found
    }

    /// The processes above it, nearest first.
    pub fn ancestors(self) -> Vec<Self> {
        Self::read(self.0).map(|(_, parent)| upwards(parent).collect()).unwrap_or_default()
    }
}

/// The namespace of the processes that the system shows to this one; 0 where that is not known.
fn namespace() -> u64 {
    static OWN: OnceLock<u64> = OnceLock::new();
    let read = || {
        // Where `/proc` is that of another namespace, the numbers in it are not those of this one.
        let own = fs::read_link("/proc/self").ok()?;
        own.to_str().filter(|pid| *pid == std::process::id().to_string())?;
        let link = fs::read_link("/proc/self/ns/pid").ok()?;
        link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
    };
    *OWN.get_or_init(|| read().unwrap_or_default())
}

/// This process; `None` where the system shows none.
pub fn own_process() -> Option<Process> {
    Process::of(std::process::id())
}

/// The processes above this one, nearest first.
pub fn own_ancestors() -> Vec<Process> {
    parent().map(|pid| upwards(pid).collect()).unwrap_or_default()
}

/// The client that started this hook for a session: the nearest ancestor that was not started with one of the `names`
/// naming this very session, as every program that the client starts for it is. `None` if `environment`, this process's
/// own, does not name the session either: then no client started it.
pub fn client(environment: &BTreeMap<String, String>, names: &[String], session: &str) -> Option<Process> {
    let named = |value: Option<&String>| value.is_some_and(|value| value == session);
    if !names.iter().any(|name| named(environment.get(name))) {
        return None;
    }
    let above = upwards(parent()?).take(WRAPPERS);
    above.into_iter().find(|process| !process.variables(names).values().any(|value| named(Some(value))))
}

/// Whether one of these processes is near above this one, so that it need not be looked for.
pub fn near(clients: &[Process]) -> bool {
    !clients.is_empty()
        && parent().is_some_and(|pid| upwards(pid).take(WRAPPERS).any(|process| clients.contains(&process)))
}

/// Adds a process to those that serve a session, and removes those that have ended.
pub fn note(clients: &mut Vec<Process>, client: Process) {
    if clients.contains(&client) {
        return;
    }
    clients.retain(|known| !known.gone());
    clients.push(client);
    let surplus = clients.len().saturating_sub(CLIENTS);
    clients.drain(..surplus);
}

fn upwards(pid: u32) -> impl Iterator<Item = Process> {
    let mut next = pid;
    std::iter::from_fn(move || {
        let (process, parent) = Process::read(next).filter(|_| next > 1)?;
        next = parent;
        Some(process)
    })
}

#[cfg(unix)]
fn parent() -> Option<u32> {
    Some(std::os::unix::process::parent_id())
}

#[cfg(not(unix))]
fn parent() -> Option<u32> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_number_and_start_and_its_ancestors_are_found() {
        let (own, parent) = Process::read(std::process::id()).unwrap();
        let (ended, elsewhere) = (Process(own.0, own.1 + 1, own.2), Process(own.0, own.1 + 1, own.2 + 1));
        assert!(own.alive() && !own.gone() && !ended.alive() && ended.gone());
        assert!(!elsewhere.alive() && !elsewhere.gone(), "what runs in another namespace is not seen");
        assert_eq!(own.ancestors(), own_ancestors());
        assert_eq!(own_ancestors().first().map(|process| process.0), Some(parent).filter(|parent| *parent > 1));
        assert!(near(&own_ancestors()) && !near(&[own]) && !near(&[]));
    }

    #[test]
    fn no_client_is_seen_where_the_environment_does_not_name_the_session() {
        let names = ["PHASEGATE_TEST_SESSION".to_owned()];
        let environment = BTreeMap::from([("PHASEGATE_TEST_SESSION".to_string(), "s1".to_string())]);
        assert_eq!(client(&environment, &names, "s2"), None);
        assert_eq!(client(&BTreeMap::new(), &names, "s1"), None);
        assert_eq!(client(&environment, &names, "s1"), own_ancestors().first().copied());
    }

    #[test]
    fn processes_that_have_ended_make_room() {
        let (own, _) = Process::read(std::process::id()).unwrap();
        let mut clients = vec![Process(own.0, own.1 + 1, own.2)];
        note(&mut clients, own);
        note(&mut clients, own);
        assert_eq!(clients, [own]);
    }
}
