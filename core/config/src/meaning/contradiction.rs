//! What is allowed and forbidden at once.

use phasegate_core::calls::analysis::{CallAnalysis, SimpleCommand};
use phasegate_core::calls::tool::{BASH, shell_labels};
use phasegate_core::policy::matcher::{DOES, Matcher, Servers, Subject, Use};
use phasegate_core::{Code, Event, EventKind};
use phasegate_shell::{Table, Trust, judge};
use serde_json::json;

use super::cover::covers;
use crate::build::builder::Built;
use crate::read::node::Span;
use crate::read::report::Finding;

/// Reports what a phase allows although the phase or the skill forbids all of it.
pub(super) fn check(built: &Built, findings: &mut Vec<Finding>) {
    let skill = &built.skill;
    for (phase, places) in skill.phases.iter().zip(&built.places.phases) {
        let here = format!("phase `{}`", phase.name);
        // What is forbidden only until something has happened may be allowed after it.
        let always = phase.always_forbidden().filter_map(|(at, line)| Some((line, places.forbidden.get(at)?)));
        let own: Vec<_> = always.map(|(line, at)| (here.as_str(), line, at)).collect();
        let everywhere = skill.global_forbidden.iter().zip(&built.places.global_forbidden);
        let everywhere = everywhere.map(|(line, at)| ("the skill", line, at));
        let lists: Vec<_> = own.into_iter().chain(everywhere).collect();
        for (allowed, span) in phase.allowed.iter().zip(&places.allowed) {
            let found = lists.iter().find(|(_, forbidden, _)| covers(forbidden, allowed, skill));
            let Some((name, forbidden, at)) = found else {
                findings.extend(allowed.commands.iter().filter_map(|command| {
                    let sample = sample(command)?;
                    let denied = |(_, line, _): &&(&str, &Matcher, &Span)| forbids(line, &sample);
                    let (name, forbidden, at) = lists.iter().find(denied)?;
                    let message =
                        format!("`{command}` is allowed, and what it does is forbidden by `{}`", forbidden.text);
                    let finding = Finding::warning(Code::ToolAllowedAndForbidden, *span, message);
                    Some(finding.cause(format!("{name} forbids it on line {}; forbidden wins", at.line)))
                }));
                continue;
            };
            let message = format!(
                "`{}` is allowed in phase `{}`, and forbidden by `{}`",
                allowed.text, phase.name, forbidden.text
            );
            findings.push(
                Finding::error(Code::ToolAllowedAndForbidden, *span, message)
                    .cause(format!("{name} forbids it on line {}; forbidden wins", at.line))
                    .lenient(skill.compat),
            );
        }
    }
}

/// The call of a command with as few further words as its pattern asks for.
fn sample(command: &str) -> Option<Event> {
    let words = command.split_whitespace().filter(|word| !matches!(*word, "*" | "**"));
    let line = words.map(|word| word.replace('*', "x")).collect::<Vec<_>>().join(" ");
    let judged = judge(&line, &Table::shipped(), Trust::default());
    let commands: Vec<SimpleCommand> = judged.parts.into_iter().map(|part| part.command).collect();
    let (analysis, labels) = (CallAnalysis { commands, ..CallAnalysis::default() }, shell_labels(judged.verdict));
    (!command.starts_with(DOES) && !line.is_empty()).then(|| {
        Event::new(
            "",
            EventKind::ToolCall {
                id: None,
                tool: BASH.into(),
                native: None,
                server: None,
                input: json!({"command": line}),
                labels: Some(labels),
                background: false,
                analysis,
            },
        )
    })
}

/// Whether a line surely forbids the call, whoever makes it.
fn forbids(line: &Matcher, event: &Event) -> bool {
    let asks = line.agent.is_none() && !line.commands.is_empty() && line.paths.is_empty();
    let Some((call, labels)) = event.call().zip(event.labels()).filter(|_| asks) else { return false };
    let subject = Subject { call: &call, labels: &labels, agent: None, agent_kind: "", named: false, evidence: false };
    line.matches(subject, Servers::Every, Use::Permit)
}
