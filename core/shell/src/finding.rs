//! Why a part of a line does more than read.

use phasegate_core::calls::analysis::Verdict;

use crate::tree::Span;

/// Why something is worse than reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) verdict: Verdict,
    pub(crate) because: String,
    pub(crate) span: Span,
}

impl Finding {
    pub(crate) fn new(verdict: Verdict, because: impl Into<String>, span: Span) -> Self {
        Self { verdict, because: because.into(), span }
    }
}

/// Keeps the worse of two.
pub(crate) fn keep_worse(worst: &mut Finding, other: Finding) {
    if other.verdict > worst.verdict {
        *worst = other;
    }
}

/// What a verdict says, as a verb.
pub(crate) fn does(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Read => "reads",
        Verdict::Write => "writes",
        Verdict::Execute => "runs programs",
        Verdict::Send => "sends data",
        Verdict::Unknown => "is not known to be harmless",
    }
}
