//! `phasegate status graph`: the phases of a skill and the ways between them, as Mermaid.

mod children;
mod mermaid;
mod model;
mod words;

use phasegate_config::{Kind, Level, Severity, SourceFile, compile, find_shipped};
use phasegate_core::policy::Skill;
use serde_json::{Value, json};

use crate::command::runs::live::found::{Fits, Found, found, text};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;
use model::Graph;

/// Draws.
///
/// # Errors
///
/// There is no such skill or run, or the file cannot be written.
pub(super) fn run(name: Option<&String>, run: Option<&String>, context: &Context) -> Result<Exit, Failure> {
    let found = found(context, None)?;
    let graph = match name {
        Some(name) => {
            let live = found.places().flat_map(|seen| seen.roots()).find(|run| text(run, "skill_name") == name);
            match live {
                Some(run) => of_run(&found, run)?,
                None => Graph::of(&named(&found, name)?, None, &[]),
            }
        }
        None => {
            let roots: Vec<Value> = found.places().flat_map(|seen| seen.roots().cloned()).collect();
            let is_root = |run: &Value| roots.iter().any(|root| root.get("run") == run.get("run"));
            let none = "no run is live: the name of a skill draws it without one";
            of_run(&found, found.run(run, &Fits { test: &is_root, none })?)?
        }
    };
    let drawing = mermaid::drawn(&graph);
    if context.out.json {
        context.out.value(&json!({"skill": graph.name, "drawing": drawing}));
    } else {
        context.out.line(drawing.trim_end());
    }
    Ok(Exit::Done)
}

fn of_run(found: &Found, run: &Value) -> Result<Graph, Failure> {
    let parts: Vec<Value> = found.places().flat_map(|seen| seen.parts(run).cloned()).collect();
    Ok(Graph::of(&found.skill_of(run)?, Some(run), &parts))
}

/// The skill of this name: the project's, else the shipped one.
fn named(found: &Found, name: &str) -> Result<Skill, Failure> {
    let policy = found.policy()?;
    if let Some(skill) = policy.skill(name) {
        return Ok(skill.clone());
    }
    let mut names: Vec<String> = policy.skills.iter().map(|skill| skill.name.clone()).collect();
    names.extend(phasegate_config::shipped().iter().map(|skill| skill.name.to_string()));
    let unknown =
        || Failure::new(format!("there is no skill `{name}`")).with_help(format!("there are [{}]", names.join(", ")));
    let (shipped, form) = find_shipped(name).ok_or_else(unknown)?;
    let (path, text) = (shipped.path(form), shipped.text(form).unwrap_or_default().to_string());
    let compiled = compile(&[SourceFile { path, text, level: Level::Project, kind: Kind::Skill }]);
    let wrong = compiled.diagnostics.iter().find(|found| found.severity == Severity::Error);
    match (compiled.policy.skill(shipped.name), wrong) {
        (Some(skill), None) => Ok(skill.clone()),
        (_, Some(wrong)) => Err(Failure::new(format!("{}: {}", wrong.path, wrong.message))),
        (None, None) => Err(unknown()),
    }
}
