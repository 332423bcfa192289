//! The project's own tasks, one file each: `cargo xtask <task>`.

mod lab;
mod tidy;
mod packages;
mod skips;
mod mutants;
mod conformance;
mod demo;
mod cases;
mod demands;
mod bless;
mod slow;
mod passed;
mod ci;
mod check;

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
    /// Check what a change forgets most: the step before each commit.
    Check(check::Args),
    /// Run everything a change must pass.
    Ci(ci::Args),
    /// Accept the present output as the expected one, in every golden file.
    Bless,
    /// Check the invariants of ARCHITECTURE.md.
    Tidy(tidy::Args),
    /// Run the conformance suite and print its matrix.
    Conformance(conformance::Args),
    /// Play acceptance cases through the program, and say which agree.
    Cases(cases::Args),
    /// List the demands of the seed documents, each with what proves it.
    Seeds(demands::Args),
    /// Play recorded sessions through the real binary and show what was allowed, warned and blocked, and why.
    Demo(demo::Args),
    /// Change the decision table in eleven ways, one at a time; its test must notice each.
    Mutants,
    /// Send many hooks at once to one session, kill some, and compare the journal with what was answered.
    Stress(lab::Args),
    /// Pack every crate that may be published, and build each from its package.
    Packages(packages::Args),
    /// Check that every test that does not run here has a reason in `skips.toml`.
    Skips,
    /// Write the files that are made from the code: schemas, code list, manuals of configs and CLI, platform table.
    Gen(lab::Args),
    /// Measure one decision in process, and one hook as a process.
    Bench(lab::Args),
    /// Count what a hook and a decision do, and compare it with what is committed.
    Counts(lab::Args),
    /// Write the linker script that puts the functions that hooks call next to each other.
    HookOrder(lab::Args),
    /// Let a real client play a story, guarded by phasegate, and keep the session as a case.
    Record(lab::Args),
    /// Let real MCP clients talk to real servers, and keep every message as a recording.
    RecordMcp(lab::Args),
    /// Let real MCP clients list and call through the proxy, and without it.
    McpClients(lab::Args),
    /// Run the official MCP conformance suite against servers alone and behind the proxy.
    McpConformance(lab::Args),
    /// Run a real client through every way in which a guard can fail, and keep the fault report.
    E2e(lab::Args),
    /// Plant installations, right and wrong ones, and have `phasegate drill` try each with a real client.
    Drill(lab::Args),
    /// Check that the kept fault reports fit the adapters and scenarios as they are.
    Reports(lab::Args),
    /// Check the plugins of clients against the clients' published types, and what they share against faults.
    Shims(lab::Args),
    /// Measure what the guard adds to a call in a real client, from the client's own events.
    Overhead(lab::Args),
    /// Count in recordings of a client how many calls `approve: reads` answers, so that the client asks nobody.
    Approvals(lab::Args),
    /// Run the fuzz targets, each for a while.
    Fuzz(lab::Args),
    /// Run every shell line of the corpora in a sandbox, and compare what it did with how it is judged.
    ShellOracle(lab::Args),
}

fn main() -> ExitCode {
    let result = match Args::parse().task {
        Task::Check(args) => check::run(&args),
        Task::Ci(args) => ci::run(&args),
        Task::Bless => bless::run(),
        Task::Tidy(args) => tidy::run(&args),
        Task::Conformance(args) => conformance::run(&args),
        Task::Cases(args) => cases::run(&args),
        Task::Seeds(args) => demands::run(&args),
        Task::Demo(args) => demo::run(&args),
        Task::Mutants => mutants::run(),
        Task::Stress(args) => lab::run("stress", &args),
        Task::Packages(args) => packages::run(&args),
        Task::Skips => skips::run(),
        Task::Gen(args) => lab::run("gen", &args),
        Task::Bench(args) => lab::run("bench", &args),
        Task::Counts(args) => lab::run("counts", &args),
        Task::HookOrder(args) => lab::run("hook-order", &args),
        Task::Record(args) => lab::run("record", &args),
        Task::RecordMcp(args) => lab::run("record-mcp", &args),
        Task::McpClients(args) => lab::run("mcp-clients", &args),
        Task::McpConformance(args) => lab::run("mcp-conformance", &args),
        Task::E2e(args) => lab::run("e2e", &args),
        Task::Drill(args) => lab::run("drill", &args),
        Task::Reports(args) => lab::run("reports", &args),
        Task::Shims(args) => lab::run("shims", &args),
        Task::Overhead(args) => lab::run("overhead", &args),
        Task::Approvals(args) => lab::run("approvals", &args),
        Task::Fuzz(args) => lab::run("fuzz", &args),
        Task::ShellOracle(args) => lab::run("shell-oracle", &args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            anstream::eprintln!("{} {failure}", "error:".red().bold());
            ExitCode::FAILURE
        }
    }
}
