//! The README of each crate that others depend on: the documentation at the head of its `lib.rs`, with its example.

use super::generated::Generated;
use xtask::failure::Result;
use xtask::root::{read, root};

/// A crate that others depend on.
struct Crate {
    name: &'static str,
    folder: &'static str,
}

const CRATES: [Crate; 4] = [
    Crate { name: "phasegate-core", folder: "core/engine" },
    Crate { name: "phasegate-adapter", folder: "adapters/api" },
    Crate { name: "phasegate-tower", folder: "adapters/tower" },
    Crate { name: "phasegate-guard", folder: "guard" },
];

/// Their pages.
pub(super) fn pages() -> Result<Vec<Generated>> {
    CRATES.iter().map(page).collect()
}

fn page(Crate { name, folder }: &Crate) -> Result<Generated> {
    let source = root().join(folder).join("src");
    let mut text = format!("# {name}\n\n");
    let mut in_fence = false;
    for line in read(&source.join("lib.rs"))?.lines() {
        if let Some(path) = line.strip_prefix("#![doc = include_str!(\"").and_then(|rest| rest.strip_suffix("\")]")) {
            text.push_str(&read(&source.join(path))?);
            continue;
        }
        let Some(line) = line.strip_prefix("//!") else { break };
        let line = line.strip_prefix(' ').unwrap_or(line);
        if line.starts_with("```") {
            text.push_str(if in_fence || line != "```" { line } else { "```rust" });
            in_fence = !in_fence;
        } else if in_fence && (line == "#" || line.starts_with("# ")) {
            continue;
        } else if in_fence {
            text.push_str(line);
        } else {
            let heading = if line.starts_with('#') { "#" } else { "" };
            text.push_str(heading);
            text.push_str(&line.replace("[`", "`").replace("`]", "`"));
        }
        text.push('\n');
    }
    text.push_str("\nRust 1.89 or newer. Apache-2.0 or MIT, at your choice.\n");
    Ok(Generated { path: format!("{folder}/README.md"), text })
}
