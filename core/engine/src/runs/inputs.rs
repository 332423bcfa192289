//! What a run with inputs begins with. A run with values follows an instance: the skill with its values put in, which the runtime makes before `step` and adds
//! to the policy as it adds the skills of earlier configs (rules 3.1).

use serde_json::Value;

use crate::answers::denial::{BegunBy, DenialKind};
use crate::answers::phrase;
use crate::calls::analysis::Invocation;
use crate::calls::tool::Call;
use crate::commands::slash_command;
use crate::events::event::{Event, EventKind};
use crate::evidence::eval::World;
use crate::policy::input::{BRANCH, Input, Instance, PART, Values};
use crate::policy::{ChildRun, Policy, Skill, Start};
use crate::prelude::*;
use crate::values::one_line::one_line;

/// The most mistakes in what is given that are named.
const MAX_WRONG: usize = 3;
/// The most characters of a name or a value in a message.
const MAX_SHOWN_CHARS: usize = 40;

/// The values of the skill's inputs that these arguments give: an object of texts, or a text with words `name=value`. Of a
/// skill with one input, one word alone is its value. A value that is given twice is none.
pub(crate) fn given(skill: &Skill, args: &Value) -> Values {
    let named = |name: &str| skill.inputs.iter().any(|input| input.name == name);
    match args {
        Value::Object(fields) => {
            let text = |value: &Value| match value {
                Value::Number(number) => number.to_string(),
                other => other.as_str().unwrap_or_default().to_string(),
            };
            fields.iter().map(|(name, value)| (name.clone(), text(value))).collect()
        }
        Value::String(text) => {
            let words: Vec<&str> = text.split_whitespace().collect();
            if let ([word], [input]) = (words.as_slice(), skill.inputs.as_slice())
                && !word.contains('=')
            {
                return Values::from([(input.name.clone(), (*word).to_string())]);
            }
            let pairs = words.iter().filter_map(|word| word.split_once('=')).filter(|(name, _)| named(name));
            pairs.fold(Values::new(), |mut values, (name, value)| {
                let value = if values.contains_key(name) { "" } else { value };
                values.insert(name.to_string(), value.to_string());
                values
            })
        }
        _ => Values::new(),
    }
}

/// Whether each input has a value that it takes, and nothing else has one.
pub(crate) fn fit(skill: &Skill, values: &Values) -> bool {
    let fits = |input: &Input| values.get(&input.name).is_some_and(|value| input.takes(value));
    skill.inputs.iter().all(fits) && values.len() == skill.inputs.len()
}

/// The skill that an event may begin with values, and these: an instance of it is to be made before `step`. `None`: the
/// event begins nothing with values.
pub fn asked<'p>(policy: &'p Policy, event: &Event) -> Option<(&'p Skill, Values)> {
    if policy.skills.iter().all(|skill| skill.inputs.is_empty()) {
        return None;
    }
    let activated = |args: &Value| {
        let skill = policy.skill(args.get("skill_name")?.as_str()?)?;
        Some((skill, given(skill, args.get("inputs")?)))
    };
    let (skill, values) = match &event.kind {
        EventKind::Skill { name, args, .. } => {
            let skill = policy.invoked(name)?;
            (skill, given(skill, args.as_ref()?))
        }
        EventKind::Command { name, args, .. } if name == "activate_skill" => activated(args)?,
        EventKind::Prompt { text, .. } => activated(&slash_command::command(text)?.ok()?.args)?,
        _ => return None,
    };
    (!skill.inputs.is_empty() && fit(skill, &values)).then_some((skill, values))
}

/// What a run of the skill follows that begins with these values: the skill itself, where it has no inputs.
pub(crate) fn instance<'p>(policy: &'p Policy, skill: &'p Skill, values: &Values) -> Result<&'p Skill, DenialKind> {
    if skill.inputs.is_empty() && values.is_empty() {
        return Ok(skill);
    }
    let made = policy.earlier.iter().find(|made| {
        made.name == skill.name && made.instance_of.as_ref() == Some(&skill.version) && made.values() == *values
    });
    made.filter(|_| fit(skill, values)).ok_or_else(|| refused(skill, values, &Value::Null))
}

/// What a run follows that a phase runs with these values, and those that the skill has already. Where it is not made
/// yet, it is asked for.
pub(crate) fn made<'p>(
    world: &mut World<'_>,
    policy: &'p Policy,
    skill: &'p Skill,
    values: &Values,
) -> Option<&'p Skill> {
    if values.is_empty() {
        return Some(skill);
    }
    let mut all = skill.values();
    all.extend(values.clone());
    match instance(policy, skill, &all) {
        Ok(made) => Some(made),
        Err(_) => {
            world.want_instance(Instance { skill: skill.name.clone(), version: skill.version.clone(), values: all });
            None
        }
    }
}

/// What a place gives to the run that begins there: the branch, and what tells it from other places of the same skill.
pub(crate) fn of_place(skill: &Skill, child: &ChildRun) -> Values {
    let given = [(BRANCH, &child.branch), (PART, &child.part)];
    let asked = given.into_iter().filter(|(name, _)| skill.inputs.iter().any(|input| input.name == *name));
    asked.map(|(name, value)| (name.to_string(), value.clone())).collect()
}

/// That the skill does not begin with the values that are given, which were read from these arguments.
pub(crate) fn refused(skill: &Skill, values: &Values, args: &Value) -> DenialKind {
    let pair = |input: &Input| (input.name.clone(), input.pattern.clone());
    let input = |name: &str| skill.inputs.iter().find(|input| input.name == name);
    let mut wrong: Vec<String> = Vec::new();
    for (name, value) in values {
        match input(name) {
            None => wrong.push(format!("`{}` is none of them", shown(name))),
            Some(_) if value.is_empty() => wrong.push(format!("`{name}` has no value, or several")),
            Some(input) if !input.takes(value) => wrong.push(format!("`{name}` does not take `{}`", shown(value))),
            Some(_) => {}
        }
    }
    let pairs = args.as_str().into_iter().flat_map(str::split_whitespace).filter_map(|word| word.split_once('='));
    let unknown = pairs.filter(|(name, _)| input(name).is_none());
    wrong.extend(unknown.map(|(name, _)| format!("`{}` is none of them", shown(name))));
    wrong.truncate(MAX_WRONG);
    DenialKind::InputsMissing { skill: skill.name.clone(), inputs: skill.inputs.iter().map(pair).collect(), wrong }
}

/// The beginning of what was given, for a message.
fn shown(text: &str) -> String {
    phrase::cut(&one_line(text), MAX_SHOWN_CHARS)
}

/// Why a call may not invoke a skill: its run could not begin with what the call gives. `live` are the values of its live
/// run, if it has one.
pub(crate) fn hindered(skill: &Skill, call: &Call, live: Option<&Values>) -> Option<DenialKind> {
    if skill.inputs.is_empty() || !skill.start.contains(&Start::Invocation) {
        return None;
    }
    let values = given(skill, call.input.get("args").unwrap_or(&Value::Null));
    match live {
        // A run that is a part of another has values that its place gives.
        Some(live) if values.iter().all(|(name, value)| live.get(name) == Some(value)) => None,
        Some(_) => Some(DenialKind::SkillActive { skill: skill.name.clone(), by: BegunBy::Invocation }),
        None if fit(skill, &values) => None,
        None => Some(refused(skill, &values, call.input.get("args").unwrap_or(&Value::Null))),
    }
}

/// The skill that a call invokes.
pub(crate) fn invoked<'p>(policy: &'p Policy, call: &Call) -> Option<&'p Skill> {
    let Some(Invocation::Skill(name)) = &call.analysis.invokes else { return None };
    policy.invoked(name)
}
