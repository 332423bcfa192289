//! `conformance/proofs/seeds.md`: in what phasegate differs from the seed documents on purpose, and why.

use std::fmt::Write as _;

use super::generated::{Generated, cell};
use xtask::failure::Result;
use xtask::seeds::{self, FOLDER};

/// The page.
pub(super) fn page() -> Result<Generated> {
    let all = seeds::all()?;
    let mut text = format!(
        "# The seed documents, and where phasegate differs\n\n\
         Made by `cargo xtask gen` from `{FOLDER}`. `cargo xtask seeds --items` prints each demand of the five documents with what proves it, and fails where nothing does.\n\
         What stands below differs on purpose. Everything else is as the documents say.\n\n\
         | seed | title | demands | differ on purpose |\n|---|---|---|---|\n"
    );
    // Writing to a string cannot fail.
    for seed in &all {
        let differ = seed.items.iter().filter(|item| item.departs.is_some()).count();
        let _ = writeln!(text, "| {} | {} | {} | {differ} |", seed.number, cell(&seed.title), seed.items.len());
    }
    for seed in &all {
        let _ = write!(
            text,
            "\n## {}: {}\n\n| the document says | phasegate does | why |\n|---|---|---|\n",
            seed.number, seed.title
        );
        for item in &seed.items {
            if let Some(departs) = &item.departs {
                let _ = writeln!(text, "| {} | {} | {} |", cell(&item.says), cell(&item.here), cell(departs));
            }
        }
    }
    Ok(Generated { path: "conformance/proofs/seeds.md".into(), text })
}
