//! Crates point one way: `engine <- shell <- config <- runtime <- service <- cli`, `engine <- formats <- store <- runtime`,
//! `engine <- adapters/api <- adapters/<id> <- adapters <- cli`; conformance and lab use them, xtask uses none.

use super::finding::Finding;
use super::tree::{Package, Tree};

const INSTEAD: &str = "move the code to the crate below, or hand it in as data; the arrows are in ARCHITECTURE.md";

/// What each crate of the workspace may use of it.
const ALLOWED: &[(&str, &[&str])] = &[
    ("phasegate-rules", &[]),
    ("phasegate-core", &["phasegate-rules"]),
    ("phasegate-schemas", &[]),
    ("phasegate-confine", &[]),
    ("phasegate-config", &["phasegate-core", "phasegate-rules", "phasegate-shell", "phasegate-schemas"]),
    ("phasegate-shell", &["phasegate-core"]),
    ("phasegate-adapter", &["phasegate-core"]),
    ("phasegate-formats", &["phasegate-core"]),
    ("phasegate-store", &["phasegate-core", "phasegate-formats"]),
    (
        "phasegate-runtime",
        &[
            "phasegate-core",
            "phasegate-formats",
            "phasegate-rules",
            "phasegate-store",
            "phasegate-config",
            "phasegate-shell",
            "phasegate-adapter",
        ],
    ),
    ("phasegate-service", &["phasegate-core", "phasegate-runtime", "phasegate-store", "phasegate-adapter"]),
    ("phasegate-adapters", &["phasegate-adapter", ADAPTER]),
    (
        "phasegate",
        &[
            "phasegate-core",
            "phasegate-config",
            "phasegate-confine",
            "phasegate-shell",
            "phasegate-schemas",
            "phasegate-runtime",
            "phasegate-service",
            "phasegate-adapter",
            "phasegate-adapters",
            // The relay is a server of its own, which the trait of adapters does not reach.
            "phasegate-mcp",
        ],
    ),
    (
        "phasegate-conformance",
        &[
            "phasegate-core",
            "phasegate-config",
            "phasegate-shell",
            "phasegate-runtime",
            "phasegate-service",
            "phasegate-adapter",
            "phasegate-adapters",
            // The relay is played in memory.
            "phasegate-mcp",
        ],
    ),
    ("phasegate-test-server", &["phasegate-guard"]),
    (
        "phasegate-guard",
        &[
            "phasegate-core",
            "phasegate-runtime",
            "phasegate-service",
            "phasegate-adapter",
            "phasegate-adapters",
            ADAPTER,
        ],
    ),
    ("lock-server", &["phasegate-guard"]),
    ("notes-server", &["phasegate-guard"]),
    ("xtask", &[]),
    (
        "phasegate-lab",
        &[
            "xtask",
            "phasegate-core",
            "phasegate-runtime",
            "phasegate-formats",
            "phasegate-store",
            "phasegate-config",
            "phasegate-shell",
            "phasegate-adapter",
            "phasegate-adapters",
            "phasegate",
            "phasegate-conformance",
        ],
    ),
];

/// Stands for any crate in `adapters/<id>/`.
const ADAPTER: &str = "an adapter";
const ADAPTER_MAY_USE: &[&str] = &["phasegate-core", "phasegate-adapter"];

/// Every arrow between crates of the workspace is one of those allowed. Tests may use more, as long as cargo can build it.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &tree.packages {
        let Some(allowed) = allowed(package) else {
            findings.push(finding(package, format!("`{}` has no place in the arrows", package.name)));
            continue;
        };
        for dependency in package.dependencies.iter().filter(|dependency| dependency.kind.is_none()) {
            let Some(used) = tree.packages.iter().find(|other| other.name == dependency.name) else { continue };
            let permitted = allowed.iter().any(|name| *name == used.name || (*name == ADAPTER && is_adapter(used)));
            if !permitted {
                findings.push(finding(package, format!("`{}` may not depend on `{}`", package.name, used.name)));
            }
        }
    }
    findings
}

fn allowed(package: &Package) -> Option<&'static [&'static str]> {
    let listed = ALLOWED.iter().find(|(name, _)| *name == package.name).map(|(_, allowed)| *allowed);
    listed.or_else(|| is_adapter(package).then_some(ADAPTER_MAY_USE))
}

fn is_adapter(package: &Package) -> bool {
    let parts: Vec<&str> = package.manifest_path.split('/').collect();
    matches!(parts.as_slice(), ["adapters", id, "Cargo.toml"] if *id != "api")
}

fn finding(package: &Package, what: String) -> Finding {
    Finding { path: package.manifest_path.clone(), line: 0, what, instead: INSTEAD }
}

#[cfg(test)]
mod tests {
    use super::super::tree::package;
    use super::*;

    fn found(packages: Vec<Package>) -> Vec<String> {
        check(&Tree { files: Vec::new(), packages }).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn an_arrow_back_is_found() {
        let packages = vec![package("phasegate-core", &["phasegate-config"]), package("phasegate-config", &[])];
        assert_eq!(found(packages), ["`phasegate-core` may not depend on `phasegate-config`"]);
    }

    #[test]
    fn an_adapter_sees_no_runtime() {
        let mut adapter = package("phasegate-example", &["phasegate-runtime", "serde"]);
        adapter.manifest_path = "adapters/example/Cargo.toml".into();
        let packages = vec![adapter, package("phasegate-runtime", &[])];
        assert_eq!(found(packages), ["`phasegate-example` may not depend on `phasegate-runtime`"]);
    }

    #[test]
    fn a_crate_nobody_placed_is_found() {
        assert_eq!(found(vec![package("phasegate-extra", &[])]), ["`phasegate-extra` has no place in the arrows"]);
    }
}
