//! Hooks beside which ours would not guard.

use std::path::Path;

use jsonc_parser::cst::CstObject;
use phasegate_adapter::Problem;
use phasegate_core::Code;
use serde_json::Value;

use crate::hosts::host::Host;
use crate::settings::entry::{Owner, owner};
use crate::settings::hooks_of;

/// A hook of a kind that the client does not know makes it drop others, ours among them. One that runs the guard in a form
/// of its own is its owner's to keep, and beside ours would have every call decided twice.
pub(crate) fn reject_odd_hooks(host: &Host, path: &Path, hooks: &CstObject, command: &str) -> Result<(), Problem> {
    let problem = |text: String| Err(Problem::new(Code::ConfigValue, format!("`{}`: {text}", path.display())));
    for property in hooks.properties() {
        let event = property.decoded_name().unwrap_or_default();
        for hook in property.array_value().iter().flat_map(hooks_of) {
            let hook = hook.to_serde_value().unwrap_or_default();
            let text = |name: &str| hook.get(name).and_then(Value::as_str).unwrap_or_default();
            if !host.kinds.contains(&text("type")) {
                let kind = text("type");
                return problem(format!("a hook has the type `{kind}`, which makes the client drop hooks beside it"));
            }
            if owner(host, &hook, command) == Owner::Wrapped {
                return problem(format!(
                    "a hook in `hooks.{event}` runs phasegate in a form of its own, `{}`; with another beside it every \
                     call would be decided twice, so take it out first",
                    text("command")
                ));
            }
        }
    }
    Ok(())
}
