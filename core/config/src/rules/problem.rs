//! What is wrong with a text of rules.

use phasegate_core::Code;
use phasegate_rules::compile::Problem;
use phasegate_rules::{action_id, builtin};

use super::spans::span;
use crate::read::report::Finding;
use crate::read::suggestion::closest;

/// A mistake as `check` tells it.
pub(super) fn finding(text: &str, problem: &Problem) -> Finding {
    let at = span(text, &problem.span);
    let found = match problem.is_warning {
        true => Finding::warning(Code::RulePointless, at, &problem.message),
        false => Finding::error(Code::RuleInvalid, at, &problem.message),
    };
    match help(text, problem).or_else(|| problem.help.clone()) {
        Some(help) => found.suggest(help),
        None => found,
    }
}

/// What to do about a mistake of which more is known here than Cedar knows.
fn help(text: &str, problem: &Problem) -> Option<String> {
    let between = |text: &'_ str, before: &str, after: &str| {
        let (_, rest) = text.split_once(before)?;
        rest.split_once(after).map(|(found, _)| found.to_owned())
    };
    let message = problem.message.as_str();
    if let Some(name) = between(message, "unrecognized action `Action::\"", "\"`") {
        return meant_action(&name).map(|meant| format!("did you mean `Action::\"{meant}\"`?"));
    }
    // Not every call has it: a rule asks for it first.
    if message.contains(" in context for Action::") {
        let attribute = between(message, "attribute `", "`")?;
        let asks = format!("write `context has {attribute} && ...`, or name the actions that have it");
        return ["command", "input", "path", "request"].contains(&attribute.as_str()).then_some(asks);
    }
    let rule = text.get(problem.span.clone()).filter(|_| message == "the rule can never be about a call")?;
    let tool = between(rule, "Action::\"", "\"").filter(|tool| tool.contains('/'))?;
    let asks = rule.contains("context.input");
    asks.then(|| {
        format!("say under `rules: {{tools: {{\"{tool}\": {{arguments: ...}}}}}}` which arguments `{tool}` has")
    })
}

/// The action that a name which is none probably means.
fn meant_action(name: &str) -> Option<String> {
    if let Some((server, tool)) = name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
        return Some(action_id(Some(server), tool));
    }
    let known: Vec<String> = builtin(|_| Vec::new()).into_iter().map(|shape| shape.action).collect();
    closest(name, known.iter().map(String::as_str)).map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn help_of(text: &str, message: &str) -> Option<String> {
        help(text, &Problem { message: message.into(), help: None, span: 0..text.len(), is_warning: false })
    }

    #[test]
    fn a_mistake_says_what_is_meant() {
        for (text, message, wanted) in [
            ("", "unrecognized action `Action::\"Bsah\"`", "did you mean `Action::\"Bash\"`?"),
            ("", "unrecognized action `Action::\"mcp__github__create_issue\"`", "`Action::\"github/create_issue\"`?"),
            ("", "attribute `command` in context for Action::\"Agent\" not found", "`context has command && ...`"),
            (
                "forbid(principal, action == Action::\"pay/send\", resource) when { context.input has amount };",
                "the rule can never be about a call",
                "which arguments `pay/send` has",
            ),
        ] {
            let found = help_of(text, message).unwrap_or_default();
            assert!(found.contains(wanted), "{message}: {found}");
        }
        assert_eq!(help_of("", "unrecognized action `Action::\"zzzzzzzz\"`"), None);
        assert_eq!(help_of("forbid(principal, action, resource);", "the rule can never be about a call"), None);
    }
}
