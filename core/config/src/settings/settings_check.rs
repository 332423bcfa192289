//! Settings that do nothing, or something else than they say.

use phasegate_core::Code;
use phasegate_core::calls::analysis::Verdict;
use phasegate_shell::{Rule, Table};

use crate::input::Level;
use crate::read::node::{Node, Span};
use crate::read::report::Finding;
use crate::read::typo::typo;
use crate::settings::budgets;
use crate::settings::safety;
use crate::source::SettingsSource;

/// Reports them.
pub(crate) fn check(source: &SettingsSource, node: &Node, level: Level, findings: &mut Vec<Finding>) {
    if let Some(path) = source.audit_log.as_ref().filter(|_| level == Level::Project) {
        audit_log(path, node.span_at(&["audit_log"]), findings);
    }
    for (name, item) in source.redact.iter().zip(node.items_of("redact")) {
        redact(name, item.span, findings);
    }
    safety::check(&source.safety, node, level, findings);
    budgets::check(source, node, findings);
    let shipped = Table::shipped();
    for (name, rule) in &source.programs {
        let span =
            node.entry("programs").and_then(|programs| programs.node.entry(name)).map_or(node.span, |at| at.key_span);
        if let Some(finding) = shipped.rule(name).and_then(|known| a_reader(name, rule, &known, span)) {
            findings.push(finding);
        }
    }
}

/// What `redact` usually means: arguments of the clients' tools, and what calls answer.
const ARGUMENTS: [&str; 17] = [
    "command",
    "content",
    "description",
    "edits",
    "file_path",
    "message",
    "new_source",
    "new_string",
    "notebook_path",
    "old_string",
    "output",
    "path",
    "pattern",
    "prompt",
    "query",
    "text",
    "url",
];

fn audit_log(path: &str, span: Span, findings: &mut Vec<Finding>) {
    let outside = path.starts_with('/') || path.starts_with('~') || path.split('/').any(|part| part == "..");
    if outside {
        findings.push(
            Finding::warning(Code::PathOutside, span, format!("the audit log `{path}` is not in the project"))
                .cause("its folder has to exist and to be writable on each machine that uses these settings")
                .suggest("name a file of the project: `.phasegate/audit.jsonl`"),
        );
    }
}

/// `redact` names arguments, each by its whole name.
fn redact(name: &str, span: Span, findings: &mut Vec<Finding>) {
    if let Some(letter) = name.chars().find(|letter| letter.is_whitespace() || "*?/[](){}|\"'".contains(*letter)) {
        findings.push(
            Finding::warning(Code::MatcherNeverMatches, span, format!("no argument has the name `{name}`"))
                .cause(format!("an argument is named whole, and no name has `{letter}` in it"))
                .suggest("write the name of an argument, such as `content`, or `output` or `text`"),
        );
    } else if let Some(meant) = ARGUMENTS.iter().find(|known| typo(name, known).is_some()) {
        findings.push(
            Finding::warning(Code::MatcherNeverMatches, span, format!("no tool of a client has the argument `{name}`"))
                .suggest(format!("did you mean `{meant}`?")),
        );
    }
}

/// A program that the shipped table knows to write, and that these settings call a reader.
fn a_reader(name: &str, rule: &Rule, known: &Rule, span: Span) -> Option<Finding> {
    let writes = |rule: &Rule| rule.does > Verdict::Read || rule.wraps.is_some() || rule.check.is_some();
    let silent = rule.commands.is_empty() && rule.hurts.is_empty() && rule.otherwise.is_none() && rule.beyond.is_none();
    (writes(known) && !writes(rule) && silent).then(|| {
        Finding::warning(Code::ConfigValue, span, format!("`{name}` is a program that does more than read"))
            .cause("this entry replaces the shipped one, and says that every call of it only reads")
            .suggest("say what it does (`does: write`), or remove the entry")
    })
}
