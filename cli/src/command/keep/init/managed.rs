//! `phasegate init --managed`: what an administrator puts on a machine, so that clients load no programs of others into
//! themselves.

use std::io::ErrorKind;
use std::path::Path;

use phasegate_adapter::{Change, InstallRequest};

use super::apply::{show, write};
use super::command_name::lasting_path;
use super::refusal::refuse_the_agent;
use super::setting::{Setting, read};
use crate::exit::Exit;
use crate::output::Failure;

/// How many folders lead to that of a client in `/etc`, with the root.
const OWN_FOLDERS: usize = 3;

/// Writes the files, or removes them.
///
/// # Errors
///
/// No platform has such settings, or the files cannot be written.
pub(super) fn run(setting: &Setting<'_>) -> Result<Exit, Failure> {
    let (args, out) = (setting.args, setting.context.out);
    // Each user's session starts it, so no place below one user's home will do.
    let program = lasting_path()?.display().to_string();
    let (mut any, mut changes) = (false, Vec::new());
    for adapter in &setting.adapters {
        let request = InstallRequest { command: program.clone(), ..setting.request(*adapter)? };
        for change in adapter.installer().managed(&request) {
            any = true;
            let before = read(&change.path)?;
            let after = change.after.filter(|_| !args.undo);
            if before != after {
                changes.push(Change { before, after, ..change });
            }
        }
    }
    let names: Vec<&str> = setting.adapters.iter().map(|adapter| adapter.id()).collect();
    let names = names.join(" ");
    if !any {
        return Err(Failure::new(format!("{names}: no such settings of a machine are known")));
    }
    if changes.is_empty() {
        out.line("nothing to change");
        return Ok(Exit::Done);
    }
    if args.dry_run {
        show(setting, &changes, true);
        out.line("nothing was changed (`--dry-run`)");
        return Ok(Exit::Done);
    }
    refuse_the_agent(setting)?;
    // What can be written at all is known before the first file is.
    if let Some(change) = changes.iter().find(|change| !writable(&change.path)) {
        let undo = if args.undo { " --undo" } else { "" };
        let help = format!(
            "an administrator runs `sudo {program} init {names} --managed{undo}`; `--dry-run` prints the files"
        );
        return Err(Failure::new(format!("`{}` may not be written by you", change.path.display())).with_help(help));
    }
    show(setting, &changes, args.verbose);
    write(&changes)?;
    if args.undo {
        changes.iter().for_each(|change| remove_empty_folders(&change.path));
    }
    let done = if args.undo { "removed" } else { "written; it holds for clients that start from now on" };
    out.line(done);
    Ok(Exit::Done)
}

/// Removes the folders that a removed file leaves empty, but for the client's own.
fn remove_empty_folders(path: &Path) {
    for folder in path.ancestors().skip(1).take_while(|folder| folder.ancestors().count() > OWN_FOLDERS) {
        if std::fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

/// Whether the user may write the file: a file beside it can be made, in the nearest folder that is there.
fn writable(path: &Path) -> bool {
    let Some(folder) = path.ancestors().skip(1).find(|folder| folder.is_dir()) else { return false };
    let probe = folder.join(format!(".phasegate-{}", std::process::id()));
    match std::fs::OpenOptions::new().write(true).create_new(true).open(&probe) {
        Ok(_) => std::fs::remove_file(&probe).is_ok(),
        Err(error) => error.kind() == ErrorKind::AlreadyExists,
    }
}
