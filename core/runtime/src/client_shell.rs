//! Where the guard and the shell of a client meet: what a call was let through as, until the shell runs its line.
//!
//! A shell notes in the state which client started it and at which level it can hold a line. Only then is a line let through
//! that has to be held. The guard leaves a [`Ticket`] for each shell line that it lets through, the shell takes it, and
//! leaves what came of the line. Lines that are held cannot write the state. A line without a ticket is a person's.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use phasegate_core::Confined;
use phasegate_store::digest::sha256_hex;
use phasegate_store::files::{Readers, make_folder, replace};

use crate::ancestors::{Process, own_ancestors};
use crate::locations::Locations;

/// The names under which this program is a shell.
pub const NAMES: [&str; 2] = ["bash", "zsh"];
/// How far above a hook its client is looked for.
const MAX_ABOVE: usize = 8;
/// The most tickets that wait for one client; with more, its shell runs nothing.
const MAX_TICKETS: usize = 64;
const MARK: &str = "mark.json";
const TICKET: &str = "ticket-";
const ENDED: &str = "ended-";

/// What the shell of a client says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mark {
    /// The level at which it holds a line of which nothing is to stay; `None`: it cannot.
    pub level: Option<String>,
    /// Why not at a better level.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub refused: String,
}

/// Finds out what the shell of this program can do in the project with this root.
pub type ShellProbe = fn(&Locations, &Path) -> Mark;

/// What the guard decided of a shell line, for the shell that is to run it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ticket {
    /// The line, as the agent wrote it.
    pub line: String,
    /// The session.
    pub session: String,
    /// The platform's id of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The project's root.
    pub root: PathBuf,
    /// The level that holds the line; empty where it runs as without a guard.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub level: String,
    /// How it is held; `None`: it runs as without a guard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confined: Option<Confined>,
}

/// What came of a line that was held.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LineEnd {
    /// The level that held it.
    pub level: String,
    /// The line's own exit status.
    pub status: u8,
    /// What it changed and what is gone again.
    pub changes: Vec<LineChange>,
    /// How many more changes there were.
    pub more: usize,
}

/// A change that was not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineChange {
    /// The file.
    pub path: String,
    /// `added`, `modified` or `removed`.
    pub kind: String,
}

/// What a shell finds for a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    /// What was decided of this line.
    Ticket(Box<Ticket>),
    /// Nothing of this line, and another line waits that has to be held. It may be this one in another form.
    Other(Box<Ticket>),
    /// Nothing: a person typed it, or no guard is asked here.
    Nothing,
}

/// The folder in which a client's shell and its guard meet.
#[derive(Clone, Debug)]
pub struct Meeting {
    folder: PathBuf,
}

impl Meeting {
    /// That of the client whose shell said of itself that it can hold lines, above this process; with its mark.
    #[must_use]
    pub fn of_client_above(state: &Path) -> Option<(Self, Mark)> {
        let all = folder(state);
        if !all.is_dir() {
            return None;
        }
        own_ancestors().into_iter().take(MAX_ABOVE).find_map(|process| {
            let meeting = Self { folder: all.join(process.name()) };
            let mark = meeting.mark()?;
            Some((meeting, mark))
        })
    }

    /// Whether a client starts this program as its shell, by what it says in its variable.
    #[must_use]
    pub fn is_own(shell: &str) -> bool {
        let shell = Path::new(shell);
        let named = shell.file_name().is_some_and(|name| NAMES.iter().any(|known| name == *known));
        let same = || Some(shell.canonicalize().ok()? == std::env::current_exe().ok()?.canonicalize().ok()?);
        named && same() == Some(true)
    }

    /// That of a client, by its process.
    #[must_use]
    pub fn of(state: &Path, client: Process) -> Self {
        Self { folder: folder(state).join(client.name()) }
    }

    /// What the shell said of itself.
    #[must_use]
    pub fn mark(&self) -> Option<Mark> {
        read(&self.folder.join(MARK))
    }

    /// Whether the shell said something of itself.
    #[must_use]
    pub fn is_marked(&self) -> bool {
        self.folder.join(MARK).exists()
    }

    /// Has the shell say of itself what it can do; and forgets clients that have ended.
    ///
    /// # Errors
    ///
    /// The state cannot be written.
    pub fn write_mark(&self, mark: &Mark) -> io::Result<()> {
        let own = self.folder.file_name();
        for other in self.folder.parent().and_then(|all| fs::read_dir(all).ok()).into_iter().flatten().flatten() {
            let name = other.file_name();
            let gone = Process::named(&name.to_string_lossy()).is_some_and(Process::gone);
            if Some(name.as_os_str()) != own && gone {
                let _ = fs::remove_dir_all(other.path());
            }
        }
        self.write(MARK, mark)
    }

    /// Leaves what was decided of a line.
    ///
    /// # Errors
    ///
    /// The state cannot be written, or too many lines wait.
    pub fn leave(&self, ticket: &Ticket) -> io::Result<()> {
        let waiting = self.waiting();
        if waiting.len() >= MAX_TICKETS {
            return Err(io::Error::other("too many lines of this client were let through and did not run"));
        }
        let number =
            |(path, _): &(PathBuf, Ticket)| path.file_stem()?.to_str()?.strip_prefix(TICKET)?.parse::<u64>().ok();
        let next = waiting.iter().filter_map(number).max().unwrap_or_default().saturating_add(1);
        self.write(&format!("{TICKET}{next:06}.json"), ticket)
    }

    /// Takes what was decided of the line for which this holds; of several the strictest, and of those the first.
    pub fn take(&self, is_it: impl Fn(&str) -> bool) -> Taken {
        let mut waiting = self.waiting();
        waiting.sort_by_key(|(path, ticket)| (ticket.confined.as_ref().is_none_or(|how| how.network), path.clone()));
        waiting.sort_by_key(|(_, ticket)| ticket.confined.is_none());
        for (path, ticket) in waiting.iter().filter(|(_, ticket)| is_it(&ticket.line)) {
            // Who removes it has it.
            if fs::remove_file(path).is_ok() {
                return Taken::Ticket(Box::new(ticket.clone()));
            }
        }
        let held = waiting.into_iter().find(|(_, ticket)| ticket.confined.is_some());
        held.map_or(Taken::Nothing, |(_, ticket)| Taken::Other(Box::new(ticket)))
    }

    /// Takes back what was left of a session and did not run, or of one call of it; whether something was.
    pub fn withdraw(&self, session: &str, call: Option<&str>) -> bool {
        let mine = |ticket: &Ticket| ticket.session == session && (call.is_none() || ticket.call.as_deref() == call);
        let mut any = false;
        for (path, _) in self.waiting().iter().filter(|(_, ticket)| mine(ticket)) {
            any |= fs::remove_file(path).is_ok();
        }
        any
    }

    /// Leaves what came of the line of a call.
    ///
    /// # Errors
    ///
    /// The state cannot be written.
    pub fn report<R: Serialize>(&self, call: &str, report: &R) -> io::Result<()> {
        self.write(&ended(call), report)
    }

    /// Takes what came of the line of a call.
    #[must_use]
    pub fn take_report<R: DeserializeOwned>(&self, call: &str) -> Option<R> {
        let path = self.folder.join(ended(call));
        let report = read(&path);
        let _ = fs::remove_file(path);
        report
    }

    fn waiting(&self) -> Vec<(PathBuf, Ticket)> {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let tickets = files.filter(|file| file.file_name().to_string_lossy().starts_with(TICKET));
        tickets.filter_map(|file| Some((file.path(), read(&file.path())?))).collect()
    }

    fn write<T: Serialize>(&self, name: &str, value: &T) -> io::Result<()> {
        make_folder(&self.folder)?;
        replace(&self.folder.join(name), &serde_json::to_vec(value)?, Readers::Owner)
    }
}

fn folder(state: &Path) -> PathBuf {
    state.join("shells")
}

fn ended(call: &str) -> String {
    format!("{ENDED}{}.json", sha256_hex(call.as_bytes()))
}

fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticket(line: &str, confined: Option<bool>) -> Ticket {
        let confined = confined.map(|network| Confined { network, says: String::new() });
        Ticket {
            line: line.into(),
            session: "s".into(),
            call: Some(line.into()),
            root: "/p".into(),
            level: String::new(),
            confined,
        }
    }

    fn network(taken: Taken) -> Option<Option<bool>> {
        match taken {
            Taken::Ticket(ticket) => Some(ticket.confined.map(|how| how.network)),
            Taken::Other(_) | Taken::Nothing => None,
        }
    }

    #[test]
    fn a_ticket_is_taken_once_and_the_strictest_first() {
        let state = tempfile::tempdir().unwrap();
        let meeting = Meeting { folder: state.path().join("c") };
        for confined in [None, Some(true), Some(false)] {
            meeting.leave(&ticket("make", confined)).unwrap();
        }
        let take = || meeting.take(|line| line == "make");
        assert_eq!(network(take()), Some(Some(false)));
        assert!(matches!(meeting.take(|line| line == "other"), Taken::Other(_)));
        assert_eq!(network(take()), Some(Some(true)));
        assert_eq!(meeting.take(|line| line == "other"), Taken::Nothing);
        assert_eq!(network(take()), Some(None));
        assert_eq!(take(), Taken::Nothing);
    }

    #[test]
    fn what_did_not_run_is_withdrawn_and_too_many_are_refused() {
        let state = tempfile::tempdir().unwrap();
        let meeting = Meeting { folder: state.path().join("c") };
        meeting.leave(&ticket("a", Some(false))).unwrap();
        meeting.leave(&ticket("b", Some(false))).unwrap();
        assert!(
            !meeting.withdraw("other", None) && meeting.withdraw("s", Some("a")) && !meeting.withdraw("s", Some("a"))
        );
        assert!(matches!(meeting.take(|line| line == "b"), Taken::Ticket(_)));
        for _ in 0..MAX_TICKETS {
            meeting.leave(&ticket("a", None)).unwrap();
        }
        assert!(meeting.leave(&ticket("a", None)).is_err());
    }

    #[test]
    fn what_came_of_a_line_is_taken_once() {
        let state = tempfile::tempdir().unwrap();
        let meeting = Meeting { folder: state.path().join("c") };
        meeting.report("../id", &7).unwrap();
        assert_eq!((meeting.take_report::<u8>("../id"), meeting.take_report::<u8>("../id")), (Some(7), None));
    }
}
