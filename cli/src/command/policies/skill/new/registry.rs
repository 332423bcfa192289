//! A table of phases of another system (seed 003), as a composite skill.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::quoted::plain;

/// How often a verdict leads back, where the table does not say it.
const MAX_REMEDIATION: u64 = 2;

/// A skill made of such a table, and what is deprecated in it.
pub(super) struct Made {
    pub(super) text: String,
    pub(super) warnings: Vec<String>,
}

/// One phase of the table.
struct Phase<'v> {
    name: String,
    fields: &'v Map<String, Value>,
}

impl Phase<'_> {
    fn text(&self, key: &str) -> &str {
        self.fields.get(key).and_then(Value::as_str).unwrap_or_default()
    }
}

/// The skill; the phases in the order of their `next`. The table is `{ID: PHASE}`, or has the skill's name before it.
///
/// # Errors
///
/// It is no such table.
pub(super) fn skill(name: &str, description: &str, table: &Value) -> Result<Made, String> {
    let table = table.get(name).unwrap_or(table).as_object().ok_or("it is no object of phases")?;
    let phases = in_order(table)?;
    if let Some((_, first)) = phases.iter().find(|(id, _)| *id == "0")
        && !["LINEAR", ""].contains(&first.text("type"))
    {
        return Err(format!("phase `0` is {}: it must be LINEAR (mandatory)", first.text("type")));
    }
    let mut made = Made { text: head(name, description), warnings: Vec::new() };
    let by_id = |id: &str| phases.iter().find(|(known, _)| *known == id).map(|(_, phase)| phase.name.as_str());
    for (id, phase) in &phases {
        let said = [phase.text("description"), phase.text("title"), phase.text("name"), id];
        let said = plain(said.into_iter().find(|text| !text.is_empty()).unwrap_or_default());
        let _ = writeln!(made.text, "  {}:\n    do: \"{said}\"", phase.name);
        let lines = lines(id, phase, &by_id, &mut made.warnings)?;
        lines.iter().for_each(|line| made.text.push_str(&format!("    {line}\n")));
    }
    Ok(made)
}

fn head(name: &str, description: &str) -> String {
    format!(
        "# Made from a table of phases: each runs an atomic skill, and is left only with the memory file of its subagent.\n\
         skill: {name}\ndescription: \"{}\"\ninputs: {{task_id: \"[A-Za-z0-9][A-Za-z0-9_.-]*\"}}\nfinish: required\n\
         # No subagent is started where no part judges; each part says itself which one is.\nunlisted:\n  - deny: [{{starts: \"*\"}}]\n  - read_only\nphases:\n",
        plain(description)
    )
}

/// The phases as their `next` says, the first one of the table first.
fn in_order(table: &Map<String, Value>) -> Result<Vec<(&str, Phase<'_>)>, String> {
    let named: Vec<&str> = table.values().filter_map(|phase| phase.get("next")?.as_str()).collect();
    let first = table.keys().find(|id| !named.contains(&id.as_str())).ok_or("no phase is the first")?;
    let mut found: Vec<(&str, Phase<'_>)> = Vec::new();
    let mut at = Some(first.as_str());
    while let Some(id) = at {
        let (id, phase) = table.get_key_value(id).ok_or_else(|| format!("there is no phase `{id}`"))?;
        let fields = phase.as_object().ok_or_else(|| format!("phase `{id}` is no object"))?;
        if found.iter().any(|(known, _)| known == id) {
            return Err(format!("phase `{id}` follows itself"));
        }
        found.push((id, Phase { name: format!("phase-{}", id.replace('.', "-")), fields }));
        at = fields.get("next").and_then(Value::as_str);
    }
    let left = table.keys().find(|id| !found.iter().any(|(known, _)| known == id));
    left.map_or(Ok(found), |left| Err(format!("no phase leads to phase `{left}`")))
}

fn lines<'n>(
    id: &str,
    phase: &Phase<'_>,
    by_id: &dyn Fn(&str) -> Option<&'n str>,
    warnings: &mut Vec<String>,
) -> Result<Vec<String>, String> {
    let atomic = || match phase.text("uses_atomic_skill") {
        "" => Err(format!("phase `{id}` names no atomic skill")),
        skill => Ok(format!("run: {skill}")),
    };
    match phase.text("type") {
        "LINEAR" | "" => Ok(vec![atomic()?]),
        "AUTO" => {
            warnings.push(format!("phase `{id}` is AUTO, which is deprecated: it is taken as LINEAR, with an agent"));
            let run = atomic().unwrap_or_else(|_| "run: orchestrate-generation".to_owned());
            Ok(vec![run, "# It was AUTO: each phase has an agent now.".to_owned()])
        }
        "OPTIONAL" => {
            let condition = match phase.text("skip_condition") {
                "" => String::new(),
                condition => format!(" Skipped with: {condition}."),
            };
            let how = "write the condition on files, `optional: {when: {file: PATH}}`, or skip it yourself.";
            Ok(vec![format!("# It was OPTIONAL.{condition} To pass it over {how}"), atomic()?])
        }
        "ITERATIVE" => {
            let agents = phase.fields.get("iteration_agents").and_then(Value::as_array);
            let skills: Vec<String> = agents
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(|agent| format!("orchestrate-{agent}"))
                .collect();
            if skills.is_empty() {
                Err(format!("phase `{id}` names no agents"))
            } else {
                Ok(vec![format!("run: [{}]", skills.join(", "))])
            }
        }
        "REMEDIATION" => {
            let target = phase.text("remediation_target");
            let to = by_id(target).ok_or_else(|| format!("phase `{id}` goes back to no phase: `{target}`"))?;
            let limit = phase.fields.get("max_remediation").and_then(Value::as_u64).unwrap_or(MAX_REMEDIATION);
            Ok(vec![atomic()?, format!("on_failure: {{to: {to}, limit: {limit}, then: halt}}")])
        }
        "PARALLEL" => {
            let branches = phase.fields.get("parallel_branches").and_then(Value::as_object);
            let branches: Vec<String> = branches
                .into_iter()
                .flatten()
                .map(|(name, branch)| {
                    let skill = branch.get("uses_atomic_skill").and_then(Value::as_str).unwrap_or_default();
                    let fails = branch.get("fail_on_error").and_then(Value::as_bool).unwrap_or(true);
                    format!("{name}: {{skill: {skill}, fail_on_error: {fails}}}")
                })
                .collect();
            Ok(vec![format!("run: {{parallel: {{{}}}}}", branches.join(", "))])
        }
        other => Err(format!("phase `{id}` has the type `{other}`")),
    }
}
