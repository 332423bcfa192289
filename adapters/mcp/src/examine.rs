//! Which servers of the lists run behind the relay.

use phasegate_adapter::{ExamineRequest, Examined, Finding, InstallRequest, Level};

use crate::install::entry::{self, Entry};
use crate::install::{List, lists_of, shown};

/// Why no server would be guarded: none of those that are listed runs behind the relay. `None` where one does, or where
/// none is listed.
pub(crate) fn unguarded(request: &InstallRequest) -> Option<String> {
    let lists = match lists_of(request, None) {
        Ok(lists) => lists,
        Err(problem) => return Some(problem.message),
    };
    let servers = lists.iter().flat_map(List::servers);
    let kinds: Vec<Entry> = servers.map(|(_, object)| entry::of(&object, &request.command)).collect();
    let open = kinds.iter().filter(|kind| !matches!(kind, Entry::Behind | Entry::Own)).count();
    let all = kinds.len();
    (open > 0 && open == all).then(|| format!("none of the {all} MCP servers that are listed runs behind the guard"))
}

/// What the lists mean, server by server.
pub(crate) fn examine(request: &ExamineRequest) -> Examined {
    let mut examined = Examined::default();
    let lists = match lists_of(&request.install, None) {
        Ok(lists) => lists,
        Err(problem) => {
            let finding = Finding::new(Level::Problem, problem.message).with("correct the file");
            return Examined { findings: vec![finding], ..examined };
        }
    };
    for list in &lists {
        for (name, object) in list.servers() {
            let (finding, program) = found(&name, &entry::of(&object, &request.install.command), &object);
            let finding = Finding { what: format!("{}: {}", shown(&list.path), finding.what), ..finding };
            examined.findings.push(finding);
            examined.programs.extend(program.filter(|program| !examined.programs.contains(program)));
        }
    }
    if examined.findings.is_empty() {
        examined.findings.push(Finding::new(Level::Note, "no MCP server is listed in the files that are known"));
    }
    examined
}

/// What one server's entry means, and the program that it starts as the guard.
fn found(name: &str, kind: &Entry, object: &jsonc_parser::cst::CstObject) -> (Finding, Option<String>) {
    match kind {
        Entry::Behind => {
            let program = object.to_serde_value().and_then(|entry| entry.get("command")?.as_str().map(str::to_owned));
            (Finding::new(Level::Ok, format!("the server `{name}` runs behind the guard")), program)
        }
        Entry::Own => (Finding::new(Level::Ok, format!("the server `{name}` is the guard's own")), None),
        Entry::Command(_) | Entry::Url { .. } => {
            let what = format!("the server `{name}` runs unguarded");
            (Finding::new(Level::Warning, what).with(format!("run `phasegate init mcp --server {name}`")), None)
        }
        Entry::Odd(why) => {
            let what = format!("the server `{name}` {why}, so it runs unguarded");
            (Finding::new(Level::Warning, what).with("have the server offer streamable HTTP or standard input"), None)
        }
    }
}
