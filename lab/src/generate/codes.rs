//! `docs/codes.md`: every code, from the one place that defines them.

use std::fmt::Write as _;

use phasegate_core::Code;

use super::generated::{Generated, cell};

/// The page.
pub(super) fn page() -> Generated {
    let mut text = String::from(
        "# Codes\n\nMade by `cargo xtask gen` from `core/engine/src/answers/code.rs`.\n\
         A code is stable: its name and meaning never change.\n\
         `phasegate explain <code>` prints the same text.\n\n\
         | code | area | meaning | remedy |\n|---|---|---|---|\n",
    );
    for code in Code::ALL {
        let (id, area) = (code.id(), code.area().word());
        let _ = writeln!(text, "| `{id}` | {area} | {} | {} |", cell(code.summary()), cell(code.remedy()));
    }
    Generated { path: "docs/codes.md".into(), text }
}
