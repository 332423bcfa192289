//! `phasegate skill list`.

use std::collections::BTreeMap;

use owo_colors::OwoColorize as _;
use phasegate_config::shipped;
use phasegate_config::shipped_policy;
use phasegate_core::policy::Skill;
use phasegate_runtime::policies::policy_store::Current;
use serde_json::json;

use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate skill list`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// Lists each skill with its kind and whether it applies here.
///
/// # Errors
///
/// The project cannot be found.
pub(super) fn run(_args: &Args, context: &Context) -> Result<Exit, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let applied = match runtime.current(&project)? {
        Current::Ready(ready) => ready.policy.skills,
        Current::Unguarded | Current::Invalid { .. } => Vec::new(),
    };
    let mut all: BTreeMap<String, (bool, Skill)> = BTreeMap::new();
    for shipped in shipped() {
        let found = shipped_policy(shipped.name, None).and_then(|policy| policy.skill(shipped.name).cloned());
        all.extend(found.map(|skill| (shipped.name.to_string(), (false, skill))));
    }
    all.extend(applied.into_iter().map(|skill| (skill.name.clone(), (true, skill))));
    let width = all.keys().map(String::len).max().unwrap_or_default();
    for (name, (applies, skill)) in &all {
        let phases = skill.phases.len();
        if context.out.json {
            context.out.row(&json!({
                "skill": name, "kind": skill.kind(), "phases": phases, "applies": applies,
                "description": skill.description,
            }));
            continue;
        }
        let mark = if *applies { "*" } else { " " };
        let what = format!("{:<9} {phases}", skill.kind());
        context.out.line(format_args!("{mark} {:<width$}  {}  {}", name.bold(), what.dimmed(), skill.description));
    }
    if !context.out.json {
        context.out.line(
            "* applies here; `phasegate skill show NAME` prints the file of one, `phasegate init --skill NAME` adds it",
        );
    }
    Ok(Exit::Done)
}
