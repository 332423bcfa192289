//! Paths into a folder that the project does not have, beside one of nearly the same name.

use std::collections::{BTreeMap, BTreeSet};

use phasegate_core::Code;

use super::uses;
use crate::build::builder::Built;
use crate::input::Known;
use crate::read::report::Finding;
use crate::read::typo::typo;

/// Reports them: as warnings, because the folder may be one that the agent is to make.
pub(super) fn check(built: &Built, known: &Known, findings: &mut Vec<Finding>) {
    let folders = &known.folders;
    for used in uses::all(built) {
        for test in &used.matcher.paths {
            if let Some((why, meant)) = below_root(&test.pattern, &known.root).or_else(|| no_file(&test.pattern, known))
            {
                let nothing = if used.place.forbids() { "forbids" } else { "means" };
                let message = format!("`{}` {nothing} no file of the project", test.pattern);
                findings.push(
                    Finding::warning(Code::MatcherNeverMatches, used.span, message)
                        .cause(why)
                        .suggest(format!("did you mean `{meant}`?")),
                );
            }
            let Some(Misspelt { written, meant }) = misspelt(&test.pattern, folders) else { continue };
            let nothing = if used.place.forbids() { "forbids nothing of it" } else { "means nothing of it" };
            findings.push(
                Finding::warning(
                    Code::MatcherNeverMatches,
                    used.span,
                    format!("`{}` is in a folder that the project does not have: `{written}`", test.pattern),
                )
                .cause(format!("the project has `{meant}`, and this {nothing}"))
                .suggest(format!("did you mean `{}`?", test.pattern.replacen(&written, &meant, 1))),
            );
        }
    }
}

/// Why a pattern means no file of the project, where it begins with the project's own folder.
fn below_root(pattern: &str, root: &str) -> Option<(&'static str, String)> {
    let inside = pattern.strip_prefix(root)?.strip_prefix('/').filter(|_| !root.is_empty())?;
    Some(("paths of the project are compared from its root on", inside.to_owned()))
}

/// Why a pattern means no file of the project, where it is a folder or has a slash too much, and what was probably meant.
fn no_file(pattern: &str, known: &Known) -> Option<(&'static str, String)> {
    if pattern.is_empty() {
        return None;
    }
    if known.folders.contains_key(pattern) {
        return Some(("it is a folder, and a path without a star means one file", format!("{pattern}/**")));
    }
    let inside = pattern.strip_prefix('/')?;
    let (first, rest) = inside.split_once('/')?;
    if known.folders.contains_key(first) && !rest.is_empty() {
        return Some(("it begins at the root of the file system", inside.to_owned()));
    }
    let is_plain = !first.is_empty() && !first.contains(['*', '?', '{', '[', '$']);
    let nowhere = known.system.as_ref().is_some_and(|names| is_plain && !names.contains(first));
    nowhere.then(|| ("it begins at the root of the file system, which has no such folder", inside.to_owned()))
}

/// A path as it is written, and the one that was probably meant.
struct Misspelt {
    written: String,
    meant: String,
}

/// The first part of a pattern that is no name in its folder, where another name there is nearly the same.
fn misspelt(pattern: &str, folders: &BTreeMap<String, BTreeSet<String>>) -> Option<Misspelt> {
    let mut folder = String::new();
    for part in pattern.strip_prefix("./").unwrap_or(pattern).split('/') {
        if part.is_empty() || part == ".." || part.contains(['*', '?', '{', '[']) {
            return None;
        }
        let names = folders.get(&folder)?;
        let path = |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        if !names.contains(part) {
            let meant = names.iter().find(|name| typo(part, name).is_some())?;
            return Some(Misspelt { written: path(part), meant: path(meant) });
        }
        folder = path(part);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_beside_nearly_the_same_is_a_mistake_and_any_other_is_not() {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
        let folders = BTreeMap::from([
            (String::new(), names(&["source", "docs", "README.md"])),
            ("source".into(), names(&["engine", "tests"])),
        ]);
        let found = |pattern: &str| misspelt(pattern, &folders).map(|Misspelt { written, meant }| (written, meant));
        let pair = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        let known = Known { folders: folders.clone(), system: Some(names(&["etc"])), ..Known::default() };
        let meant = |pattern: &str| no_file(pattern, &known).map(|(_, meant)| meant);
        assert_eq!(meant("source").as_deref(), Some("source/**"));
        assert_eq!(meant("/source/a.rs").as_deref(), Some("source/a.rs"));
        assert_eq!(meant("/abs/**").as_deref(), Some("abs/**"));
        for right in ["source/**", "README.md", "/etc/passwd", "/source", "new", "", "**"] {
            assert_eq!(meant(right), None, "{right}");
        }
        assert_eq!(found("soruce/**"), pair("soruce", "source"));
        assert_eq!(found("source/engin/*.rs"), pair("source/engin", "source/engine"));
        for right in
            ["source/**", "source/engine/deep/x", "notes/**", "**/*.pem", "/etc/passwd", "../other", "*.md", ""]
        {
            assert_eq!(found(right), None, "{right}");
        }
    }
}
