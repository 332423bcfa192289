//! Modules of a crate point one way. A file refers to a file by a path (`crate::`, `super::`, `self::`, a child's name) or
//! by a re-export; `mod x;` alone is no arrow. No file is reached again along the arrows.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::finding::Finding;
use super::modules::Modules;
use super::tree::Tree;

const INSTEAD: &str =
    "move what both need to a module below them, or pass it in; import from the module that defines it";
const UNREADABLE: &str = "write Rust that the parser of this check reads";
/// A crate whose modules form more chains than this is reported with the first ones.
const MAX_CHAINS: usize = 100;

/// From file to file, with the lines that refer.
type Arrows = BTreeMap<String, BTreeMap<String, Vec<usize>>>;

/// No crate has a cycle of files.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let roots = tree.packages.iter().flat_map(|package| &package.targets).filter(|target| target.is_crate());
    roots.flat_map(|target| of(tree, &target.src_path)).collect()
}

fn of(tree: &Tree, root: &str) -> Vec<Finding> {
    let modules = Modules::load(tree, root);
    let unreadable = modules.unreadable.iter().map(|file| Finding {
        path: file.path.clone(),
        line: file.line,
        what: format!("cannot be parsed: {}", file.why),
        instead: UNREADABLE,
    });
    let mut arrows = arrows(&modules);
    let mut findings: Vec<Finding> = unreadable.collect();
    let mut looped = Vec::new();
    while let Some(chain) = shortest(&arrows)
        && looped.len() < MAX_CHAINS
    {
        cut(&mut arrows, &chain);
        looped.push(chain);
    }
    let files: BTreeSet<&String> = looped.iter().flatten().map(|link| &link.from).collect();
    let (count, chains) = (files.len(), looped.len());
    findings
        .extend(looped.iter().map(|chain| finding(chain, &format!("{count} files, {chains} chains in this crate"))));
    findings
}

/// One arrow of a chain.
struct Link {
    from: String,
    line: usize,
    to: String,
}

fn finding(chain: &[Link], size: &str) -> Finding {
    let steps: Vec<String> = chain.iter().map(|link| format!("{}:{} -> {}", link.from, link.line, link.to)).collect();
    let what = format!("modules form a cycle ({size})\n    {}", steps.join("\n    "));
    let (path, line) = chain.first().map(|link| (link.from.clone(), link.line)).unwrap_or_default();
    Finding { path, line, what, instead: INSTEAD }
}

fn arrows(modules: &Modules) -> Arrows {
    let mut arrows = Arrows::new();
    for reference in &modules.references {
        let Some(from) = modules.file(&reference.module) else { continue };
        let Some(to) = modules.target(reference).filter(|to| *to != from) else { continue };
        let lines = arrows.entry(from.to_string()).or_default().entry(to.to_string()).or_default();
        lines.push(reference.line);
    }
    arrows
}

/// The shortest cycle there is.
fn shortest(arrows: &Arrows) -> Option<Vec<Link>> {
    let chains = arrows.keys().filter_map(|start| around(arrows, start));
    chains.min_by_key(Vec::len)
}

/// The shortest way from a file back to itself.
fn around(arrows: &Arrows, start: &str) -> Option<Vec<Link>> {
    let mut before: BTreeMap<&str, &str> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        for next in arrows.get(at)?.keys().filter(|next| arrows.contains_key(*next)) {
            if next == start {
                return Some(walked(arrows, &before, start, at));
            }
            if !before.contains_key(next.as_str()) {
                before.insert(next, at);
                queue.push_back(next);
            }
        }
    }
    None
}

/// The links from the start to the last file of a cycle, and from there to the start.
fn walked(arrows: &Arrows, before: &BTreeMap<&str, &str>, start: &str, last: &str) -> Vec<Link> {
    let mut files = vec![start.to_string(), last.to_string()];
    let mut at = last;
    while at != start
        && let Some(earlier) = before.get(at)
    {
        files.push((*earlier).to_string());
        at = earlier;
    }
    files.reverse();
    let links = files.windows(2).filter_map(|pair| {
        let [from, to] = pair else { return None };
        let line = *arrows.get(from)?.get(to)?.first()?;
        Some(Link { from: from.clone(), line, to: to.clone() })
    });
    links.collect()
}

/// Removes the edge of the chain that the fewest lines make.
fn cut(arrows: &mut Arrows, chain: &[Link]) {
    let weight = |link: &&Link| arrows.get(&link.from).and_then(|to| to.get(&link.to)).map_or(0, Vec::len);
    let Some(link) = chain.iter().min_by_key(weight) else { return };
    if let Some(to) = arrows.get_mut(&link.from) {
        to.remove(&link.to);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::{Target, package, tree};
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let mut files = tree(files);
        let mut package = package("a", &[]);
        package.targets = vec![Target::library("a/src/lib.rs")];
        files.packages.push(package);
        check(&files)
            .into_iter()
            .map(|finding| format!("{}:{}: {}", finding.path, finding.line, finding.what))
            .collect()
    }

    #[test]
    fn a_cycle_of_three_files_is_found_with_its_lines() {
        let found = found(&[
            ("a/src/lib.rs", "mod one;\nmod two;\nmod three;\nfn main() { one::f() }\n"),
            ("a/src/one.rs", "use crate::two;\npub fn f() { two::f() }\n"),
            ("a/src/two.rs", "\npub fn f() { println!(\"{}\", super::three::f()) }\n"),
            ("a/src/three.rs", "\n\nuse crate::one::{self as first};\n"),
        ]);
        let expected = "a/src/one.rs:1: modules form a cycle (3 files, 1 chains in this crate)\n    \
            a/src/one.rs:1 -> a/src/two.rs\n    a/src/two.rs:2 -> a/src/three.rs\n    a/src/three.rs:3 -> a/src/one.rs";
        assert_eq!(found, [expected]);
    }

    #[test]
    fn parent_and_child_count_and_a_re_export_is_an_arrow() {
        let parent = "mod child;\npub use child::Child;\npub struct Parent;\n";
        let child = "use super::Parent;\npub struct Child(Parent);\n";
        let lib = "mod parent;\npub use parent::Parent;\n";
        let found = found(&[("a/src/lib.rs", lib), ("a/src/parent.rs", parent), ("a/src/parent/child.rs", child)]);
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn a_root_that_only_lists_modules_is_looked_through() {
        let files = [
            ("a/src/lib.rs", "mod one;\nmod two;\npub use one::One;\npub use two::*;\n"),
            ("a/src/one.rs", "pub struct One;\n"),
            ("a/src/two.rs", "pub struct Two(crate::One);\n"),
        ];
        assert_eq!(found(&files), [""; 0]);
        let mut with_code = files;
        with_code[0].1 = "mod one;\nmod two;\npub use one::One;\npub use two::*;\npub struct Zero;\n";
        assert_eq!(found(&with_code).len(), 1);
    }

    #[test]
    fn tests_visibility_and_declarations_are_no_arrows() {
        let one = "pub(in crate::two) struct One;\n#[cfg(test)]\nmod tests {\n    use crate::two::Two;\n}\n\
                   #[test]\nfn f() { crate::two::f() }\n";
        let found = found(&[
            ("a/src/lib.rs", "mod one;\nmod two;\nfn f() {}\n"),
            ("a/src/one.rs", one),
            ("a/src/two.rs", "use super::one::One;\nuse std::fmt;\npub struct Two(One, crate::missing::Three);\n"),
        ]);
        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn a_path_in_an_attribute_or_a_macro_is_an_arrow() {
        let found = found(&[
            ("a/src/lib.rs", "mod one;\nmod two;\n"),
            ("a/src/one.rs", "struct One {\n    #[serde(with = \"crate::two\")]\n    a: u8,\n}\n"),
            ("a/src/two.rs", "fn f() { vec![vec![crate::one::One]]; }\n"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn a_module_that_a_macro_declares_is_read() {
        let found = found(&[
            (
                "a/src/lib.rs",
                "mod two;\nmacro_rules! hosts { ($($name:ident)+) => { $(mod $name;)+ } }\nhosts! { one }\n",
            ),
            ("a/src/one.rs", "use crate::two::Two;\npub struct One(Two);\n"),
            ("a/src/two.rs", "pub struct Two(crate::one::One);\n"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
    }
}
