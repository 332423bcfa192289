//! A command of a person that an agent gives is refused.

use phasegate_adapter::InstallScope;
use phasegate_runtime::project::every_project;

use super::setting::Setting;
use crate::command::runs::control::{for_a_person, refused_to_agent};
use crate::output::Failure;

/// Refuses a change of what guards a project already, for this user too, where an agent gives the command.
pub(super) fn refuse_the_agent(setting: &Setting<'_>) -> Result<(), Failure> {
    let runtime = &setting.runtime;
    match setting.scope {
        InstallScope::Project => for_a_person("init", runtime, &setting.project),
        InstallScope::User => {
            let guarded = every_project(&runtime.locations).iter().any(|project| project.memory().exists());
            // A call that is open in another project is no sign: the user may set up this one meanwhile.
            let sign = if guarded { runtime.sign_above(&setting.project)? } else { None };
            sign.map_or(Ok(()), |sign| Err(refused_to_agent("init --user", &sign)))
        }
    }
}
