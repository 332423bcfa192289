//! The answer to the parts of a call.

use super::Ruling;
use crate::decide::Line;
use crate::prelude::*;

impl Ruling {
    /// The answer to several parts: the first violation, one that denies before one that asks; else the move that takes them
    /// all. A line that moves nothing, and each violation of which may run confined, runs confined as a whole.
    pub(super) fn strictest(rulings: Vec<Self>) -> Self {
        let violations = || rulings.iter().filter(|ruling| ruling.line.is_violation());
        if violations().next().is_some() && rulings.iter().all(|ruling| ruling.confinable) {
            return Ruling::of(Line::Confined);
        }
        if let Some(violation) = violations().find(|ruling| !ruling.asks).or_else(|| violations().next()) {
            return violation.clone();
        }
        let moves = |ruling: &&Ruling| matches!(ruling.line, Line::Entered | Line::Back | Line::Returned);
        let mut moving: Vec<Ruling> = rulings.iter().filter(moves).cloned().collect();
        let to = |ruling: &Ruling| ruling.transition.as_ref().map(|transition| transition.to);
        moving.sort_by_key(to);
        let Some(last) = moving.pop() else {
            let allowed = rulings.iter().find(|ruling| ruling.line == Line::Allowed).or_else(|| rulings.first());
            return allowed.cloned().unwrap_or_else(|| Ruling::of(Line::UnlistedDenied));
        };
        // Forward the last phase is entered; parts that lead to different places otherwise belong into different calls.
        let together =
            |other: &Ruling| other.line == last.line && (to(other) == to(&last) || last.line == Line::Entered);
        if moving.iter().all(together) { last } else { Ruling { line: Line::UnlistedDenied, ..last } }
    }
}
