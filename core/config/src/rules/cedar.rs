//! Texts of rules, read as Cedar.

use std::ops::Range;

use phasegate_rules::ToolShape;
use phasegate_rules::compile::{Schema, compile, places, refused};

use super::problem::finding;
use super::read::Read;
use crate::packs::Pack;

/// Reads texts of rules against what rules can read.
pub(super) struct Reader(Schema);

impl Reader {
    /// A reader that knows these tools.
    pub(super) fn new(tools: &[ToolShape]) -> Result<Self, String> {
        Schema::new(tools).map(Self)
    }

    pub(super) fn read(&self, text: &str) -> Read {
        if let Some(problem) = refused(text) {
            return Read { findings: vec![(finding(text, &problem), true)], ..Read::default() };
        }
        if let Some(place) = places(text).into_iter().find(|place| text.get(place.clone()).is_some_and(asks_for_past)) {
            return self.read_past(text, &place);
        }
        let compiled = compile(text, &self.0);
        let rules = compiled.rules.into_iter().map(|placed| (placed.rule, placed.span)).collect();
        let findings = compiled.problems.into_iter().map(|problem| (finding(text, &problem), !problem.is_warning));
        Read { rules, history: Vec::new(), findings: findings.collect() }
    }

    /// The rules of a pack.
    pub(super) fn read_pack(&self, pack: &Pack) -> Read {
        let Some(lowered) = pack.lowered() else { return self.read(pack.text) };
        let place = |id: &str| {
            let name = format!("@id(\"{id}\")");
            let named = |place: &Range<usize>| pack.text.get(place.clone()).is_some_and(|text| text.contains(&name));
            places(pack.text).into_iter().find(named).unwrap_or_default()
        };
        let rules = lowered.rules.into_iter().map(|rule| (place(&rule.id), rule)).map(|(place, rule)| (rule, place));
        Read { rules: rules.collect(), history: lowered.history, findings: Vec::new() }
    }

    #[cfg(feature = "history")]
    fn read_past(&self, text: &str, _: &Range<usize>) -> Read {
        super::temporal::read(text, &self.0)
    }

    #[cfg(not(feature = "history"))]
    fn read_past(&self, text: &str, place: &Range<usize>) -> Read {
        let at = super::spans::span(text, place);
        let code = phasegate_core::Code::RuleInvalid;
        let found = crate::report::Finding::error(code, at, "the rule asks for what happened before (`temporal`)")
            .cause("this program was built without the feature `history`, so it cannot read such rules")
            .suggest("build it with `--features history`, or use a pack: `phasegate rules packs`");
        Read { findings: vec![(found, true)], ..Read::default() }
    }
}

/// Whether a rule has a condition over what happened before.
fn asks_for_past(rule: &str) -> bool {
    let words: Vec<&str> = rule.split_whitespace().collect();
    words.windows(2).any(|two| {
        matches!(two, [before, temporal] if before.ends_with("when") | before.ends_with("unless")
            && temporal.strip_prefix("temporal").is_some_and(|rest| rest.is_empty() || rest.starts_with('{')))
    })
}

/// What rules can read of these tools, in Cedar's language.
///
/// # Errors
///
/// The name of a tool or an argument is none in Cedar.
pub(super) fn schema(tools: &[ToolShape]) -> Result<String, String> {
    Schema::new(tools).map(|schema| schema.text().to_string())
}
