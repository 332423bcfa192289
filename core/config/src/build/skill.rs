//! Skills as written to skills.

use std::collections::BTreeSet;

use phasegate_core::Code;
use phasegate_core::policy::matcher::Matcher;
use phasegate_core::policy::{LeaveSkill, Phase, Scope, Skill, Start, ToolNote, Unlisted};

use super::builder::{Builder, Built, Places, child};
use super::{allowed, artifact, done_by, inputs, matcher, pattern, phase, runs, unlisted};
use crate::files::texts::Texts;
use crate::read::node::{Node, Span};
use crate::read::report::Finding;
use crate::read::suggestion::did_you_mean;
use crate::settings::groups::Groups;
use crate::source::{FinishSource, FirstPhaseSource, Form, SkillSource, StartSource, StartWord, UnlistedRuleSource};

/// Builds a skill; its version is not known yet.
pub(crate) fn skill<'f>(
    findings: &'f mut Vec<Finding>,
    source: &'f SkillSource,
    node: &'f Node,
    form: Form,
    texts: &'f Texts<'f>,
    groups: &'f Groups,
) -> Built {
    let compat = form == Form::Compat;
    let mut builder = Builder::new(findings, compat, groups);
    (builder.servers, builder.texts) = (&source.servers, Some(texts));
    builder.facts = Some((&source.facts, fact_names(&mut builder, node)));
    let mut places = Places { name: child(node, "skill").span, ..Places::default() };
    places.servers = child(node, "servers").items().iter().map(|item| item.span).collect();
    let (tools, tool_places) = tools(&mut builder, source, child(node, "tools"));
    let (global_forbidden, global_places) = everywhere_forbidden(&mut builder, source, node);
    (places.tools, places.global_forbidden) = (tool_places, global_places);
    let (unlisted_lines, unlisted_places) =
        unlisted::lines(&mut builder, source.unlisted.as_ref(), child(node, "unlisted"));
    places.unlisted = unlisted_places;
    builder.artifacts = artifact::all(&mut builder, source, child(node, "artifacts"));
    let inputs = inputs::all(&mut builder, source, node);
    let everywhere = allowed::lines(&mut builder, &source.allowed, child(node, "allowed"), &mut Vec::new());
    let (start, start_places) = start(&mut builder, source, child(node, "start"));
    places.start = start_places;
    inputs::starts(&mut builder, &inputs, &start, node);
    let by_itself = start.iter().any(|start| matches!(start, Start::Before(_) | Start::Session));
    let default = if compat || by_itself { Unlisted::Allow } else { Unlisted::ReadOnly };
    let unlisted = source.unlisted.as_ref().and_then(UnlistedRuleSource::word).unwrap_or(default);
    builder.unlisted = unlisted;
    // The mapping of the source has lost the order of the file; the tree has it.
    let entries = child(node, "phases").entries();
    let names: Vec<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
    let mut phases = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let Some(source) = source.phases.get(&entry.key) else { continue };
        let (phase, phase_places) = phase::phase(&mut builder, source, entry, index, &names, &everywhere);
        phases.push(phase);
        places.phases.push(phase_places);
    }
    begins(&mut builder, source, &phases, places.phases.first().map_or(places.name, |phase| phase.key));
    done_by::main_agent_reads(&mut phases, unlisted, &unlisted_lines);
    let default = if compat { LeaveSkill::Agent } else { LeaveSkill::Finished };
    places.runs = builder.runs;
    let skill = Skill {
        name: source.skill.clone(),
        description: source.description.clone(),
        version: String::new(),
        compat,
        mode: source.mode,
        scope: source.scope.unwrap_or(Scope::Session),
        unlisted,
        unlisted_lines,
        leave_skill: source.finish.map_or(default, LeaveSkill::from),
        on_violation: source.on_violation.unwrap_or_default(),
        confine: source.confine,
        finish_required: source.finish == Some(FinishSource::Required),
        start,
        servers: source.servers.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect(),
        tools,
        denial_text: source.denial_text.unwrap_or_default(),
        inputs,
        instance_of: None,
        artifacts: builder.artifacts,
        children: Vec::new(),
        global_forbidden,
        phases,
    };
    Built { skill, servers: source.servers.clone(), places }
}

/// Checks the first phase, by what the skill demands of it.
fn begins(builder: &mut Builder<'_>, source: &SkillSource, phases: &[Phase], first: Span) {
    match source.first_phase {
        Some(FirstPhaseSource::Linear) => runs::first_is_linear(builder, phases, first),
        None => runs::first(builder, phases, first),
    }
}

/// The calls that every phase forbids, and their places. The compat form has another name for them.
fn everywhere_forbidden(builder: &mut Builder<'_>, source: &SkillSource, node: &Node) -> (Vec<Matcher>, Vec<Span>) {
    let (mut lines, mut places) = matcher::forbidden(builder, &source.forbidden, child(node, "forbidden"));
    if let Some(entry) = node.entry("global_forbidden").filter(|_| !builder.lenient) {
        let finding = Finding::error(Code::ConfigKeyUnknown, entry.key_span, "`global_forbidden` is not a key here");
        builder.findings.push(finding.suggest("write `forbidden`"));
    }
    let (more, more_places) = matcher::forbidden(builder, &source.global_forbidden, child(node, "global_forbidden"));
    lines.extend(more);
    places.extend(more_places);
    (lines, places)
}

/// The mode that platforms have in common: nothing is changed in it.
const PLAN: &str = "plan";

/// Reports a mode that is probably meant to be that one: the run would never begin by it.
fn misspelt(builder: &mut Builder<'_>, mode: &str, span: Span) {
    let Some(meant) = did_you_mean(mode, [PLAN]).filter(|_| mode != PLAN) else { return };
    let message = format!("no platform is known to have a mode `{mode}`");
    builder.findings.push(Finding::warning(Code::ConfigValue, span, message).suggest(meant));
}

/// What begins a run, and the places of the lines that select calls.
fn start(builder: &mut Builder<'_>, source: &SkillSource, node: &Node) -> (Vec<Start>, Vec<Span>) {
    let Some(lines) = &source.start else { return (Start::by_default(), Vec::new()) };
    let (mut start, mut places) = (Vec::new(), Vec::new());
    for (line, node) in lines.iter().zip(node.items()) {
        match line {
            StartSource::Word(StartWord::Invocation) => start.push(Start::Invocation),
            StartSource::Word(StartWord::Session) => start.push(Start::Session),
            StartSource::Object(object) => {
                start.extend(object.prompt.clone().map(Start::Prompt));
                if let Some(mode) = &object.permission_mode {
                    misspelt(builder, mode, child(node, "permission_mode").span);
                    start.push(Start::PermissionMode(mode.clone()));
                }
                let Some(before) = &object.before else { continue };
                for matcher in matcher::each(builder, before, child(node, "before")) {
                    start.push(Start::Before(matcher));
                    places.push(node.span);
                }
            }
        }
    }
    (start, places)
}

fn tools(builder: &mut Builder<'_>, source: &SkillSource, node: &Node) -> (Vec<ToolNote>, Vec<Span>) {
    let mut notes = Vec::new();
    for (pattern, tool) in &source.tools {
        let span = node.entry(pattern).map_or(node.span, |entry| entry.key_span);
        let labels_at = child(child(node, pattern), "labels");
        for (label, node) in tool.labels.iter().zip(labels_at.items()) {
            let finding = match label.strip_prefix('@') {
                Some(word) => Finding::error(
                    Code::ConfigValue,
                    node.span,
                    format!("`{label}` is not a label: the `@` belongs to matchers"),
                )
                .suggest(format!("write `{word}`")),
                None if label.is_empty() || label.contains(char::is_whitespace) => {
                    Finding::error(Code::ConfigValue, node.span, format!("`{label}` is not a label"))
                        .suggest("a label is one word, such as `read`")
                }
                None => continue,
            };
            builder.findings.push(finding);
        }
        for name in pattern.split('|') {
            let Some(matcher) = pattern::from_pattern(builder, name.trim(), span) else { continue };
            notes.push((ToolNote { matcher, labels: tool.labels.iter().cloned().collect() }, span));
        }
    }
    notes.sort_by(|(one, _), (other, _)| one.matcher.text.cmp(&other.matcher.text));
    notes.into_iter().unzip()
}

/// The facts, after a check of their names.
fn fact_names<'n>(builder: &mut Builder<'_>, skill: &'n Node) -> &'n Node {
    let (node, given) = (child(skill, "facts"), skill.entry("facts").is_some());
    for entry in node.entries().iter().filter(|_| given) {
        let mut rest = entry.key.chars();
        let starts = rest.next().is_some_and(|first| first.is_ascii_lowercase());
        if !starts || !rest.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_') {
            let message = format!("`{}` is no name of a fact", entry.key);
            let finding = Finding::error(Code::ConfigValue, entry.key_span, message);
            builder.findings.push(finding.suggest("write small letters, digits and `_`, a letter first"));
        }
    }
    node
}
