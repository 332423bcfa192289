//! `phasegate adapters`: the platforms of this build.

use std::fmt::Write as _;
use std::path::Path;

use owo_colors::OwoColorize as _;
use phasegate_adapter::{Ability, Adapter};
use phasegate_adapters::matrix::{COLUMNS, row};
use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate adapters`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Lists the platforms.
///
/// # Errors
///
/// The build has none.
pub fn run(_: &Args, context: &Context) -> Result<Exit, Failure> {
    let adapters = phasegate_adapters::all();
    if adapters.is_empty() {
        return Err(Failure::new("this build has no adapter, so it can guard nothing")
            .with_help("build phasegate with the feature of a platform"));
    }
    let runtime = context.runtime()?;
    let root = context.find_project(&runtime)?.root;
    let rows: Vec<_> =
        adapters.iter().map(|adapter| (*adapter, signs(*adapter, &root, &runtime.locations.home))).collect();
    if context.out.json {
        context.out.value(&rows.iter().map(|(adapter, signs)| as_json(*adapter, signs)).collect());
    } else {
        matrix(context, &adapters);
        rows.iter().for_each(|(adapter, signs)| print(context, *adapter, signs));
    }
    Ok(Exit::Done)
}

/// The signs of the platform that are there, in the project or in the user's home.
pub fn signs(adapter: &dyn Adapter, root: &Path, home: &Path) -> Vec<String> {
    let mut signs = adapter.installer().places().signs;
    signs.retain(|sign| place(sign, root, home).exists());
    signs
}

/// What a person types to invoke a skill, where it is not the same on all of these platforms with the platform's name.
pub fn invocation(adapters: &[&'static dyn Adapter], skill: &str) -> String {
    let command = |adapter: &&'static dyn Adapter| adapter.installer().skill_command();
    let usual = adapters.first().map_or("/", command);
    let mut text = format!("`{usual}{skill}`");
    for other in adapters.iter().filter(|adapter| command(adapter) != usual) {
        let _ = write!(text, " (in {}, `{}{skill}`)", other.name(), command(other));
    }
    text
}

/// The path that a place of an adapter stands for.
pub fn place(place: &str, root: &Path, home: &Path) -> std::path::PathBuf {
    match place.strip_prefix("~/") {
        Some(below) => home.join(below),
        None => root.join(place),
    }
}

/// All platforms side by side.
fn matrix(context: &Context, adapters: &[&'static dyn Adapter]) {
    let out = context.out;
    let width = adapters.iter().map(|adapter| adapter.id().len()).max().unwrap_or_default();
    let titles: String = COLUMNS.iter().map(|title| format!("  {title:<9}")).collect();
    out.line(format_args!("{:width$}{}", "", titles.trim_end().bold()));
    for adapter in adapters {
        let cells = row(*adapter).iter().enumerate().fold(String::new(), |cells, (at, ability)| {
            let last = at + 1 == COLUMNS.len();
            let cell = if last { word(ability).to_owned() } else { format!("{:<9}", word(ability)) };
            let cell = match ability {
                Ability::Yes => cell.green().to_string(),
                Ability::Partly(_) => cell.yellow().to_string(),
                Ability::No(_) => cell.red().to_string(),
            };
            format!("{cells}  {cell}")
        });
        out.line(format_args!("{:width$}{}", adapter.id(), cells));
    }
    out.line("");
}

fn word(ability: &Ability) -> &'static str {
    match ability {
        Ability::Yes => "yes",
        Ability::Partly(_) => "partly",
        Ability::No(_) => "no",
    }
}

fn print(context: &Context, adapter: &dyn Adapter, signs: &[String]) {
    let out = context.out;
    let found =
        if signs.is_empty() { "not detected here".to_string() } else { format!("detected: {}", signs.join(", ")) };
    out.line(format_args!("{} {} ({found})", adapter.id().bold(), adapter.name()));
    out.line(format_args!("  recorded with {}", adapter.diagnostics().versions().join(", ")));
    for (name, ability) in adapter.capabilities().rows() {
        match ability {
            Ability::Yes => out.line(format_args!("  {} {name}", "yes   ".green())),
            Ability::Partly(limit) => out.line(format_args!("  {} {name}: {limit}", "partly".yellow())),
            Ability::No(instead) => out.line(format_args!("  {} {name}: {instead}", "no    ".red())),
        }
    }
}

fn as_json(adapter: &dyn Adapter, signs: &[String]) -> Value {
    let cell = |ability: &Ability| {
        let limit = match ability {
            Ability::Yes => None,
            Ability::Partly(limit) | Ability::No(limit) => Some(limit),
        };
        json!({"can": word(ability), "limit": limit})
    };
    let capabilities = adapter.capabilities();
    let rows: Map<_, _> =
        capabilities.rows().map(|(name, ability)| (name.to_string(), cell(ability))).into_iter().collect();
    let row: Map<_, _> =
        COLUMNS.iter().zip(row(adapter)).map(|(name, ability)| ((*name).to_string(), cell(&ability))).collect();
    json!({
        "id": adapter.id(),
        "name": adapter.name(),
        "versions": adapter.diagnostics().versions(),
        "detected": signs,
        "capabilities": rows,
        "matrix": row,
    })
}
