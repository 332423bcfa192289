//! What a phase makes.

use super::{Phase, Skill};
use crate::evidence::artifact::Artifact;

impl Skill {
    /// The artifact that a phase makes: the first that it produces. Where no phase produces anything, it is the first that a
    /// later phase requires and neither this one nor one before it.
    pub fn made_in<'p>(&'p self, phase: &'p Phase) -> Option<&'p Artifact> {
        if self.artifacts.iter().any(Artifact::is_produced) {
            return self.produced_in(phase).next();
        }
        let here = self.phase_index(&phase.name)?;
        let required = |artifact: &Artifact| {
            let asks = |one: &Phase| one.requires.as_ref().is_some_and(|wanted| wanted.asks_for(&artifact.name));
            self.phases.iter().position(asks)
        };
        let later = self.artifacts.iter().filter_map(|one| Some((required(one)?, one)));
        let (at, artifact) = later.filter(|(at, _)| *at > here).min_by_key(|(at, _)| *at)?;
        // A phase in between that is passed over makes nothing.
        let between = self.phases.get(here.saturating_add(1)..at).unwrap_or_default();
        between.iter().all(|one| one.optional.is_possible()).then_some(artifact)
    }
}
