//! One call in one run: the situation for the decision table, and where the answer leads.

mod conditional_lines;
mod allow_list;
mod denial_lines;
mod standstill;
mod caller;
mod changed;
pub(crate) mod confined;
mod evidence;
mod reserved;
mod planned;
pub(crate) mod rollback;
mod strictest;

use alloc::borrow::Cow;

use serde_json::Value;

pub(crate) use self::allow_list::UnmetLine;
use self::allow_list::{Listed, Unmet};
pub(crate) use self::caller::Caller;
use self::rollback::may_go_back;
use crate::answers::doubt::NamedLine;
use crate::calls::analysis::{Access, Status};
use crate::calls::outcome::CallOutcome;
use crate::calls::parts::{self, Part};
use crate::calls::tool::{Call, EXECUTE, Labels, READ, SHELL, only_reads};
use crate::decide::graph::{self, Here, Transition};
use crate::decide::{Done, Line, Next, Returns, Situation, decide};
use crate::evidence::condition::{CallTest, Wanted};
use crate::evidence::eval::World;
use crate::evidence::object::Selector;
use crate::policy::matcher::{Matcher, Subject, Use};
use crate::policy::{OnViolation, Phase, Skill, Unlisted, UnlistedLine};
use crate::prelude::*;
use crate::state::{Run, SpentEdge};

/// What the table says of a call in a run.
#[derive(Clone, Debug)]
pub(crate) struct Ruling {
    pub(crate) line: Line,
    /// The phase a move leads to, or the one that a violation of `not-done` would need.
    pub(crate) transition: Option<Transition>,
    /// The command of a shell line that decided, where the line has several.
    pub(crate) command: Option<String>,
    /// The line of the policy that forbids the call, where it says more than the tool's name; or the one of a later phase
    /// or of this one that may mean it.
    pub(crate) by: Option<NamedLine>,
    /// Whether a line of `unlisted` denies it: the one in `by`.
    pub(crate) denied: bool,
    /// Whether a person is asked, where it is a violation.
    pub(crate) asks: bool,
    /// The line that lists the call and whose own condition does not hold, where that makes it a violation.
    pub(crate) unmet: Option<UnmetLine>,
    /// Whether the call is denied because the run stands still, or does from this call on.
    pub(crate) still: bool,
    /// The rollback edge that the call asks for and whose limit is spent.
    pub(crate) spent: Option<SpentEdge>,
    /// Whether the part may run so that nothing of it stays, which then is no violation.
    pub(crate) confinable: bool,
}

impl Ruling {
    /// What the table says of a call that no line is about and that is denied.
    pub(crate) fn outside() -> Self {
        Self::of(Line::UnlistedDenied)
    }
}

/// A call as one skill sees it: the whole of it, and the parts of a shell line that are judged one by one.
pub(crate) struct SkillCall<'a> {
    skill: &'a Skill,
    whole: SkillPart<'a>,
    parts: Vec<SkillPart<'a>>,
    /// The commands of the tasks that it starts. Who lists a task lists them; what is forbidden is so here too.
    tasks: Vec<SkillPart<'a>>,
}

/// Calls that write artifacts of other runs, which the run may not make.
pub(crate) type OfOthers<'a> = Vec<&'a Matcher>;

/// One part of a call, or the whole call, with the labels that it has in a skill.
struct SkillPart<'a> {
    skill: &'a Skill,
    call: Cow<'a, Call>,
    labels: Cow<'a, Labels>,
    caller: Caller<'a>,
    /// Whether a line that permits names its command.
    named: bool,
    /// What writes artifacts of the runs beside the one that judges.
    of_others: OfOthers<'a>,
    /// The lines of `forbidden` whose `until` holds: they select nothing.
    lifted: Vec<&'a Matcher>,
}

impl<'a> SkillCall<'a> {
    pub(crate) fn new(skill: &'a Skill, call: &'a Call, caller: Caller<'a>) -> Self {
        let part = |part: Part| SkillPart::new(skill, Cow::Owned(part.call), Cow::Owned(part.labels), caller);
        let whole = SkillPart::new(skill, Cow::Borrowed(call), Cow::Borrowed(&call.tool.labels), caller);
        let parts: Vec<_> = parts::of(call).into_iter().map(part).collect();
        // Who names a task names what it runs.
        let named = whole.named || parts.iter().any(|part| part.named);
        let of_task = |one: Part| SkillPart { named, ..part(one) };
        Self { skill, tasks: parts::of_tasks(call).into_iter().map(of_task).collect(), whole, parts }
    }

    /// The same, where it may write no artifact by these calls.
    pub(crate) fn beside(mut self, of_others: &OfOthers<'a>) -> Self {
        for part in self.parts.iter_mut().chain([&mut self.whole]) {
            part.of_others.clone_from(of_others);
        }
        self
    }

    /// Whether the call begins a run of the skill, by this line of `start`: it, or a part of it, does more than read and
    /// may be what the line selects. What starts a subagent or invokes a skill does more, where the line says so. Doubt
    /// about a path begins nothing: neither what a program changes that it does not name, nor a word that is known only when
    /// the line runs.
    pub(crate) fn begins(&self, matcher: &Matcher) -> bool {
        let whole = self.parts.is_empty().then_some(&self.whole);
        let shell = self.whole.labels.contains(SHELL);
        self.parts.iter().chain(whole).chain(&self.tasks).any(|part| {
            let call = parts::certain(&part.call);
            let subject = Subject { call: &call, named: shell, ..part.subject(Use::Forbid) };
            let acts = matcher.invokes.is_some() || !only_reads(&part.labels);
            acts && matcher.matches(subject, self.skill.permitted_servers(), Use::Forbid)
        })
    }

    /// The call as far as it was decided: the command of a line that has several.
    pub(crate) fn decided(&self, ruling: &Ruling) -> &Call {
        let mut parts = self.parts.iter().chain(&self.tasks).filter(|part| self.command_of(part) == ruling.command);
        &parts.next().unwrap_or(&self.whole).call
    }

    /// What names the object of the call.
    pub(crate) fn values(&self, selector: &Selector) -> Option<Vec<String>> {
        selector.values(&self.whole.call)
    }

    /// What the tool can do, as the platform and the skill say.
    pub(crate) fn labels(&self) -> &Labels {
        &self.whole.labels
    }

    /// Whether the skill itself says that the tool runs programs.
    pub(crate) fn may_execute(&self) -> bool {
        self.whole.labels.contains(EXECUTE)
    }

    /// What is judged: the parts that do more than read or that the skill names or forbids; without any, the whole call.
    fn judged<'s>(&'s self, phase: &Phase) -> Vec<&'s SkillPart<'a>> {
        let skill = self.skill;
        let forbids = |part: &&SkillPart<'_>| {
            let mut lines = skill.global_forbidden.iter().chain(&phase.forbidden);
            lines.any(|matcher| part.one(matcher, Use::Forbid))
        };
        let counts = |part: &&SkillPart<'_>| !only_reads(&part.labels) || part.named || forbids(part);
        let mut parts: Vec<_> = self.parts.iter().filter(counts).collect();
        if parts.is_empty() {
            parts.push(&self.whole);
        }
        parts.extend(self.tasks.iter().filter(forbids));
        parts
    }

    /// The command that a part is, where the line or what it starts has several.
    fn command_of(&self, part: &SkillPart<'_>) -> Option<String> {
        part.command(self.parts.len().saturating_add(self.tasks.len()))
    }

    /// Judges the call in a run of the skill: the strictest answer to its parts.
    pub(crate) fn judge(&self, world: &mut World<'_>, run: &Run) -> Ruling {
        let here = self.skill.phase_index(&run.phase).unwrap_or_default();
        let Some(phase) = self.skill.phases.get(here) else { return Ruling::of(Line::UnlistedDenied) };
        let parts = self.judged(phase);
        let planned = self.by_steps(&parts, run, phase);
        let rulings = parts.into_iter().zip(planned).map(|(part, step)| {
            let command = self.command_of(part);
            if run.stands_still() {
                return Ruling { command, ..part.judge_still(phase) };
            }
            let place = Place { index: here, phase, planned: step.is_some() };
            Ruling { command, ..part.judge(world, run, place) }
        });
        Ruling::strictest(rulings.collect())
    }

    /// Whether the current phase of a run lists the call, and is not done.
    pub(crate) fn is_for(&self, world: &mut World<'_>, run: &Run) -> bool {
        self.is_listed_in_present(run) && self.present(run).is_some_and(|phase| world.done(run, phase) != Done::Yes)
    }

    /// Whether the current phase of a run lists the call, done or not.
    pub(crate) fn is_listed_in_present(&self, run: &Run) -> bool {
        self.present(run).is_some_and(|phase| {
            let listed =
                |part: &SkillPart<'_>| part.any(phase.lines(run.at_gate()), Use::Permit) && !part.is_reserved(phase);
            !run.stands_still() && self.judged(phase).into_iter().all(listed)
        })
    }

    fn present(&self, run: &Run) -> Option<&'a Phase> {
        self.skill.phase_index(&run.phase).and_then(|index| self.skill.phases.get(index))
    }

    /// Judges the call of a session that may only read in the run. To start what the run lists is to work on it.
    pub(crate) fn judge_reading(&self, run: &Run) -> Ruling {
        let phase = self.skill.phase_index(&run.phase).and_then(|index| self.skill.phases.get(index));
        let Some(phase) = phase else { return Ruling::outside() };
        let rulings = self.judged(phase).into_iter().map(|part| {
            let command = self.command_of(part);
            let ruling = part.judge_still(phase);
            let starts = part.call.analysis.invokes.is_some() && part.any(phase.lines(run.at_gate()), Use::Permit);
            if starts && !ruling.line.is_violation() {
                return Ruling { still: true, ..Ruling::outside() };
            }
            Ruling { command, ..ruling }
        });
        Ruling::strictest(rulings.collect())
    }

    /// What a run forbids of a call that one of its parts judges; `None`: nothing.
    pub(crate) fn forbidden_by(&self, run: &Run) -> Option<Ruling> {
        let phase = self.skill.phase_index(&run.phase).and_then(|index| self.skill.phases.get(index))?;
        let forbids =
            |matchers: &[Matcher]| self.judged(phase).into_iter().find(|part| part.any(matchers, Use::Forbid));
        let (line, part) = if let Some(part) = forbids(&self.skill.global_forbidden) {
            (Line::GlobalForbidden, part)
        } else {
            (Line::Forbidden, forbids(&phase.forbidden)?)
        };
        let by = part.forbidden_by(line, phase);
        let asks = part.asks(line, phase);
        Some(Ruling { command: self.command_of(part), by, asks, ..Ruling::of(line) })
    }

    /// What the outcome of the call would prove of a condition about calls; `None`: nothing. `used` is what a match means
    /// there: under `not` a call in doubt matches, and a command whose end is not seen may have ended in any way.
    ///
    /// A matcher of commands or paths is about one command of a line, of which the exit status of the line may say
    /// nothing.
    pub(crate) fn proves(&self, test: &CallTest, used: Use) -> Option<Wanted> {
        let matcher = &test.matcher;
        let whole = [&self.whole];
        let parts = self.parts.iter().chain(whole.into_iter().filter(|_| self.parts.is_empty()));
        let asked = |part: &&SkillPart<'_>| part.shows(matcher, used) || part.runs_tests(test.wanted);
        let statuses = parts.filter(asked).map(|part| part.status(matcher));
        let proven = if used == Use::Forbid { statuses.min() } else { statuses.max() };
        let of_whole = || self.whole.shows(matcher, Use::Permit).then(|| self.whole.status(matcher));
        match (proven.or_else(of_whole)?, test.wanted) {
            // Whether tests ran is in doubt wherever their report may be missing.
            (Status::Own, Wanted::Tests(tests)) if used == Use::Forbid => Some(Wanted::Outcome(tests.result.outcome())),
            (_, Wanted::Tests(_)) if used == Use::Forbid => Some(Wanted::Ended),
            (status, Wanted::Tests(tests)) => self.report(matcher, tests, status),
            (Status::Own, wanted) => Some(wanted),
            (_, Wanted::Outcome(CallOutcome::Ok | CallOutcome::Failed) | Wanted::Ended) if used == Use::Forbid => {
                Some(Wanted::Ended)
            }
            // What a pipe begins with has run and ended, however it did, if the line ends well.
            (Status::Success, Wanted::Ended | Wanted::Outcome(CallOutcome::Ok)) | (Status::Piped, Wanted::Ended) => {
                Some(Wanted::Outcome(CallOutcome::Ok))
            }
            (_, Wanted::Outcome(CallOutcome::Ok | CallOutcome::Failed) | Wanted::Ended) => None,
            (_, wanted) => Some(wanted),
        }
    }

    /// Whether the call, or a part of it, is surely one that the matcher selects.
    pub(crate) fn is_about(&self, matcher: &Matcher) -> bool {
        let whole = self.parts.is_empty().then_some(&self.whole);
        self.parts.iter().chain(whole).any(|part| part.shows(matcher, Use::Permit))
    }

    /// Whether the phase fails by a failure of the call: its `done_when` asks for the call's success or end. Where it asks
    /// for no call's, that is every call that does not only read.
    pub(crate) fn is_result(&self, phase: &Phase) -> bool {
        let (mut asked, mut matches) = (false, false);
        if let Some(condition) = &phase.done_when {
            condition.each_use(Use::Permit, &mut |test, used| {
                if used == Use::Permit && test.wanted.accepts(CallOutcome::Ok) {
                    asked = true;
                    matches |= self.proves(test, used).is_some();
                }
            });
        }
        if asked { matches } else { self.changes() }
    }

    /// Whether the call, or a part of it, does more than read.
    fn changes(&self) -> bool {
        let whole = self.parts.is_empty().then_some(&self.whole);
        self.parts.iter().chain(whole).any(|part| !only_reads(&part.labels))
    }
}

impl Ruling {
    fn of(line: Line) -> Self {
        Self {
            line,
            transition: None,
            command: None,
            by: None,
            denied: false,
            asks: false,
            unmet: None,
            still: false,
            spent: None,
            confinable: false,
        }
    }
}

impl<'a> SkillPart<'a> {
    fn new(skill: &'a Skill, call: Cow<'a, Call>, labels: Cow<'a, Labels>, caller: Caller<'a>) -> Self {
        let mut this = Self { skill, call, labels, caller, named: false, of_others: Vec::new(), lifted: Vec::new() };
        if !skill.tools.is_empty() {
            let mut labels = this.labels.clone().into_owned();
            for note in &skill.tools {
                let (permits, forbids) = (this.one(&note.matcher, Use::Permit), this.one(&note.matcher, Use::Forbid));
                let said = note.labels.iter().filter(|label| if *label == READ { permits } else { forbids });
                labels.extend(said.cloned());
            }
            this.labels = Cow::Owned(labels);
        }
        let mut lines = allow_list::lines(skill);
        let names =
            |line: &Matcher| !line.commands.is_empty() || line.paths.iter().any(|test| test.access == Access::Execute);
        this.named = lines.any(|matcher| names(matcher) && this.one(matcher, Use::Permit));
        this
    }

    /// Whether one matcher applies.
    fn one(&self, matcher: &Matcher, used: Use) -> bool {
        !self.is_lifted(matcher) && matcher.matches(self.subject(used), self.skill.permitted_servers(), used)
    }

    fn lets_pass(&self) -> bool {
        self.skill.unlisted == Unlisted::Allow && !self.skill.compat
    }

    fn subject(&self, used: Use) -> Subject<'_> {
        Subject {
            call: &self.call,
            labels: &self.labels,
            agent: self.caller.agent,
            agent_kind: self.caller.kind,
            // Where what no line lists may run, so may a program that nobody can see into.
            named: (self.named || self.lets_pass()) && used == Use::Forbid,
            evidence: false,
        }
    }

    fn any(&self, matchers: &[Matcher], used: Use) -> bool {
        matchers.iter().any(|matcher| self.one(matcher, used))
    }

    /// What the exit status of the line says about the command that a matcher is about.
    fn status(&self, matcher: &Matcher) -> Status {
        let about_command = !matcher.commands.is_empty() || !matcher.paths.is_empty();
        match self.call.analysis.commands.as_slice() {
            [command] if about_command && !matcher.is_whole_line(&self.call) => command.status,
            [_, _, ..] if about_command && !matcher.is_whole_line(&self.call) => Status::Lost,
            _ => Status::Own,
        }
    }

    /// The command as the line has it, where the line has several.
    fn command(&self, parts: usize) -> Option<String> {
        let [command] = self.call.analysis.commands.as_slice() else { return None };
        let (start, end) = (usize::try_from(command.span.0).ok()?, usize::try_from(command.span.1).ok()?);
        let line = self.call.command().and_then(Value::as_str).filter(|_| parts > 0)?;
        line.get(start..end).map(ToString::to_string)
    }

    /// Whether a phase that is not current lists the call. In the compat form its `forbidden` list does not count.
    fn belongs_to(&self, phase: &Phase) -> bool {
        let lists = phase.enters().any(|line| self.one(line, Use::Permit)) && !self.is_reserved(phase);
        lists && (self.skill.compat || !self.any(&phase.forbidden, Use::Forbid))
    }

    /// The line by which a phase that is not current may list the call.
    fn may_belong_to<'m>(&self, phase: &'m Phase) -> Option<&'m Matcher> {
        let reserved = || self.skill.reserved_in(phase).any(|writes| self.one(writes, Use::Permit));
        let by_run = || phase.run.as_ref().and_then(|run| self.may_mean(&run.enters));
        let own: &[Matcher] = if phase.run.is_some() { &[] } else { &phase.allowed };
        self.may_mean(own).or_else(by_run).filter(|_| !self.any(&phase.forbidden, Use::Permit) && !reserved())
    }

    /// The transition that the call may ask for, where the skill lets pass what it does not list: doubt closes the way.
    fn doubtful(&self, world: &mut World<'_>, run: &Run, here: Here) -> Option<Transition> {
        let may = &mut |next: &Phase| self.may_belong_to(next).is_some();
        graph::find(world, self.skill, run, here, may).filter(|transition| !transition.open)
    }

    /// The line of `unlisted` that says how the call is answered.
    fn unlisted_line<'p>(&'p self, phase: &'p Phase) -> Option<&'p UnlistedLine> {
        let (lines, _) = self.skill.unlisted_in(phase);
        let used = |line: &UnlistedLine| if line.passes { Use::Permit } else { Use::Forbid };
        lines.iter().find(|line| self.one(&line.matcher, used(line)))
    }

    /// How the call is answered as one that no line lists, and whether a line of its own says so.
    fn unlisted(&self, phase: &Phase) -> (bool, bool) {
        if let Some(line) = self.unlisted_line(phase) {
            return (line.passes, true);
        }
        let passes = match self.skill.unlisted_in(phase).1 {
            Unlisted::Allow => true,
            Unlisted::ReadOnly => only_reads(&self.labels),
            Unlisted::Deny => false,
        };
        (passes, false)
    }

    /// What a line of the table leads to, and whether a person is asked.
    fn violation(&self, line: Line, phase: &Phase) -> Ruling {
        Ruling { asks: self.asks(line, phase), ..Ruling::of(line) }
    }

    /// Whether a person is asked about a violation by this line of the table.
    fn asks(&self, line: Line, phase: &Phase) -> bool {
        let by_line = || self.unlisted_line(phase).is_some_and(|line| line.asks);
        let everywhere = self.skill.on_violation == OnViolation::Ask;
        match line {
            Line::NotDone | Line::Forbidden => everywhere,
            Line::UnlistedDenied => everywhere || by_line(),
            Line::GlobalForbidden
            | Line::Allowed
            | Line::Returned
            | Line::Entered
            | Line::Back
            | Line::Unlisted
            | Line::Confined => false,
        }
    }

    /// Whether the call only reads, while another agent or other runs do the phase: that asks for no other phase.
    fn reads_beside(&self, world: &mut World<'_>, run: &Run, phase: &Phase) -> bool {
        let its = |kind: &String| self.caller.agent.is_some() && self.caller.kind == kind;
        let others = phase.run.is_some() || phase.done_by.as_ref().is_some_and(|kind| !its(kind));
        let denied = || self.unlisted_line(phase).is_some_and(|line| !line.passes);
        others && only_reads(&self.labels) && !denied() && world.done(run, phase) != Done::Yes
    }

    fn judge(&self, world: &mut World<'_>, run: &Run, place: Place<'_>) -> Ruling {
        let (skill, here, phase) = (self.skill, place.index, place.phase);
        let listed = if place.planned { Listed::Yes } else { self.listed(world, run, phase) };
        let reserved = if place.planned { self.names_reserved(phase) } else { self.is_reserved(phase) };
        let allowed = listed == Listed::Yes && !reserved;
        let [forbidden, global_forbidden] =
            [&phase.forbidden, &skill.global_forbidden].map(|matchers| self.any(matchers, Use::Forbid));
        if !(global_forbidden || forbidden || allowed) && self.reads_beside(world, run, phase) {
            return Ruling::of(Line::Unlisted);
        }
        let settled = global_forbidden || (allowed && !forbidden);
        let mut unmet = Unmet::default();
        unmet.note(here, if forbidden || reserved { Listed::No } else { listed });
        let here = Here { index: here, done: None };
        let transition =
            if settled { None } else { graph::find(world, skill, run, here, &mut |next| self.belongs_to(next)) };
        let transition = transition.map(|to| self.bound(world, run, to, &mut unmet));
        let back = if settled { None } else { self.rollback(world, run, phase, &mut unmet) };
        let (unlisted_passes, by_line) = self.unlisted(phase);
        let found = settled || forbidden || reserved || transition.is_some() || back.is_some();
        let in_doubt = !(found || by_line || !unlisted_passes || self.skill.compat || only_reads(&self.labels));
        let doubtful = if in_doubt { self.doubtful(world, run, here) } else { None };
        if in_doubt && doubtful.is_none() {
            self.note_doubt(world, run, here, &mut unmet);
        }
        let transition = transition.or(doubtful);
        let stays = settled || (forbidden && world.holds_provisional(run));
        let before = if stays { None } else { self.phase_before(world, run, &mut unmet) };
        let returns = before.map_or(Returns::No, |before| returns(world, skill, run, Between { phase, before }));
        // Only a call that another phase lists asks whether this one is done.
        let done = if transition.is_some() { world.done(run, phase) } else { Done::NotAsked };
        let situation = Situation {
            global_forbidden,
            allowed,
            forbidden,
            returns,
            done,
            next: way(transition.as_ref(), unmet.0.is_some()),
            back: back.is_some(),
            unlisted_passes: unlisted_passes && !reserved,
        };
        let line = decide(situation);
        if let Some(ruling) = self.spent(world, run, phase, situation) {
            return ruling;
        }
        // What writes an artifact is forbidden, unless a way leads to a phase that produces it.
        let line = if reserved && line == Line::UnlistedDenied { Line::Forbidden } else { line };
        let transition = if line == Line::Back {
            before.filter(|_| returns == Returns::Back).or(back).map(Transition::straight)
        } else {
            transition
        };
        let unmet = unmet.0.filter(|_| line == Line::NotDone);
        let by = match unmet {
            Some(unmet) => self.unmet_line(unmet),
            None => self.decided_by(line, phase, transition.as_ref()),
        };
        let denied = by_line && line == Line::UnlistedDenied;
        let confinable = !(denied || reserved) && self.is_confinable(run, phase, line);
        Ruling { transition, by, denied, unmet, confinable, ..self.violation(line, phase) }
    }

    /// The phase that a provisional one was entered from, if it allows the call.
    fn phase_before(&self, world: &mut World<'_>, run: &Run, unmet: &mut Unmet) -> Option<usize> {
        let before = run.provisional.as_ref().and_then(|before| self.skill.phase_index(&before.phase))?;
        let phase = self.skill.phases.get(before)?;
        if self.any(&phase.forbidden, Use::Forbid) || self.is_reserved(phase) {
            return None;
        }
        (unmet.note(before, self.listed(world, run, phase)) == Listed::Yes).then_some(before)
    }

    fn rollback(&self, world: &mut World<'_>, run: &Run, phase: &Phase, unmet: &mut Unmet) -> Option<usize> {
        phase.back.iter().find_map(|back| {
            let target = self.skill.phases.get(back.to)?;
            let open = (!back.on_failure || world.has_failed(run, phase)) && may_go_back(world, self.skill, run, back);
            let open = open && self.belongs_to(target);
            (open && unmet.note(back.to, self.listed(world, run, target)) == Listed::Yes).then_some(back.to)
        })
    }
}

/// Whether the way to a following phase is open, or closed by what some line still asks for.
fn way(transition: Option<&Transition>, unmet: bool) -> Next {
    match transition {
        Some(transition) if transition.open => Next::Open,
        None if !unmet => Next::None,
        Some(_) | None => Next::Closed,
    }
}

/// The current phase, and whether a step of its plan permits the part.
#[derive(Clone, Copy)]
struct Place<'a> {
    index: usize,
    phase: &'a Phase,
    planned: bool,
}

/// A provisional phase, and the place of the one that it was entered from.
struct Between<'a> {
    phase: &'a Phase,
    before: usize,
}

/// How a run may return. Where rollback edges lead to the phase before, a return is a step along one of them, whether a
/// call failed or not: else a run could go back and forth for ever.
fn returns(world: &mut World<'_>, skill: &Skill, run: &Run, between: Between<'_>) -> Returns {
    let mut there = between.phase.back.iter().filter(|back| back.to == between.before).peekable();
    if there.peek().is_none() {
        return Returns::Free;
    }
    if there.any(|back| may_go_back(world, skill, run, back)) { Returns::Back } else { Returns::No }
}
