//! The checks that need other people's programs, or minutes, each with the folders that it is about.

use std::path::Path;
use std::process::Command;

use crate::{lab, mutants, packages};
use xtask::failure::Result;
use xtask::process::{cargo, run};
use xtask::root::{root, target};

/// A check that runs when its folders changed.
pub(crate) struct Slow {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it is about: folders and files from the workspace's root.
    pub(crate) folders: &'static [&'static str],
    /// Runs it, in its long form if asked.
    pub(crate) run: fn(long: bool) -> Result,
}

pub(crate) const SLOW: &[Slow] = &[
    Slow {
        name: "plugins",
        folders: &["adapters/shim", "adapters/*/shim/*", "lab/src/shims.rs"],
        run: |_| lab::run_with("shims", &[]),
    },
    Slow {
        name: "agent SDKs",
        folders: &["clients", "core/service/src/bridge.rs", "core/service/src/bridge_lines.rs"],
        run: |_| {
            script("clients/test.sh", |script, program| {
                script.env("PHASEGATE", program);
            })
        },
    },
    Slow {
        name: "packaging",
        folders: &["packaging"],
        // It makes a package for Debian, among others.
        run: |_| match cfg!(target_os = "linux") {
            true => script("packaging/test.sh", |script, program| {
                script.arg(program);
            }),
            false => Ok(()),
        },
    },
    Slow {
        name: "official MCP suite",
        folders: &["adapters/mcp/src", "conformance/official", "conformance/mcp-server", "lab/src/mcp_conformance"],
        run: |_| lab::run_with("mcp-conformance", &[]),
    },
    Slow {
        name: "MCP clients",
        folders: &["adapters/mcp/src", "conformance/clients", "lab/src/mcp_clients.rs"],
        run: |_| lab::run_with("mcp-clients", &[]),
    },
    Slow {
        name: "crashes",
        folders: &["core/store/src", "core/service/src", "core/runtime/src/driver", "core/runtime/src/driver.rs"],
        run: |_| {
            let mut tests = cargo(&["test", "-p", "phasegate-service", "--lib", "crash::"]);
            run(tests.env("PHASEGATE_EVERY_BYTE", "1"))
        },
    },
    Slow {
        name: "random sessions",
        folders: &["core/engine/src", "core/engine/tests/it"],
        run: |long| {
            let mut tests = cargo(&["test", "-p", "phasegate-core", "--test", "it", "--", "oracle::", "total::"]);
            run(tests.env("PROPTEST_CASES", if long { "10000" } else { "1500" }))
        },
    },
    Slow {
        name: "confinement",
        folders: &["core/confine"],
        run: |_| {
            let mut tests = cargo(&["test", "-p", "phasegate-confine", "--test", "it"]);
            run(tests.env("PHASEGATE_EVERY_ROW", "1"))
        },
    },
    Slow {
        name: "counts",
        folders: &[
            "core/*/src",
            "adapters/*/src",
            "cli/src",
            "cli/hook.ld",
            "Cargo.lock",
            "lab/src/counts",
            "lab/bench/counts.json",
        ],
        run: |_| lab::run_with("counts", &[]),
    },
    Slow {
        name: "shell oracle",
        folders: &["core/shell/src", "conformance/shell", "lab/src/shell_oracle"],
        // Its sandbox is made of namespaces.
        run: |long| match (cfg!(target_os = "linux"), long) {
            (true, true) => lab::run_with("shell-oracle", &[]),
            (true, false) => lab::run_with("shell-oracle", &["--short"]),
            (false, _) => Ok(()),
        },
    },
    Slow {
        name: "mutants",
        folders: &["core/engine/src/decide/table.rs", "core/engine/tests/it/table.rs", "xtask/mutants.toml"],
        run: |_| mutants::run(),
    },
    Slow {
        name: "packages",
        folders: &["Cargo.toml", "Cargo.lock", "xtask/src/packages.rs"],
        run: |long| packages::run(&packages::Args { alone: long }),
    },
    Slow { name: "crates alone", folders: &["*Cargo.toml", "xtask/src/packages.rs"], run: |_| packages::libraries() },
];

/// Runs a script of the repository, which is told where the program of this build is.
fn script(path: &str, tell: fn(&mut Command, &Path)) -> Result {
    run(&mut cargo(&["build", "-p", "phasegate"]))?;
    let mut script = Command::new("bash");
    script.arg(root().join(path));
    tell(&mut script, &target().join("debug/phasegate"));
    run(&mut script)
}
