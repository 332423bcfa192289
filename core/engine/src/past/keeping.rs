//! What is kept of the parts of a call: until it ends, or beside a record that leaves arguments out.

use alloc::vec::Vec;

use phasegate_history::Fields as _;
use phasegate_history::leaf::{Param, Path, Pattern, Root};
use phasegate_rules::Request;

use super::part::{CHANGES, OfPart, also, recorded};
use crate::part_snapshot::PartSnapshot;
use crate::rule_request::RuleCall;
use crate::rules::RuleLevel;
use crate::status::Status;
use crate::tool::Call;

/// The most parts of a call that are kept until it ends.
const MAX_PARTS: usize = 64;

/// The parts of a call, with the fields that patterns name.
pub(super) struct Keeping<'c> {
    pub(super) call: &'c Call,
    /// The kind of event whose patterns count; `None`: all of them, and what conditions read of the call.
    pub(super) kind: Option<&'c str>,
    pub(super) parts: Vec<PartSnapshot>,
}

impl Keeping<'_> {
    /// Notes the fields that the conditions of a level name.
    pub(super) fn add(&mut self, level: &RuleLevel, own: &RuleCall<'_>, request: &Request<'_>) {
        let wanted = self.wanted(level, request.action.id);
        let Some(wanted) = wanted else { return };
        // Of more parts than are kept, one stands for all: nothing is known of it.
        let many = request.parts.len() > MAX_PARTS;
        let commands = own.commands_of_parts();
        for part in 0..if many { 1 } else { request.parts.len() } {
            let recorded = recorded(self.call).get(part);
            if self.parts.len() <= part {
                let command = commands.get(part).copied().flatten();
                let (tests, status) = match (command, recorded) {
                    _ if many || self.call.analysis.unproven => (None, Status::Lost),
                    (_, Some(known)) => (known.tests, known.status),
                    (Some(command), None) => (command.tests, command.status),
                    (None, None) => (None, Status::Own),
                };
                self.parts.push(PartSnapshot::new(request.action.id, tests, status));
            }
            let Some(kept) = self.parts.get_mut(part).filter(|_| !many) else { continue };
            let fields = OfPart { request, part, recorded };
            wanted.iter().for_each(|path| kept.note(path, fields.field(path)));
            if self.kind.is_none() {
                let changes: Path = [CHANGES.into()].into();
                kept.note(&changes, fields.field(&changes));
            }
        }
    }

    /// The fields that the conditions of a level name of an action; `None`: none of them asks for it.
    fn wanted<'l>(&self, level: &'l RuleLevel, action: &str) -> Option<Vec<&'l Path>> {
        let also = also(action);
        let named = |pattern: &Pattern| pattern.action == action || also.contains(&pattern.action.as_str());
        let counts = |pattern: &&Pattern| named(pattern) && self.kind.is_none_or(|kind| pattern.kind == kind);
        let patterns: Vec<&Pattern> = level.history.iter().flat_map(|leaf| &leaf.patterns).filter(counts).collect();
        let counts_all = level.history.iter().flat_map(|leaf| &leaf.tables).any(|table| table.others);
        if patterns.is_empty() && !counts_all && self.kind.is_some() {
            return None;
        }
        let of_pattern = |pattern: &'l Pattern| {
            let equal = pattern.equal.iter().map(|field| &field.path);
            let compared = pattern.compared.iter().map(|field| &field.path);
            equal.chain(&pattern.present).chain(compared)
        };
        let of_call = |param: &&Param| self.kind.is_none() && param.root == Root::Context;
        let params = level.history.iter().flat_map(|leaf| &leaf.params).filter(of_call).map(|param| &param.path);
        let all = patterns.into_iter().flat_map(of_pattern).chain(params);
        Some(all.filter(|path| path.first().is_some_and(|first| first != "output")).collect())
    }
}
