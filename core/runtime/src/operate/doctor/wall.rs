//! Whether other users' files protect the guard, or only its own checks.

use std::path::Path;

use phasegate_adapter::{Adapter, Finding, Level};

use crate::processes::ancestors::own_process;
use crate::runtime::Runtime;
use phasegate_store::disk::ownership::check_own;

pub(super) fn examine(runtime: &Runtime, managed: bool, adapters: &[&'static dyn Adapter]) -> Vec<Finding> {
    let own = |path: &Path| path.metadata().is_ok_and(|data| check_own(&data).is_ok());
    let program = std::env::current_exe().unwrap_or_default();
    let settings: Vec<_> = adapters.iter().flat_map(|adapter| adapter.installer().places().settings).collect();
    let theirs = settings.iter().filter(|file| file.starts_with('/')).map(Path::new).any(own);
    let mut found = Vec::new();
    if managed && !theirs {
        found.push(Finding::new(Level::Ok, "the machine's settings start the guard, and this user cannot change them"));
    } else if managed {
        let what = "the machine's settings start the guard, and belong to this user, who can change them";
        found.push(Finding::new(Level::Warning, what).with("give them to another user"));
    } else {
        let what = "this user can change the settings that start the guard, and so can every program that runs with \
                    this user's rights";
        found.push(Finding::new(Level::Note, what).with("to prevent that, put the hooks into the machine's settings"));
    }
    if !cfg!(target_os = "linux") || own_process().is_none() {
        let what = "this system does not show who sends a message to the guard, so one that a program of the agent forges \
                    is taken";
        found.push(Finding::new(Level::Note, what).with("to prevent that, run agents on Linux, with `/proc`"));
    }
    let state = own(&runtime.locations.state).then_some("the state");
    let parts: Vec<_> = state.into_iter().chain(own(&program).then_some("the guard's program")).collect();
    if !parts.is_empty() {
        let what = format!("{} can be changed by any program that runs as this user", parts.join(" and "));
        found.push(Finding::new(Level::Note, what).with("to prevent that, run agents as another user"));
    }
    found
}
