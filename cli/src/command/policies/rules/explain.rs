//! `phasegate rules explain [RULE]`.

use owo_colors::OwoColorize as _;
use phasegate_config::{RuleText, rule_texts};
use serde_json::{Value, json};

use super::check;
use crate::command::policies::check::count;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate rules explain`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The name of the rule to print; default: list all
    #[arg(value_name = "RULE")]
    pub rule: Option<String>,
}

/// Lists the rules, or prints those of a name.
pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let all = rule_texts(&runtime.discover(&project).files);
    let chosen: Vec<&RuleText> =
        all.iter().filter(|rule| args.rule.as_ref().is_none_or(|name| rule.id == *name)).collect();
    if let (Some(name), true) = (&args.rule, chosen.is_empty()) {
        let end = |rule: &&RuleText| rule.id.rsplit_once('/').is_some_and(|(_, end)| end == name);
        let meant: Vec<String> = all.iter().filter(end).map(|rule| format!("`{}`", rule.id)).collect();
        let help = match meant.is_empty() {
            true => "`phasegate rules explain` lists the rules, and `phasegate rules check` says which cannot be read"
                .into(),
            false => format!("did you mean {}?", meant.join(" or ")),
        };
        return Err(Failure::new(format!("there is no rule `{name}` here")).with_help(help));
    }
    if context.out.json {
        let list: Vec<Value> = chosen.iter().map(|rule| as_json(rule)).collect();
        context.out.value(&json!({"rules": list}));
    } else if args.rule.is_some() {
        for rule in chosen {
            context.out.line(format_args!("{}:{}", rule.path, rule.line));
            context.out.line(&rule.text);
        }
    } else {
        for rule in chosen {
            let id = rule.id.bold();
            context.out.line(format_args!("{:<7} {id}  {}:{}", rule.effect, rule.path, rule.line));
            if !rule.reason.is_empty() {
                context.out.line(format_args!("        {}", rule.reason));
            }
        }
    }
    let mistakes = check::mistakes(&runtime, &project);
    if mistakes > 0 {
        context.out.note(format_args!(
            "{}: the rules have {}, so a session that begins now has every call denied; `phasegate rules check` says which",
            "warning".yellow(),
            count(mistakes, "mistake")
        ));
    }
    Ok(Exit::Done)
}

fn as_json(rule: &RuleText) -> Value {
    let RuleText { id, effect, reason, path, line, text } = rule;
    json!({"rule": id, "effect": effect, "reason": reason, "path": path, "line": line, "text": text})
}
