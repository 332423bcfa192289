//! The program as the shell of a client: it runs the client's lines in that shell, and holds those of which nothing is to
//! stay. The client starts a script ([`phasegate_runtime::client_shell::script`]) that asks the program only where it must.
//!
//! The guard says so by a ticket ([`phasegate_runtime::client_shell`]), and says where lines without one are held too. What was
//! let through only to be held never runs otherwise: then nothing runs, and the status is 125.

mod say;
mod given;
mod held;
mod real_shell;

use std::ffi::OsString;
use std::os::unix::process::{CommandExt as _, parent_id};
use std::path::Path;
use std::process::{Command, ExitCode};

use phasegate_core::Confined;
use phasegate_runtime::ancestors::Process;
use phasegate_runtime::client_shell::{ARGUMENT, Meeting, NAMES, Standing, Ticket};
use phasegate_runtime::{Locations, Project};

use self::given::Given;
use self::held::Held;
use self::say::say;
use crate::exit::{NO_PROGRAM, NOT_CONFINED};
use crate::shell_probe::probe_here;

/// The arguments of the shell, where the program is to run a line of a client: those behind [`ARGUMENT`].
#[must_use]
pub(crate) fn asked(args: &[OsString]) -> Option<&[OsString]> {
    args.get(1).filter(|word| *word == ARGUMENT).and(args.get(2..))
}

/// Runs what the client gave its shell.
#[must_use]
pub(crate) fn run(args: &[OsString]) -> ExitCode {
    let name = args.first().and_then(|name| NAMES.into_iter().find(|known| name == *known));
    let (Some(name), Some(args)) = (name, args.get(1..)) else { return ExitCode::from(NO_PROGRAM) };
    let Some(shell) = real_shell::find(name) else {
        say(format_args!("there is no `{name}` in PATH"));
        return ExitCode::from(NO_PROGRAM);
    };
    let given = Given::of(args);
    let ended = told(&given).and_then(|told| {
        let Some(Told { ticket, locations, meeting }) = told else { return Ok(bare(&shell, args)) };
        let level = meeting.mark().and_then(|mark| mark.level);
        let held = Held { shell: &shell, args, given: &given, ticket: &ticket, level: level.as_deref() };
        held.run(&locations).map(|report| held.end(&report, &meeting))
    });
    ExitCode::from(ended.unwrap_or_else(|why| {
        say(format_args!("nothing has run, since this phase only reads and the kernel does not hold the line: {why}"));
        NOT_CONFINED
    }))
}

/// Becomes the shell, as without a guard.
fn bare(shell: &Path, args: &[OsString]) -> u8 {
    let error = Command::new(shell).args(args).exec();
    say(format_args!("`{}` cannot be started: {error}", shell.display()));
    NO_PROGRAM
}

/// A line that has to be held.
struct Told {
    ticket: Ticket,
    locations: Locations,
    meeting: Meeting,
}

/// What the guard decided of a line that has to be held; `None`: it runs as without a guard.
///
/// # Errors
///
/// Lines may have to be held, and nobody can read what was decided.
fn told(given: &Given) -> Result<Option<Told>, String> {
    let locations = Locations::from_environment().map_err(|problem| problem.message)?;
    let Some(meeting) = Meeting::above(&locations.state) else {
        if !given.is_by_variable() {
            Process::of(parent_id())
                .iter()
                .for_each(|client| note(&Meeting::of(&locations.state, *client), &locations));
            return Ok(None);
        }
        let outside = Meeting::standing_outside(&locations.state);
        return Ok(outside.map(|(meeting, one)| Told { ticket: without_ticket(one), locations, meeting }));
    };
    let ticket = match (meeting.take(|line| given.is(line)), meeting.standing()) {
        (Some(ticket), _) => ticket,
        (None, _) if given.is_of_client() => return Ok(None),
        (None, Some(standing)) => {
            if let Err(error) = meeting.note_other() {
                say(format_args!("that this line is held cannot be noted: {error}"));
            }
            without_ticket(standing)
        }
        (None, None) if meeting.stands() => return Err("what was decided cannot be read".to_owned()),
        (None, None) => return Ok(None),
    };
    Ok(ticket.confined.is_some().then_some(Told { ticket, locations, meeting }))
}

/// For a line that nothing was left of, where lines are held. It may be one that waits, as the client rewrote it.
fn without_ticket(standing: Standing) -> Ticket {
    let Standing { root, confined, .. } = standing;
    let says = format!("{} A person types such a command in a terminal of their own.", confined.says);
    let (line, session) = (String::new(), String::new());
    Ticket { line, session, call: None, root, confined: Some(Confined { says }) }
}

/// Says what this program can do as a shell: of a client that names its shell in no variable, the guard knows it from here.
fn note(meeting: &Meeting, locations: &Locations) {
    let start = std::env::current_dir().unwrap_or_default();
    let mark = probe_here(locations, &Project::find(locations, &start).root);
    if let Err(error) = meeting.write_mark(&mark) {
        say(format_args!("lines cannot be held here, since the guard's state cannot be written: {error}"));
    }
}
