//! The facts that the rules of a file read, from the file beside it.

use std::collections::BTreeMap;

use phasegate_core::Code;
use phasegate_core::policy::Scope;
use phasegate_core::policy::access::duration_ms;
use phasegate_core::policy::matcher::Matcher;
use phasegate_core::rules::rule_fact::{AskedOfCalls, RuleFact};

use crate::build::builder::{Builder, child};
use crate::build::matcher;
use crate::files::paths;
use crate::read::node::Node;
use crate::read::report::Finding;
use crate::read::text::Text;
use crate::settings::groups::Groups;
use crate::source::{MatcherSource, RuleFactSource, RuleFactsSource};
use crate::validate::validate;
use crate::{meaning, read};

/// The longest time that a fact of the project looks back, in milliseconds, and as it is written.
const LONGEST: (i64, &str) = (7 * 24 * 60 * 60 * 1000, "7d");

/// The facts of a file, by their names.
pub(super) fn facts(text: &str, groups: &Groups, findings: &mut Vec<Finding>) -> BTreeMap<String, RuleFact> {
    let root = read::read(&Text::whole(text), findings);
    let Some(node) = root.and_then(|root| validate(phasegate_schemas::Kind::Facts, root, findings)) else {
        return BTreeMap::new();
    };
    // The schema was made from the type.
    let source: RuleFactsSource = serde_json::from_value(node.to_value()).unwrap_or_default();
    let groups = groups.with(&source.groups, child(&node, "groups"), false, findings);
    let all = child(&node, "facts");
    let mut facts = BTreeMap::new();
    for (name, source) in &source.facts {
        let own = child(all, name);
        if !paths::is_name(name) {
            let found =
                Finding::error(Code::ConfigValue, all.span_at(&[name]), format!("`{name}` is no name of a fact"));
            findings.push(found.suggest("use small letters, digits and `_`, a letter first"));
        }
        facts.extend(fact(source, own, &groups, findings).map(|fact| (name.clone(), fact)));
    }
    facts
}

fn fact(source: &RuleFactSource, node: &Node, groups: &Groups, findings: &mut Vec<Finding>) -> Option<RuleFact> {
    let mut wrong = |key: &str, message: String, suggestion: &str| {
        findings.push(Finding::error(Code::ConfigValue, child(node, key).span, message).suggest(suggestion));
    };
    let within = source.within.as_deref().and_then(duration_ms);
    let scope = source.scope.unwrap_or(Scope::Session);
    match (&source.within, within) {
        (Some(text), None) => {
            wrong(
                "within",
                format!("`{text}` is no time"),
                "write a whole number and its unit: `90s`, `30m`, `2h`, `7d`",
            );
        }
        (None, _) if scope == Scope::Project => {
            wrong("scope", "a fact of the project does not say how far it looks back".into(), "add `within: 1d`");
        }
        (Some(text), Some(long)) if scope == Scope::Project && long > LONGEST.0 => {
            let message = format!("a fact of the project looks back `{text}`, and at most {} are kept", LONGEST.1);
            wrong("within", message, "write `within: 7d`, or a shorter time");
        }
        _ => {}
    }
    if source.unchanged.is_some() && source.tests.is_none() {
        wrong("unchanged", "`unchanged` says something about `tests`, which is missing".into(), "add `tests: passed`");
    }
    let asks = match (source.tests, &source.count, &source.running) {
        (Some(_), None, None) => AskedOfCalls::Passed { unchanged: source.unchanged == Some(true) },
        (None, Some(line), None) => AskedOfCalls::Count(lines(line, child(node, "count"), groups, findings)),
        (None, None, Some(line)) => AskedOfCalls::Running(lines(line, child(node, "running"), groups, findings)),
        _ => {
            let found = Finding::error(Code::ConfigValue, node.span, "a fact asks one thing of earlier calls");
            findings.push(found.suggest("write one of `tests: passed`, `count: {...}` and `running: {...}`"));
            return None;
        }
    };
    Some(RuleFact::new(asks, scope, within))
}

fn lines(source: &MatcherSource, node: &Node, groups: &Groups, findings: &mut Vec<Finding>) -> Vec<Matcher> {
    let lines = matcher::each(&mut Builder::new(findings, false, groups), source, node);
    let spans: Vec<_> = lines.iter().map(|_| node.span).collect();
    // The rules may give labels that are not known here, so that only what is surely misspelt is reported.
    let mut misspelt = Vec::new();
    meaning::check_settings(&lines, &spans, [], &mut misspelt);
    let misspelt = misspelt.into_iter().filter(Finding::is_error);
    findings.extend(misspelt.map(|finding| finding.cause("what matches no call is never counted")));
    lines
}
