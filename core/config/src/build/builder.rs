//! What building carries along, and the places of what it built.

use std::collections::BTreeMap;

use phasegate_core::evidence::artifact::Artifact;
use phasegate_core::policy::matcher::Matcher;
use phasegate_core::policy::{Skill, Unlisted};

use crate::files::texts::Texts;
use crate::read::node::{Node, Span};
use crate::read::report::Finding;
use crate::settings::groups::Groups;
use crate::source::ConditionSource;

/// What building carries along.
pub(crate) struct Builder<'f> {
    pub(crate) findings: &'f mut Vec<Finding>,
    /// The compat form: a star inside a name is an ordinary character, and most mistakes are warnings.
    pub(crate) lenient: bool,
    /// The groups of files that it may name.
    pub(crate) groups: &'f Groups,
    /// The conditions that the skill gives names, and where.
    pub(super) facts: Option<(&'f BTreeMap<String, ConditionSource>, &'f Node)>,
    /// The names of facts that are being built.
    pub(super) in_facts: Vec<String>,
    /// The servers that the skill lists.
    pub(super) servers: &'f [String],
    /// How the skill answers calls that no line lists.
    pub(super) unlisted: Unlisted,
    /// Whether a condition may compare what two calls are about: it is one of a line of `allowed`.
    pub(super) may_compare: bool,
    /// The files that it may name.
    pub(super) texts: Option<&'f Texts<'f>>,
    /// The texts in the formats that it named, and where it did.
    pub(super) in_formats: Vec<(String, Span)>,
    /// The skills that its phases run.
    pub(super) runs: Vec<RunName>,
    /// The artifacts of the skill.
    pub(super) artifacts: Vec<Artifact>,
    /// The number of the next call test.
    pub(super) atoms: u32,
}

impl<'f> Builder<'f> {
    pub(crate) fn new(findings: &'f mut Vec<Finding>, lenient: bool, groups: &'f Groups) -> Self {
        Self {
            findings,
            lenient,
            groups,
            facts: None,
            in_facts: Vec::new(),
            servers: &[],
            unlisted: Unlisted::ReadOnly,
            may_compare: false,
            texts: None,
            in_formats: Vec::new(),
            runs: Vec::new(),
            artifacts: Vec::new(),
            atoms: 0,
        }
    }

    pub(super) fn next_atom(&mut self) -> u32 {
        let atom = self.atoms;
        self.atoms += 1;
        atom
    }
}

/// The name of a skill that a phase runs, and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct RunName {
    pub(crate) skill: String,
    pub(crate) span: Span,
    /// Whether the fields of an element give values to its inputs.
    pub(crate) plan: bool,
    /// The name of the branch, in a parallel phase.
    pub(crate) branch: Option<String>,
}

/// A skill with the places of what it says.
pub(crate) struct Built {
    pub(crate) skill: Skill,
    /// Its servers in the order of the file.
    pub(crate) servers: Vec<String>,
    pub(crate) places: Places,
}

/// Where the parts of a skill stand, in the order of the skill's own lists.
#[derive(Default)]
pub(crate) struct Places {
    pub(crate) name: Span,
    pub(crate) servers: Vec<Span>,
    pub(crate) phases: Vec<PhasePlaces>,
    pub(crate) global_forbidden: Vec<Span>,
    pub(crate) tools: Vec<Span>,
    /// The skills that its phases run.
    pub(crate) runs: Vec<RunName>,
    /// The lines of `start` that select calls.
    pub(crate) start: Vec<Span>,
    /// The lines of `unlisted` that select calls.
    pub(crate) unlisted: Vec<Span>,
}

/// Where the parts of a phase stand.
#[derive(Default)]
pub(crate) struct PhasePlaces {
    pub(crate) key: Span,
    pub(crate) allowed: Vec<Span>,
    pub(crate) forbidden: Vec<Span>,
    /// The lines of its `unlisted` that select calls.
    pub(crate) unlisted: Vec<Span>,
    pub(crate) requires: Span,
    pub(crate) done_when: Span,
    /// The type of the subagent that does it.
    pub(crate) done_by: Span,
    /// The rollback edges, each at the name of its phase.
    pub(crate) back: Vec<Span>,
    /// Every call that the phase's conditions ask for.
    pub(crate) asked: Vec<Asked>,
}

/// A call that a condition asks for.
pub(crate) struct Asked {
    pub(crate) matcher: Matcher,
    pub(crate) span: Span,
}

/// The value of a key, or the node itself where there is none.
pub(crate) fn child<'n>(node: &'n Node, key: &str) -> &'n Node {
    node.entry(key).map_or(node, |entry| &entry.node)
}
