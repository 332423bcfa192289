//! Which MCP servers a project knows: those that the clients' settings define, and those that relays have seen.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use phasegate_config::KnownServers;
use serde_json::Value;

use crate::clients::servers::{ANY, MEANT, defined, shown};
use crate::project::Project;
use crate::runtime::Runtime;
use crate::sessions::pins;

impl Runtime {
    /// What is known of the MCP servers of a project. Where it has no state, or none that can be read, no relay has seen one.
    pub fn servers(&self, project: &Project) -> KnownServers {
        let seen = pins(project).unwrap_or_default();
        let defined = defined(self.platforms.places(), &self.locations.home, &project.root);
        let all = !defined.contains_key(ANY);
        let relayed = |name: &String| seen.keys().any(|known| shown(known) == *name);
        let apart = defined.iter().filter(|(name, _)| relayed(name));
        let apart = apart.filter_map(|(name, all)| Some((name.clone(), all.iter().find_map(apart_because)?))).collect();
        let mut tools: BTreeMap<String, BTreeSet<String>> =
            seen.into_iter().map(|(server, tools)| (server, tools.into_keys().collect())).collect();
        for name in defined.into_keys().filter(|name| name != ANY) {
            if !tools.keys().any(|known| shown(known) == name) {
                tools.insert(name, BTreeSet::new());
            }
        }
        KnownServers { tools, all, apart }
    }

    /// Whether a client's settings start a server that offers the guard's own tools. Settings that cannot be read may.
    pub fn serves_own_tools(&self, project: &Project) -> bool {
        let defined = defined(self.platforms.places(), &self.locations.home, &project.root);
        let ours = |definition: &Value| program(definition).is_some_and(|name| name == "phasegate");
        defined.iter().any(|(name, all)| name == ANY || all.iter().any(ours))
    }
}

/// The name of the program that a definition of a server starts.
fn program(definition: &Value) -> Option<String> {
    let command = definition.get(MEANT.iter().position(|known| *known == "command")?)?;
    let program = command.as_str().or_else(|| command.get(0)?.as_str())?;
    Some(Path::new(program).file_stem()?.to_str()?.to_owned())
}

/// Why the relay of a server that is started so may have a session of its own: relays share one where one process of the
/// client starts them (rules 6.1).
fn apart_because(definition: &Value) -> Option<String> {
    let meant = |key: &str| definition.get(MEANT.iter().position(|known| *known == key)?);
    if ["url", "serverUrl", "httpUrl"].iter().any(|key| meant(key).is_some_and(Value::is_string)) {
        return Some(
            "it is reached by an address, and the clients of each address have sessions of their own".to_owned(),
        );
    }
    if cfg!(not(target_os = "linux")) {
        return Some("on this system each relay has a session of its own".to_owned());
    }
    let name = program(definition)?;
    (name != "phasegate").then(|| format!("`{name}` starts its relay, which may have a session of its own then"))
}
