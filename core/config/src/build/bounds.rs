//! How often a text has to stand in files.

use phasegate_core::Code;

use super::builder::{Builder, child};
use crate::read::node::Node;
use crate::read::report::Finding;
use crate::source::ConditionSource;

/// How often a text has to be there at least.
pub(super) fn least(builder: &mut Builder<'_>, source: &ConditionSource, node: &Node) -> u64 {
    let at_least = source.at_least.unwrap_or(u64::from(source.at_most.is_none()));
    if source.at_most.is_some_and(|most| most < at_least) {
        let message = format!("`at_most` is less than `at_least` ({at_least})");
        let finding = Finding::error(Code::ConfigValue, child(node, "at_most").span, message);
        builder.findings.push(finding.suggest("let `at_most` be at least `at_least`"));
    }
    at_least
}
