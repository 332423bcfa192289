//! How a phase lists a call, where its lines may have conditions of their own (rules 3.2).

use crate::policy::Skill;
use crate::policy::matcher::Matcher;

/// All lines that name calls: those of the phases, of their gates, and of the runs that they consist of.
pub(super) fn lines(skill: &Skill) -> impl Iterator<Item = &Matcher> {
    skill.phases.iter().flat_map(|phase| phase.allowed.iter().chain(phase.run.iter().flat_map(|run| &run.enters)))
}

/// Whether a phase lists a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listed {
    /// It does not.
    No,
    /// It does by this line alone, whose condition does not hold.
    Unmet(usize),
    /// It does.
    Yes,
}

/// A line that lists a call, and whose own condition does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnmetLine {
    /// The index of the phase.
    pub(crate) phase: usize,
    /// The index of the line among its `allowed`.
    pub(crate) line: usize,
}

/// The first such line that was met with.
#[derive(Default)]
pub(super) struct Unmet(pub(super) Option<UnmetLine>);

impl Unmet {
    /// Takes note of how a phase lists the call.
    pub(super) fn note(&mut self, phase: usize, listed: Listed) -> Listed {
        if let Listed::Unmet(line) = listed {
            self.0 = self.0.or(Some(UnmetLine { phase, line }));
        }
        listed
    }
}
