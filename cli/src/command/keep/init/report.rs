//! What `init` reports: what it did, and what comes next.

use std::path::PathBuf;

use phasegate_adapter::{Change, InstallScope};
use phasegate_core::policy::{Policy, Skill, Start};
use serde_json::json;

use super::plan::Plan;
use super::program_link::Link;
use super::setting::Setting;
use super::settings::Config;
use super::skill_file::files;
use super::version_control::{is_committed, is_offered};
use super::{apply, record};
use crate::command::keep::adapters::invocation;
use crate::output::Failure;

/// The most skills of which is said what they begin with.
const MAX_DESCRIBED: usize = 3;

/// The most characters of a line of `start` that are shown.
const MAX_LINE_CHARS: usize = 60;
/// The most lines of `start` that are shown of a skill.
const MAX_BEFORE: usize = 2;

/// Tells what was done and what comes next, then which files it is about.
///
/// # Errors
///
/// A settings file cannot be read.
pub(super) fn report(plans: &[Plan<'_>], link: Option<&Link>, config: &Config) -> Result<(), Failure> {
    let Some(Plan { setting, .. }) = plans.first() else { return Ok(()) };
    let (out, args) = (setting.context.out, setting.args);
    let mut advice = Vec::new();
    for adapter in &setting.adapters {
        advice.extend(adapter.installer().advice(&setting.request(*adapter)?));
    }
    let changes: Vec<_> = changes(plans).collect();
    if out.json {
        let paths = changes.iter().map(|change| change.path.as_path()).chain(link.map(Link::path));
        let paths: Vec<_> = paths.map(|path| path.display().to_string()).collect();
        let platforms: Vec<_> = setting.adapters.iter().map(|adapter| adapter.id()).collect();
        out.value(&json!({"advice": advice, "changed": paths, "dry_run": args.dry_run, "platforms": platforms}));
        return Ok(());
    }
    if let (true, Some(mode)) = (changes.is_empty() && link.is_none(), config.other_mode) {
        out.line(format_args!("nothing was changed: the mode of the config is {}, and stays it", mode.word()));
    } else if changes.is_empty() && link.is_none() {
        out.line("nothing to change");
    } else {
        let would = if args.dry_run { "would guard" } else { "guards" };
        let what = match setting.scope {
            InstallScope::User => "every project of this user",
            InstallScope::Project => "this project",
        };
        let platforms: Vec<_> = setting.adapters.iter().map(|adapter| adapter.name()).collect();
        let mode = config.mode.word();
        out.line(format_args!("phasegate {would} {what} in {mode} mode, on {}", platforms.join(", ")));
        if config.mode > config.of_skills {
            out.line(
                "  `mode: warn` of the config is about skills: rules, budgets and access have a mode of their own",
            );
        }
        next(plans, &config.policy);
        plans.iter().for_each(|plan| apply::show(&plan.setting, &plan.changes, args.verbose));
        if let Some(link) = link {
            out.line(link.shown());
        }
        if args.local {
            local(setting, &changes);
        }
        if args.dry_run {
            let more = if args.verbose { "" } else { "; `--verbose` shows each change" };
            out.line(format_args!("nothing was written (`--dry-run`){more}"));
        } else if args.verbose {
            let kept = plans.iter().filter(|plan| !plan.changes.is_empty()).map(|plan| record::path(&plan.setting));
            let kept: Vec<_> = kept.map(|path| path.display().to_string()).collect();
            out.line(format_args!("the previous versions are kept in {}", kept.join(" and ")));
        }
    }
    advice.iter().for_each(|advice| out.note(advice));
    Ok(())
}

/// Says of the settings that a person keeps what would make others get them.
fn local(setting: &Setting<'_>, changes: &[&Change]) {
    let files = setting
        .adapters
        .iter()
        .flat_map(|adapter| adapter.installer().places().own_settings_files(&setting.project.root));
    for path in files.filter(|path| changes.iter().any(|change| change.path == *path)) {
        let name = path.strip_prefix(&setting.project.root).unwrap_or(&path).display();
        if is_committed(&path) {
            setting.context.out.note(format_args!("`{name}` is committed, so others get these hooks, too"));
        } else if is_offered(&path) {
            setting.context.out.note(format_args!("git does not ignore `{name}`: add it to `.git/info/exclude`"));
        }
    }
}

fn changes<'p>(plans: &'p [Plan<'_>]) -> impl Iterator<Item = &'p Change> {
    plans.iter().flat_map(|plan| &plan.changes)
}

/// How the skills of these names begin. Some of them have a file by which the client invokes them; `typed_as` is what a person
/// types for one.
fn starts(
    policy: &Policy,
    names: &[&str],
    has_file: impl Fn(&str) -> bool,
    typed_as: impl Fn(&str) -> String,
) -> String {
    let skills: Vec<&Skill> = names.iter().filter_map(|name| policy.skill(name)).collect();
    let alone: Vec<&&Skill> = skills.iter().filter(|skill| skill.starts_by_itself()).collect();
    let invoked: Vec<&str> =
        skills.iter().filter(|skill| skill.is_invoked()).map(|skill| skill.name.as_str()).collect();
    let typed: Vec<&str> = invoked.iter().copied().filter(|name| has_file(name)).collect();
    let by_itself = match alone.as_slice() {
        [] => String::new(),
        all if all.len() <= MAX_DESCRIBED => {
            let said = all.iter().map(|skill| format!("{} begins {}", skill.name, occasions(skill)));
            format!("; {}", said.collect::<Vec<_>>().join("; "))
        }
        all => {
            let names: Vec<&str> = all.iter().map(|skill| skill.name.as_str()).collect();
            format!("; {} begin without being asked for", names.join(", "))
        }
    };
    match (typed.as_slice(), invoked.first()) {
        ([first, ..], _) if alone.len() == skills.len() => {
            format!("{by_itself}; {} starts it at once", typed_as(first))
        }
        ([first, ..], _) => {
            format!(" and start a skill ({}), for example with {}{by_itself}", typed.join(", "), typed_as(first))
        }
        // No file of the client's is there to invoke it by.
        ([], Some(first)) => {
            format!("{by_itself}; `phasegate init --skill {first}` writes the skill that the client lists")
        }
        ([], None) => by_itself,
    }
}

/// A text, or the beginning of a long one.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_LINE_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// What a skill begins with, without being asked for.
fn occasions(skill: &Skill) -> String {
    let said = skill.start.iter().filter_map(|start| match start {
        Start::Invocation | Start::Before(_) => None,
        Start::Session => Some("with each session".to_string()),
        Start::Prompt(text) => Some(format!("with a prompt that begins `{text}`")),
        Start::PermissionMode(mode) => Some(format!("when the client is in its mode `{mode}`")),
    });
    said.chain(before(skill)).collect::<Vec<_>>().join(" or ")
}

/// The calls that a skill begins before; of many, the first ones.
fn before(skill: &Skill) -> Option<String> {
    let line = |start: &Start| if let Start::Before(matcher) = start { Some(shortened(&matcher.text)) } else { None };
    let lines: Vec<String> = skill.start.iter().filter_map(line).collect();
    let mut shown: Vec<String> = lines.iter().take(MAX_BEFORE).map(|line| format!("`{line}`")).collect();
    shown.dedup();
    let more = match lines.len().saturating_sub(MAX_BEFORE) {
        0 => String::new(),
        1 => format!(" or another line of its `start` (`phasegate skill show {}`)", skill.name),
        more => format!(" or {more} more lines of its `start` (`phasegate skill show {}`)", skill.name),
    };
    (!shown.is_empty()).then(|| format!("before the first call of {}{more}", shown.join(" or ")))
}

/// The next step of a person.
fn next(plans: &[Plan<'_>], policy: &Policy) {
    let Some(Plan { setting, .. }) = plans.first() else { return };
    let out = setting.context.out;
    let mut names: Vec<_> = policy.skills.iter().map(|skill| skill.name.as_str()).collect();
    let asked = &setting.args.skills;
    names.retain(|name| asked.is_empty() || asked.iter().any(|skill| skill == name));
    match names.as_slice() {
        [] => out.line("  no skill applies yet: `phasegate init --skill test-first` adds a shipped one"),
        names => {
            let has_file = |name: &str| {
                let is_there = |file: &PathBuf| file.exists() || changes(plans).any(|change| change.path == *file);
                setting.adapters.iter().any(|adapter| files(setting, *adapter, name).iter().any(is_there))
            };
            let typed_as = |name: &str| {
                let inputs = policy.skill(name).into_iter().flat_map(|skill| &skill.inputs);
                let values: String = inputs.map(|input| format!(" {}=VALUE", input.name)).collect();
                invocation(&setting.adapters, &format!("{name}{values}"))
            };
            out.line(format_args!("  next: start the client anew{}", starts(policy, names, has_file, typed_as)));
        }
    }
    out.line("  `phasegate status` shows where a session stands, `phasegate init --undo` takes all of this back");
}
