//! Patterns of tools as written to matchers.

use phasegate_core::Code;
use phasegate_core::calls::tool::without_server;
use phasegate_core::policy::matcher::{Matcher, ServerPattern, ToolPattern};

use super::builder::Builder;
use crate::read::node::Span;
use crate::read::report::Finding;

const NATIVE: &str = "mcp__";
/// Tools of hosts under their names of before, which mean those of today.
const RENAMED: [(&str, &str); 1] = [("Task", "Agent")];

/// Builds a matcher from a pattern.
pub(crate) fn from_pattern(builder: &mut Builder<'_>, text: &str, span: Span) -> Option<Matcher> {
    let (tool, server) = pattern(builder, text, span)?;
    Some(Matcher {
        text: text.into(),
        tool,
        server,
        args: Vec::new(),
        commands: Vec::new(),
        paths: Vec::new(),
        invokes: None,
        agent: None,
        except: Vec::new(),
    })
}

/// Which tools and which servers a pattern means.
pub(super) fn pattern(builder: &mut Builder<'_>, text: &str, span: Span) -> Option<(ToolPattern, ServerPattern)> {
    if let Some((server, tool)) = text.strip_prefix(NATIVE).and_then(|rest| rest.split_once("__"))
        && !server.is_empty()
        && !server.contains('*')
    {
        return Some((tool_pattern(builder, text, tool, span)?, ServerPattern::Named(server.into())));
    }
    let shown = builder.servers.iter().find_map(|server| Some((server, without_server(text, server)?)));
    if let Some((server, tool)) = shown.filter(|(_, tool)| !tool.is_empty()) {
        return Some((tool_pattern(builder, text, tool, span)?, ServerPattern::Named(server.clone())));
    }
    let renamed = RENAMED.iter().find(|(before, _)| *before == text).map_or(text, |(_, now)| now);
    Some((tool_pattern(builder, text, renamed, span)?, ServerPattern::Bare))
}

fn tool_pattern(builder: &mut Builder<'_>, whole: &str, tool: &str, span: Span) -> Option<ToolPattern> {
    if tool.trim().is_empty() || tool == "@" {
        let what = if whole.trim().is_empty() { "an empty pattern".into() } else { format!("`{whole}`") };
        builder.findings.push(Finding::error(Code::MatcherEmpty, span, format!("{what} matches no tool")));
        return None;
    }
    if tool == "*" {
        return Some(ToolPattern::Any);
    }
    if let Some((name, inside)) = tool.strip_suffix(')').and_then(|rest| rest.split_once('(')) {
        builder.findings.push(with_parentheses(whole, name, inside, span).lenient(builder.lenient));
        return builder.lenient.then(|| ToolPattern::Exact(tool.into()));
    }
    let (body, prefix) = tool.strip_suffix('*').map_or((tool, false), |body| (body, true));
    if body.contains('*') || (prefix && body.starts_with('@')) {
        builder.findings.push(star_inside(whole, span).lenient(builder.lenient));
        if !builder.lenient {
            return None;
        }
    } else if body.contains(char::is_whitespace) {
        builder.findings.push(with_a_space(whole, span).lenient(builder.lenient));
    }
    Some(match body.strip_prefix('@') {
        Some(label) if !prefix => ToolPattern::Label(label.into()),
        _ if prefix => ToolPattern::Prefix(body.into()),
        _ => ToolPattern::Exact(body.into()),
    })
}

fn with_a_space(whole: &str, span: Span) -> Finding {
    let message = format!("`{whole}` matches nothing: no tool has a space in its name");
    let command = whole.trim_end_matches('*').trim_end();
    Finding::error(Code::MatcherNeverMatches, span, message)
        .suggest(format!("a command of the shell is written `{{command: \"{command} *\"}}`"))
}

fn star_inside(whole: &str, span: Span) -> Finding {
    let prefix = whole.split('*').next().unwrap_or_default();
    let finding = Finding::error(Code::MatcherNeverMatches, span, format!("`{whole}` matches no tool"))
        .cause("a star stands for any ending, and only at the end of a name");
    if prefix.is_empty() || prefix.starts_with('@') {
        return finding.suggest("write the names out, or `\"*\"` for every tool");
    }
    finding.suggest(format!("write the names out, or `{prefix}*`"))
}

fn with_parentheses(whole: &str, name: &str, inside: &str, span: Span) -> Finding {
    let finding =
        Finding::error(Code::MatcherUnsupported, span, format!("`{whole}` is not a pattern for a tool's name"))
            .cause("a name says nothing about arguments");
    // Claude Code writes `Bash(git push:*)` for a beginning.
    let command = inside.strip_suffix(":*").map_or_else(|| inside.to_string(), |start| format!("{start} *"));
    finding.suggest(format!("write `{{tool: {name}, command: \"{command}\"}}`"))
}
