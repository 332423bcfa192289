//! The laboratory: recorders, drivers of real clients, measurements, generators. `cargo xtask <task>` calls it.

mod npm;
mod clients;
mod generate;
mod shims;
mod bench;
mod hook_order;
mod counts;
mod fuzz;
mod stress;
mod shell_oracle;
mod record;
mod traffic;
mod mcp_clients;
mod mcp_conformance;
mod e2e;
mod drill;
mod reports;
mod overhead;
mod approvals;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use owo_colors::OwoColorize;

/// The laboratory of the project.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Write the files that are made from the code: schemas, code list, manuals of configs and CLI, platform table.
    Gen(generate::Args),
    /// Measure one decision in process, and one hook as a process.
    Bench(bench::Args),
    /// Write the linker script that puts the functions that hooks call next to each other.
    HookOrder,
    /// Count what a hook and a decision do, and compare it with what is committed.
    Counts(counts::Args),
    /// Run the fuzz targets, each for a while.
    Fuzz(fuzz::Args),
    /// Send many hooks at once to one session, kill some, and compare the journal with what was answered.
    Stress(stress::Args),
    /// Run every shell line of the corpora in a sandbox, and compare what it did with how it is judged.
    ShellOracle(shell_oracle::Args),
    /// Check the plugins of clients against the clients' published types, and what they share against faults.
    Shims,
    /// Let a real client play a story, guarded by phasegate, and keep the session as a case.
    Record(record::Args),
    /// Let real MCP clients talk to real servers, and keep every message as a recording.
    RecordMcp(traffic::Args),
    /// Let real MCP clients list and call through the proxy, and without it.
    McpClients,
    /// Run the official MCP conformance suite against servers alone and behind the proxy.
    McpConformance(mcp_conformance::Args),
    /// Run a real client through every way in which a guard can fail, and keep the fault report.
    E2e(e2e::Args),
    /// Plant installations, right and wrong ones, and have `phasegate drill` try each with a real client.
    Drill(drill::Args),
    /// Check that the kept fault reports fit the adapters and scenarios as they are.
    Reports,
    /// Measure what the guard adds to a call in a real client, from the client's own events.
    Overhead(overhead::Args),
    /// Count in recordings of a client how many calls `approve: reads` answers, so that the client asks nobody.
    Approvals(approvals::Args),
    /// The hook as the client sees it while a session is recorded.
    #[command(hide = true)]
    RecordTee(record::tee::Args),
    /// An MCP server as its client sees it while it is recorded.
    #[command(hide = true)]
    McpTee(traffic::tee::Args),
    /// A fake of the language server that the shipped skills name.
    #[command(hide = true)]
    LspFake,
}

fn main() -> ExitCode {
    let result = match Args::parse().task {
        Task::Gen(args) => generate::run(&args),
        Task::Bench(args) => bench::run(&args),
        Task::HookOrder => hook_order::run(),
        Task::Counts(args) => counts::run(&args),
        Task::Fuzz(args) => fuzz::run(&args),
        Task::Stress(args) => stress::run(&args),
        Task::ShellOracle(args) => shell_oracle::run(&args),
        Task::Shims => shims::run(),
        Task::Record(args) => record::run(&args),
        Task::RecordMcp(args) => traffic::run(&args),
        Task::McpClients => mcp_clients::run(),
        Task::McpConformance(args) => mcp_conformance::run(&args),
        Task::E2e(args) => e2e::run(&args),
        Task::Drill(args) => drill::run(&args),
        Task::Reports => reports::run(),
        Task::Overhead(args) => overhead::run(&args),
        Task::Approvals(args) => approvals::run(&args),
        Task::RecordTee(args) => return record::tee::run(&args),
        Task::McpTee(args) => return traffic::tee::run(&args),
        Task::LspFake => record::lsp_fake::run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            anstream::eprintln!("{} {failure}", "error:".red().bold());
            ExitCode::FAILURE
        }
    }
}
