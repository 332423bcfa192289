//! Skill texts to skills.

pub(crate) mod instance;
pub(crate) mod agent;
pub(crate) mod children;
pub(crate) mod unentered;
pub(crate) mod demanded;

use phasegate_core::Code;
use phasegate_core::policy::matcher::Matcher;
use phasegate_core::policy::{LeaveSkill, Mode, Skill, Unlisted};
use serde_json::Value;

use crate::build::builder::{Builder, Built, RunName, child};
use crate::build::{matcher, skill};
use crate::files::texts::Texts;
use crate::input::{Kind, Known, Level, SourceFile};
use crate::read::front_matter;
use crate::read::node::{Entry, Node, Span};
use crate::read::report::Finding;
use crate::read::text::Text;
use crate::settings::groups::Groups;
use crate::source::{Form, SettingsSource, SkillSource, UnlistedRuleSource};
use crate::validate::validate;
use crate::{meaning, read};

/// A skill as one file has it.
pub(crate) struct Found {
    pub(crate) skill: Skill,
    /// The number of its file.
    pub(crate) file: usize,
    pub(crate) level: Level,
    pub(crate) kind: Kind,
    /// Where its name stands.
    pub(crate) name: Span,
    /// What it says of `mode`, `unlisted` and `locked` itself: that combines over levels.
    pub(crate) mode: Option<Mode>,
    pub(crate) unlisted: Option<Unlisted>,
    pub(crate) locked: bool,
    /// The skills that its phases run.
    pub(crate) runs: Vec<RunName>,
}

/// What a skill config is read beside.
pub(crate) struct Beside<'a> {
    pub(crate) known: &'a Known,
    pub(crate) texts: Texts<'a>,
    /// The groups of files of the configs of its level and of those above.
    pub(crate) groups: &'a Groups,
}

/// Reads a skill config. `None` if there is none, or nothing of it could be understood.
pub(crate) fn read_skill(
    number: usize,
    file: &SourceFile,
    beside: &Beside<'_>,
    findings: &mut Vec<Finding>,
) -> Option<Found> {
    let root = match file.kind {
        Kind::Skill if file.text.trim().is_empty() => {
            findings.push(empty(&file.path));
            return None;
        }
        Kind::Skill => read::read(&Text::whole(&file.text), findings)?,
        Kind::SkillMd => front_matter::config(&file.text, &file.path, findings)?,
        Kind::Settings | Kind::Prompt | Kind::Format | Kind::Rules | Kind::Facts => return None,
    };
    let by_default = if file.kind == Kind::SkillMd && is_lists_only(&root) { Form::Compat } else { Form::Strict };
    let mut node = validate(phasegate_schemas::Kind::Skill, root, findings)?;
    if by_default == Form::Strict {
        node = agent::put_in(node, findings);
    }
    let source: SkillSource = typed(&node, findings)?;
    let form = source.form.unwrap_or(by_default);
    let groups = beside.groups.with(&source.groups, child(&node, "groups"), false, findings);
    let built = skill::skill(findings, &source, &node, form, &beside.texts, &groups);
    name(file, &built.skill.name, built.places.name, findings);
    let usable = !built.skill.phases.is_empty();
    if usable {
        meaning::check(&built, beside.known, findings);
    }
    let Built { skill, places, .. } = built;
    usable.then(|| Found {
        file: number,
        level: file.level,
        kind: file.kind,
        name: places.name,
        mode: skill.mode,
        unlisted: source.unlisted.as_ref().and_then(UnlistedRuleSource::word),
        locked: skill.leave_skill == LeaveSkill::Human,
        runs: places.runs,
        skill,
    })
}

/// A file of a skill that says nothing, as a command leaves it that failed to write it.
fn empty(path: &str) -> Finding {
    let name = path.rsplit(['/', '\\']).next().and_then(|file| file.rsplit_once('.')).map_or("", |(stem, _)| stem);
    let way = match crate::files::shipped::find_shipped(name) {
        Some(_) => format!("remove it, or fill it: `phasegate skill show {name} > {path}`"),
        None => format!("remove it, and write another: `phasegate skill new {name}`"),
    };
    Finding::error(Code::ConfigMissing, Span { line: 1, column: 1, ..Span::default() }, "the file is empty")
        .suggest(way)
}

/// Reports a name that cannot be typed or that is not the file's.
fn name(file: &SourceFile, name: &str, span: Span, findings: &mut Vec<Finding>) {
    let odd = |letter: char| letter.is_whitespace() || "/\\:".contains(letter);
    if name.contains(odd) || name.contains("..") {
        let plain: String = name.chars().map(|letter| if odd(letter) { '-' } else { letter }).collect();
        findings.push(
            Finding::warning(Code::ConfigValue, span, format!("`{name}` is no name that clients take for a skill"))
                .cause("agents and people type the name, and a platform makes a folder of it")
                .suggest(format!("write `{}`", plain.replace("..", "").trim_matches('-'))),
        );
        return;
    }
    let mut parts = file.path.rsplit(['/', '\\']);
    let last = parts.next().unwrap_or_default();
    let stem = if file.kind == Kind::SkillMd { parts.next() } else { last.rsplit_once('.').map(|(stem, _)| stem) };
    if parts.next() == Some("skills")
        && let Some(stem) = stem.filter(|stem| *stem != name)
    {
        let what = if file.kind == Kind::SkillMd { "folder" } else { "file" };
        findings.push(
            Finding::warning(Code::ConfigValue, span, format!("the skill is called `{name}`, and its {what} `{stem}`"))
                .cause("the agent activates it by the name in the file")
                .suggest("give both the same name"),
        );
    }
}

/// Reads a settings file, with the tree it was read from.
pub(crate) fn read_settings(file: &SourceFile, findings: &mut Vec<Finding>) -> Option<(SettingsSource, Node)> {
    let root = read::read(&Text::whole(&file.text), findings)?;
    let node = validate(phasegate_schemas::Kind::Settings, root, findings)?;
    typed(&node, findings).map(|source| (source, node))
}

/// The matchers that settings forbid everywhere, in each of these skills.
pub(crate) fn forbidden_by<'s>(
    settings: &SettingsSource,
    node: &Node,
    skills: impl IntoIterator<Item = &'s Skill>,
    groups: &Groups,
    findings: &mut Vec<Finding>,
) -> Vec<Matcher> {
    let mut builder = Builder::new(findings, false, groups);
    let (matchers, spans) = matcher::list(&mut builder, &settings.global_forbidden, child(node, "global_forbidden"));
    meaning::check_settings(&matchers, &spans, skills, findings);
    matchers
}

fn typed<T: serde::de::DeserializeOwned>(node: &Node, findings: &mut Vec<Finding>) -> Option<T> {
    let value: Value = node.to_value();
    // The schema was made from the type, so this fails only for what a schema cannot say.
    serde_json::from_value(value)
        .map_err(|error| findings.push(Finding::error(Code::ConfigValue, node.span, error.to_string())))
        .ok()
}

/// Whether a `tool_permissions` holds only the lists of the compat form.
fn is_lists_only(root: &Node) -> bool {
    let only = |entries: &[Entry], keys: &[&str]| entries.iter().all(|entry| keys.contains(&entry.key.as_str()));
    let names = |node: &Node, key: &str| {
        node.entry(key).is_none_or(|entry| entry.node.items().iter().all(|item| item.text().is_some()))
    };
    only(root.entries(), &["skill", "description", "phases", "global_forbidden"])
        && names(root, "global_forbidden")
        && root.entry("phases").is_some_and(|phases| {
            phases.node.entries().iter().all(|phase| {
                only(phase.node.entries(), &["description", "allowed", "forbidden"])
                    && names(&phase.node, "allowed")
                    && names(&phase.node, "forbidden")
            })
        })
}
