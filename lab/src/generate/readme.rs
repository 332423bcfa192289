//! The part of `README.md` that lists how the guard can be bypassed, from the adapters.

use std::fmt::Write as _;

use super::generated::{Generated, cell};
use xtask::root::{read, root};

/// Where the part begins.
const BEGIN: &str = "<!-- Made by `cargo xtask gen` from the adapters of this build. -->\n";
/// Where it ends.
const END: &str = "<!-- /Made -->\n";

/// The page with a new generated part. Without the markers the part goes to the end, so that a stale page is noticed.
pub(super) fn page() -> Generated {
    let present = read(&root().join("README.md")).unwrap_or_default();
    let (before, rest) = present.split_once(BEGIN).unwrap_or((&present, END));
    let after = rest.split_once(END).map_or("", |(_, after)| after);
    Generated { path: "README.md".into(), text: format!("{before}{BEGIN}{}{END}{after}", part()) }
}

fn part() -> String {
    let mut text = String::new();
    for adapter in phasegate_adapters::all().into_iter().filter(|adapter| !adapter.diagnostics().limits().is_empty()) {
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = writeln!(text, "How {} can lose the guard, whatever is configured:\n", adapter.name());
        text.push_str("| cause | effect and mitigation |\n|---|---|\n");
        for limit in adapter.diagnostics().limits() {
            let _ = writeln!(text, "| {} | {} |", cell(&limit.way), cell(&limit.then));
        }
    }
    text
}
