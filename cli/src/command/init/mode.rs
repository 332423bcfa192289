//! The mode in the lines that `init` writes: what happens where the guard gives no answer.

use phasegate_core::policy::Mode;
use phasegate_runtime::Runtime;
use phasegate_runtime::project::every_project;

/// The strictest mode of the projects that are known as guarded: the user's settings stand for all of them. What cannot be
/// read may be a project in block mode.
pub(crate) fn of_guarded_projects(runtime: &Runtime) -> Mode {
    let modes = every_project(&runtime.locations).into_iter().filter_map(|project| match project.remembered() {
        Ok(memory) => memory.map(|memory| memory.mode),
        Err(_) => Some(Mode::Block),
    });
    modes.max().unwrap_or(Mode::Warn)
}
