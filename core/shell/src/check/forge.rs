//! `gh api`: what method it uses, and whom it asks.

use phasegate_core::calls::analysis::Verdict;

use super::command::Command;
use crate::finding::Finding;

/// The service that `gh` asks where nothing names another one.
const SERVICE: &str = "https://api.github.com/";

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
    let elsewhere = |place: &str| place.contains("://") && !place.starts_with(SERVICE);
    let sends = |place: &str| place == "graphql" || elsewhere(place);
    let place = command.scan.operands.iter().find(|field| field.known().is_none_or(sends))?;
    let because =
        if place.known().is_some_and(elsewhere) { "it asks another machine" } else { "the request may send data" };
    Some(Finding::new(Verdict::Send, because, place.span))
}
