//! The MCP servers that skills name: whether anything here has them, and whether a skill over several holds on all.

use phasegate_adapter::{Finding, Level};
use phasegate_config::TOGETHER;

use crate::policies::policy_store::Current;
use crate::project::Project;
use crate::runtime::Runtime;

pub(super) fn examine(runtime: &Runtime, project: &Project) -> Vec<Finding> {
    let Ok(Current::Ready(ready)) = runtime.current(project) else { return Vec::new() };
    let known = runtime.servers(project);
    let mut found = Vec::new();
    for skill in &ready.policy.skills {
        let (named, name) = (skill.named_servers(), &skill.name);
        for server in &named {
            if let Some(why) = known.apart(server, named.len()) {
                let what = format!("the skill `{name}` may not hold on the server `{server}`: {why}");
                found.push(Finding::new(Level::Warning, what).with(TOGETHER));
            }
            if known.all && !known.has(server) {
                let what = format!(
                    "the skill `{name}` names the server `{server}`, which no client's settings define and no relay has seen"
                );
                let step = match known.tools.keys().next() {
                    None => format!("add it to the list of a client under the name `{server}`"),
                    Some(_) => {
                        let others: Vec<_> = known.tools.keys().map(|known| format!("`{known}`")).collect();
                        format!(
                            "add it under this name, or if it is one of {}, write that name in the skill or name its relay \
                             `--server {server}`",
                            others.join(", ")
                        )
                    }
                };
                found.push(Finding::new(Level::Warning, what).with(step));
            }
        }
    }
    found
}
