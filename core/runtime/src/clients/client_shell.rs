//! Where the guard and the shell of a client meet: what a call was let through as, until the shell runs its line.
//!
//! A shell notes in the state which client started it and at which level it can hold a line. Only then is a line let through
//! that has to be held. While a session stands in a phase that holds lines, the guard leaves a [`Ticket`] for each line that
//! it lets through, the shell takes it, and leaves what came of the line. Lines that are held cannot write the state. A line
//! without a ticket is held then, whoever typed it: the client may have rewritten it since.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use phasegate_adapter::{CHAINED_SHELL, GIVEN_SHELL, PROGRAM, SHELL_NAMES};
use phasegate_core::Confined;
use phasegate_store::digest::sha256_hex;
use phasegate_store::disk::files::{Readers, make_folder, replace};

use crate::locations::Locations;
use crate::processes::ancestors::{Process, own_ancestors, own_process};
use crate::project::session_key;

/// The names under which this program is a shell.
pub const NAMES: [&str; 2] = SHELL_NAMES;
/// How far above a shell its client is looked for.
pub(crate) const MAX_ABOVE: usize = 8;
/// The most tickets that wait for one client.
const MAX_TICKETS: usize = 128;
/// How old the note that a session stands somewhere may be before it is written again.
const FRESH: Duration = Duration::from_secs(60);
/// How old it may be where the session's client is not seen.
const LATE: Duration = Duration::from_secs(30 * 60);
/// How many lines were held in place of others.
const OTHERS: &str = "others.json";
/// That a shell on this machine could keep the guard's files as they are.
const PROTECTED: &str = "protected";
const MARK: &str = "mark.json";
const TICKET: &str = "ticket-";
const STANDING: &str = "standing-";
const ENDED: &str = "ended-";

/// What the shell of a client says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mark {
    /// The level at which it holds a line of which nothing is to stay; `None`: it cannot.
    pub level: Option<String>,
    /// Why at none; empty where there is one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub refused: String,
    /// Why it cannot keep the guard's own files as they are while a line runs; `None`: it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unprotected: Option<String>,
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
    /// How it is held; `None`: what it changes stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confined: Option<Confined>,
    /// Whether it runs as without a guard: its text says all that it does, and it may need rights that it would lose.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bare: bool,
}

/// What stands before the name of the shell where the program is to run a line of a client.
pub const ARGUMENT: &str = "client-shell";

/// The file that clients start as their shell of this name: it starts that shell itself unless a session stands where lines
/// are held, so that a line depends on the program nowhere else. Of a client that names its shell in none of the
/// `variables` the program has to know first.
pub fn script(name: &str, variables: &[&str]) -> String {
    let told: String = variables.iter().map(|variable| format!("${{{variable}-}}")).collect();
    script_with(name, &told, "")
}

/// The same for a client that its settings tell its shell: the file lies in the client's own folder, beside the shell that a
/// person gave the client before.
pub fn settings_script(name: &str, variables: &[&str]) -> String {
    let of_others: String = variables.iter().map(|variable| format!(" {variable}")).collect();
    let given = format!(
        r#"# What stands there is another client's, which started this one.
unset{of_others} {CHAINED_SHELL}
if [ -r "${{0%/*}}/{GIVEN_SHELL}" ]; then
  read -r given <"${{0%/*}}/{GIVEN_SHELL}"
  case $given in "~/"*) given=$HOME/${{given#??}} ;; esac
  {CHAINED_SHELL}=$(command -v "$given") && export {CHAINED_SHELL}
fi
"#
    );
    script_with(name, "", &given)
}

fn script_with(name: &str, told: &str, given: &str) -> String {
    let program = PROGRAM;
    format!(
        r#"#!/bin/sh
# phasegate: the shell of a client, which holds lines where a phase only reads.
{given}state=${{PHASEGATE_STATE_DIR:-${{XDG_STATE_HOME:-$HOME/.local/state}}/phasegate}}
for stands in "$state"/shells/*/{STANDING}*; do
  [ -e "$stands" ] && exec "{program}" {ARGUMENT} {name} "$@"
done
if [ -z "{told}" ] && [ -x "{program}" ]; then
  known=
  for mark in "$state/shells/$PPID"-*; do [ -e "$mark" ] && known=1; done
  [ -n "$known" ] || exec "{program}" {ARGUMENT} {name} "$@"
fi
for shell in "${{{CHAINED_SHELL}-}}" "${{SHELL-}}" /bin/{name} /usr/bin/{name} /usr/local/bin/{name}; do
  case $shell in "$0" | '') ;; "${{{CHAINED_SHELL}-}}" | */{name}) [ -x "$shell" ] && exec "$shell" "$@" ;; esac
done
echo "phasegate: there is no {name} here" >&2
exit 127
"#
    )
}

/// Whether a client starts our file as its shell, by what it says in its variable.
pub fn is_own(shell: &str, variables: &[&str]) -> bool {
    let shell = Path::new(shell);
    let name = shell.file_name().and_then(|name| NAMES.into_iter().find(|known| name == *known));
    let is_ours = |name: &str, text: &str| [script, settings_script].iter().any(|of| text == of(name, variables));
    name.is_some_and(|name| fs::read_to_string(shell).is_ok_and(|text| is_ours(name, &text)))
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

/// How a session's lines run, those without a ticket too: held in a phase that holds lines, and everywhere so that the
/// guard's own files stay as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Standing {
    /// The project's root.
    pub root: PathBuf,
    /// The namespace of the guard's processes; 0 where that is not known.
    pub namespace: u64,
    /// How a line is held; `None`: what it changes stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confined: Option<Confined>,
    /// What no line may change: the guard's files, and what clients and shells read at their start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protected: Vec<PathBuf>,
    /// The folders of the project that no line may move: from them the client loads texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<PathBuf>,
    /// The folders in what is protected in which changes stay.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writable: Vec<PathBuf>,
}

/// The folder in which a client's shell and its guard meet.
#[derive(Clone, Debug)]
pub struct Meeting {
    folder: PathBuf,
}

impl Meeting {
    /// That of a client, by its process.
    pub fn of(state: &Path, client: Process) -> Self {
        Self { folder: folder(state).join(client.name()) }
    }

    /// What the shell said of itself.
    pub fn mark(&self) -> Option<Mark> {
        read(&self.folder.join(MARK))
    }

    /// Whether the shell said something of itself.
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

    /// Why no shell keeps the guard's files as they are now, where one did before; notes it where one does.
    pub(crate) fn lost_protection<'a>(&self, mark: &'a Mark) -> Option<&'a str> {
        let note = self.folder.parent()?.join(PROTECTED);
        match &mark.unprotected {
            Some(why) => note.exists().then_some(why),
            None => {
                let written = if note.exists() { Ok(()) } else { fs::write(&note, "") };
                written.map_err(|error| tracing::warn!("that lines are kept from the guard's files: {error}")).ok()?;
                None
            }
        }
    }

    /// Leaves what was decided of a line. Of too many the oldest go: where lines are held, one without a ticket is.
    ///
    /// # Errors
    ///
    /// The state cannot be written.
    pub fn leave(&self, ticket: &Ticket) -> io::Result<()> {
        let waiting = self.waiting();
        for (path, _) in waiting.iter().take(waiting.len().saturating_add(1).saturating_sub(MAX_TICKETS)) {
            let _ = fs::remove_file(path);
        }
        let number =
            |(path, _): &(PathBuf, Ticket)| path.file_stem()?.to_str()?.strip_prefix(TICKET)?.parse::<u64>().ok();
        let next = waiting.last().and_then(number).unwrap_or_default().saturating_add(1);
        self.write(&format!("{TICKET}{next:010}.json"), ticket)
    }

    /// Takes what was decided of the line for which this holds; of several the strictest, and of those the first.
    pub fn take(&self, is_it: impl Fn(&str) -> bool) -> Option<Ticket> {
        let mut waiting = self.waiting();
        waiting.retain(|(_, ticket)| is_it(&ticket.line));
        waiting.sort_by_key(|(path, ticket)| (ticket.confined.is_none(), path.clone()));
        // Who removes it has it.
        waiting.into_iter().find(|(path, _)| fs::remove_file(path).is_ok()).map(|(_, ticket)| ticket)
    }

    /// Notes how the lines of a session run; `None`: as without a guard.
    ///
    /// # Errors
    ///
    /// The state cannot be written.
    pub fn stand(&self, session: &str, standing: Option<&Standing>) -> io::Result<()> {
        let name = format!("{STANDING}{}.json", session_key(session));
        let path = self.folder.join(&name);
        match standing {
            None if path.exists() => fs::remove_file(path),
            Some(standing) if is_older(&path, FRESH) || read(&path).as_ref() != Some(standing) => {
                self.write(&name, standing)
            }
            _ => Ok(()),
        }
    }

    /// How the lines of the client run; of several sessions as one has it which holds them, and what any of them protects.
    pub fn standing(&self) -> Option<Standing> {
        let all: Vec<Standing> = self.files(STANDING).iter().filter_map(|path| read(path)).collect();
        let of_all = |paths: fn(&Standing) -> &Vec<PathBuf>| {
            let mut found: Vec<PathBuf> = all.iter().flat_map(paths).cloned().collect();
            found.sort();
            found.dedup();
            found
        };
        let (protected, held) = (of_all(|standing| &standing.protected), of_all(|standing| &standing.held));
        let writable = of_all(|standing| &standing.writable);
        let holds = all.iter().position(|standing| standing.confined.is_some());
        all.into_iter().nth(holds.unwrap_or_default()).map(|standing| Standing {
            protected,
            held,
            writable,
            ..standing
        })
    }

    /// How the lines of a session run.
    pub(crate) fn standing_of(&self, session: &str) -> Option<Standing> {
        read(&self.folder.join(format!("{STANDING}{}.json", session_key(session))))
    }

    /// Whether something is noted of a session of the client, also where nobody can read it.
    pub fn stands(&self) -> bool {
        !self.files(STANDING).is_empty()
    }

    /// That of the client above this process, if its shell or its guard said something of it. A client may start its shell
    /// through another program.
    pub fn above(state: &Path) -> Option<Self> {
        let near = own_ancestors().into_iter().take(MAX_ABOVE);
        near.map(|process| Self::of(state, process)).find(Self::is_marked)
    }

    /// How lines of some client run whose processes are not seen here, as from within the client's own sandbox.
    pub fn standing_outside(state: &Path) -> Option<(Self, Standing)> {
        let own = own_process()?.2;
        let clients = fs::read_dir(folder(state)).into_iter().flatten().flatten();
        let mut meetings = clients.map(|client| Self { folder: client.path() });
        // Of a process that is not seen nobody knows whether it runs.
        let is_late = |meeting: &Self| meeting.files(STANDING).iter().all(|path| is_older(path, LATE));
        let outside = |meeting: &Self| {
            let one = meeting.standing()?;
            (one.confined.is_some() && one.namespace != own && !is_late(meeting)).then_some(one)
        };
        meetings.find_map(|meeting| outside(&meeting).map(|standing| (meeting, standing)))
    }

    /// Takes back what was left of a call and did not run; whether it was to be held.
    pub fn withdraw(&self, session: &str, call: &str) -> bool {
        let mine = |ticket: &Ticket| ticket.session == session && ticket.call.as_deref() == Some(call);
        let mut held = false;
        for (path, ticket) in self.waiting().iter().filter(|(_, ticket)| mine(ticket)) {
            held |= fs::remove_file(path).is_ok() && ticket.confined.is_some();
        }
        held
    }

    /// Whether a line waits for a call, and is to be held.
    pub(crate) fn will_hold(&self, session: &str, call: &str) -> bool {
        let mine = |ticket: &Ticket| ticket.session == session && ticket.call.as_deref() == Some(call);
        self.waiting().iter().any(|(_, ticket)| mine(ticket) && ticket.confined.is_some())
    }

    /// Notes that a line was held of which nothing was left in this form: one that waits, as its client rewrote it.
    ///
    /// # Errors
    ///
    /// The state cannot be written.
    pub fn note_other(&self) -> io::Result<()> {
        let before: u64 = read(&self.folder.join(OTHERS)).unwrap_or_default();
        self.write(OTHERS, &before.saturating_add(1))
    }

    /// Takes such a note, if there is one.
    pub fn take_other(&self) -> bool {
        let before: u64 = read(&self.folder.join(OTHERS)).unwrap_or_default();
        before > 0 && self.write(OTHERS, &before.saturating_sub(1)).is_ok()
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
    pub fn take_report<R: DeserializeOwned>(&self, call: &str) -> Option<R> {
        let path = self.folder.join(ended(call));
        let report = read(&path);
        let _ = fs::remove_file(path);
        report
    }

    fn waiting(&self) -> Vec<(PathBuf, Ticket)> {
        self.files(TICKET).into_iter().filter_map(|path| read(&path).map(|ticket| (path, ticket))).collect()
    }

    /// The files whose names begin so, in the order of their names.
    fn files(&self, beginning: &str) -> Vec<PathBuf> {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let named = files.filter(|file| file.file_name().to_string_lossy().starts_with(beginning));
        let mut paths: Vec<PathBuf> = named.map(|file| file.path()).collect();
        paths.sort();
        paths
    }

    fn write<T: Serialize>(&self, name: &str, value: &T) -> io::Result<()> {
        make_folder(&self.folder)?;
        replace(&self.folder.join(name), &serde_json::to_vec(value)?, Readers::Owner)
    }
}

/// Whether a file was written longer ago, or is not there.
fn is_older(path: &Path, than: Duration) -> bool {
    let written = path.metadata().and_then(|data| data.modified()).ok();
    written.and_then(|written| written.elapsed().ok()).is_none_or(|age| age > than)
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

    fn ticket(line: &str, held: bool) -> Ticket {
        let confined = held.then(|| Confined { says: String::new(), keeps: Vec::new() });
        let call = Some(line.into());
        Ticket { line: line.into(), session: "s".into(), call, root: "/p".into(), confined, bare: false }
    }

    fn meeting(state: &Path) -> Meeting {
        Meeting { folder: folder(state).join("1-2") }
    }

    #[test]
    fn a_ticket_is_taken_once_and_the_strictest_first() {
        let state = tempfile::tempdir().unwrap();
        let meeting = meeting(state.path());
        meeting.leave(&ticket("make", false)).unwrap();
        meeting.leave(&ticket("make", true)).unwrap();
        let take = || meeting.take(|line| line == "make").map(|ticket| ticket.confined.is_some());
        assert_eq!(meeting.take(|line| line == "other"), None);
        assert_eq!((take(), take(), take()), (Some(true), Some(false), None));
    }

    #[test]
    fn what_did_not_run_is_withdrawn_and_of_too_many_the_oldest_go() {
        let state = tempfile::tempdir().unwrap();
        let meeting = meeting(state.path());
        meeting.leave(&ticket("a", true)).unwrap();
        meeting.leave(&ticket("b", false)).unwrap();
        assert!(!meeting.withdraw("other", "a") && meeting.withdraw("s", "a") && !meeting.withdraw("s", "b"));
        for number in 0..=MAX_TICKETS {
            meeting.leave(&ticket(&number.to_string(), false)).unwrap();
        }
        assert_eq!(meeting.take(|line| line == "0"), None);
        assert!(meeting.take(|line| line == "1").is_some() && meeting.waiting().len() < MAX_TICKETS);
    }

    #[test]
    fn lines_are_held_as_long_as_some_session_stands_so() {
        let state = tempfile::tempdir().unwrap();
        let meeting = meeting(state.path());
        let confined = Some(Confined { says: "look".into(), keeps: Vec::new() });
        let standing = Standing {
            root: "/p".into(),
            namespace: 1,
            confined,
            protected: Vec::new(),
            held: Vec::new(),
            writable: Vec::new(),
        };
        meeting.stand("a", None).unwrap();
        assert_eq!((meeting.standing(), meeting.stands()), (None, false));
        meeting.write(&format!("{STANDING}x.json"), &"torn").unwrap();
        assert_eq!((meeting.standing(), meeting.stands()), (None, true));
        fs::remove_file(meeting.folder.join(format!("{STANDING}x.json"))).unwrap();
        meeting.stand("a", Some(&standing)).unwrap();
        let protects = Standing { confined: None, protected: vec!["/s".into()], ..standing.clone() };
        meeting.stand("b", Some(&protects)).unwrap();
        let both = Standing { protected: protects.protected.clone(), ..standing };
        assert_eq!((meeting.standing(), meeting.standing_of("b")), (Some(both), Some(protects)));
        meeting.stand("b", None).unwrap();
        assert!(Meeting::standing_outside(state.path()).is_some(), "no process is in that namespace");
        meeting.stand("a", None).unwrap();
        assert_eq!(meeting.standing(), None);
    }

    #[test]
    fn a_line_that_was_held_in_place_of_another_is_counted() {
        let state = tempfile::tempdir().unwrap();
        let meeting = meeting(state.path());
        meeting.note_other().unwrap();
        assert_eq!((meeting.take_other(), meeting.take_other()), (true, false));
    }

    #[test]
    fn only_the_file_that_init_writes_is_the_guards_shell() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bash");
        fs::write(&file, script("bash", &["V"])).unwrap();
        let own = |variables: &[&str]| is_own(file.to_str().unwrap(), variables);
        assert!(own(&["V"]) && !own(&["W"]) && !is_own("/bin/bash", &["V"]));
        fs::write(&file, format!("{}x", script("bash", &["V"]))).unwrap();
        assert!(!own(&["V"]));
    }

    #[test]
    fn what_came_of_a_line_is_taken_once() {
        let state = tempfile::tempdir().unwrap();
        let meeting = meeting(state.path());
        meeting.report("../id", &7).unwrap();
        assert_eq!((meeting.take_report::<u8>("../id"), meeting.take_report::<u8>("../id")), (Some(7), None));
    }
}
