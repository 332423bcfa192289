//! Ways and moves: what can follow, whether the way is open, and where a run goes (rules 3.1, 3.2).

use phasegate_core::events::event::By;
use phasegate_core::policy::{Back, Edge, Leave, Optional};
use phasegate_core::state::Status;

use super::model::{Stay, World};

/// Where a run goes.
pub(crate) enum Move {
    Stays,
    /// By request.
    Enters {
        to: usize,
        skips: Vec<usize>,
    },
    /// By completion.
    Goes {
        to: usize,
        skips: Vec<usize>,
    },
    Returns,
    Back {
        to: usize,
    },
}

impl World {
    /// Every way forward from the present phase with its end: the shortest first, then as the edges are written.
    pub(crate) fn following(&self, run: usize) -> Vec<(Vec<&Edge>, usize)> {
        fn walk<'a>(
            world: &'a World,
            run: usize,
            at: usize,
            way: &mut Vec<&'a Edge>,
            all: &mut Vec<(Vec<&'a Edge>, usize)>,
        ) {
            for edge in &world.skill(run).phases[at].next {
                let been = edge.to == world.runs[run].stay().phase || way.iter().any(|taken| taken.to == edge.to);
                if !been {
                    way.push(edge);
                    all.push((way.clone(), edge.to));
                    walk(world, run, edge.to, way, all);
                    way.pop();
                }
            }
        }
        let mut all = Vec::new();
        walk(self, run, self.runs[run].stay().phase, &mut Vec::new(), &mut all);
        all.sort_by_key(|(way, _)| way.len());
        all
    }

    pub(crate) fn open(&self, run: usize, way: &[&Edge]) -> bool {
        let (first, last) = (way[0], way[way.len() - 1]);
        (self.done(run) != Some(false) || first.early)
            && way.windows(2).all(|pair| self.passes(run, pair[0].to))
            && way.iter().all(|edge| self.holds(run, edge.when.as_ref()))
            && self.holds(run, self.skill(run).phases[last.to].requires.as_ref())
    }

    pub(crate) fn go(&mut self, run: usize, how: Move) {
        match how {
            Move::Stays => {}
            Move::Goes { to, skips } => {
                self.skips(run, to, skips, By::Platform);
                self.enter(run, to, false, 0);
            }
            Move::Enters { to, skips } => {
                let provisional = self.phase(run).done_when.is_some();
                let before = self.runs[run].skipped.len();
                self.skips(run, to, skips, By::Agent);
                self.enter(run, to, provisional, before);
            }
            Move::Returns => {
                let left = self.runs[run].stays.pop().unwrap();
                self.runs[run].skipped.truncate(left.skipped);
                let own = |approved: &(usize, u32)| approved.1 != left.visit;
                self.runs[run].approved = self.runs[run].approved.filter(own);
                // One step: the phase returned to is not left that way again.
                self.runs[run].stays.last_mut().unwrap().provisional = false;
            }
            Move::Back { to } => {
                let from = self.runs[run].stay().phase;
                self.runs[run].backs.push((from, to));
                self.runs[run].stays.retain(|stay| stay.phase < to);
                self.runs[run].approved = self.runs[run].approved.filter(|approved| approved.0 < to);
                self.enter(run, to, false, 0);
            }
        }
    }

    /// A person passes over the present phase. `false` if nothing follows.
    pub(crate) fn skip(&mut self, run: usize) -> bool {
        let phase = self.phase(run);
        let (name, next) = (phase.name.clone(), phase.next.first().map(|edge| edge.to));
        if let Some(to) = next {
            self.runs[run].skipped.push((name, By::Human));
            self.skips(run, to, vec![], By::Human);
            self.enter(run, to, false, 0);
        }
        next.is_some()
    }

    /// Records what is left early or passed over, and what the file has between.
    fn skips(&mut self, run: usize, to: usize, mut skips: Vec<usize>, by: By) {
        let between: Vec<usize> = (self.runs[run].stay().phase + 1..to).filter(|at| !skips.contains(at)).collect();
        skips.extend(between);
        for phase in skips {
            let name = self.skill(run).phases[phase].name.clone();
            self.runs[run].skipped.push((name, by));
        }
    }

    pub(crate) fn enter(&mut self, run: usize, phase: usize, provisional: bool, skipped: usize) {
        let run = &mut self.runs[run];
        run.visits += 1;
        // A phase that is entered anew starts with nothing.
        run.stays.retain(|stay| stay.phase != phase);
        run.approved = run.approved.filter(|approved| approved.0 != phase);
        run.stays.push(Stay { phase, visit: run.visits, provisional, skipped });
    }

    /// Phases with `leave: on_done` are left as soon as they are done, or failed where that leads back.
    pub(crate) fn settle(&mut self, session: &str) {
        for run in self.live(session) {
            for _ in 0..=self.skill(run).phases.len() {
                if self.runs[run].status != Status::Active || self.phase(run).leave != Leave::OnDone {
                    break;
                }
                match self.by_itself(run) {
                    Move::Stays => break,
                    how => self.go(run, how),
                }
            }
        }
    }

    /// Where a run goes without being asked.
    fn by_itself(&mut self, run: usize) -> Move {
        let phase = self.phase(run);
        match self.done(run) {
            Some(true) => match self.onward(run) {
                Some(how) => how,
                None => Move::Stays,
            },
            Some(false) => {
                let back = phase.back.iter().find(|back| back.on_failure && self.may_go_back(run, back));
                back.map_or(Move::Stays, |back| Move::Back { to: back.to })
            }
            None => Move::Stays,
        }
    }

    /// Where completion leads: over optional phases whose condition holds. Ends the run where nothing follows.
    fn onward(&mut self, run: usize) -> Option<Move> {
        let mut way = vec![self.runs[run].stay().phase];
        while way.len() <= self.skill(run).phases.len() {
            let at = *way.last().unwrap();
            if self.skill(run).phases[at].next.is_empty() {
                self.runs[run].status = Status::Finished;
                return None;
            }
            let skips = |to: usize| {
                let optional = matches!(self.skill(run).phases[to].optional, Optional::When(_));
                optional && self.optional(run, to) && !way[1..].contains(&to)
            };
            let edges = &self.skill(run).phases[at].next;
            let to = edges.iter().find(|edge| {
                self.holds(run, edge.when.as_ref())
                    && (skips(edge.to) || self.holds(run, self.skill(run).phases[edge.to].requires.as_ref()))
            })?;
            if !skips(to.to) {
                return Some(Move::Goes { to: to.to, skips: way[1..].to_vec() });
            }
            let to = to.to;
            way.push(to);
        }
        None
    }

    /// Whether a rollback edge is below its limit and its condition holds.
    pub(crate) fn may_go_back(&self, run: usize, back: &Back) -> bool {
        let stay = self.runs[run].stay();
        (!back.on_failure || self.failed(run, stay)) && self.below_limit(run, back)
    }

    /// As [`World::may_go_back`], whether a call failed or not.
    pub(crate) fn below_limit(&self, run: usize, back: &Back) -> bool {
        let from = self.runs[run].stay().phase;
        let taken = self.runs[run].backs.iter().filter(|way| **way == (from, back.to)).count();
        taken < back.limit as usize && self.holds(run, back.when.as_ref())
    }
}
