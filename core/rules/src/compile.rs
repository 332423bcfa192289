//! From rules as written in Cedar to compiled rules.

mod lower;
mod problem;
mod schema;
mod statements;
mod tests_of_arguments;

use core::ops::Range;
use std::string::{String, ToString};
use std::vec::Vec;

use cedar_policy::{Policy, PolicySet, ValidationMode, Validator};

pub use problem::Problem;
pub use schema::{FactShape, Schema};
pub use statements::places;

use crate::rule::{ActionScope, Effect, Rule, RuleKind};
use crate::tools::OTHER_TOOL;

/// The annotations that mean something.
pub const ANNOTATIONS: [&str; 5] = ["id", "reason", "recovery", "effect", "kind"];

/// What `@kind` may say.
const KINDS: &str = "\"rule NAME\", \"policy ID\", \"axiom ID\", \"invariant NAME\" or \"ambiguous\"";

/// What a text of rules means.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compiled {
    /// The rules that could be understood.
    pub rules: Vec<Placed>,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// A rule, and where it stands in its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The rule.
    pub rule: Rule,
    /// Its bytes.
    pub span: Range<usize>,
}

/// What is wrong with a text of rules that is too large or nests too deep to be read; to be asked before anything reads it.
pub fn refused(text: &str) -> Option<Problem> {
    let (message, span) = statements::too_large(text)?;
    let help = Some("write several rules or files, or a shorter condition".to_string());
    Some(Problem { help, ..Problem::error(&message, span) })
}

/// Compiles a text of rules.
pub fn compile(text: &str, schema: &Schema) -> Compiled {
    let places = places(text);
    let parsed = match text.parse::<PolicySet>() {
        Ok(parsed) => parsed,
        Err(errors) => return Compiled { rules: Vec::new(), problems: problem::of_syntax(&errors) },
    };
    let place = |id: &str| {
        let number = id.strip_prefix("policy").and_then(|number| number.parse::<usize>().ok());
        number.and_then(|number| places.get(number).cloned()).unwrap_or(0..text.len().min(1))
    };
    let mut problems: Vec<Problem> = parsed
        .templates()
        .map(|template| {
            Problem::error("templates (`?principal`, `?resource`) are not supported", place(template.id().as_ref()))
        })
        .collect();
    let validator = Validator::new(schema.cedar().clone());
    let found = validator.validate(&parsed, ValidationMode::Strict);
    let at = |id: &cedar_policy::PolicyId| place(id.as_ref());
    problems.extend(found.validation_errors().map(|error| problem::of_validation(error, at(error.policy_id()))));
    problems.extend(found.validation_warnings().map(|found| problem::of_warning(found, at(found.policy_id()))));
    let mut rules = Vec::new();
    for policy in parsed.policies() {
        let span = place(policy.id().as_ref());
        match rule(policy, &span, schema, &mut problems) {
            Ok(rule) => rules.push(Placed { rule, span }),
            Err(message) => problems.push(Problem::error(&message, span)),
        }
    }
    rules.sort_by_key(|placed| placed.span.start);
    Compiled { rules, problems: told_once(problems) }
}

/// The problems in order, each place once: Cedar says of each action what is wrong, and what follows from that.
fn told_once(mut problems: Vec<Problem>) -> Vec<Problem> {
    let follows = |problem: &Problem| {
        let own = problem.message.starts_with("`@");
        let said = problem.message == problem::NEVER || problem.message.starts_with("unable to find an applicable");
        !own && (problem.is_warning || said)
    };
    let inner: Vec<Range<usize>> =
        problems.iter().filter(|problem| !follows(problem)).map(|problem| problem.span.clone()).collect();
    let explained = |problem: &Problem| {
        let has = |inner: &Range<usize>| problem.span.contains(&inner.start) && *inner != problem.span;
        follows(problem) && inner.iter().any(has)
    };
    problems.retain(|problem| !explained(problem));
    problems.sort_by(|one, other| {
        (one.span.start, one.span.end, one.is_warning, &one.message).cmp(&(
            other.span.start,
            other.span.end,
            other.is_warning,
            &other.message,
        ))
    });
    problems.dedup_by(|one, other| one.span == other.span && one.is_warning == other.is_warning);
    problems
}

/// The annotation that a word is likely meant to be.
fn closest(word: &str) -> Option<&'static str> {
    let one_off = |known: &str| {
        let same = |pair: &(char, char)| pair.0 == pair.1;
        let start = known.chars().zip(word.chars()).take_while(same).count();
        let end = known.chars().rev().zip(word.chars().rev()).take_while(same).count();
        let longest = known.len().max(word.len());
        // All but two letters in a row are those of the other.
        longest > 2 && start.saturating_add(end).saturating_add(2) >= longest
    };
    ANNOTATIONS.into_iter().find(|known| one_off(known))
}

fn rule(policy: &Policy, span: &Range<usize>, schema: &Schema, problems: &mut Vec<Problem>) -> Result<Rule, String> {
    let annotation = |name: &str| policy.annotation(name).map(ToString::to_string).filter(|text| !text.is_empty());
    let id = annotation("id").ok_or_else(|| "the rule has no name: write `@id(\"NAME\")` before it".to_string())?;
    if id.len() > 80 || !id.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_./".contains(letter)) {
        return Err(std::format!("`{id}` is no name of a rule: letters, digits, `-`, `_`, `.` and `/`"));
    }
    for (name, _) in policy.annotations().filter(|(name, _)| !ANNOTATIONS.contains(name)) {
        let help = closest(name).map(|known| std::format!("did you mean `@{known}`?"));
        let problem = Problem::warning(&std::format!("`@{name}` means nothing here"), span.clone());
        problems.push(Problem { help, ..problem });
    }
    let forbids = policy.effect() == cedar_policy::Effect::Forbid;
    let effect = match annotation("effect") {
        None => Effect::Deny,
        Some(_) if !forbids => return Err("`@effect` says what becomes of a call that a `forbid` is about".into()),
        Some(word) => {
            let known = Effect::ALL.iter().find(|(known, _)| *known == word);
            known
                .map(|(_, effect)| *effect)
                .ok_or_else(|| std::format!("`@effect(\"{word}\")`: \"deny\", \"ask\" or \"warn\""))?
        }
    };
    let kind = match annotation("kind") {
        None => None,
        Some(_) if !forbids => return Err("`@kind` says what the denial by a `forbid` is".into()),
        Some(text) => Some(RuleKind::parse(&text).ok_or_else(|| std::format!("`@kind(\"{text}\")`: {KINDS}"))?),
    };
    let json = policy.to_json().map_err(|error| error.to_string())?;
    let lowered = lower::policy(&json)?;
    if lowered.action == ActionScope::Is(OTHER_TOOL.to_string()) {
        return Err(std::format!("there is no tool `{OTHER_TOOL}`: write `action` for any call"));
    }
    let facts = lowered.when.as_ref().map(|when| schema.keys_read_by(when)).unwrap_or_default();
    Ok(Rule {
        id,
        forbids: forbids.then_some(effect),
        reason: annotation("reason").unwrap_or_default(),
        recovery: annotation("recovery"),
        kind,
        principal: lowered.principal,
        action: lowered.action,
        resource: lowered.resource,
        when: lowered.when.map(tests_of_arguments::mark),
        facts,
    })
}
