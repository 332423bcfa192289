//! Names that nothing has: what is lost by them decides whether they are mistakes.

use phasegate_core::Code;
use phasegate_core::calls::tool::same_server;
use phasegate_core::policy::Skill;
use phasegate_core::policy::matcher::{Matcher, ServerPattern, ToolPattern};

use super::conditions;
use super::known::Known;
use super::misspelt::{Doubt, Names};
use super::uses::{self, Allowed, Place, Use};
use crate::build::builder::Built;
use crate::input::{KnownServers, TOGETHER};
use crate::read::node::Span;
use crate::read::report::Finding;
use crate::read::suggestion::listed;

/// Reports names that nothing has. `tools` are those of servers that are known.
pub(super) fn check(built: &Built, tools: &KnownServers, findings: &mut Vec<Finding>) {
    let skill = &built.skill;
    let all = uses::all(built);
    let names =
        Names { known: Known::of([skill]), allowed: Allowed::of(&all), servers: &skill.servers, tools, open: false };
    no_servers(built, findings);
    servers(built, &all, tools, findings);
    conditions::check(&all, skill.compat, findings);
    for used in &all {
        let Some(doubt) = names.doubt(used) else { continue };
        let lost = match used.place {
            Place::Allowed | Place::Except => None,
            Place::Start => Some(Lost::Start),
            Place::Asked => Some(Lost::Condition),
            Place::Everywhere | Place::Forbidden(_) => (!stands_beside(&doubt, used, &all)).then_some(Lost::Forbidden),
        };
        findings.push(finding(&doubt, used.span, lost.filter(|_| doubt.sure && !skill.compat)));
    }
}

/// Reports names that nothing has in what settings forbid for every one of these skills.
pub(crate) fn check_settings<'s>(
    matchers: &[Matcher],
    spans: &[Span],
    skills: impl IntoIterator<Item = &'s Skill>,
    findings: &mut Vec<Finding>,
) {
    let all = uses::listed(matchers, spans, Place::Everywhere);
    conditions::check(&all, false, findings);
    // Settings stand for skills that may come later too, and these may give labels of their own.
    let tools = &KnownServers::default();
    let names = Names { known: Known::of(skills), allowed: Allowed::default(), servers: &[], tools, open: true };
    for used in &all {
        let Some(doubt) = names.doubt(used) else { continue };
        let lost = (doubt.sure && !stands_beside(&doubt, used, &all)).then_some(Lost::Forbidden);
        findings.push(finding(&doubt, used.span, lost));
    }
}

/// What is lost if a matcher matches nothing.
enum Lost {
    /// Nothing is forbidden.
    Forbidden,
    /// Nothing begins.
    Start,
    /// A condition asks in vain.
    Condition,
}

/// Whether what was probably meant is forbidden too, so that nothing is lost.
fn stands_beside(doubt: &Doubt, used: &Use<'_>, all: &[Use<'_>]) -> bool {
    let beside = |other: &Use<'_>| other.place == used.place || other.place == Place::Everywhere;
    all.iter().any(|other| beside(other) && Some(&other.matcher.text) == doubt.meant.as_ref())
}

fn finding(doubt: &Doubt, span: Span, lost: Option<Lost>) -> Finding {
    let Some(lost) = lost else {
        let finding = Finding::warning(Code::MatcherNeverMatches, span, doubt.message.clone());
        let finding = finding.suggest(doubt.suggestion.clone());
        return doubt.cause.map_or(finding.clone(), |cause| finding.cause(cause));
    };
    let cause = match lost {
        // Tools without labels are taken to have it.
        Lost::Forbidden if doubt.key.is_none() => "a label that no tool has forbids no tool that has labels",
        Lost::Forbidden => "a pattern that matches no call forbids nothing",
        Lost::Start => "a pattern that matches no call begins nothing",
        Lost::Condition => "no call matches the pattern, so the condition asks for it in vain",
    };
    let real = doubt.key.map(|key| format!(" If the name is right, list it under `{key}`")).unwrap_or_default();
    Finding::error(Code::MatcherNeverMatches, span, doubt.message.clone())
        .cause(cause)
        .suggest(format!("{}{real}", doubt.suggestion))
}

/// Tools of MCP servers by bare names, where the skill lists no server: an allowed list then means a host's own tools only.
fn no_servers(built: &Built, findings: &mut Vec<Finding>) {
    if built.skill.compat || !built.skill.servers.is_empty() {
        return;
    }
    let phases = built.skill.phases.iter().zip(&built.places.phases);
    let mut allowed = phases.flat_map(|(phase, places)| phase.allowed.iter().zip(&places.allowed));
    // The canonical names of the hosts' own tools begin with a capital letter.
    let foreign = allowed.find(|(matcher, _)| match &matcher.tool {
        ToolPattern::Exact(name) | ToolPattern::Prefix(name) => {
            matcher.server == ServerPattern::Bare
                && name.starts_with(|first: char| first.is_ascii_lowercase())
                && !name.starts_with("mcp__")
        }
        ToolPattern::Any | ToolPattern::Label(_) => false,
    });
    if let Some((matcher, span)) = foreign {
        let name = matcher.text.split(' ').next().unwrap_or_default();
        findings.push(
            Finding::warning(
                Code::MatcherNeverMatches,
                *span,
                format!("`{name}` matches no tool of an MCP server here"),
            )
            .cause("a name without a server allows the tools of the servers that the skill lists, and it lists none")
            .suggest(match name.split_once("__") {
                Some((server, _)) => format!("add `servers: [{server}]` to the skill"),
                None => format!("add `servers: [NAME]` to the skill, or write `mcp__NAME__{name}`"),
            }),
        );
    }
}

/// Servers that neither the configs nor a client nor a relay of the project knows, and those whose relay may have a session of its own.
fn servers(built: &Built, all: &[Use<'_>], known: &KnownServers, findings: &mut Vec<Finding>) {
    let listed_here = built.servers.iter().zip(built.places.servers.iter().copied());
    let mut servers: Vec<(&String, Span)> = listed_here.collect();
    for used in all {
        if let ServerPattern::Named(server) = &used.matcher.server
            && servers.iter().all(|(other, _)| *other != server)
        {
            servers.push((server, used.span));
        }
    }
    for (server, span) in servers {
        let warning = |message| Finding::warning(Code::MatcherNeverMatches, span, message);
        if let Some(why) = known.apart(server, built.servers.len()) {
            let what = format!("the skill may not hold on the server `{server}`");
            findings.push(warning(what).cause(why).suggest(TOGETHER));
        }
        if !known.all || known.has(server) {
            continue;
        }
        let seen = || known.tools.keys().map(String::as_str);
        let others: Vec<&str> =
            seen().filter(|known| !built.servers.iter().any(|own| same_server(own, known))).collect();
        let suggestion = match others.as_slice() {
            [] => format!(
                "a server that guards itself: name it in the config, `mcp: {{servers: {{{server}: {{}}}}}}`; another one: add it to the list of a client, and `phasegate init mcp --server {server}` puts a relay before it"
            ),
            [one] => format!("if `{one}` is meant, write `{one}`, or give its relay this name: `--server {server}`"),
            several => format!("if one of {} is meant, write its name", listed(several.iter().copied())),
        };
        let cause = match seen().count() {
            0 => "the configs and the clients' settings name no server, and no relay of this project has seen one"
                .to_string(),
            _ => format!("the configs, the clients' settings and the relays of this project have {}", listed(seen())),
        };
        findings.push(warning(format!("no server `{server}` is known here")).cause(cause).suggest(suggestion));
    }
}
