//! `gh api`: what method it uses.

use phasegate_core::analysis::Verdict;

use super::command::Command;
use crate::finding::Finding;

/// `gh api`
pub(super) fn api(command: &Command<'_>) -> Option<Finding> {
    for method in command.values(&["X", "method"]) {
        if !method.known().is_some_and(|method| matches!(method.to_ascii_uppercase().as_str(), "GET" | "HEAD")) {
            return Some(Finding::new(Verdict::Send, "the method of the request is not one that reads", method.span));
        }
    }
    if let Some(header) = command.values(&["H", "header"]).find(|header| header.known().is_none()) {
        return Some(Finding::new(Verdict::Send, "the request holds a value that is made at run time", header.span));
    }
    let place = command.scan.operands.iter().find(|field| field.known().is_none_or(|place| place == "graphql"))?;
    Some(Finding::new(Verdict::Send, "the request may send data", place.span))
}
