//! Steps of a plan as calls that are tried before a person approves them: a step that self-protection denies whenever it is
//! made, or that writes a plan, can never be carried out (rules 3.8).

use std::path::Path;
use std::time::Duration;

use phasegate_core::calls::analysis::{Access, CallAnalysis, PathUse};
use phasegate_core::calls::tool::BASH;
use phasegate_core::policy::matcher::{ArgIs, Matcher, ServerPattern, ToolPattern};
use phasegate_core::policy::steps::Step;
use phasegate_core::values::glob::{choices, path_fits};
use phasegate_core::{Event, EventKind};
use serde_json::{Value, json};

use crate::analysis::{self, Shell};
use crate::facts::Trial;
use crate::facts::budget::Budget;
use crate::protected::Protected;
use crate::runtime::Runtime;

/// The longest time that the processor works on the steps of a plan.
const MAX_WORK: Duration = Duration::from_secs(1);
/// The longest time that it may take in all.
const MAX_TIME: Duration = Duration::from_secs(2);

/// The tool of a line that names files to write, and none that writes them.
const WRITE_TOOL: &str = "Write";
/// The arguments of the clients' own tools that name the file which they write.
const FILE_ARGUMENTS: [&str; 2] = ["file_path", "notebook_path"];

/// Where steps are tried: in a project, by what guards it.
#[derive(Clone, Copy, Debug)]
pub struct StepTrial<'a> {
    runtime: &'a Runtime,
    root: &'a Path,
}

impl<'a> StepTrial<'a> {
    /// In the project with this root.
    pub fn new(runtime: &'a Runtime, root: &'a Path) -> Self {
        Self { runtime, root }
    }
}

impl Trial for StepTrial<'_> {
    fn faults(&self, steps: &[Step], plans: &[String]) -> Vec<String> {
        let guarded = Guarded {
            root: self.root,
            shell: Shell::default().with_home(&self.runtime.locations.home),
            protected: self.runtime.protected(Some(self.root), &[]),
            plans: plans.iter().flat_map(|plan| choices(plan)).collect(),
        };
        let (budget, mut faults) = (Budget::of(MAX_WORK, MAX_TIME), Vec::new());
        for step in steps {
            if budget.is_late() {
                let what = "and the steps after it were not tried, as those before take too long";
                faults.push(format!("`{}` {what}: make two plans of it, or give its steps shorter commands", step.id));
                break;
            }
            faults.extend(guarded.fault(step));
        }
        faults
    }
}

/// What guards the project, found once for all steps of a plan.
struct Guarded<'a> {
    root: &'a Path,
    shell: Shell,
    protected: Protected<'a>,
    /// The patterns of its plans.
    plans: Vec<String>,
}

impl Guarded<'_> {
    fn fault(&self, step: &Step) -> Option<String> {
        let calls = step.lines.iter().flat_map(|line| calls(line, self.root));
        let faults: Option<Vec<String>> = calls.map(|call| self.fault_of(call?)).collect();
        Some(format!("`{}`: {}", step.id, faults?.first()?))
    }

    fn fault_of(&self, mut call: Event) -> Option<String> {
        analysis::complete(&mut call, self.root, &self.shell, &|| self.protected.clone(), &|| None);
        let EventKind::ToolCall { analysis: CallAnalysis { guarded, paths, .. }, .. } = &call.kind else { return None };
        if let Some(guarded) = guarded.first() {
            let (path, what) = (&guarded.path, guarded.part.in_words());
            return Some(format!("it would change `{path}`, which {what}; no agent may, so leave it to the user"));
        }
        let named = |path: &&PathUse| path.access != Access::Read && !path.folder && path.below.is_empty();
        let mut written = paths.iter().filter(named).filter_map(|path| path.resolved.as_deref());
        let is_plan = |path: &&str| self.plans.iter().any(|plan| path_fits(plan, path));
        let plan = written.find(is_plan)?;
        Some(format!("it would write `{plan}`, a plan: that leads back to where plans are made"))
    }
}

/// The calls that a line selects, as far as the line names them; `None`: one of which nothing is known before.
fn calls(line: &Matcher, root: &Path) -> Vec<Option<Event>> {
    if line.commands.is_empty() {
        return commands_of_argument(line).unwrap_or_else(|| vec![write(line, root)]);
    }
    let known = |command: &&String| !command.split_whitespace().any(|word| matches!(word, "*" | "**"));
    let call =
        |command: &String| known(&command).then(|| call(BASH, json!({"command": command}), CallAnalysis::default()));
    line.commands.iter().map(call).collect()
}

/// The calls of the shell that a line selects by their argument; `None`: it selects no shell so.
fn commands_of_argument(line: &Matcher) -> Option<Vec<Option<Event>>> {
    let is_shell = !matches!(&line.tool, ToolPattern::Exact(tool) if tool != BASH);
    let test =
        line.args.iter().find(|test| test.path == "command" && is_shell && line.server == ServerPattern::Bare)?;
    let commands = match &test.is {
        ArgIs::Equal(command) => std::slice::from_ref(command),
        ArgIs::OneOf(commands) => commands,
        ArgIs::Begins(_) | ArgIs::Contains(_) | ArgIs::Section(_) | ArgIs::Present(_) => return None,
    };
    let call = |command: &Value| Some(call(BASH, json!({"command": command.as_str()?}), CallAnalysis::default()));
    Some(commands.iter().map(call).collect())
}

/// The call of a client's own tool that writes the one file that the line names.
fn write(line: &Matcher, root: &Path) -> Option<Event> {
    let tool = match (&line.tool, &line.server) {
        (ToolPattern::Exact(tool), ServerPattern::Bare) => tool.as_str(),
        (ToolPattern::Any, ServerPattern::Bare) => WRITE_TOOL,
        _ => return None,
    };
    let by_path = line.paths.iter().find(|test| test.access == Access::Write).map(|test| &*test.pattern);
    let argument = line.args.iter().find(|test| FILE_ARGUMENTS.contains(&test.path.as_str()));
    let by_argument = argument
        .and_then(|test| if let ArgIs::Equal(Value::String(path)) = &test.is { Some(path.as_str()) } else { None });
    let file = by_path.filter(|pattern| !pattern.contains(['*', '?', '{'])).or(by_argument)?;
    let file = root.join(file).to_str()?.to_owned();
    let paths = vec![PathUse::new(file.clone(), Access::Write)];
    Some(call(tool, json!({"file_path": file}), CallAnalysis { paths, ..CallAnalysis::default() }))
}

fn call(tool: &str, input: Value, analysis: CallAnalysis) -> Event {
    let kind = EventKind::ToolCall {
        id: None,
        tool: tool.to_owned(),
        native: None,
        server: None,
        input,
        labels: None,
        background: false,
        analysis,
    };
    Event::new("", kind)
}
