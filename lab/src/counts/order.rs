//! Which functions `cli/hook.ld` has, so that a list that went stale is noticed without a release: where modules are moved,
//! their functions have other names.

use std::collections::BTreeSet;

/// The functions of this workspace that the linker script names, by their paths.
pub(super) fn functions(script: &str) -> BTreeSet<String> {
    let sections = script.lines().filter_map(|line| line.trim().strip_prefix("*(.text."));
    let mangled = sections.filter_map(|section| section.strip_suffix(')')?.split_once("_RNv").map(|(_, name)| name));
    mangled.map(|name| names(name).join("::")).filter(|path| path.starts_with("phasegate_")).collect()
}

/// The names in a mangled one: each stands behind its length, and behind `_` where it begins like a number or has one.
/// `s…_` tells things of one name apart.
fn names(mangled: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = mangled;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        let (length, tail) = rest.split_at(end);
        let told_apart = rest.strip_prefix('s').and_then(|after| after.split_once('_'));
        if let Some((_, after)) = told_apart {
            rest = after;
        } else if let Ok(length) = length.parse() {
            let tail = tail.strip_prefix('_').unwrap_or(tail);
            let Some((name, after)) = tail.split_at_checked(length) else { break };
            names.push(name);
            rest = after;
        } else {
            rest = rest.strip_prefix(first).unwrap_or_default();
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_read_by_their_paths() {
        let script = "SECTIONS {\n  .text.hook : {\n    *(.text._RNvNtCs*_17phasegate_runtime7project9kept_root)\n    \
                      *(.text.unlikely._RNvMs2_NtCs*_17phasegate_runtime7projectNtB*_7Project10remembered)\n    \
                      *libc.a:malloc.o(.text .text.*)\n    *(.text._RNvNtCs*_3std2rt4init)\n";
        let paths = ["phasegate_runtime::project::Project::remembered", "phasegate_runtime::project::kept_root"];
        assert_eq!(functions(script), paths.map(str::to_owned).into());
    }
}
