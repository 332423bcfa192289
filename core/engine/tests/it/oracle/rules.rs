//! Judging and moving, straight from rules 3.1 and 3.2.

use phasegate_core::decide::Line;
use phasegate_core::events::event::{By, Outcome, SessionSource};
use phasegate_core::policy::{Back, Edge, LeaveSkill, Mode, Start, Unlisted};
use phasegate_core::state::Status;
use phasegate_core::{Code, Effect, Event, EventKind};
use serde_json::Value;

use super::matching::{Asked, forbids, has, only_reads, permits};
use super::model::{Entry, Run, Stay, World, asked};
use super::moves::Move;

/// What a run says to a call, and what it would do if the call is let through.
enum Says {
    Line(Line, Move),
    Ends,
}

/// The answer to an event.
#[derive(Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) effect: Effect,
    pub(crate) code: Option<Code>,
    /// The lines of the runs that gave this effect.
    pub(crate) lines: Vec<Line>,
}

impl World {
    /// Hears one event and answers it, if it asks for an answer.
    pub(crate) fn hear(&mut self, event: &Event) -> Option<Answer> {
        let session = event.session.clone();
        self.log.push(Entry { event: event.clone(), decided: None, counting: self.counting() });
        self.settle(&session);
        self.begin_by_itself(event);
        let answer = match &event.kind {
            EventKind::ToolCall { .. } => Some(self.call(&session, &asked(event).unwrap())),
            EventKind::Skill { name, .. } => {
                self.invoke(&session, name);
                None
            }
            EventKind::Command { by, name, args } => self.command(&session, *by, name, args),
            _ => None,
        };
        self.settle(&session);
        answer
    }

    fn call(&mut self, session: &str, asked: &Asked) -> Answer {
        let (mut said, mut answer) = self.say(session, asked);
        if answer.effect < Effect::Ask && self.begin_by_call(session, asked, &said) {
            self.settle(session);
            (said, answer) = self.say(session, asked);
        }
        if answer.effect < Effect::Ask {
            let mut decided = Vec::new();
            for (run, says) in said {
                match says {
                    Says::Ends => self.runs[run].status = Status::Finished,
                    Says::Line(line, how) => {
                        if matches!(line, Line::Allowed | Line::Returned | Line::Entered | Line::Back) {
                            let place = self.log.len() - 1;
                            self.runs[run].listed.push(place);
                        }
                        self.go(run, how);
                        let stay = self.runs[run].stay();
                        decided.push((run, stay.phase, stay.visit));
                    }
                }
            }
            self.log.last_mut().unwrap().decided = Some(decided);
        }
        answer
    }

    /// What the live runs say to a call, and the strictest of it.
    fn say(&self, session: &str, asked: &Asked) -> (Vec<(usize, Says)>, Answer) {
        let live = self.live(session);
        let said: Vec<(usize, Says)> = live.into_iter().map(|run| (run, self.judge(run, asked))).collect();
        let mut answer = Answer { effect: Effect::Allow, code: None, lines: vec![] };
        for (run, says) in &said {
            let Says::Line(line, _) = says else { continue };
            let effect = match (line.is_violation(), self.runs[*run].mode) {
                (false, _) => Effect::Allow,
                (true, Mode::Warn) => Effect::Warn,
                (true, Mode::Block) => Effect::Deny,
            };
            if effect > answer.effect {
                answer = Answer { effect, code: code(*line), lines: vec![] };
            }
            if effect == answer.effect {
                answer.lines.push(*line);
            }
        }
        (said, answer)
    }

    /// Begins and ends runs as an event asks that is no call.
    fn begin_by_itself(&mut self, event: &Event) {
        let session = event.session.as_str();
        let waits = match &event.kind {
            EventKind::SessionEnd {} => true,
            EventKind::Command { by, .. } => *by == By::Human,
            _ => false,
        };
        if waits {
            return;
        }
        if matches!(event.kind, EventKind::Prompt { .. } | EventKind::Stop { .. }) && event.subagent().is_none() {
            for run in self.live(session) {
                let by_itself = self.skill(run).start.iter().any(|start| *start != Start::Invocation);
                if by_itself && self.may_leave(run) {
                    self.runs[run].status = Status::Finished;
                }
            }
        }
        if matches!(&event.kind, EventKind::SessionStart { source, .. } if *source != SessionSource::Compact) {
            self.over_for_good.retain(|(of, _)| of != session);
        }
        for skill in 0..self.policy.skills.len() {
            let over = self.over_for_good.contains(&(session.to_owned(), skill));
            let never = !self.scope(session).into_iter().any(|run| self.runs[run].skill == skill);
            let asks = |start: &Start| match (start, &event.kind) {
                (Start::Session, EventKind::SessionStart { source, .. }) => never || *source != SessionSource::Compact,
                (Start::Session, _) => never && !over,
                (Start::Prompt(start), EventKind::Prompt { text, .. }) => {
                    text.starts_with(start.as_str()) && event.subagent().is_none()
                }
                _ => false,
            };
            let live = self.live(session).into_iter().any(|run| self.runs[run].skill == skill);
            if !live && self.policy.skills[skill].start.iter().any(asks) {
                self.begin(session, skill);
            }
        }
    }

    /// Begins the runs that a call asks for which no run denies.
    fn begin_by_call(&mut self, session: &str, asked: &Asked, said: &[(usize, Says)]) -> bool {
        let mut began = false;
        for at in 0..self.policy.skills.len() {
            let skill = &self.policy.skills[at];
            let asks = |start: &Start| match start {
                Start::Before(matcher) => {
                    !only_reads(asked, skill) && forbids(std::slice::from_ref(matcher), asked, skill)
                }
                _ => false,
            };
            if !skill.start.iter().any(asks) || self.over_for_good.contains(&(session.to_owned(), at)) {
                continue;
            }
            let live = self.live(session).into_iter().find(|run| self.runs[*run].skill == at);
            if let Some(run) = live {
                if !said.iter().any(|(of, says)| *of == run && matches!(says, Says::Ends)) {
                    continue;
                }
                self.runs[run].status = Status::Finished;
            }
            self.begin(session, at);
            self.runs.last_mut().unwrap().by_call = true;
            began = true;
        }
        began
    }

    /// Whether a run is not done that the agent must finish, and holds it.
    pub(crate) fn is_unfinished(&self, session: &str) -> bool {
        // A run of the project may have been taken up in another session.
        let succeeded = |place: &usize| {
            let event = &self.log[*place].event;
            let runs = event.call().is_some_and(|call| call.tool.labels.contains("execute"));
            let outcome = self.outcomes(&event.session).get(place).copied().flatten();
            // A program that failed, or goes on, may have changed something.
            let in_part = outcome == Some(Outcome::Failed) || self.launched(&event.session).contains(place);
            outcome == Some(Outcome::Ok) || (runs && in_part)
        };
        self.live(session).into_iter().any(|run| {
            let taken = self.runs[run].listed.iter().any(succeeded);
            let holds = self.runs[run].mode == Mode::Block && (taken || !self.runs[run].by_call);
            self.skill(run).finish_required && holds && !(self.over(run) && self.done(run) == Some(true))
        })
    }

    /// Whether all is done, and the agent may leave the run.
    fn may_leave(&self, run: usize) -> bool {
        self.skill(run).leave_skill == LeaveSkill::Finished && self.over(run) && self.done(run) == Some(true)
    }

    fn judge(&self, run: usize, asked: &Asked) -> Says {
        let (line, how) = self.line(run, asked);
        let outside = matches!(line, Line::Forbidden | Line::UnlistedDenied);
        if outside && self.may_leave(run) {
            return Says::Ends;
        }
        Says::Line(line, how)
    }

    /// Whether the run's last phase is done: none follows, or only optional ones.
    fn over(&self, run: usize) -> bool {
        let last = |at: usize| self.skill(run).phases[at].next.is_empty();
        let optional = |edge: &Edge| self.holds(run, edge.when.as_ref()) && self.optional(run, edge.to);
        self.done(run) != Some(false)
            && (last(self.runs[run].stay().phase)
                || self.following(run).iter().any(|(way, end)| last(*end) && way.iter().all(|edge| optional(edge))))
    }

    fn line(&self, run: usize, asked: &Asked) -> (Line, Move) {
        let (skill, phase, stay) = (self.skill(run), self.phase(run), self.runs[run].stay());
        let forbidden = forbids(&phase.forbidden, asked, skill);
        if forbids(&skill.global_forbidden, asked, skill) {
            return (Line::GlobalForbidden, Move::Stays);
        }
        if permits(&phase.allowed, asked, skill) && !forbidden {
            return (Line::Allowed, Move::Stays);
        }
        if let [.., before, _] = self.runs[run].stays.as_slice()
            && stay.provisional
            && !self.listed_call_ended(run, stay, Some(Outcome::Ok))
            && !(forbidden && self.listed_call_ended(run, stay, None))
            && has(&skill.phases[before.phase], asked, skill)
        {
            let there: Vec<&Back> = phase.back.iter().filter(|back| back.to == before.phase).collect();
            if there.is_empty() {
                return (Line::Returned, Move::Returns);
            }
            if there.iter().any(|back| self.below_limit(run, back)) {
                return (Line::Back, Move::Back { to: before.phase });
            }
        }
        if let Some(to) =
            self.following(run).into_iter().map(|way| way.1).find(|to| has(&skill.phases[*to], asked, skill))
        {
            let open = self.following(run).into_iter().find(|(way, end)| *end == to && self.open(run, way));
            match open {
                None => return (Line::NotDone, Move::Stays),
                Some((way, _)) if !forbidden || self.done(run) == Some(true) => {
                    let mut skips: Vec<usize> = way.iter().map(|edge| edge.to).filter(|at| *at != to).collect();
                    if self.done(run) == Some(false) {
                        skips.insert(0, stay.phase);
                    }
                    return (Line::Entered, Move::Enters { to, skips });
                }
                Some(_) => {}
            }
        }
        let back = |back: &&Back| has(&skill.phases[back.to], asked, skill) && self.may_go_back(run, back);
        if let Some(back) = phase.back.iter().find(back) {
            return (Line::Back, Move::Back { to: back.to });
        }
        if !forbidden && self.may_be_later(run, asked) {
            return (Line::NotDone, Move::Stays);
        }
        let (passes, _) = self.unlisted(run, asked);
        match (forbidden, passes) {
            (true, _) => (Line::Forbidden, Move::Stays),
            (false, true) => (Line::Unlisted, Move::Stays),
            (false, false) => (Line::UnlistedDenied, Move::Stays),
        }
    }

    /// Line 6: whether a call that no line lists passes, and whether a line of `unlisted` says so.
    fn unlisted(&self, run: usize, asked: &Asked) -> (bool, bool) {
        let (skill, phase) = (self.skill(run), self.phase(run));
        let (lines, otherwise) = match &phase.unlisted {
            Some(rule) => (&rule.lines, rule.otherwise),
            None => (&skill.unlisted_lines, skill.unlisted),
        };
        for line in lines {
            let one = std::slice::from_ref(&line.matcher);
            if line.passes && permits(one, asked, skill) {
                return (true, true);
            }
            if !line.passes && forbids(one, asked, skill) {
                return (false, true);
            }
        }
        match otherwise {
            Unlisted::Allow => (true, false),
            Unlisted::ReadOnly => (only_reads(asked, skill), false),
            Unlisted::Deny => (false, false),
        }
    }

    /// Whether a later phase that is closed may list a call that would pass as one that no line lists.
    fn may_be_later(&self, run: usize, asked: &Asked) -> bool {
        let skill = self.skill(run);
        if skill.compat || self.unlisted(run, asked) != (true, false) || only_reads(asked, skill) {
            return false;
        }
        let may = |to: &usize| {
            let phase = &skill.phases[*to];
            forbids(&phase.allowed, asked, skill) && !permits(&phase.forbidden, asked, skill)
        };
        let later = self.following(run).into_iter().map(|way| way.1).find(may);
        later.is_some_and(|to| !self.following(run).into_iter().any(|(way, end)| end == to && self.open(run, &way)))
    }

    /// Whether an approval would change what the run may do next.
    fn waits(&mut self, run: usize) -> bool {
        if self.runs[run].approved.is_some() {
            return false;
        }
        let ways = |world: &Self| {
            let following = world.following(run);
            let open = |to| following.iter().any(|(way, end)| *end == to && world.open(run, way));
            let open: Vec<bool> = (0..world.skill(run).phases.len()).map(open).collect();
            let back = world.phase(run).back.iter().map(|back| world.holds(run, back.when.as_ref())).collect();
            (world.done(run), open, back)
        };
        let before: (Option<bool>, Vec<bool>, Vec<bool>) = ways(self);
        self.runs[run].approved = Some((0, 0));
        let after = ways(self);
        self.runs[run].approved = None;
        before != after
    }

    fn invoke(&mut self, session: &str, name: &str) {
        let Some(skill) = self.policy.skills.iter().position(|skill| skill.name == name) else { return };
        if let Some(run) = self.live(session).into_iter().find(|run| self.runs[*run].skill == skill) {
            if !self.over(run) {
                return;
            }
            self.runs[run].status = Status::Finished;
        }
        if self.policy.skills[skill].start.contains(&Start::Invocation) {
            self.begin(session, skill);
        }
    }

    fn begin(&mut self, session: &str, skill: usize) {
        self.runs.push(Run {
            skill,
            mode: self.policy.skills[skill].mode.unwrap_or(Mode::Warn),
            scope: self.policy.skills[skill].scope,
            session: session.to_string(),
            status: Status::Active,
            stays: vec![Stay { phase: 0, visit: 1, provisional: false, skipped: 0 }],
            visits: 1,
            skipped: vec![],
            backs: vec![],
            approved: None,
            by_call: false,
            listed: vec![],
        });
    }

    fn command(&mut self, session: &str, by: By, name: &str, args: &Value) -> Option<Answer> {
        let skill = args["skill_name"].as_str();
        let refused = |code| Some(Answer { effect: Effect::Deny, code: Some(code), lines: vec![] });
        let live = self.live(session);
        match name {
            "approve" if by == By::Human => {
                let waits = live.into_iter().rev().find(|run| self.waits(*run));
                let Some(run) = waits else { return refused(Code::CommandInvalid) };
                let stay = self.runs[run].stay();
                self.runs[run].approved = Some((stay.phase, stay.visit));
                None
            }
            "approve" => refused(Code::CommandRefused),
            "activate_skill" if !live.is_empty() => refused(Code::SkillActive),
            "activate_skill" if !self.policy.skills.iter().any(|known| Some(known.name.as_str()) == skill) => {
                refused(Code::SkillUnknown)
            }
            "activate_skill" => {
                let named = self.policy.skills.iter().position(|known| Some(known.name.as_str()) == skill);
                self.begin(session, named.unwrap());
                None
            }
            "set_mode" | "skip_phase" if by != By::Human => refused(Code::CommandRefused),
            _ => {
                let run = live.into_iter().find(|run| Some(self.skill(*run).name.as_str()) == skill);
                let known = self.policy.skills.iter().any(|known| Some(known.name.as_str()) == skill);
                let Some(run) = run else {
                    return refused(if known || skill.is_none() { Code::CommandInvalid } else { Code::SkillUnknown });
                };
                if name == "set_mode" {
                    self.runs[run].mode = if args["mode"] == "warn" { Mode::Warn } else { Mode::Block };
                    return None;
                }
                if name == "skip_phase" {
                    return if self.skip(run) { None } else { refused(Code::CommandInvalid) };
                }
                let may = by == By::Human
                    || match self.skill(run).leave_skill {
                        LeaveSkill::Agent => true,
                        LeaveSkill::Finished => {
                            self.over(run) || (by == By::Agent && self.runs[run].mode == Mode::Warn)
                        }
                        LeaveSkill::Human => false,
                    };
                if !may {
                    return refused(Code::SkillNotLeft);
                }
                self.runs[run].status = if self.over(run) { Status::Finished } else { Status::Left };
                if by == By::Human && self.skill(run).start.iter().any(|start| *start != Start::Invocation) {
                    self.over_for_good.push((session.to_owned(), self.runs[run].skill));
                }
                None
            }
        }
    }
}

fn code(line: Line) -> Option<Code> {
    match line {
        Line::GlobalForbidden => Some(Code::GlobalForbidden),
        Line::NotDone => Some(Code::NotDone),
        Line::Forbidden => Some(Code::PhaseForbidden),
        Line::UnlistedDenied => Some(Code::Unlisted),
        Line::Allowed | Line::Returned | Line::Entered | Line::Back | Line::Unlisted | Line::Confined => None,
    }
}
