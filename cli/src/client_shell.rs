//! The program as the shell of a client: it runs the client's lines in that shell, and holds those of which nothing is to
//! stay. The client starts a script ([`phasegate_runtime::clients::client_shell::script`]) that asks the program only where it must.
//!
//! The guard says so by a ticket ([`phasegate_runtime::clients::client_shell`]), and says where lines without one are held too. What was
//! let through only to be held never runs otherwise: then nothing runs, and the status is 125.

mod input;
mod confined_line;
mod say;
mod real_shell;

use std::ffi::OsString;
use std::os::unix::process::{CommandExt as _, parent_id};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use phasegate_confine::{Level, Request, run as run_confined};
use phasegate_core::Confined;
use phasegate_runtime::clients::client_shell::{ARGUMENT, Meeting, NAMES, Standing, Ticket};
use phasegate_runtime::processes::ancestors::Process;
use phasegate_runtime::processes::connections::sockets_of_clients;
use phasegate_runtime::{Locations, Project};

use self::confined_line::Held;
use self::input::Given;
use self::say::say;
use crate::exit::{NO_PROGRAM, NOT_CONFINED};
use crate::shell_probe::probe_here;

/// The arguments of the shell, where the program is to run a line of a client: those behind [`ARGUMENT`].
pub(crate) fn asked(args: &[OsString]) -> Option<&[OsString]> {
    args.get(1).filter(|word| *word == ARGUMENT).and(args.get(2..))
}

/// Runs what the client gave its shell.
pub(crate) fn run(args: &[OsString]) -> ExitCode {
    let name = args.first().and_then(|name| NAMES.into_iter().find(|known| name == *known));
    let (Some(name), Some(args)) = (name, args.get(1..)) else { return ExitCode::from(NO_PROGRAM) };
    let Some(shell) = real_shell::find(name) else {
        say(format_args!("there is no `{name}` in PATH"));
        return ExitCode::from(NO_PROGRAM);
    };
    let given = Given::of(args);
    let ended = told(&given).and_then(|told| match told {
        Told::Bare => Ok(bare(&shell, args)),
        Told::Protected(standing) => protected(&shell, args, *standing),
        Told::Held { ticket, locations, meeting } => {
            let level = meeting.mark().and_then(|mark| mark.level);
            let held = Held { shell: &shell, args, given: &given, ticket: &ticket, level: level.as_deref() };
            held.run(&locations).map(|report| held.end(&report, &meeting))
        }
    });
    ExitCode::from(ended.unwrap_or_else(|why| {
        say(format_args!("nothing has run, since the kernel does not hold the line: {why}"));
        NOT_CONFINED
    }))
}

/// Becomes the shell, as without a guard.
fn bare(shell: &Path, args: &[OsString]) -> u8 {
    let error = Command::new(shell).args(args).exec();
    say(format_args!("`{}` cannot be started: {error}", shell.display()));
    NO_PROGRAM
}

/// Becomes the shell, which cannot change the protected paths, nor move the held ones.
///
/// # Errors
///
/// Nothing has run, and why.
fn protected(shell: &Path, args: &[OsString], standing: Standing) -> Result<u8, String> {
    // What is not there cannot be kept.
    let Standing { mut protected, held, writable, .. } = standing;
    protected.retain(|path| path.exists());
    let command = std::iter::once(shell.as_os_str().to_owned()).chain(args.iter().cloned()).collect();
    let covered = sockets_of_clients();
    let request =
        Request { protected, held, writable, covered, ..Request::new(Level::Protect, command, PathBuf::new()) };
    run_confined(&request).map(|report| report.status).map_err(|error| error.to_string())
}

/// How a line runs.
enum Told {
    /// As without a guard.
    Bare,
    /// So that it cannot change what is protected.
    Protected(Box<Standing>),
    /// So that nothing of it stays.
    Held { ticket: Box<Ticket>, locations: Box<Locations>, meeting: Meeting },
}

impl Told {
    /// By what the guard left for the line, and by how the lines of the session run.
    fn of(ticket: Ticket, standing: Option<Standing>, locations: Locations, meeting: Meeting) -> Self {
        match ticket {
            Ticket { confined: Some(_), .. } => {
                Self::Held { ticket: Box::new(ticket), locations: Box::new(locations), meeting }
            }
            Ticket { bare, .. } => match standing.filter(|standing| !bare && !standing.protected.is_empty()) {
                Some(standing) => Self::Protected(Box::new(standing)),
                None => Self::Bare,
            },
        }
    }
}

/// What the guard decided of a line.
///
/// # Errors
///
/// Lines may have to be held, and nobody can read what was decided.
fn told(given: &Given) -> Result<Told, String> {
    let locations = Locations::from_environment().map_err(|problem| problem.message)?;
    let Some(meeting) = Meeting::above(&locations.state) else {
        if !given.is_by_variable() {
            Process::of(parent_id())
                .iter()
                .for_each(|client| note(&Meeting::of(&locations.state, *client), &locations));
            return Ok(Told::Bare);
        }
        let outside = Meeting::standing_outside(&locations.state);
        return Ok(
            outside.map_or(Told::Bare, |(meeting, one)| Told::of(without_ticket(&one), Some(one), locations, meeting))
        );
    };
    let (ticket, standing) = (meeting.take(|line| given.is(line)), meeting.standing());
    let ticket = match (ticket, &standing) {
        (Some(ticket), _) => ticket,
        (None, _) if given.is_of_client() => return Ok(Told::Bare),
        (None, Some(standing)) => {
            if standing.confined.is_some()
                && let Err(error) = meeting.note_other()
            {
                say(format_args!("that this line is held cannot be noted: {error}"));
            }
            without_ticket(standing)
        }
        (None, None) if meeting.stands() => return Err("what was decided cannot be read".to_owned()),
        (None, None) => return Ok(Told::Bare),
    };
    Ok(Told::of(ticket, standing, locations, meeting))
}

/// For a line that nothing was left of. It may be one that waits, as the client rewrote it.
fn without_ticket(standing: &Standing) -> Ticket {
    let confined = standing.confined.as_ref().map(|confined| Confined {
        says: format!("{} A person types such a command in a terminal of their own.", confined.says),
        ..confined.clone()
    });
    let (line, session, root) = (String::new(), String::new(), standing.root.clone());
    Ticket { line, session, call: None, root, confined, bare: false }
}

/// Says what this program can do as a shell: of a client that names its shell in no variable, the guard knows it from here.
fn note(meeting: &Meeting, locations: &Locations) {
    let start = std::env::current_dir().unwrap_or_default();
    let mark = probe_here(locations, &Project::find(locations, &start).root);
    if let Err(error) = meeting.write_mark(&mark) {
        say(format_args!("lines cannot be held here, since the guard's state cannot be written: {error}"));
    }
}
