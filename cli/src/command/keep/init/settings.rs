//! The config that `init` writes or adds to.

use std::path::Path;

use phasegate_adapter::{Change, InstallScope};
use phasegate_config::{Compiled, Kind, Level, Severity, SourceFile, compile};
use phasegate_core::Code;
use phasegate_core::policy::{Mode, Policy, Skill};
use phasegate_runtime::policies::policy_store::{strictest, strictest_of_skills};

use super::rule_packs;
use super::setting::{Setting, read};
use super::starter;
use crate::args::ModeArg;
use crate::command::runs::start::known;
use crate::exit::Exit;
use crate::output::Failure;

/// The config as `init` leaves it.
pub(crate) struct Config {
    /// Its change, if it needs one.
    pub(crate) change: Option<Change>,
    /// The strictest mode that it asks for.
    pub(crate) mode: Mode,
    /// The strictest mode of its skills and of those that begin.
    pub(crate) of_skills: Mode,
    /// What it means.
    pub(crate) policy: Policy,
    /// The skills that were asked for, and those that they consist of and that subagents do.
    pub(crate) skills: Vec<String>,
    /// The mode in a config that is there already, where another was asked for.
    pub(crate) other_mode: Option<Mode>,
}

/// The config as it will be.
pub(crate) fn planned(setting: &Setting<'_>) -> Result<Config, Failure> {
    let folder = setting.config_folder();
    let names = ["config.yaml", "config.yml", "config.json"];
    let path = names.iter().map(|name| folder.join(name)).find(|path| path.exists());
    let path = path.unwrap_or_else(|| folder.join("config.yaml"));
    let before = read(&path)?;
    let text_with = |skills: &[String]| {
        let text = match &before {
            None => starter::text(skills, setting.args.mode.unwrap_or(ModeArg::Warn)),
            Some(text) => extended(setting, &path, text, skills)?,
        };
        rule_packs::with_packs(&path, text, &setting.args.rules)
    };
    let mut skills = setting.args.skills.clone();
    let mut after = text_with(&skills)?;
    let mut compiled = compiled(setting, &path, &after);
    let parts = parts(&skills, &compiled.policy);
    if !parts.is_empty() {
        skills.extend(parts);
        after = text_with(&skills)?;
        compiled = self::compiled(setting, &path, &after);
    }
    let mistakes: Vec<_> = compiled
        .diagnostics
        .iter()
        .filter(|found| found.severity == Severity::Error)
        .map(|found| format!("{}:{}:{}: {} [{}]", found.path, found.line, found.column, found.message, found.code))
        .collect();
    if !mistakes.is_empty() {
        let unknown = setting.args.skills.iter().any(|skill| compiled.policy.skill(skill).is_none())
            && compiled.diagnostics.iter().any(|found| found.code == Code::SkillUnknownUse);
        let help = compiled.diagnostics.iter().find_map(|found| found.suggestion.clone());
        return Err(Failure {
            // A skill that does not exist is a mistake of the command line.
            exit: if unknown { Exit::Failed } else { Exit::No },
            code: compiled.diagnostics.first().map(|found| found.code),
            message: format!("the config would have errors, so nothing is written:\n{}", mistakes.join("\n")),
            help,
        });
    }
    if setting.scope == InstallScope::Project {
        known(&setting.args.in_force, &compiled.policy)?;
    }
    let mode = strictest(&compiled.policy, compiled.settings.mode);
    let of_skills = strictest_of_skills(&compiled.policy, compiled.settings.mode);
    let change = (before.as_deref() != Some(&after)).then_some(Change { path, before, after: Some(after) });
    let differs = setting.args.mode.is_some_and(|mode| compiled.settings.mode != Some(mode.mode()));
    let other_mode = differs.then(|| compiled.settings.mode.unwrap_or(Mode::Warn));
    Ok(Config { change, mode, of_skills, policy: compiled.policy, skills, other_mode })
}

/// The skills that these consist of and that a subagent does, or that begin before it is started and so guard the start.
fn parts(skills: &[String], policy: &Policy) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Vec<&Skill> = skills.iter().filter_map(|name| policy.skill(name)).collect();
    while let Some(skill) = open.pop() {
        for child in &skill.children {
            let is_new = !skills.contains(&child.name) && !found.contains(&child.name);
            let is_done_by_one = child.phases.iter().any(|phase| phase.done_by.is_some());
            if is_new && (is_done_by_one || child.starts_by_itself()) {
                found.push(child.name.clone());
            }
            open.push(child);
        }
    }
    found.sort_unstable();
    found
}

/// The text with the skills that do not apply yet.
fn extended(setting: &Setting<'_>, path: &Path, text: &str, skills: &[String]) -> Result<String, Failure> {
    let known = compiled(setting, path, text);
    let missing: Vec<_> = skills.iter().filter(|skill| known.policy.skill(skill).is_none()).cloned().collect();
    let differs = setting.args.mode.is_some_and(|mode| known.settings.mode != Some(mode.mode()));
    if differs && !setting.context.out.json {
        setting.context.out.note(format_args!(
            "the mode in `{}` stays as it is: write `mode` there, then run `phasegate init` again without `--mode`, and \
             `phasegate reload` for live sessions",
            path.display()
        ));
    }
    if missing.is_empty() {
        return Ok(text.to_string());
    }
    let is_json = path.extension().is_some_and(|end| end == "json");
    let edited = if is_json { add_json(text, &missing) } else { add_yaml(text, &missing) };
    edited.ok_or_else(|| {
        let names = missing.join(", ");
        Failure::new(format!("`{}` lists its skills in a form that cannot be added to", path.display()))
            .with_help(format!("add under `use`: {names}"))
    })
}

/// All configs of the project, with this text as the one at `path`.
fn compiled(setting: &Setting<'_>, path: &Path, text: &str) -> Compiled {
    let root = &setting.project.root;
    let shown = path.strip_prefix(root).unwrap_or(path).display().to_string();
    let mut files = setting.runtime.discover(&setting.project).files;
    match files.iter_mut().find(|file| file.path == shown) {
        Some(file) => file.text = text.to_string(),
        None => {
            let level = match setting.scope {
                InstallScope::User => Level::User,
                InstallScope::Project => Level::Project,
            };
            files.push(SourceFile { path: shown, text: text.to_string(), level, kind: Kind::Settings });
        }
    }
    compile(&files)
}

/// Adds names to the list `use` of a YAML text; `None` if it is written in a way that lines cannot be added to.
fn add_yaml(text: &str, names: &[String]) -> Option<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    let Some(at) = lines.iter().position(|line| line.starts_with("use:")) else {
        lines.push("use:".to_string());
        lines.extend(names.iter().map(|name| format!("  - {name}")));
        return Some(lines.join("\n") + "\n");
    };
    let (_, value) = lines.get(at)?.split_once(':')?;
    let value = value.split(" #").next().unwrap_or(value).trim().to_string();
    if value.is_empty() {
        let belongs = |line: &&String| line.is_empty() || line.starts_with([' ', '-', '#', '\t']);
        let block: Vec<&String> = lines.iter().skip(at + 1).take_while(belongs).collect();
        let is_item = |line: &&&String| !line.trim().is_empty() && !line.trim_start().starts_with('#');
        let last = block.iter().rposition(|line| is_item(&line)).map_or(at, |last| at + 1 + last);
        let first = block.iter().find(|line| line.trim_start().starts_with('-'));
        let indent = first.map_or(2, |line| line.len() - line.trim_start().len());
        let items: Vec<_> = names.iter().map(|name| format!("{}- {name}", " ".repeat(indent))).collect();
        lines.splice(last + 1..last + 1, items);
        return Some(lines.join("\n") + "\n");
    }
    let inside = value.strip_prefix('[')?.strip_suffix(']')?.trim().to_string();
    let start = if inside.is_empty() { String::new() } else { inside + ", " };
    if let Some(line) = lines.get_mut(at) {
        *line = format!("use: [{start}{}]", names.join(", "));
    }
    Some(lines.join("\n") + "\n")
}

/// Adds names to the list `use` of a JSON text.
fn add_json(text: &str, names: &[String]) -> Option<String> {
    let quoted = names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    let Some(list) = value.get("use") else {
        let (open, rest) = text.split_once('{')?;
        let comma = if value.as_object()?.is_empty() { "" } else { "," };
        return Some(format!("{open}{{\n  \"use\": [{quoted}]{comma}{rest}"));
    };
    let comma = if list.as_array()?.is_empty() { "" } else { ", " };
    let (before, rest) = text.split_once("\"use\"")?;
    let (colon, rest) = rest.split_once('[')?;
    (colon.trim() == ":").then(|| format!("{before}\"use\"{colon}[{quoted}{comma}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        vec!["b".to_string(), "c".to_string()]
    }

    #[test]
    fn names_are_added_to_yaml_in_the_form_it_has() {
        let cases = [
            ("mode: warn\n", "mode: warn\nuse:\n  - b\n  - c\n"),
            ("use:\n- a # first\n\nmode: warn\n", "use:\n- a # first\n- b\n- c\n\nmode: warn\n"),
            (
                "use:\n    - skill: a\n      mode: block\n# end\n",
                "use:\n    - skill: a\n      mode: block\n    - b\n    - c\n# end\n",
            ),
            ("use: [a]\nmode: warn\n", "use: [a, b, c]\nmode: warn\n"),
            ("use: []\n", "use: [b, c]\n"),
            ("use:\nmode: warn\n", "use:\n  - b\n  - c\nmode: warn\n"),
        ];
        for (before, after) in cases {
            assert_eq!(add_yaml(before, &names()).as_deref(), Some(after));
        }
        assert_eq!(add_yaml("use: &list\n", &names()), None);
    }

    #[test]
    fn names_are_added_to_json() {
        let cases = [
            ("{}", r#"{"use": ["b", "c"]}"#),
            (r#"{"mode": "warn"}"#, r#"{"use": ["b", "c"], "mode": "warn"}"#),
            (r#"{"use": ["a"]}"#, r#"{"use": ["b", "c", "a"]}"#),
            (r#"{"use" : [ ]}"#, r#"{"use": ["b", "c"]}"#),
        ];
        for (before, after) in cases {
            let edited = add_json(before, &names()).unwrap();
            let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            assert_eq!(value(&edited), value(after), "{edited}");
        }
    }
}
