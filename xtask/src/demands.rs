//! `cargo xtask seeds`: the demands of the seed documents, and what proves each. An item without proof fails it.

use owo_colors::OwoColorize;
use serde::Serialize;
use xtask::failure::{Failure, Result};
use xtask::seeds::{self, Item, Seed};

/// Which items are shown.
#[derive(clap::Args, Default)]
pub(crate) struct Args {
    /// Only the items of one seed: 000 to 004.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<String>,
    /// Print each item with its proof, not only the counts.
    #[arg(long)]
    items: bool,
    /// Print only the items in which phasegate differs on purpose.
    #[arg(long)]
    departures: bool,
    /// Print one JSON object an item.
    #[arg(long)]
    json: bool,
}

/// An item as one JSON object.
#[derive(Serialize)]
struct Line<'a> {
    seed: &'a str,
    #[serde(flatten)]
    item: &'a Item,
}

/// Prints the table.
pub(crate) fn run(args: &Args) -> Result {
    let mut all = seeds::all()?;
    all.retain(|seed| args.seed.as_ref().is_none_or(|wanted| *wanted == seed.number));
    if all.is_empty() {
        return Err(Failure::new("there is no such seed; there are 000 to 004"));
    }
    for seed in &all {
        show(seed, args)?;
    }
    if !args.json {
        totals(&all);
    }
    let problems: Vec<String> = all.iter().flat_map(seeds::problems).collect();
    if problems.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("{} faults:\n  {}", problems.len(), problems.join("\n  "))))
}

fn show(seed: &Seed, args: &Args) -> Result {
    let wanted = seed.items.iter().filter(|item| !args.departures || item.departs.is_some());
    for item in wanted {
        if args.json {
            let line = serde_json::to_string(&Line { seed: &seed.number, item });
            anstream::println!("{}", line.map_err(|error| Failure::new(error.to_string()))?);
        } else if args.items || args.departures {
            let word =
                if item.departs.is_some() { "differs".yellow().to_string() } else { "as said".green().to_string() };
            anstream::println!("{} {word:<7} {}\n      {}", seed.number.dimmed(), item.says.bold(), item.here);
            if let Some(departs) = &item.departs {
                anstream::println!("      {departs}");
            }
            anstream::println!("      {}", item.proof.join(", ").dimmed());
        }
    }
    Ok(())
}

fn totals(all: &[Seed]) {
    let differ = |seed: &Seed| seed.items.iter().filter(|item| item.departs.is_some()).count();
    anstream::println!("{:<5} {:<48} {:>5} {:>8} {:>9}", "seed", "title", "items", "as said", "on purpose otherwise");
    for seed in all {
        let (count, departs) = (seed.items.len(), differ(seed));
        anstream::println!("{:<5} {:<48} {count:>5} {:>8} {departs:>9}", seed.number, seed.title, count - departs);
    }
    let count: usize = all.iter().map(|seed| seed.items.len()).sum();
    let departs: usize = all.iter().map(differ).sum();
    anstream::println!("{:<5} {:<48} {count:>5} {:>8} {departs:>9}", "all", "", count - departs);
}
