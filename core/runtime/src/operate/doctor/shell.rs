//! The client's shell: whether it is the guard's, and at which level it can hold a line.

use std::path::{Path, PathBuf};

use phasegate_adapter::{ClientShell, Finding, InstallRequest, Level};

use super::request::Asked;
use crate::clients::client_shell::is_own;
use crate::locations::Locations;
use crate::project::Project;

pub(super) fn examine(
    shell: &dyn ClientShell,
    locations: &Locations,
    project: &Project,
    request: &InstallRequest,
    asked: &Asked<'_>,
) -> Finding {
    let only_known = "in phases that only read, only lines run that are known to read";
    if let Some(what) = not_ours(shell, locations, request, &asked.shell_variables) {
        return Finding::new(Level::Note, format!("{what}, so {only_known}"))
            .with("run `phasegate init` without `--no-user`");
    }
    if request.existing.values().any(|text| shell.is_sandboxed(text)) {
        let what = format!("the client runs lines in a sandbox of its own, where they cannot be held, so {only_known}");
        return Finding::new(Level::Note, what);
    }
    let Some(mark) = asked.shell_probe.map(|probe| probe(locations, &project.root)) else {
        return Finding::new(
            Level::Note,
            format!("no line is held on this system, or by the config (`confine: off`), so {only_known}"),
        );
    };
    let kept = match &mark.unprotected {
        None => {
            "in every phase the guard's own files outside of the project stay as they are while a line runs".to_owned()
        }
        Some(why) => format!("the guard's own files are kept from lines by their text alone: {why}"),
    };
    match &mark.level {
        Some(level) => {
            let held = format!(
                "in phases that only read, lines run held by the kernel (`{level}`), so that nothing of them stays"
            );
            let level = if mark.unprotected.is_none() { Level::Ok } else { Level::Note };
            Finding::new(level, format!("{held}; {kept}"))
        }
        None => {
            Finding::new(Level::Note, format!("no line can be held here, so {only_known}: {}; {kept}", mark.refused))
        }
    }
}

/// What the settings say that is not the guard's shell; `None` where all of them that name one name it.
fn not_ours(
    shell: &dyn ClientShell,
    locations: &Locations,
    request: &InstallRequest,
    variables: &[&str],
) -> Option<String> {
    let named: Vec<_> = request.existing.iter().filter_map(|(path, text)| Some((path, shell.named(text)?))).collect();
    let place =
        |named: &str| named.strip_prefix("~/").map_or_else(|| PathBuf::from(named), |below| locations.home.join(below));
    let is_ours = |named: &str| place(named).to_str().is_some_and(|place| is_own(place, variables));
    let other = named.iter().find(|(_, named)| !is_ours(named));
    match other {
        None if named.is_empty() => Some("the client's shell is not the guard's".to_owned()),
        None => None,
        Some((path, named)) => {
            let what = format!("the client's shell is not the guard's: `{}` names `{named}`", shown(path, request));
            Some(what)
        }
    }
}

/// A settings file by its name in the project, or as a whole.
fn shown(path: &Path, request: &InstallRequest) -> String {
    path.strip_prefix(&request.project).unwrap_or(path).display().to_string()
}
