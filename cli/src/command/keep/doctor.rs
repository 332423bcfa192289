//! `phasegate doctor`: whether the guard is really wired, and what it cannot do.

use owo_colors::OwoColorize as _;
use phasegate_adapter::{Ability, Adapter, Finding, Level, PROGRAM};
use phasegate_runtime::Runtime;
use phasegate_runtime::operate::doctor::{Asked, Section, examine};
use serde_json::{Value, json};

use super::adapters::signs;
use super::init::skill_file;
use crate::args::platform_names;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;
use crate::progress::Progress;
use crate::shell_probe::{SHELL_PROBE, shell_variables};

/// The arguments of `phasegate doctor`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only this platform, as `phasegate adapters` lists it; default: those detected here
    #[arg(long, value_name = "PLATFORM", value_parser = platform_names(), hide_possible_values = true)]
    pub platform: Option<String>,
    /// Also list what each platform cannot enforce
    #[arg(long, short)]
    pub verbose: bool,
}

/// Looks at everything that the guard needs. Exits 1 if there is a problem.
///
/// # Errors
///
/// The platform is not known, or no folder for the state is.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let (adapters, elsewhere) = platforms(args, &runtime, &project.root)?;
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().unwrap_or_default())))
        .collect();
    let (command, start, shell_probe) = (PROGRAM.to_owned(), context.start()?, SHELL_PROBE);
    let shell_variables = shell_variables();
    let asked = Asked { adapters: &adapters, command, start, shell_probe, shell_variables, environment };
    let mut bar = Progress::new(context.out, "read the journals");
    let mut sections = examine(&runtime, &project, &asked, &mut |done, total| {
        bar.set(done, total);
    });
    bar.clear();
    let findings = skill_file::stale(&runtime, &project, &adapters)?;
    if !findings.is_empty() {
        sections.push(Section { about: "SKILL.md".into(), findings });
    }
    if !elsewhere.is_empty() {
        let findings = elsewhere.iter().map(|adapter| unused(*adapter)).collect();
        sections.push(Section { about: "not used in this project".into(), findings });
    }
    if context.out.json {
        context.out.value(&as_json(&sections, &adapters));
    } else {
        sections.iter().for_each(|section| print(context, section));
        adapters.iter().for_each(|adapter| limits(context, *adapter, args.verbose));
        summary(context, &sections);
    }
    Ok(if count(&sections, Level::Problem) > 0 { Exit::No } else { Exit::Done })
}

type Adapters = Vec<&'static dyn Adapter>;

/// The platforms to look at, and those of this machine of which the project has no sign although it has one of others.
fn platforms(args: &Args, runtime: &Runtime, root: &std::path::Path) -> Result<(Adapters, Adapters), Failure> {
    let mut all = phasegate_adapters::all();
    if let Some(id) = &args.platform {
        return match phasegate_adapters::find(id) {
            Some(adapter) => Ok((vec![adapter], Vec::new())),
            None => {
                let known: Vec<_> = all.iter().map(|adapter| adapter.id()).collect();
                Err(Failure::new(format!("there is no platform `{id}`"))
                    .with_help(format!("this build has: {}", known.join(", "))))
            }
        };
    }
    all.retain(|adapter| !signs(*adapter, root, &runtime.locations.home).is_empty());
    let here = |adapter: &&'static dyn Adapter| {
        signs(*adapter, root, &runtime.locations.home).iter().any(|sign| !sign.starts_with('~'))
    };
    let (used, others): (Adapters, Adapters) = all.into_iter().partition(here);
    Ok(if used.is_empty() { (others, used) } else { (used, others) })
}

/// What is told of a platform that the project does not use.
fn unused(adapter: &dyn Adapter) -> Finding {
    let what = format!("{} is on this machine, and nothing of the project is for it: not looked at", adapter.name());
    Finding::new(Level::Note, what).with(format!("run `phasegate doctor --platform {}`", adapter.id()))
}

fn print(context: &Context, section: &Section) {
    let out = context.out;
    out.line(section.about.bold());
    for finding in &section.findings {
        let word = format!("{:<7}", finding.level.word());
        let word = match finding.level {
            Level::Ok => word.green().to_string(),
            Level::Note => word.cyan().to_string(),
            Level::Warning => word.yellow().to_string(),
            Level::Problem => word.red().bold().to_string(),
        };
        out.line(format_args!("  {word} {}", finding.what));
        if let Some(suggestion) = &finding.suggestion {
            out.line(format_args!("          {} {suggestion}", "help:".cyan()));
        }
    }
}

/// What phasegate cannot enforce on the platform.
fn limits(context: &Context, adapter: &dyn Adapter, verbose: bool) {
    let out = context.out;
    let capabilities = adapter.capabilities();
    let abilities = capabilities.rows();
    let abilities = abilities.into_iter().filter_map(|(name, ability)| match ability {
        Ability::Partly(limit) | Ability::No(limit) => Some(format!("{}: {limit}", name.replace('_', " "))),
        _ => None,
    });
    let ways = adapter.diagnostics().limits();
    let ways = ways.iter().map(|limit| format!("{}: {}", limit.way, limit.then));
    let all: Vec<String> = abilities.chain(ways).collect();
    if verbose {
        out.line(format_args!("what {} cannot enforce", adapter.name()).bold());
        all.iter().for_each(|limit| out.line(format_args!("  {limit}")));
    } else {
        let count = all.len();
        out.line(format_args!(
            "{} cannot enforce everything: `phasegate doctor --verbose` lists {count} limits",
            adapter.name()
        ));
    }
}

fn summary(context: &Context, sections: &[Section]) {
    let (problems, warnings) = (count(sections, Level::Problem), count(sections, Level::Warning));
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let told = format!("{}, {}", plural(problems, "problem"), plural(warnings, "warning"));
    context.out.line(if problems > 0 { told.red().to_string() } else { told.green().to_string() });
}

fn count(sections: &[Section], level: Level) -> usize {
    sections.iter().flat_map(|section| &section.findings).filter(|finding| finding.level == level).count()
}

fn as_json(sections: &[Section], adapters: &[&'static dyn Adapter]) -> Value {
    let finding = |finding: &Finding| json!({"level": finding.level.word(), "what": finding.what, "suggestion": finding.suggestion});
    let section = |section: &Section| {
        let findings: Vec<_> = section.findings.iter().map(finding).collect();
        json!({"about": section.about, "findings": findings})
    };
    let limits: Vec<_> = adapters
        .iter()
        .flat_map(|adapter| adapter.diagnostics().limits().into_iter().map(|limit| (adapter.id(), limit)))
        .map(|(platform, limit)| json!({"platform": platform, "way": limit.way, "then": limit.then}))
        .collect();
    json!({
        "problems": count(sections, Level::Problem),
        "warnings": count(sections, Level::Warning),
        "sections": sections.iter().map(section).collect::<Vec<_>>(),
        "limits": limits,
    })
}
