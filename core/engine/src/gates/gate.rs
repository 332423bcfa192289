//! What a gate sees of a call.

use crate::answers::denial::Denial;
use crate::calls::tool::Call;
use crate::decide::judge::Caller;
use crate::decide::run_verdict::RunVerdict;
use crate::events::event::Event;
use crate::evidence::eval::World;
use crate::gates::permitting::Asked;
use crate::policy::{Mode, Policy, Skill};
use crate::runs::standing_runs;
use crate::state::State;

/// A call, and everything that a gate may look at.
pub(crate) struct Context<'a> {
    pub(crate) policy: &'a Policy,
    /// The state before the call.
    pub(crate) state: &'a State,
    /// The event of the call.
    pub(crate) event: &'a Event,
    pub(crate) call: &'a Call,
    pub(crate) caller: Caller<'a>,
    /// When it is made, and what is stated of it.
    pub(crate) asked: Asked<'a>,
    /// Whether the call is one of our own tools, which no run judges.
    pub(crate) is_own: bool,
    /// What each live run says to the call.
    pub(crate) verdicts: &'a [RunVerdict<'a>],
}

/// Judges a call: a denial or warning, or `None` where the gate lets it pass.
pub(crate) type Judge = fn(&mut World<'_>, &Context<'_>) -> Option<Denial>;

impl Context<'_> {
    /// Whether any skill or run asks for more than a warning. Where nothing does, gates that no run owns warn too.
    pub(crate) fn blocks(&self) -> bool {
        blocks(self.policy, self.state)
    }
}

/// Whether any skill or run asks for more than a warning.
pub(crate) fn blocks(policy: &Policy, state: &State) -> bool {
    let skills = policy.modes().chain(policy.earlier.iter().filter_map(|skill: &Skill| skill.mode));
    let in_force = standing_runs::all(state).into_iter().map(|found| found.mode);
    skills.chain(state.live_runs().map(|run| run.mode)).chain(in_force).any(|mode| mode == Mode::Block)
}
