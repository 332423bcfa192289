//! Whether an agent can say what commands do, where a person lets it.

use phasegate_adapter::{Adapter, Finding, Level};
use phasegate_core::shell::safety::REGISTER;

use crate::policies::policy_store::Current;
use crate::project::Project;
use crate::runtime::Runtime;

/// A warning where programs are named, and the client has no tool by which the agent registers patterns.
pub(super) fn examine(runtime: &Runtime, project: &Project, adapter: &dyn Adapter) -> Option<Finding> {
    // A plugin offers the tool itself.
    if adapter.bridged() {
        return None;
    }
    let Ok(Current::Ready(ready)) = runtime.current(project) else { return None };
    let state = runtime.project_state(project).unwrap_or_default();
    let named = ready.policy.safety.told(&state.project.safety.approved)?;
    if runtime.serves_own_tools(project) {
        return None;
    }
    let what = format!(
        "agents may classify {named}, and no server in the client's settings offers the tool `{REGISTER}`: the agent cannot \
         register what their commands do"
    );
    let step = "add a server `phasegate` to the client that runs `phasegate mcp serve`, or register the patterns yourself: \
                `phasegate safety register`";
    Some(Finding::new(Level::Warning, what).with(step))
}
