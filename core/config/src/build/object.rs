//! Matchers written as objects.

use std::fmt::Write as _;

use phasegate_core::Code;
use phasegate_core::analysis::Access;
use phasegate_core::matcher::{AgentTest, ArgIs, ArgTest, Matcher, PathTest, ServerPattern};
use serde_json::Value;

use super::builder::{Builder, child};
use super::pattern::pattern;
use crate::node::{Node, Span};
use crate::paths;
use crate::report::Finding;
use crate::source::{ArgSource, MatcherObject};

/// The argument of a shell tool that holds the command line.
const COMMAND: &str = "command";

/// Builds a matcher with conditions.
pub(super) fn matcher(builder: &mut Builder<'_>, source: &MatcherObject, node: &Node) -> Option<Matcher> {
    let found = pattern(builder, &source.tool, child(node, "tool").span);
    let args = arguments(builder, source, child(node, "args"));
    let command = command(builder, source, child(node, COMMAND).span);
    let paths = accesses(builder, source, node);
    let (tool, from_name) = found?;
    let server = server(builder, source, from_name, child(node, "server").span)?;
    let agent = source.agent.as_deref().map(agent_test);
    let mut matcher =
        Matcher { text: String::new(), tool, server, args: args?, command: command?, paths: paths?, agent };
    matcher.text = note(source, &matcher);
    Some(matcher)
}

fn server(
    builder: &mut Builder<'_>,
    source: &MatcherObject,
    from_name: ServerPattern,
    span: Span,
) -> Option<ServerPattern> {
    match (&source.server, from_name) {
        (None, pattern) => Some(pattern),
        (Some(server), ServerPattern::Bare) if !server.is_empty() => Some(ServerPattern::Named(server.clone())),
        (Some(server), ServerPattern::Named(name)) if *server == name => Some(ServerPattern::Named(name)),
        (Some(server), ServerPattern::Named(name)) => {
            let message = format!("the tool's name says server `{name}`, the key `server` says `{server}`");
            builder
                .findings
                .push(Finding::error(Code::MatcherNeverMatches, span, message).suggest("remove one of the two"));
            None
        }
        (Some(_), ServerPattern::Bare) => {
            builder.findings.push(
                Finding::error(Code::MatcherEmpty, span, "no server has an empty name").suggest("name the server"),
            );
            None
        }
    }
}

fn agent_test(agent: &str) -> AgentTest {
    match agent {
        "main" => AgentTest::Main,
        "subagent" => AgentTest::Subagent,
        kind => AgentTest::Kind(kind.into()),
    }
}

fn arguments(builder: &mut Builder<'_>, source: &MatcherObject, node: &Node) -> Option<Vec<ArgTest>> {
    let mut tests = Vec::new();
    let mut sound = true;
    for (path, source) in &source.args {
        let is = match source {
            ArgSource::Text(text) => ArgIs::Equal(Value::String(text.clone())),
            ArgSource::Bool(truth) => ArgIs::Equal(Value::Bool(*truth)),
            ArgSource::Number(number) => ArgIs::Equal(Value::Number(number.clone())),
            ArgSource::List(items) => ArgIs::Equal(Value::Array(items.clone())),
            ArgSource::Test(test) => match (&test.one_of, &test.begins, test.present) {
                (Some(all), _, _) => ArgIs::OneOf(all.clone()),
                (_, Some(start), _) => ArgIs::Begins(start.clone()),
                (_, _, present) => ArgIs::Present(present.unwrap_or(true)),
            },
        };
        let pattern = matches!(&is, ArgIs::Equal(Value::String(text)) if text.ends_with('*'));
        if path == COMMAND && (pattern || matches!(is, ArgIs::Begins(_))) {
            builder.findings.push(equality_only(child(node, path).span));
            sound = false;
        }
        tests.push(ArgTest { path: path.clone(), is });
    }
    sound.then_some(tests)
}

#[expect(clippy::option_option, reason = "outer: whether it could be built; inner: whether there is one")]
fn command(builder: &mut Builder<'_>, source: &MatcherObject, span: Span) -> Option<Option<String>> {
    let Some(command) = source.command.as_deref().map(str::trim) else { return Some(None) };
    if command.is_empty() {
        builder.findings.push(
            Finding::error(Code::MatcherEmpty, span, "an empty command line runs nothing")
                .suggest("write the whole line, or remove the key"),
        );
        return None;
    }
    if command.ends_with('*') {
        builder.findings.push(equality_only(span));
        return None;
    }
    Some(Some(command.into()))
}

fn equality_only(span: Span) -> Finding {
    Finding::error(Code::MatcherUnsupported, span, "a command can be compared for equality only")
        .cause("the beginning of a command does not determine what it does")
        .suggest("write `command: \"the whole line\"`")
}

fn accesses(builder: &mut Builder<'_>, source: &MatcherObject, node: &Node) -> Option<Vec<PathTest>> {
    let written = [
        ("reads", &source.reads, Access::Read),
        ("writes", &source.writes, Access::Write),
        ("executes", &source.executes, Access::Execute),
    ];
    let mut tests = Vec::new();
    let mut sound = true;
    for (key, path, access) in written {
        let Some(path) = path else { continue };
        match paths::pattern(path, child(node, key).span) {
            Ok(pattern) => tests.push(PathTest { access, pattern }),
            Err(finding) => {
                builder.findings.push(finding);
                sound = false;
            }
        }
    }
    sound.then_some(tests)
}

/// The pattern with its conditions in brackets: `Edit (writes src/**)`.
fn note(source: &MatcherObject, matcher: &Matcher) -> String {
    let mut parts = Vec::new();
    parts.extend(source.server.iter().map(|server| format!("server {server}")));
    parts.extend(matcher.args.iter().map(|test| match &test.is {
        ArgIs::Equal(value) => format!("{} {value}", test.path),
        ArgIs::OneOf(values) => format!("{} one of {}", test.path, Value::Array(values.clone())),
        ArgIs::Begins(start) => format!("{} begins {}", test.path, Value::String(start.clone())),
        ArgIs::Present(true) => format!("{} given", test.path),
        ArgIs::Present(false) => format!("{} not given", test.path),
    }));
    parts.extend(matcher.command.iter().map(|command| format!("command {}", Value::String(command.clone()))));
    parts.extend(matcher.paths.iter().map(|test| match test.access {
        Access::Read => format!("reads {}", test.pattern),
        Access::Write | Access::Remove => format!("writes {}", test.pattern),
        Access::Execute => format!("executes {}", test.pattern),
    }));
    parts.extend(source.agent.iter().map(|agent| format!("agent {agent}")));
    let mut text = source.tool.clone();
    if !parts.is_empty() {
        // Writing into a string cannot fail.
        let _ = write!(text, " ({})", parts.join(", "));
    }
    text
}
