//! The file by which the client knows the command `/phasegate`: what begins with a slash and is not known to it, the client
//! keeps to itself, so that no hook would hear of it.

use std::path::PathBuf;

use phasegate_adapter::{Change, InstallRequest, InstallScope};

use crate::hosts::host::Host;

/// What it says. The hook carries the command out; this is what the agent reads with the hook's answer.
const TEXT: &str = "---\n\
description: Give phasegate a command. It counts only where you type it yourself.\n\
argument-hint: approve NAME | allow [REASON] | skip [NAME] | mode warn|block [SKILL] | start SKILL | end [SKILL] | reload\n\
disable-model-invocation: true\n\
---\n\n\
The user gave phasegate the command `$ARGUMENTS`. What came of it is said beside this message. Go on accordingly.\n";

/// The change that puts the file there; none where one of this name is there already.
pub(crate) fn install(host: &Host, request: &InstallRequest) -> Option<Change> {
    let path = path(host, request)?;
    let free = !request.existing.contains_key(&path);
    free.then(|| Change { path, before: None, after: Some(TEXT.into()) })
}

/// The change that removes the file, unless the file was modified.
pub(crate) fn uninstall(host: &Host, request: &InstallRequest) -> Option<Change> {
    let path = path(host, request)?;
    let before = request.existing.get(&path).filter(|text| *text == TEXT).cloned()?;
    Some(Change { path, before: Some(before), after: None })
}

fn path(host: &Host, request: &InstallRequest) -> Option<PathBuf> {
    let root = match request.scope {
        InstallScope::Project => &request.project,
        InstallScope::User => &request.home,
    };
    host.command_file.map(|file| root.join(file))
}
