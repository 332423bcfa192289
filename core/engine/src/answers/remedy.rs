//! Remedies: what is missing after a violation, and the calls that would be allowed now.

use crate::answers::decision::Effect;
use crate::answers::denial::{Blame, DecidingRun, Denial, DenialKind, Guidance, Misplaced, Standing, WayBack};
use crate::answers::doubt::NamedLine;
use crate::answers::phrase;
use crate::answers::rendering::uncounted as why_uncounted;
use crate::answers::standstill::stopped;
use crate::answers::subject;
use crate::calls::analysis::{Access, CHANGED_BEFORE, Invocation, NOT_HEARD_OF, SimpleCommand, Verdict};
use crate::calls::outcome::CallOutcome;
use crate::calls::tool::same_server;
use crate::calls::tool::{SKILL, Tool};
use crate::commands::slash_command;
use crate::decide::judge::rollback::may_go_back;
use crate::decide::run_verdict::RunVerdict;
use crate::decide::{Done, Line};
use crate::evidence::artifact::Artifact;
use crate::evidence::eval::{World, texts};
use crate::evidence::missing::Missing;
use crate::gates::gate::Context;
use crate::policy::matcher::{Matcher, ServerPattern, ToolPattern};
use crate::policy::steps::Steps;
use crate::policy::{DenialText, Phase, Skill, Unlisted};
use crate::prelude::*;
use crate::runs::tree;
use crate::shell::classifier::Classifier;
use crate::shell::safety;
use crate::state::{Run, Uncounted, Why};
use crate::values::glob::path_fits;

/// How the reason of a command ends of which nothing more is known.
const NOT_KNOWN: &str = "is not known to only read";
/// Why a command is more than one that changes files, which a phase may let run and keep nothing of.
const TALKS: &str = "it needs another machine";
/// The most characters of the reason of a command.
const MAX_BECAUSE_CHARS: usize = 120;

/// The denial of a call that broke a rule of a run.
pub(crate) fn violation(world: &mut World<'_>, context: &Context<'_>, verdict: &RunVerdict<'_>) -> Option<Denial> {
    let run = context.state.run(&verdict.run)?;
    if verdict.ruling.still {
        return Some(still(context, run, verdict));
    }
    let blocking = blocking(world, run, verdict);
    let missing = blocking.as_ref().map(|found| found.missing.words.clone()).unwrap_or_default();
    let meant = meant_servers(verdict, &context.call.tool);
    let typed = slash_command::of_people(context.call).filter(|_| !verdict.skill.compat);
    let is_over = !verdict.skill.compat && context.caller.agent.is_some_and(|id| tree::has_left(context.state, id));
    let tool = &context.call.tool.name;
    let invoked = context.call.analysis.invokes.as_ref().map(|invoked| match invoked {
        // Where a skill is a file that the agent reads.
        Invocation::Skill(name) if tool != SKILL => format!("{tool} of the skill `{name}`"),
        Invocation::Skill(name) | Invocation::Agent(name) => format!("{tool} `{name}`"),
    });
    let subject = verdict.ruling.command.as_deref().map(|command| format!("`{}`", phrase::shortened(command)));
    let names = !verdict.skill.compat || verdict.skill.denial_text == DenialText::Blocked;
    let subject = subject.or(invoked.filter(|_| names));
    let several = verdict.skill.named_servers().len() > 1;
    let server = context.call.tool.server.as_deref().filter(|_| !meant.is_empty() || several);
    let subject = subject.filter(|_| !context.call.analysis.unsaid);
    let subject = server.map(|server| format!("{tool} of server `{server}`")).or(subject);
    let blamed = blamed(verdict);
    let said = blamed.filter(|_| !context.call.analysis.unsaid);
    let subject =
        subject.or_else(|| said.map(|command| subject::of_command(verdict.call.decided(&verdict.ruling), command)));
    let subject = subject.or_else(|| names.then(|| subject::of_call(context.call)).filter(|_| !verdict.skill.compat));
    let guidance = match typed {
        Some(typed) => Guidance::OfPeople(typed),
        None if is_over => Guidance::Over,
        None if meant.is_empty() => guidance(world, context, run, verdict, blocking.as_ref()),
        None => Guidance::OtherServer { meant },
    };
    let mut kind = kind(run, verdict, subject.as_deref().unwrap_or(tool), blocking.as_ref().map(|found| found.phase));
    let blame = blamed.and_then(|command| blame(context, command)).or_else(|| unheard(context, verdict, &kind));
    let blame = blame.or_else(|| judged(run, verdict, &kind)).or_else(|| unlabelled(context, verdict, &kind));
    // Which line may mean what the command does says nothing then.
    if let DenialKind::Unlisted { may, .. } = &mut kind {
        let alone = match blame.as_deref() {
            Some(Blame::Unheard { .. } | Blame::Judged { .. }) => true,
            Some(Blame::Registered { .. }) => may.as_ref().is_some_and(NamedLine::is_about_no_name),
            Some(Blame::Unlabelled { .. }) | None => false,
        };
        *may = may.take().filter(|_| !alone);
    }
    Some(Denial {
        kind,
        effect: verdict.effect(),
        tool: tool.clone(),
        run: Some(DecidingRun {
            skill: verdict.skill.name.clone(),
            phase: Some(run.phase.clone()),
            line: Some(verdict.ruling.line),
            began: run.tentative && run.history.is_empty(),
            compat: verdict.skill.compat,
        }),
        missing: if is_over { Vec::new() } else { missing },
        guidance,
        attempted: attempted(context, verdict, subject.as_deref().unwrap_or(tool)),
        blame,
    })
}

/// The command that broke the rule by what is registered of it.
fn blamed<'v>(verdict: &'v RunVerdict<'_>) -> Option<&'v SimpleCommand> {
    let commands = &verdict.call.decided(&verdict.ruling).analysis.commands;
    commands.iter().find(|command| command.registered.as_ref().is_some_and(|found| !found.reads()))
}

/// What is registered of a command, and which commands of its program only read.
fn blame(context: &Context<'_>, command: &SimpleCommand) -> Option<Box<Blame>> {
    let registered = command.registered.clone()?;
    let readers = Classifier::of(context.state, &context.policy.safety).readers(&registered.tool);
    Some(Box::new(Blame::Registered { registered, readers }))
}

/// The program of which nothing is known, by itself or behind a runner, where a phase permits what only reads.
fn unheard(context: &Context<'_>, verdict: &RunVerdict<'_>, kind: &DenialKind) -> Option<Box<Blame>> {
    let reads = matches!(kind, DenialKind::Unlisted { read_only: true, denied: false, .. });
    let commands = &verdict.call.decided(&verdict.ruling).analysis.commands;
    // A command that runs it gives the same reason.
    let itself = |command: &&SimpleCommand| {
        let program = safety::program(&command.words).map(|program| format!("`{program}`"));
        let because = command.because.as_deref().zip(program);
        because.is_some_and(|(because, program)| because.ends_with(NOT_HEARD_OF) && because.starts_with(&program))
    };
    let unheard = |command: &&SimpleCommand| command.unheard || itself(command);
    let command = commands.iter().find(unheard).filter(|_| reads && !verdict.skill.compat)?;
    let program = phrase::shortened(safety::program(&command.words)?);
    let classifier = Classifier::of(context.state, &context.policy.safety);
    let (named, registered) = (classifier.is_named(&program), classifier.registered(&program));
    let why = classifier.not_read(&command.words);
    let start = phrase::shortened(&safety::start(&command.words));
    Some(Box::new(Blame::Unheard { program, start, named, registered, why }))
}

/// Whether why a command does more than read ends so.
fn is_because(command: &SimpleCommand, end: &str) -> bool {
    command.because.as_deref().is_some_and(|because| because.ends_with(end))
}

/// Why the command does more than read, where a phase permits what only reads. Of one that may write what a line of the
/// phase permits, the line says more.
fn judged(run: &Run, verdict: &RunVerdict<'_>, kind: &DenialKind) -> Option<Box<Blame>> {
    let DenialKind::Unlisted { read_only: true, denied: false, may, .. } = kind else { return None };
    // What permits calls there are the steps of a plan.
    if verdict.skill.phase_index(&run.phase).and_then(|at| verdict.skill.phases.get(at))?.steps.is_some() {
        return None;
    }
    let commands = &verdict.call.decided(&verdict.ruling).analysis.commands;
    let command = commands.iter().find(|command| command.verdict != Verdict::Read)?;
    let may_write = command.verdict != Verdict::Send;
    if verdict.skill.compat || may_write && may.as_ref().is_some_and(|may| !may.is_about_no_name()) {
        return None;
    }
    // That it is not known to only read, the denial says anyway.
    let because = command.because.as_deref().filter(|because| !because.ends_with(NOT_KNOWN));
    let changed = is_because(command, CHANGED_BEFORE);
    let because = if command.network && may_write && !changed { Some(TALKS) } else { because }?;
    Some(Box::new(Blame::Judged { because: phrase::cut(because, MAX_BECAUSE_CHARS), changed }))
}

/// The tool that nobody has labelled, where a phase permits what only reads.
fn unlabelled(context: &Context<'_>, verdict: &RunVerdict<'_>, kind: &DenialKind) -> Option<Box<Blame>> {
    let reads = matches!(kind, DenialKind::Unlisted { read_only: true, denied: false, changes: false, .. });
    let call = verdict.call.decided(&verdict.ruling);
    let plain =
        call.analysis.commands.is_empty() && call.analysis.invokes.is_none() && verdict.call.labels().is_empty();
    let Tool { name, native, server, .. } = &context.call.tool;
    let (tool, server) = (native.as_ref().unwrap_or(name).clone(), server.clone());
    // The end of a turn is no call.
    (reads && plain && !verdict.skill.compat && !name.is_empty()).then(|| Box::new(Blame::Unlabelled { tool, server }))
}

/// The denial of a call in a run that stands still, or that another session works on.
fn still(context: &Context<'_>, run: &Run, verdict: &RunVerdict<'_>) -> Denial {
    let tool = &context.call.tool.name;
    let kind = match &verdict.held_by {
        Some(session) => {
            DenialKind::HeldElsewhere { tool: tool.clone(), skill: run.skill.clone(), session: session.clone() }
        }
        None => {
            let spent = verdict.ruling.spent.as_ref();
            DenialKind::Stopped(Box::new(stopped(context.state, run, verdict.skill, tool, spent)))
        }
    };
    let (skill, phase, line) = (verdict.skill.name.clone(), Some(run.phase.clone()), Some(verdict.ruling.line));
    Denial {
        tool: tool.clone(),
        run: Some(DecidingRun { skill, phase, line, began: false, compat: verdict.skill.compat }),
        ..Denial::new(kind, Effect::of_violation(run.mode))
    }
}

/// The servers whose tool of this name the skill allows, where the tool is of a server that it names nowhere.
fn meant_servers(verdict: &RunVerdict<'_>, tool: &Tool) -> Vec<String> {
    let (skill, Some(server)) = (verdict.skill, tool.server.as_deref()) else { return Vec::new() };
    if skill.compat || verdict.ruling.line == Line::GlobalForbidden {
        return Vec::new();
    }
    let of_name = |matcher: &&Matcher| matches!(&matcher.tool, ToolPattern::Exact(name) if *name == tool.name);
    let mut meant: Vec<String> = Vec::new();
    for matcher in skill.phases.iter().flat_map(|phase| &phase.allowed).filter(of_name) {
        let named = match &matcher.server {
            ServerPattern::Named(server) => core::slice::from_ref(server),
            ServerPattern::Bare => &skill.servers,
        };
        meant.extend(named.iter().cloned());
    }
    if meant.iter().chain(&skill.servers).any(|known| same_server(known, server)) {
        return Vec::new();
    }
    meant.sort_unstable();
    meant.dedup();
    meant
}

fn kind(run: &Run, verdict: &RunVerdict<'_>, tool: &str, blocking: Option<&Phase>) -> DenialKind {
    let (skill, tool, phase) = (verdict.skill, tool.to_string(), run.phase.clone());
    let by = verdict.ruling.by.clone();
    if let (Line::NotDone, Some(unmet), Some(line)) = (verdict.ruling.line, verdict.ruling.unmet, by.clone()) {
        let phase = skill.phases.get(unmet.phase).map(|phase| phase.name.clone()).unwrap_or_default();
        return DenialKind::LineRequires { tool, phase, line };
    }
    let not_done = verdict.ruling.line == Line::NotDone;
    let here = skill.phase_index(&run.phase).and_then(|index| skill.phases.get(index));
    let asked = here.filter(|_| not_done || verdict.ruling.line == Line::UnlistedDenied);
    if let Some(file) = asked.and_then(|here| misplaced(skill, here, verdict)) {
        return DenialKind::ArtifactPath { file, not_done };
    }
    match verdict.ruling.line {
        Line::GlobalForbidden => DenialKind::GlobalForbidden { tool, skill: skill.name.clone(), by },
        Line::NotDone if here.is_some_and(|here| lies_elsewhere(here, verdict)) => {
            let asks = verdict.ruling.asks;
            DenialKind::Unlisted {
                tool,
                phase: phase.into(),
                read_only: false,
                changes: false,
                may: by,
                denied: false,
                asks,
                why: None,
            }
        }
        Line::NotDone => {
            let target = verdict.ruling.transition.as_ref().and_then(|transition| skill.phases.get(transition.to));
            DenialKind::NotDone {
                tool,
                target: target.map(|phase| phase.name.clone()).unwrap_or_default(),
                blocking: blocking.map_or(phase, |phase| phase.name.clone()),
                may: by,
            }
        }
        Line::Forbidden => DenialKind::PhaseForbidden { tool, phase, by },
        Line::Allowed
        | Line::Returned
        | Line::Entered
        | Line::Back
        | Line::Unlisted
        | Line::Confined
        | Line::UnlistedDenied => {
            let here = skill.phase_index(&run.phase).and_then(|index| skill.phases.get(index));
            let rule = here.map_or(skill.unlisted, |here| skill.unlisted_in(here).1);
            let (read_only, denied) = (rule == Unlisted::ReadOnly, verdict.ruling.denied);
            let why = here.filter(|_| denied).and_then(|here| verdict.call.said_of_unlisted(here));
            DenialKind::Unlisted {
                tool,
                phase: phase.into(),
                read_only,
                changes: changes_a_file(verdict),
                may: by,
                denied,
                asks: verdict.ruling.asks,
                why,
            }
        }
    }
}

/// Whether a file tool is called that changes a file.
fn changes_a_file(verdict: &RunVerdict<'_>) -> bool {
    let analysis = &verdict.call.decided(&verdict.ruling).analysis;
    analysis.commands.is_empty() && analysis.paths.iter().any(|path| path.access != Access::Read)
}

/// Whether only another name of the file that the call writes keeps the phase from listing the call.
fn lies_elsewhere(here: &Phase, verdict: &RunVerdict<'_>) -> bool {
    let call = verdict.call.decided(&verdict.ruling);
    here.allowed.iter().any(|line| line.lies_elsewhere(call))
}

/// The file that the call writes where the phase makes an artifact of other files.
fn misplaced(skill: &Skill, here: &Phase, verdict: &RunVerdict<'_>) -> Option<Misplaced> {
    let call = verdict.call.decided(&verdict.ruling);
    let is_meant = skill.denial_text == DenialText::Blocked && call.analysis.commands.is_empty();
    let artifact = skill.produced_in(here).next().filter(|_| is_meant)?;
    let path = call.analysis.paths.iter().find(|path| path.access == Access::Write)?;
    let resolved = path.resolved.as_deref().unwrap_or(&path.written);
    let ending = |path: &str| path.rsplit_once('.').map(|(_, ending)| ending.to_string());
    let its = artifact.paths.iter().find_map(|pattern| ending(pattern));
    // A file of another artifact only comes too early.
    let is_known = |artifact: &Artifact| artifact.paths.iter().any(|pattern| path_fits(pattern, resolved));
    if its.is_none() || its != ending(resolved) || skill.artifacts.iter().any(is_known) {
        return None;
    }
    let path = phrase::shortened(&path.written);
    Some(Misplaced { path, artifact: artifact.name.clone(), files: artifact.paths.join(", ") })
}

/// The call, and the first phase that lists it, for the layout that says so.
fn attempted(context: &Context<'_>, verdict: &RunVerdict<'_>, subject: &str) -> Option<String> {
    if verdict.skill.denial_text != DenialText::Blocked {
        return None;
    }
    let name = match &context.call.analysis.invokes {
        Some(Invocation::Skill(name) | Invocation::Agent(name)) => name.as_str(),
        None => subject,
    };
    let phase = verdict.call.first_listed().or_else(|| verdict.call.listed_at_gate());
    Some(format!("{name} \u{2192} {}", phase.map_or("no phase", |phase| phase.name.as_str())))
}

/// What an agent has to do with a command that could run confined, but for what stands beside it in the line.
const OF_ITS_OWN: &str = "run this command as a line of its own, which then keeps nothing that it changes";

/// How to get on from where the run stands.
fn guidance(
    world: &mut World<'_>,
    context: &Context<'_>,
    run: &Run,
    verdict: &RunVerdict<'_>,
    blocking: Option<&Blocking<'_>>,
) -> Guidance {
    let skill = verdict.skill;
    let here = skill.phase_index(&run.phase).and_then(|index| skill.phases.get(index));
    let Some(here) = here.filter(|_| verdict.ruling.line != Line::GlobalForbidden) else { return Guidance::None };
    let phase = blocking.map_or(here, |found| found.phase);
    if skill.compat && skill.denial_text == DenialText::Standard {
        return Guidance::Compat { phase: phase.name.clone(), allowed: texts(&phase.allowed) };
    }
    let is_done = world.done(run, here) == Done::Yes;
    let is_persons = blocking.is_some_and(|found| found.missing.is_persons());
    let mut next: Vec<&Phase> = here.next.iter().filter_map(|edge| skill.phases.get(edge.to)).collect();
    let has_needs = blocking.is_some_and(|found| !found.missing.words.is_empty());
    // Where several phases may follow, all of them are told, and not what one of them asks.
    let choice = next.len() > 1 && blocking.is_some_and(|found| found.phase.name != here.name);
    let now = match blocking.map(|found| found.asks) {
        _ if choice => None,
        Some(Asks::Entry) => Some(here).filter(|_| is_persons || !is_done),
        _ if !has_needs && is_done => next.first().copied(),
        _ => Some(phase),
    };
    let atoms = |found: &Blocking<'_>| found.missing.calls.iter().map(|test| test.atom).collect::<Vec<_>>();
    let atoms = blocking.map(atoms).unwrap_or_default();
    // A phase on the way that nothing is missing for has to be entered.
    if let Some(found) = blocking.filter(|_| !has_needs) {
        next = Vec::from([found.phase]);
    }
    let steps = run.steps.as_ref().filter(|_| here.steps.is_some() && blocking.is_none()).map(Steps::left);
    let last = run.uncounted.iter().rev().find(|one| atoms.contains(&one.atom));
    let why = last.map(|one| one.why);
    let back = way_back(world, skill, run, here);
    let (needs, uncounted) =
        blocking.map(|found| told_beside(&found.missing, last, back.is_some())).unwrap_or_default();
    let done_by = phase.done_by.as_ref();
    let done_by =
        done_by.filter(|kind| context.caller.agent.is_none() || context.caller.in_run(skill, run).kind != **kind);
    Guidance::Strict(Box::new(Standing {
        skill: skill.name.clone(),
        done: is_done.then(|| here.name.clone()),
        phase: phase.name.clone(),
        now: match verdict.ruling.confinable {
            true => OF_ITS_OWN.to_string(),
            false => now.map(|phase| what_to_do(phase, done_by)).unwrap_or_default(),
        },
        needs,
        uncounted,
        gates: blocking.into_iter().flat_map(|found| &found.missing.gates).map(|gate| gate.name.clone()).collect(),
        rejected: blocking.is_some_and(|found| found.missing.gates.iter().any(|gate| world.is_rejected(gate, run))),
        only_gates: is_persons,
        back,
        allowed: if has_needs || is_done { String::new() } else { phrase::lines(here.lines(run.at_gate())) },
        next: next
            .iter()
            .filter(|_| (!has_needs || choice) && !run.has_more_waves())
            .map(|next| (next.name.clone(), told(next)))
            .collect(),
        done_by: done_by.cloned(),
        steps,
        failed_gate: run.at_gate() && why == Some(Why::Outcome(CallOutcome::Failed)),
        known: known_skills(context, verdict),
    }))
}

/// The skills that the phases list, where the call invokes one that none lists, and the layout names phases by skills.
fn known_skills(context: &Context<'_>, verdict: &RunVerdict<'_>) -> Vec<String> {
    let invokes = matches!(context.call.analysis.invokes, Some(Invocation::Skill(_)));
    let is_known = || verdict.call.first_listed().or_else(|| verdict.call.listed_at_gate()).is_some();
    if verdict.skill.denial_text != DenialText::Blocked || !invokes || is_known() {
        return Vec::new();
    }
    let phases = verdict.skill.phases.iter();
    let lines = phases.flat_map(|phase| phase.enters().chain(phase.lines(true)));
    let mut known: Vec<String> = Vec::new();
    for line in lines {
        if let Some(Invocation::Skill(name)) = line.invokes.as_deref()
            && !known.contains(name)
        {
            known.push(name.clone());
        }
    }
    known
}

/// What is missing, and why the last call does not count that was one of them: of several, it stands beside its own.
fn told_beside(missing: &Missing<'_>, last: Option<&Uncounted>, goes_back: bool) -> (Vec<String>, Option<Why>) {
    let mut needs = missing.phrases.clone();
    let Some(last) = last else { return (needs, None) };
    let test = missing.calls.iter().find(|test| test.atom == last.atom);
    let several = needs.len() > 1 && !goes_back;
    let own = test.map(|test| phrase::call(test)).filter(|_| several);
    match needs.iter_mut().find(|need| Some(&**need) == own.as_ref()) {
        Some(need) => {
            let why = why_uncounted(last.why).replacen("The last", "the last", 1);
            *need = format!("{need} ({})", why.trim_end_matches('.'));
            (needs, None)
        }
        None => (needs, Some(last.why)),
    }
}

/// What an agent has to do in a phase, as the policy says it, or the subagent that does it.
fn what_to_do(phase: &Phase, done_by: Option<&String>) -> String {
    match (phase.task.contains('\n'), done_by) {
        (false, _) => phase.task.clone(),
        (true, Some(kind)) => format!("start the subagent `{kind}`, which does this phase"),
        (true, None) => format!("do what the text of phase {} says", phase.name),
    }
}

/// What a phase is about, where it is one of several: what has to be done in it, else the calls that enter it.
fn told(phase: &Phase) -> String {
    let task = phase.task.trim_end_matches('.');
    if task.is_empty() || task.contains('\n') { phrase::entering(phase) } else { task.to_string() }
}

/// The rollback edge of a phase that failed: one below its limit, else the first.
fn way_back(world: &mut World<'_>, skill: &Skill, run: &Run, here: &Phase) -> Option<WayBack> {
    let failed = world.has_failed(run, here);
    let edges: Vec<_> = here.back.iter().filter(|back| back.on_failure && failed).collect();
    let open = edges.iter().find(|back| may_go_back(world, skill, run, back));
    let target = skill.phases.get(open.or(edges.first())?.to)?;
    Some(WayBack { phase: target.name.clone(), allowed: phrase::entering(target), open: open.is_some() })
}

/// What of a phase asks for more than was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    /// What completes it.
    Completion,
    /// What it requires before it is entered.
    Entry,
    /// What the line requires that lists the call.
    Line,
}

/// The phase that keeps the transition closed, and what it wants.
struct Blocking<'p> {
    phase: &'p Phase,
    missing: Missing<'p>,
    /// What of the phase asks for what is missing.
    asks: Asks,
}

fn blocking<'p>(world: &mut World<'_>, run: &Run, verdict: &RunVerdict<'p>) -> Option<Blocking<'p>> {
    let skill = verdict.skill;
    let here = skill.phases.get(skill.phase_index(&run.phase)?)?;
    if let Some(unmet) = verdict.ruling.unmet {
        let phase = skill.phases.get(unmet.phase)?;
        let missing = world.missing_for(run, phase.required_by(unmet.line)?, verdict.call.decided(&verdict.ruling));
        return Some(Blocking { phase, missing, asks: Asks::Line });
    }
    if let Some(condition) = verdict.call.forbidden_until(run).filter(|_| verdict.ruling.line == Line::Forbidden) {
        let missing = world.missing_for(run, condition, verdict.call.decided(&verdict.ruling));
        return Some(Blocking { phase: here, missing, asks: Asks::Line });
    }
    let missing = world.missing_here(run, here);
    if !missing.words.is_empty() {
        return Some(Blocking { phase: here, missing, asks: Asks::Completion });
    }
    if verdict.ruling.line != Line::NotDone {
        return waits_for_person(world, skill, run, here);
    }
    let transition = verdict.ruling.transition.as_ref()?;
    for index in &transition.between {
        let Some(phase) = skill.phases.get(*index) else { continue };
        if phase.asks() && !world.optional(run, phase) {
            let condition = phase.done_when.as_ref();
            let missing =
                condition.map_or_else(|| Missing::of_runs(phase, run), |asked| world.missing_there(run, asked));
            return Some(Blocking { phase, missing, asks: Asks::Completion });
        }
    }
    let target = skill.phases.get(transition.to)?;
    let missing = world.missing_to_enter(run, target);
    (!missing.words.is_empty()).then_some(Blocking { phase: target, missing, asks: Asks::Entry })
}

/// The phase after a done one, where only a person's word is missing for it.
fn waits_for_person<'p>(world: &mut World<'_>, skill: &'p Skill, run: &Run, here: &Phase) -> Option<Blocking<'p>> {
    let phase = here.next.first().and_then(|edge| skill.phases.get(edge.to))?;
    let done = phase.requires.is_some() && world.done(run, here) == Done::Yes;
    let missing = world.missing_there(run, phase.requires.as_ref().filter(|_| done)?);
    missing.is_persons().then_some(Blocking { phase, missing, asks: Asks::Entry })
}
