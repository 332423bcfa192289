//! Whether live runs leave no call that would bring one of them on (rules 3.1).

use serde_json::json;

use crate::calls::analysis::{Access, CallAnalysis, PathUse};
use crate::calls::tool::{BASH, Call, WRITE_FILE};
use crate::decide::run_verdict::verdicts;
use crate::decide::trial::suggested_call;
use crate::evidence::condition::{CallTest, Condition};
use crate::evidence::eval::World;
use crate::gates::gate::Context;
use crate::policy::Skill;
use crate::policy::matcher::{DOES, Matcher, ToolPattern, Use};
use crate::prelude::*;
use crate::state::Run;
use crate::values::glob::choices;

/// Whether every call that is known to bring the run on would be denied as things stand.
pub(crate) fn is_hindered(world: &mut World<'_>, context: &Context<'_>, run: &Run, skill: &Skill) -> bool {
    let Some(here) = skill.phase_index(&run.phase).and_then(|index| skill.phases.get(index)) else { return false };
    let mut wanted: Vec<&CallTest> = world.missing_here(run, here).calls;
    if wanted.is_empty() {
        let next = here.next.first().and_then(|edge| skill.phases.get(edge.to));
        wanted = next.and_then(|next| next.done_when.as_ref()).map(asked).unwrap_or_default();
    }
    let mut calls = Vec::new();
    for test in wanted {
        let samples = samples(&test.matcher);
        // Nobody knows what such a call looks like.
        if samples.is_empty() {
            return false;
        }
        calls.extend(samples);
    }
    let mut passes = |call: &Call| {
        let all = verdicts(world, context.policy, context.state, call, context.caller);
        all.iter().all(|verdict| !verdict.ruling.line.is_violation())
    };
    !calls.is_empty() && !calls.iter().any(&mut passes)
}

fn asked(condition: &Condition) -> Vec<&CallTest> {
    let mut asked = Vec::new();
    condition.each_use(Use::Permit, &mut |test, used| asked.extend((used == Use::Permit).then_some(test)));
    asked
}

/// A call for each command or path of a matcher; none where it asks for anything else.
fn samples(matcher: &Matcher) -> Vec<Call> {
    let by_effect = matcher.commands.iter().any(|command| command.starts_with(DOES));
    if by_effect || !matcher.args.is_empty() || matcher.agent.is_some() || matcher.invokes.is_some() {
        return Vec::new();
    }
    match (&matcher.tool, matcher.commands.as_slice(), matcher.paths.as_slice()) {
        (_, commands @ [_, ..], []) => commands.iter().map(|command| of_line(command)).collect(),
        (ToolPattern::Any, [], [path]) if path.access == Access::Write => {
            choices(&path.pattern).iter().map(|one| writes(one)).collect()
        }
        (ToolPattern::Exact(tool), [], []) if tool != BASH => {
            alloc::vec![suggested_call(tool, None, json!({}), CallAnalysis::default())]
        }
        _ => Vec::new(),
    }
}

fn of_line(command: &str) -> Call {
    let commands = crate::shell::words::sample(command).into_iter().collect();
    let analysis = CallAnalysis { commands, ..CallAnalysis::default() };
    suggested_call(BASH, None, json!({"command": command.replace('*', "").trim_end()}), analysis)
}

fn writes(pattern: &str) -> Call {
    let path: String = pattern.replace("**", "x").replace(['*', '?'], "x");
    let paths = alloc::vec![PathUse { resolved: Some(path.clone()), ..PathUse::new(path.clone(), Access::Write) }];
    suggested_call(WRITE_FILE, None, json!({"file_path": path}), CallAnalysis { paths, ..CallAnalysis::default() })
}
