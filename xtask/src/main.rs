//! The project's own tasks, one file each: `cargo xtask <task>`.

mod failure;
mod root;
mod process;
mod npm;
mod ci;
mod generate;
mod bless;
mod tidy;
mod conformance;
mod mcp_conformance;
mod demo;
mod mutants;
mod bench;
mod record;
mod shell_oracle;
mod stress;
mod e2e;
mod overhead;
mod fuzz;
mod skips;
mod shims;
mod clients;
mod traffic;
mod mcp_clients;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use owo_colors::OwoColorize;

/// The project's own tasks.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run everything a change must pass.
    Ci,
    /// Write the files that are made from the code: schemas, code list, CLI reference, platform table.
    Gen(generate::Args),
    /// Accept the present output as the expected one, in every golden file.
    Bless,
    /// Check the invariants of ARCHITECTURE.md.
    Tidy(tidy::Args),
    /// Run the conformance suite and print its matrix.
    Conformance(conformance::Args),
    /// Run the official MCP conformance suite against servers alone and behind the proxy.
    McpConformance(mcp_conformance::Args),
    /// Play recorded sessions through the real binary and show what was allowed, warned and blocked, and why.
    Demo(demo::Args),
    /// Change the decision table in ten ways, one at a time; its test must notice each.
    Mutants,
    /// Measure one decision in process, and one hook as a process.
    Bench(bench::Args),
    /// Send many hooks at once to one session, kill some, and compare the journal with what was answered.
    Stress(stress::Args),
    /// Let a real client live through a story, guarded by phasegate, and keep the session as a case.
    Record(record::Args),
    /// Let real MCP clients list and call through the proxy, and without it.
    McpClients,
    /// Let real MCP clients talk to real servers, and keep every message as a recording.
    RecordMcp(traffic::Args),
    /// Run a real client through every way in which a guard can fail, and keep the fault report.
    E2e(e2e::Args),
    /// Check the plugins of clients against the clients' published types, and what they share against faults.
    Shims,
    /// Measure what the guard adds to a call in a real client, told by the client's own events.
    Overhead(overhead::Args),
    /// Check that every test that does not run here has a reason in `skips.toml`.
    Skips,
    /// Run the fuzz targets, each for a while.
    Fuzz(fuzz::Args),
    /// Run every shell line of the corpora in a sandbox, and compare what it did with how it is judged.
    ShellOracle(shell_oracle::Args),
    /// The hook as the client sees it while a session is recorded.
    #[command(hide = true)]
    RecordTee(record::tee::Args),
    /// An MCP server as its client sees it while it is recorded.
    #[command(hide = true)]
    McpTee(traffic::tee::Args),
    /// A double of the language server that the shipped skills speak of.
    #[command(hide = true)]
    LspDouble,
}

fn main() -> ExitCode {
    let result = match Args::parse().task {
        Task::Ci => ci::run(),
        Task::Gen(args) => generate::run(&args),
        Task::Bless => bless::run(),
        Task::Tidy(args) => tidy::run(&args),
        Task::Conformance(args) => conformance::run(&args),
        Task::McpConformance(args) => mcp_conformance::run(&args),
        Task::Demo(args) => demo::run(&args),
        Task::Mutants => mutants::run(),
        Task::Bench(args) => bench::run(&args),
        Task::Stress(args) => stress::run(&args),
        Task::Record(args) => record::run(&args),
        Task::ShellOracle(args) => shell_oracle::run(&args),
        Task::E2e(args) => e2e::run(&args),
        Task::Shims => shims::run(),
        Task::Overhead(args) => overhead::run(&args),
        Task::Skips => skips::run(),
        Task::Fuzz(args) => fuzz::run(&args),
        Task::RecordTee(args) => return record::tee::run(&args),
        Task::McpClients => mcp_clients::run(),
        Task::RecordMcp(args) => traffic::run(&args),
        Task::McpTee(args) => return traffic::tee::run(&args),
        Task::LspDouble => record::double::run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            anstream::eprintln!("{} {failure}", "error:".red().bold());
            ExitCode::FAILURE
        }
    }
}
