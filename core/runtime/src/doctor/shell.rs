//! The client's shell: whether it is the guard's, and at which level it can hold a line.

use phasegate_adapter::{ClientShell, Finding, InstallRequest, Level};

use super::request::Asked;
use crate::client_shell::is_own;
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
    let named = request.existing.values().find_map(|text| shell.named(text));
    let variables: Vec<_> =
        asked.adapters.iter().filter_map(|adapter| adapter.shell()).map(ClientShell::variable).collect();
    if !named.is_some_and(|named| is_own(&named, &variables)) {
        let what = format!("the client's shell is not the guard's, so {only_known}");
        return Finding::new(Level::Note, what).with("run `phasegate init` without `--no-user`");
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
