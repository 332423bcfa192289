//! Matchers and conditions in the words of a config.

use phasegate_core::analysis::{Access, Invocation};
use phasegate_core::condition::{CallTest, Condition, SaysTest, Wanted};
use phasegate_core::fact_test::{Comparison, FactTest};
use phasegate_core::glob::{FileSet, Files, Group};
use phasegate_core::matcher::{AgentTest, DOES, Matcher, ServerPattern, ToolPattern};
use phasegate_core::policy::{Phase, Skill};
use phasegate_core::tool::BASH;
use serde_json::{Map, Value, json};

use super::artifacts::{self, arguments};
use crate::groups::Groups;
use crate::paths;

/// The lines of a phase's `allowed`, those of the skill among them.
pub(super) fn allowed(phase: &Phase) -> Value {
    let line = |(at, call): (usize, &Matcher)| {
        let Some(requires) = phase.required_by(at) else { return matcher(call) };
        let mut fields = fields(call);
        fields.insert("requires".into(), condition(requires));
        Value::Object(fields)
    };
    let steps = phase.steps.iter().map(|steps| {
        let at = steps.fact.args().get("at").cloned().unwrap_or_default();
        serde_json::json!({"from": steps.artifact, "at": at})
    });
    phase.allowed.iter().enumerate().map(line).chain(steps).collect()
}

/// The lines of a phase's `forbidden`.
pub(super) fn forbidden(phase: &Phase) -> Value {
    let line = |(at, call): (usize, &Matcher)| {
        let Some(until) = phase.forbidden_until.iter().find(|until| until.line == at) else { return matcher(call) };
        let mut fields = fields(call);
        fields.insert("until".into(), condition(&until.condition));
        Value::Object(fields)
    };
    phase.forbidden.iter().enumerate().map(line).collect()
}

/// The lines of a list.
pub(super) fn list(matchers: &[Matcher]) -> Value {
    matchers.iter().map(matcher).collect()
}

/// A line: a text if it says no more than the tool.
pub(super) fn matcher(matcher: &Matcher) -> Value {
    let fields = fields(matcher);
    match fields.get("tool") {
        Some(tool) if fields.len() == 1 => tool.clone(),
        _ => Value::Object(fields),
    }
}

fn fields(matcher: &Matcher) -> Map<String, Value> {
    let mut fields = Map::new();
    let tool = match &matcher.tool {
        ToolPattern::Any => "*".to_string(),
        ToolPattern::Exact(name) => name.clone(),
        ToolPattern::Prefix(start) => format!("{start}*"),
        ToolPattern::Label(label) => format!("@{label}"),
    };
    let by_effect = matcher.commands.iter().any(|one| one.starts_with(DOES));
    let implied = if matcher.commands.is_empty() || by_effect { "*" } else { BASH };
    let more = !(matcher.commands.is_empty() && matcher.paths.is_empty() && matcher.args.is_empty())
        || matcher.invokes.is_some();
    let server = match &matcher.server {
        ServerPattern::Bare => None,
        ServerPattern::Named(server) => Some(server),
    };
    if !more || tool != implied || server.is_some() {
        fields.insert("tool".into(), json!(tool));
    }
    fields.extend(server.map(|server| ("server".to_string(), json!(server))));
    let effects: Vec<&str> = matcher.commands.iter().filter_map(|one| one.strip_prefix(DOES)).collect();
    match matcher.commands.as_slice() {
        [] => {}
        _ if !effects.is_empty() => drop(fields.insert("does".into(), json!(effects))),
        [one] => drop(fields.insert("command".into(), json!(one))),
        several => drop(fields.insert("command".into(), json!(several))),
    }
    for path in &matcher.paths {
        let key = match path.access {
            Access::Read => "reads",
            Access::Write | Access::Remove => "writes",
            Access::Execute => "executes",
        };
        // A list of what is forbidden makes this of `**`.
        let pattern = if *path.pattern == *"{**,/**}" { json!("**") } else { files(&path.pattern) };
        fields.insert(key.into(), pattern);
    }
    if !matcher.args.is_empty() {
        fields.insert("args".into(), arguments(&matcher.args));
    }
    let invoked = matcher.invokes.as_deref().map(|invoked| match invoked {
        Invocation::Skill(name) => ("skill".to_string(), json!(name)),
        Invocation::Agent(kind) => ("starts".to_string(), json!(kind)),
    });
    fields.extend(invoked);
    let agent = matcher.agent.as_ref().map(|agent| match agent {
        AgentTest::Main => "main",
        AgentTest::Subagent => "subagent",
        AgentTest::Kind(kind) => kind,
    });
    fields.extend(agent.map(|agent| ("agent".to_string(), json!(agent))));
    if !matcher.except.is_empty() {
        fields.insert("except".into(), list(&matcher.except));
    }
    fields
}

/// A pattern as it stands in a config: a group by its name, several as a list.
fn files(pattern: &str) -> Value {
    let Some(group) = Group::read(pattern) else { return json!(pattern) };
    let written = |name: &str| if paths::is_name(name) { format!("@{name}") } else { name.to_owned() };
    match group.name.split('|').map(written).collect::<Vec<_>>().as_slice() {
        [one] => json!(one),
        several => json!(several),
    }
}

/// The groups that the skill or a config names itself, as a config has them.
pub(super) fn own_groups(skill: &Skill) -> Map<String, Value> {
    fn written(files: &Files) -> Value {
        match files {
            Files::Pattern(pattern) => json!(pattern),
            Files::Set(set) => of_set(set),
        }
    }
    fn of_set(set: &FileSet) -> Value {
        let each = |all: &[Files]| all.iter().map(written).collect::<Value>();
        let mut fields = Map::from_iter([("files".to_owned(), each(&set.any))]);
        fields.extend((!set.except.is_empty()).then(|| ("except".to_owned(), each(&set.except))));
        Value::Object(fields)
    }
    let mut groups = Map::new();
    let mut texts = vec![serde_json::to_value(skill).unwrap_or_default()];
    while let Some(value) = texts.pop() {
        match value {
            Value::String(text) => {
                let Some(group) = Group::read(&text).filter(|group| Groups::default().find(&group.name).is_none())
                else {
                    continue;
                };
                if let (Value::Object(mut fields), true) = (of_set(&group.files), paths::is_name(&group.name)) {
                    fields.insert("say".to_owned(), json!(group.say));
                    groups.insert(group.name, Value::Object(fields));
                }
            }
            Value::Array(items) => texts.extend(items),
            Value::Object(fields) => texts.extend(fields.into_iter().map(|(_, value)| value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    groups
}

/// A condition, with each part of it on its own.
pub(super) fn condition(condition: &Condition) -> Value {
    let each = |parts: &[Condition]| parts.iter().map(self::condition).collect::<Value>();
    match condition {
        Condition::All(parts) => json!({"all": each(parts)}),
        Condition::Any(parts) => json!({"any": each(parts)}),
        Condition::Not(inner) => json!({"not": self::condition(inner)}),
        Condition::Call(test) => call(test),
        Condition::Fact(test) => fact(test),
        Condition::Artifact(test) => artifacts::condition(test),
        Condition::Says(test) => says(test),
        Condition::Unchanged(test) => json!({"unchanged": files(&test.content.text)}),
        Condition::Approved(gate) => match &gate.content {
            None => json!({"approved": gate.name}),
            Some(content) if content.fact.source() == "contents" => json!({"approved": gate.name}),
            Some(content) => json!({"approved": gate.name, "file": content.text}),
        },
    }
}

fn call(test: &CallTest) -> Value {
    let mut fields = Map::new();
    match test.wanted {
        Wanted::Tests(tests) => {
            fields.insert("tests".into(), json!(tests.result.word()));
            let command = test.matcher.commands.first().filter(|_| tests.selected);
            fields.extend(command.map(|command| ("command".to_string(), json!(command))));
        }
        wanted => drop(fields.insert(wanted.word().into(), matcher(&test.matcher))),
    }
    fields.extend(test.unchanged.as_ref().map(|files| ("unchanged".to_string(), self::files(&files.text))));
    if !test.same.is_empty() {
        let pair = |same: &phasegate_core::object::Same| (same.its.to_string(), json!(same.mine.to_string()));
        fields.insert("same".into(), Value::Object(test.same.iter().map(pair).collect()));
    }
    Value::Object(fields)
}

fn says(test: &SaysTest) -> Value {
    let args = test.fact.args();
    match args.get(1) {
        None | Some(Value::Null) => json!({"says": args.get(0)}),
        Some(except) => json!({"says": args.get(0), "except": except}),
    }
}

fn fact(test: &FactTest) -> Value {
    let args = test.fact.args();
    let file = args.get(0).unwrap_or(&args);
    match &test.is {
        Comparison::Exists(exists) => json!({"file": file, "exists": exists}),
        Comparison::Equals(digest) => json!({"file": file, "sha256": digest}),
        Comparison::Within { at_least, at_most } => {
            let mut fields = json!({"file": file, "contains": args.get(1), "at_least": at_least});
            if let (Some(most), Some(fields)) = (at_most, fields.as_object_mut()) {
                fields.insert("at_most".into(), json!(most));
            }
            fields
        }
    }
}
