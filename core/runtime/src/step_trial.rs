//! Steps of a plan as calls that are tried before a person approves them: a step that self-protection denies whenever it is
//! made, or that writes a plan, can never be carried out (rules 3.8).

use std::path::Path;

use phasegate_core::analysis::{Access, CallAnalysis, PathUse};
use phasegate_core::glob::{choices, path_fits};
use phasegate_core::matcher::{ArgIs, Matcher, ServerPattern, ToolPattern};
use phasegate_core::steps::Step;
use phasegate_core::tool::BASH;
use phasegate_core::{Event, EventKind};
use serde_json::{Value, json};

use crate::analysis::{self, Shell};
use crate::facts::Trial;
use crate::runtime::Runtime;

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
    #[must_use]
    pub fn new(runtime: &'a Runtime, root: &'a Path) -> Self {
        Self { runtime, root }
    }
}

impl Trial for StepTrial<'_> {
    fn fault(&self, step: &Step, plans: &[String]) -> Option<String> {
        let calls: Vec<Option<Event>> = step.lines.iter().flat_map(|line| calls(line, self.root)).collect();
        let faults: Option<Vec<String>> = calls.into_iter().map(|call| self.fault_of(call?, plans)).collect();
        Some(format!("`{}`: {}", step.id, faults?.first()?))
    }
}

impl StepTrial<'_> {
    fn fault_of(&self, mut call: Event, plans: &[String]) -> Option<String> {
        let shell = Shell::default().with_home(&self.runtime.locations.home);
        let protected = || self.runtime.protected(Some(self.root), &[]);
        analysis::complete(&mut call, self.root, &shell, &protected, &|| None);
        let EventKind::ToolCall { analysis: CallAnalysis { guarded, paths, .. }, .. } = &call.kind else { return None };
        if let Some(guarded) = guarded.first() {
            let (path, what) = (&guarded.path, guarded.part.in_words());
            return Some(format!("it would change `{path}`, which {what}; no agent may, so leave it to the user"));
        }
        let named = |path: &&PathUse| path.access != Access::Read && !path.folder && path.below.is_empty();
        let mut written = paths.iter().filter(named).filter_map(|path| path.resolved.as_deref());
        let is_plan = |path: &&str| plans.iter().flat_map(|plan| choices(plan)).any(|plan| path_fits(&plan, path));
        let plan = written.find(is_plan)?;
        Some(format!("it would write `{plan}`, a plan: that leads back to where plans are made"))
    }
}

/// The calls that a line selects, as far as the line names them; `None`: one of which nothing is known before.
fn calls(line: &Matcher, root: &Path) -> Vec<Option<Event>> {
    if line.commands.is_empty() {
        return vec![write(line, root)];
    }
    let known = |command: &&String| !command.split_whitespace().any(|word| matches!(word, "*" | "**"));
    let call =
        |command: &String| known(&command).then(|| call(BASH, json!({"command": command}), CallAnalysis::default()));
    line.commands.iter().map(call).collect()
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
