//! What the settings of all levels say together of access and budgets.

use phasegate_core::Code;
use phasegate_core::policy::Mode;
use phasegate_core::policy::access::{AccessMode, duration_ms};
use phasegate_core::policy::budget::{Budget, Count, MAX_BUDGETS, MAX_FILES, Per};

use crate::build::builder::{Builder, child};
use crate::build::matcher;
use crate::meaning;
use crate::read::node::Node;
use crate::read::report::Finding;
use crate::settings::groups::Groups;
use crate::source::SettingsSource;
use crate::source::budget::BudgetSource;

/// The access of all levels: the strictest.
pub(crate) fn access<'s>(levels: impl Iterator<Item = &'s SettingsSource>) -> AccessMode {
    let said = levels.filter_map(|level| level.access);
    said.min().unwrap_or_default().min(AccessMode::Normal)
}

/// The budgets of one settings file. `mode`: the mode of all settings. A name that `known` has gets a number: both hold.
pub(crate) fn of_file(
    source: &SettingsSource,
    node: &Node,
    mode: Option<Mode>,
    groups: &Groups,
    known: &mut Vec<Budget>,
    findings: &mut Vec<Finding>,
) {
    for (name, budget) in &source.budgets {
        let own = child(node, "budgets").entry(name).map_or(node, |entry| &entry.node);
        let (of, _) = matcher::list(&mut Builder::new(findings, false, groups), &budget.of, child(own, "of"));
        let taken = |name: &str| known.iter().any(|other| other.name == name);
        let numbered = (2..).map(|number: u32| format!("{name} ({number})"));
        let name = std::iter::once(name.clone()).chain(numbered).find(|name| !taken(name));
        known.push(Budget {
            name: name.unwrap_or_default(),
            count: budget.count,
            reported: budget.at.clone(),
            of,
            limit: budget.limit,
            per: budget.per.unwrap_or(Per::Session),
            within: budget.within.as_deref().and_then(duration_ms),
            mode: budget.mode.max(mode).unwrap_or(Mode::Warn),
        });
    }
}

/// Reports what a file says that means nothing.
pub(crate) fn check(source: &SettingsSource, node: &Node, findings: &mut Vec<Finding>) {
    if source.access == Some(AccessMode::Admin) {
        findings.push(
            Finding::error(Code::ConfigValue, child(node, "access").span, "no config gives the access `admin`")
                .cause("a person gives it, for a stated time")
                .suggest("write `normal`, and let a person run `phasegate access admin --for 30m`"),
        );
    }
    let all = child(node, "budgets");
    if source.budgets.len() > MAX_BUDGETS {
        let message = format!("there are {} budgets, and at most {MAX_BUDGETS} are counted", source.budgets.len());
        findings.push(Finding::error(Code::ConfigValue, all.span, message).suggest("remove some"));
    }
    for (name, budget) in &source.budgets {
        let own = all.entry(name).map_or(all, |entry| &entry.node);
        check_one(budget, own, findings);
    }
}

fn check_one(budget: &BudgetSource, node: &Node, findings: &mut Vec<Finding>) {
    let (mut none, groups) = (Vec::new(), Groups::default());
    let (of, spans) = matcher::list(&mut Builder::new(&mut none, false, &groups), &budget.of, child(node, "of"));
    // A skill may give labels that are not known here, so that only what is surely misspelt is reported.
    let mut misspelt = Vec::new();
    meaning::check_settings(&of, &spans, [], &mut misspelt);
    misspelt.retain(Finding::is_error);
    findings.extend(misspelt.into_iter().map(|finding| finding.cause("what matches no call is never counted")));
    if let Some(text) = budget.within.as_ref().filter(|text| duration_ms(text).is_none()) {
        let message = format!("`{text}` is no time");
        let finding = Finding::error(Code::ConfigValue, child(node, "within").span, message);
        findings.push(finding.suggest("write a whole number and its unit: `90s`, `30m`, `2h`, `7d`"));
    }
    check_place(budget, node, findings);
    if budget.count == Count::Files && budget.limit > MAX_FILES {
        let message = format!("at most {MAX_FILES} files are counted");
        findings.push(
            Finding::error(Code::ConfigValue, child(node, "limit").span, message)
                .suggest(format!("write at most {MAX_FILES}, or count `edits`")),
        );
    }
}

/// What is reported stands somewhere; nothing else does.
fn check_place(budget: &BudgetSource, node: &Node, findings: &mut Vec<Finding>) {
    let place = budget.at.as_deref();
    let (key, message, suggestion) = match (budget.count == Count::Reported, place) {
        (true, None) => {
            ("count", "the budget does not say where the number stands".to_owned(), "add `at: /totalTokens`")
        }
        (true, Some(place)) if !place.starts_with('/') => {
            ("at", format!("`{place}` is no JSON pointer"), "begin each name with a slash: `/usage/cost`")
        }
        (false, Some(_)) => {
            ("at", "only what is `reported` stands somewhere".to_owned(), "remove it, or write `count: reported`")
        }
        _ => return,
    };
    findings.push(Finding::error(Code::ConfigValue, child(node, key).span, message).suggest(suggestion));
}
