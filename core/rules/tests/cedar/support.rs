//! What the tests share.

use phasegate_rules::compile::{Schema, compile};
use phasegate_rules::{Action, Default, Part, Principal, Request, Rule, Ruleset, ToolShape, Value, builtin};

/// What built-in tools can do, as far as the tests need it.
pub(crate) fn labels(tool: &str) -> Vec<String> {
    let words: &[&str] = match tool {
        "Bash" => &["write", "execute", "shell"],
        "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => &["write"],
        "WebFetch" | "WebSearch" => &["read", "network"],
        _ => &["read"],
    };
    words.iter().map(|word| (*word).to_owned()).collect()
}

pub(crate) fn tools() -> Vec<ToolShape> {
    let pay = ToolShape {
        action: "pay/send".into(),
        labels: vec![],
        arguments: [
            ("to".to_owned(), phasegate_rules::Kind::Text),
            ("amount".to_owned(), phasegate_rules::Kind::Number),
        ]
        .into(),
    };
    builtin(labels).into_iter().chain([pay]).collect()
}

pub(crate) fn schema() -> Schema {
    Schema::new(&tools()).unwrap()
}

/// A schema of few tools, which is quick to check against.
pub(crate) fn small_schema() -> Schema {
    let few: Vec<_> = tools().into_iter().filter(|tool| ["Bash", "pay/send"].contains(&tool.action.as_str())).collect();
    Schema::new(&few).unwrap()
}

/// The rules of a text that has no mistakes.
pub(crate) fn rules(text: &str) -> Vec<Rule> {
    let compiled = compile(text, &schema());
    let errors: Vec<_> = compiled.problems.iter().filter(|problem| !problem.is_warning).collect();
    assert!(errors.is_empty(), "{errors:?}");
    compiled.rules.into_iter().map(|placed| placed.rule).collect()
}

pub(crate) fn ruleset(default: Default, text: &str) -> Ruleset {
    Ruleset::new(default, rules(text))
}

/// A simple command of these words; `$` is one that a shell computes.
pub(crate) fn command<'a>(words: &[&'a str], text: &'a str) -> Value<'a> {
    let word = |word: &&'a str| if *word == "$" { Value::Unknown } else { Value::Text(word) };
    let unclear = words.contains(&"$");
    let of = |at: usize| words.get(at).map_or(Value::Text(""), word);
    let rest = words.get(1..).unwrap_or_default();
    let options = rest.iter().filter(|word| word.starts_with('-') || **word == "$").map(word);
    Value::record(vec![
        ("program", of(0)),
        ("subcommand", of(1)),
        ("words", Value::set(rest.iter().map(word))),
        ("options", Value::set(options)),
        ("text", if unclear { Value::Unknown } else { Value::Text(text) }),
        ("verdict", Value::Text("unknown")),
        ("sends", Value::Bool(false)),
        ("names", Value::set([])),
        ("hosts", Value::set([])),
        ("environment", Value::Text("")),
    ])
}

/// A call of the shell with these commands.
pub(crate) fn shell<'a>(commands: &[Value<'a>]) -> Request<'a> {
    let input = Value::record(vec![("command", Value::Text("a line"))]);
    let action = Action::new("Bash", ["write", "execute", "shell"]);
    let part = |command: &Value<'a>| Part { command: Some(command.clone()), path: None };
    Request {
        parts: commands.iter().map(part).collect(),
        context: vec![("skills", Value::set([])), ("phases", Value::set([]))],
        ..Request::new(Principal::main("s1"), action, input)
    }
}
