//! `cargo xtask bench`: what a decision costs in process, and what a hook costs beside a process that does nothing.
//!
//! It wants a quiet machine and a real disk. Raw samples go to `target/bench/`; `--check` compares ratios, not times, with
//! `lab/bench/reference.json`.

mod failed;
pub(crate) mod build;
mod confine;
mod disk;
mod engine;
mod hooks;
mod mcp;
mod process;
mod project;
mod reference;
mod samples;

use owo_colors::OwoColorize as _;

use hooks::Measured;
use reference::Figures;
use xtask::failure::Result;
use xtask::root::{target, write};

/// What is measured, and what is done with it.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    part: Option<Part>,
    /// How many rounds are timed; each starts every process once.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(20..))]
    pairs: u64,
    /// How many records the long session has.
    #[arg(long, default_value_t = 100_000)]
    records: u64,
    /// Measure decisions in process only.
    #[arg(long)]
    engine: bool,
    /// Measure the program as `cargo build --release` links it, without `release.toml`.
    #[arg(long)]
    plain: bool,
    /// Make the long session anew.
    #[arg(long)]
    fresh: bool,
    /// Fail where a figure is more than 10 % worse than the committed one, or above its target.
    #[arg(long, conflicts_with_all = ["bless", "plain"])]
    check: bool,
    /// Commit to these figures.
    #[arg(long, conflicts_with_all = ["engine", "plain"])]
    bless: bool,
}

/// Something else that is measured.
#[derive(clap::Subcommand)]
enum Part {
    /// Measure what the MCP proxy adds to a call.
    Mcp(mcp::Args),
    /// Measure what confinement adds to a command, and look for what it leaves behind.
    Confine(confine::Args),
}

/// Measures one decision in process, then hooks as processes.
pub(crate) fn run(args: &Args) -> Result {
    match &args.part {
        Some(Part::Mcp(args)) => return mcp::run(args),
        Some(Part::Confine(args)) => return confine::run(args),
        None => {}
    }
    let mut figures = Figures::default();
    engine::measure(&mut figures)?;
    if !args.engine {
        let measured = hooks::measure(&hooks::Wanted {
            pairs: args.pairs,
            records: args.records,
            plain: args.plain,
            fresh: args.fresh,
        })?;
        keep(&measured)?;
        show(&measured);
        measured.add_to(&mut figures);
    }
    figures.show_targets();
    if args.bless {
        figures.bless()?;
    }
    if args.check { figures.check() } else { Ok(()) }
}

/// Writes every sample to a file.
fn keep(measured: &Measured) -> Result {
    let raw = serde_json::json!({"unit": "microseconds", "samples": measured.raw(), "peak_bytes": measured.peaks()});
    let path = target().join("bench/hook.json");
    write(&path, &format!("{raw}\n"))?;
    anstream::println!("{}", format!("raw samples: {}", path.display()).dimmed());
    Ok(())
}

fn show(measured: &Measured) {
    let head = format!(
        "{:<60} {:>7} {:>7} {:>7} {:>6} {:>6} {:>7}",
        "whole process, microseconds; times the process above", "p50", "p95", "p99", "x p50", "x p95", "MiB"
    );
    anstream::println!("\n{}", head.bold());
    for row in measured.rows() {
        let ratio = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.2}"));
        anstream::println!(
            "{:<60} {:>7} {:>7} {:>7} {:>6} {:>6} {:>7.1}",
            row.name,
            row.p50,
            row.p95,
            row.p99,
            ratio(row.ratio.map(|ratio| ratio.p50)),
            ratio(row.ratio.map(|ratio| ratio.p95)),
            row.peak_mib
        );
    }
}
