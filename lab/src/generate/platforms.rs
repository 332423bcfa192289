//! `docs/platforms.md`: what each platform can enforce, from its adapter.

use std::fmt::Write as _;

use phasegate_adapter::{Ability, Adapter};
use phasegate_adapters::matrix::{COLUMNS, row};

use super::generated::{Generated, cell};

/// The page.
pub(super) fn page() -> Generated {
    let mut text = String::from(
        "# Platforms\n\nMade by `cargo xtask gen` from the adapters of this build. `phasegate adapters` and `phasegate doctor` print the same facts.\n",
    );
    text.push_str(&format!("\n| | {} |\n|---|{}\n", COLUMNS.join(" | "), "---|".repeat(COLUMNS.len())));
    for adapter in phasegate_adapters::all() {
        let cells = row(adapter).map(|ability| match ability {
            Ability::Yes => "yes".to_owned(),
            Ability::Partly(limit) => format!("partly: {}", cell(&limit)),
            Ability::No(instead) => format!("no: {}", cell(&instead)),
        });
        let _ = writeln!(text, "| {} | {} |", adapter.name(), cells.join(" | "));
    }
    for adapter in phasegate_adapters::all() {
        text.push_str(&section(adapter));
    }
    Generated { path: "docs/platforms.md".into(), text }
}

fn section(adapter: &dyn Adapter) -> String {
    let mut text = format!("\n## {} (`{}`)\n\n", adapter.name(), adapter.id());
    let _ = writeln!(text, "Recorded with {}.\n", adapter.diagnostics().versions().join(", "));
    let documented = adapter.diagnostics().documented();
    if !documented.is_empty() {
        let _ = writeln!(text, "Made from documentation, not recorded: {}.\n", documented.join(", "));
    }
    text.push_str("| ability | | limit, or what happens instead |\n|---|---|---|\n");
    for (name, ability) in adapter.capabilities().rows() {
        let (word, limit) = match ability {
            Ability::Yes => ("yes", ""),
            Ability::Partly(limit) => ("partly", &**limit),
            Ability::No(instead) => ("no", &**instead),
        };
        let _ = writeln!(text, "| {} | {word} | {} |", name.replace('_', " "), cell(limit));
    }
    if !adapter.diagnostics().limits().is_empty() {
        text.push_str("\nHow the platform can lose the guard, whatever is configured:\n\n");
        text.push_str("| cause | effect and mitigation |\n|---|---|\n");
    }
    for limit in adapter.diagnostics().limits() {
        let _ = writeln!(text, "| {} | {} |", cell(&limit.way), cell(&limit.then));
    }
    text
}
