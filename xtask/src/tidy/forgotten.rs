//! A test file that nothing compiles tests nothing, nor does an example in the comments of a library without doc tests.

use super::finding::Finding;
use super::tree::Tree;

const INSTEAD: &str = "declare it with `mod`, name it after a target, or remove it";
const EXAMPLE: &str = "take `doctest = false` out of the library's manifest";

/// Every Rust file of the workspace is the root of a target or declared as a module by another file.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let roots: Vec<&str> =
        tree.packages.iter().flat_map(|package| &package.targets).map(|target| target.src_path.as_str()).collect();
    let orphan = |path: &str| {
        !roots.contains(&path) && !declared(tree, path) && !fuzzed(tree, path) && !path.starts_with("lab/bench/")
    };
    let orphans = tree.rust().filter(|file| orphan(&file.path)).map(|file| {
        let what = "no target compiles this file".to_string();
        Finding { path: file.path.clone(), line: 0, what, instead: INSTEAD }
    });
    orphans.chain(examples(tree)).collect()
}

/// The examples in comments of libraries that have no doc tests: cargo starts the compiler for each library that may.
fn examples(tree: &Tree) -> impl Iterator<Item = Finding> {
    let libraries = tree.packages.iter().flat_map(|package| &package.targets);
    let silent = libraries.filter(|target| target.kind.iter().any(|kind| kind == "lib") && !target.doctest);
    silent.flat_map(|library| {
        let folder = library.src_path.trim_end_matches("lib.rs");
        tree.rust().filter(move |file| file.path.starts_with(folder)).flat_map(|file| {
            let fence = |line: &str| ["/// ```", "//! ```"].iter().any(|fence| line.trim_start().starts_with(fence));
            let at = file.text.lines().position(fence)?;
            let what = "nothing runs this example".to_string();
            Some(Finding { path: file.path.clone(), line: at + 1, what, instead: EXAMPLE })
        })
    })
}

/// Whether the workspace of the fuzz targets, which is one of its own, names the file.
fn fuzzed(tree: &Tree, path: &str) -> bool {
    let Some(inside) = path.strip_prefix("fuzz/") else { return false };
    tree.file("fuzz/Cargo.toml").is_some_and(|file| file.text.contains(&format!("path = \"{inside}\"")))
}

fn declared(tree: &Tree, path: &str) -> bool {
    let Some((folder, name)) = path.rsplit_once('/') else { return false };
    let name = name.trim_end_matches(".rs");
    let line = format!("mod {name};");
    let declares = |file: &str| {
        tree.file(file).is_some_and(|file| {
            // A macro may declare the names that it is given.
            let by_macro = file.text.contains("mod $")
                && file.text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|word| word == name);
            by_macro || file.text.lines().any(|text| text.trim_start().trim_end().ends_with(&line))
        })
    };
    let above = [format!("{folder}.rs"), format!("{folder}/lib.rs"), format!("{folder}/main.rs")];
    let roots = || tree.packages.iter().flat_map(|package| &package.targets).map(|target| target.src_path.as_str());
    let within = |root: &&str, folder: &str| root.rsplit_once('/').is_some_and(|(at, _)| at == folder);
    // `mod it { mod case; }` in `tests/main.rs` is the file `tests/it/case.rs`.
    let inline = folder.rsplit_once('/').is_some_and(|(above, module)| {
        let opens = |root: &str| tree.file(root).is_some_and(|file| file.text.contains(&format!("mod {module} {{")));
        roots().filter(|root| within(root, above)).any(|root| opens(root) && declares(root))
    });
    inline || above.iter().any(|file| declares(file)) || roots().filter(|root| within(root, folder)).any(declares)
}

#[cfg(test)]
mod tests {
    use super::super::tree::{Target, package, tree};
    use super::*;

    #[test]
    fn a_file_that_nothing_declares_is_found() {
        let mut files = tree(&[
            ("a/src/lib.rs", "pub mod used;\n"),
            ("a/src/used.rs", "mod deep;\n"),
            ("a/src/used/deep.rs", ""),
            ("a/src/used/lost.rs", ""),
            ("a/tests/cli.rs", "mod common;\nmod it {\n    mod case;\n}\n"),
            ("a/tests/it/case.rs", ""),
            ("a/tests/it/lost.rs", ""),
            ("a/tests/common.rs", ""),
        ]);
        let mut crate_a = package("a", &[]);
        crate_a.targets = ["a/src/lib.rs", "a/tests/cli.rs"].map(Target::library).into();
        files.packages.push(crate_a);
        let found = check(&files);
        assert_eq!(
            found.iter().map(|finding| finding.path.as_str()).collect::<Vec<_>>(),
            ["a/src/used/lost.rs", "a/tests/it/lost.rs"]
        );
    }

    #[test]
    fn an_example_that_nothing_runs_is_found() {
        let mut files = tree(&[("a/src/lib.rs", "fn a() {}\n/// ```\n/// a();\n/// ```\nfn b() {}\n")]);
        let mut crate_a = package("a", &[]);
        crate_a.targets = vec![Target::library("a/src/lib.rs")];
        files.packages.push(crate_a);
        let lines = |files: &Tree| check(files).iter().map(|finding| finding.line).collect::<Vec<_>>();
        assert_eq!(lines(&files), [2]);
        files.packages[0].targets[0].doctest = true;
        assert!(lines(&files).is_empty());
    }
}
