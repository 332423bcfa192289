//! Schema problems in words, each with its place and a suggestion.

use phasegate_core::Code;
use phasegate_schemas::{Problem, ProblemKind};

use crate::read::node::{Content, Node};
use crate::read::report::Finding;
use crate::read::suggestion::{closest, did_you_mean, listed};

/// Words that authors try for a mode, and what they mean by them.
const MODES: [(&str, &str); 10] = [
    ("on", "block"),
    ("true", "block"),
    ("enforce", "block"),
    ("deny", "block"),
    ("error", "block"),
    ("strict", "block"),
    ("off", "warn"),
    ("false", "warn"),
    ("log", "warn"),
    ("audit", "warn"),
];

/// What a problem is called.
pub(super) fn finding(problem: &Problem, root: &Node) -> Finding {
    let node = root.at(&problem.pointer).unwrap_or(root);
    match &problem.kind {
        ProblemKind::UnknownKey { key, known } => unknown_key(key, known, node),
        ProblemKind::MissingKey(key) => {
            Finding::error(Code::ConfigMissing, node.span, format!("`{key}` is missing")).suggest(example(key))
        }
        ProblemKind::WrongType(kinds) => wrong_type(problem, kinds, node),
        ProblemKind::NotOneOf(words) => not_one_of(words, node),
        ProblemKind::Other(rule) => {
            let subject = problem.pointer.last().map_or_else(|| "the config".to_string(), |key| format!("`{key}`"));
            let code = if is_matcher_list(problem) { Code::MatcherEmpty } else { Code::ConfigValue };
            Finding::error(code, node.span, format!("{subject} {rule}")).suggest(way_out(&subject, rule))
        }
    }
}

fn way_out(subject: &str, rule: &str) -> String {
    match (subject, rule) {
        ("`sha256`", _) => "write the digest as 64 lower-case hexadecimal digits".into(),
        (_, "is empty") => "put something in, or remove the key".into(),
        (_, rule) => rule.strip_prefix("is less than ").map_or_else(
            || format!("write a value that does not break the rule: {subject} {rule}"),
            |least| format!("write {least} or more"),
        ),
    }
}

fn is_matcher_list(problem: &Problem) -> bool {
    const OUTCOMES: [&str; 7] = ["ok", "failed", "refused", "launched", "cancelled", "unknown", "ended"];
    problem.pointer.last().is_some_and(|key| OUTCOMES.contains(&key.as_str()))
}

/// Keys that have another name by now, with what to write.
const RENAMED: [(&str, &str); 2] =
    [("leave_skill", "finish: agent | when_done | person"), ("locked", "finish: person")];

fn unknown_key(key: &str, known: &[String], node: &Node) -> Finding {
    let span = node.entry(key).map_or(node.span, |entry| entry.key_span);
    if key == "same" && known.iter().any(|known| known == "tool") {
        return Finding::error(Code::MatcherUnsupported, span, "`same` is reserved and cannot be judged yet")
            .suggest("remove the key");
    }
    let known = known.iter().map(String::as_str);
    let finding = Finding::error(Code::ConfigKeyUnknown, span, format!("`{key}` is not a key here"));
    if let Some((_, now)) = RENAMED.iter().find(|(former, _)| *former == key) {
        return finding.suggest(format!("write `{now}`"));
    }
    finding.suggest(did_you_mean(key, known.clone()).unwrap_or_else(|| format!("the valid keys: {}", listed(known))))
}

fn wrong_type(problem: &Problem, kinds: &[String], node: &Node) -> Finding {
    let subject = problem.pointer.last().map_or_else(|| "the config".to_string(), |key| format!("`{key}`"));
    if subject == "`command`" && matches!(node.content, Content::Map(_)) {
        return Finding::error(Code::MatcherUnsupported, node.span, "a command can be compared for equality only")
            .cause("the beginning of a command does not determine what it does")
            .suggest("write the words of one command, with `*` for any words: `command: \"npm *\"`");
    }
    let wanted = kinds.iter().map(|kind| kind_word(kind)).collect::<Vec<_>>().join(" or ");
    let message = if problem.pointer.last().is_some_and(|last| last.parse::<usize>().is_ok()) {
        format!("expected {wanted}, found {}", found(node))
    } else {
        format!("{subject} is {wanted}, not {}", found(node))
    };
    let finding = Finding::error(Code::ConfigValue, node.span, message);
    match &node.content {
        Content::Null if kinds.iter().any(|kind| kind == "array") => finding.suggest("write `[]`, or remove the key"),
        Content::Null => finding.suggest("write a value, or remove the key"),
        Content::Text(text) if kinds.iter().any(|kind| kind == "array") => {
            finding.suggest(format!("write a list: `[{text}]`"))
        }
        Content::Bool(_) | Content::Number(_) | Content::Text(_) | Content::List(_) | Content::Map(_) => {
            finding.suggest(format!("write {wanted}"))
        }
    }
}

fn not_one_of(words: &[String], node: &Node) -> Finding {
    let listed = listed(words.iter().map(String::as_str));
    let written = match &node.content {
        Content::Text(text) => text.clone(),
        Content::Bool(truth) => truth.to_string(),
        Content::Number(number) => number.to_string(),
        Content::Null | Content::List(_) | Content::Map(_) => {
            return Finding::error(Code::ConfigValue, node.span, format!("{} is not one of {listed}", found(node)))
                .suggest(format!("write one of {listed}"));
        }
    };
    let meant = closest(&written, words.iter().map(String::as_str)).or_else(|| {
        let mode = MODES.iter().find(|(word, _)| *word == written.to_lowercase()).map(|(_, mode)| *mode);
        mode.filter(|mode| words.iter().any(|word| word == mode))
    });
    let suggestion = meant.map_or_else(|| format!("write one of {listed}"), |word| format!("did you mean `{word}`?"));
    Finding::error(Code::ConfigValue, node.span, format!("`{written}` is not one of {listed}")).suggest(suggestion)
}

fn kind_word(kind: &str) -> &str {
    match kind {
        "object" => "a mapping",
        "array" => "a list",
        "string" => "a text",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "`true` or `false`",
        other => other,
    }
}

fn found(node: &Node) -> &'static str {
    match &node.content {
        Content::Null => "nothing",
        Content::Bool(_) => "a truth value",
        Content::Number(_) => "a number",
        Content::Text(_) => "a text",
        Content::List(_) => "a list",
        Content::Map(_) => "a mapping",
    }
}

fn example(key: &str) -> String {
    match key {
        "limit" => "say how often it may be taken, for example `limit: 3`".into(),
        "phases" => "add `phases:` with at least one phase".into(),
        "skill" => "add `skill: NAME`".into(),
        "to" => "add `to: PHASE`".into(),
        "tool" => "add `tool: NAME`, or `tool: \"*\"` for every tool".into(),
        other => format!("add `{other}`"),
    }
}
