//! Conditions about tests as written to conditions.

use phasegate_core::Code;
use phasegate_core::evidence::condition::{CallTest, Condition, Content, TestsResult, TestsWanted, Wanted};
use phasegate_core::policy::matcher::{Matcher, ServerPattern, ToolPattern};
use phasegate_core::shell::runner::{RUNNERS, RunnerRow};
use phasegate_core::shell::words;

use super::builder::{Builder, child};
use crate::read::node::Node;
use crate::read::report::Finding;
use crate::source::{ConditionSource, Tests};

/// Adds what `tests` and `command` ask for: a call of a known runner.
pub(super) fn build(
    builder: &mut Builder<'_>,
    source: &ConditionSource,
    node: &Node,
    unchanged: Option<&Content>,
    parts: &mut Vec<Condition>,
) {
    let Some(written) = source.tests else {
        if source.command.is_some() {
            builder.findings.push(
                Finding::error(
                    Code::ConfigMissing,
                    child(node, "command").span,
                    "`command` says something about `tests`, which is missing",
                )
                .suggest("add `tests`, or write `{ok: {command: ...}}`"),
            );
        }
        return;
    };
    let result = match written {
        Tests::Passed => TestsResult::Passed,
        Tests::Failed => TestsResult::Failed,
        Tests::Broken => TestsResult::Broken,
    };
    let starts = |row: &RunnerRow| row.starts.iter().map(|start| format!("{start} *")).collect::<Vec<_>>();
    let commands = match &source.command {
        None => RUNNERS.iter().flat_map(starts).collect(),
        Some(command) => {
            if !RUNNERS.iter().flat_map(starts).any(|start| words::covers(&start, command)) {
                let message = format!("`{command}` starts no test runner that phasegate knows");
                builder.findings.push(
                    Finding::error(Code::ConfigValue, child(node, "command").span, message)
                        .suggest("write the command of the runner itself, for example `pytest tests *`"),
                );
                return;
            }
            vec![command.clone()]
        }
    };
    let wanted = Wanted::Tests(TestsWanted { result, selected: source.command.is_some() });
    parts.push(Condition::Call(CallTest {
        atom: builder.next_atom(),
        wanted,
        matcher: matcher(commands),
        unchanged: unchanged.cloned().map(Box::new),
        written: None,
        same: Vec::new(),
    }));
}

fn matcher(commands: Vec<String>) -> Matcher {
    Matcher {
        text: commands.first().cloned().unwrap_or_default(),
        tool: ToolPattern::Exact("Bash".into()),
        server: ServerPattern::Bare,
        args: Vec::new(),
        commands,
        paths: Vec::new(),
        invokes: None,
        agent: None,
        except: Vec::new(),
    }
}
