//! The clients' lists of servers, with the relay before each server, and without.
//!
//! A list is edited in place as text: comments, order and form of what else is in it stay.

pub(crate) mod entry;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstObject, CstRootNode};
use phasegate_adapter::{Change, ClientProgram, InstallRequest, InstallScope, Parts, Problem};
use phasegate_core::Code;

use self::entry::{Entry, Relay};

/// The lists that are known, and the key of their servers. Those that begin with `~/` are the user's.
const LISTS: [(&str, &str); 5] = [
    (".mcp.json", "mcpServers"),
    (".cursor/mcp.json", "mcpServers"),
    (".vscode/mcp.json", "servers"),
    ("~/.cursor/mcp.json", "mcpServers"),
    ("~/.codeium/windsurf/mcp_config.json", "mcpServers"),
];

/// Clients without an adapter of their own, whose lists of servers their own programs change.
pub(crate) const PROGRAMS: &[ClientProgram] = &[
    ClientProgram::unguarded(
        &["gemini", "@google/gemini-cli"],
        &["mcp add", "mcp remove", "mcp enable", "mcp disable", "extensions", "extension", "hooks", "skills"],
    ),
    ClientProgram::unguarded(&["copilot", "@github/copilot"], &["mcp add", "mcp remove", "plugin"]),
    ClientProgram::unguarded(&["cursor-agent"], &["mcp enable", "mcp disable", "mcp login"]),
];

/// Other files of such clients that name servers and programs.
pub(crate) const UNSEEN: [&str; 4] =
    [".gemini/settings.json", "~/.gemini/settings.json", ".gemini/extensions/", "~/.gemini/extensions/"];

/// The paths of the lists, as an adapter names its settings.
pub(crate) fn places() -> Vec<String> {
    LISTS.iter().map(|(path, _)| (*path).to_owned()).collect()
}

/// The changes that put the relay before these servers; without names, before all.
pub(crate) fn install(request: &InstallRequest, parts: &Parts) -> Result<Vec<Change>, Problem> {
    let Parts { servers: names, in_force: skills } = parts;
    let (mut changes, mut seen) = (Vec::new(), BTreeSet::new());
    let mut lists = 0;
    for list in lists_of(request, Some(request.scope))? {
        lists += 1;
        for (name, object) in list.servers() {
            if !names.is_empty() && !names.contains(&name) {
                continue;
            }
            match entry::of(&object, &request.command) {
                Entry::Odd(why) if names.contains(&name) => {
                    return Err(problem(&list.path, &format!("the server `{name}` {why}")));
                }
                Entry::Odd(_) | Entry::Own => {}
                kind => entry::put(&object, &kind, &Relay { name: &name, guard: &request.command, skills }),
            }
            seen.insert(name);
        }
        changes.extend(list.change());
    }
    if lists == 0 {
        let known: Vec<String> = paths(request, Some(request.scope)).iter().map(|path| shown(path)).collect();
        let what = format!("no list of MCP servers is here; the known ones are {}", known.join(", "));
        return Err(Problem::new(Code::ConfigValue, what));
    }
    match names.iter().find(|name| !seen.contains(*name)) {
        Some(name) => Err(Problem::new(Code::ConfigValue, format!("no list names the server `{name}`"))),
        None => Ok(changes),
    }
}

/// The changes that take the relay away again.
pub(crate) fn uninstall(request: &InstallRequest) -> Result<Vec<Change>, Problem> {
    let mut changes = Vec::new();
    for list in lists_of(request, Some(request.scope))? {
        for (_, object) in list.servers() {
            if let Entry::Behind = entry::of(&object, &request.command) {
                entry::take(&object);
            }
        }
        changes.extend(list.change());
    }
    Ok(changes)
}

/// A list of servers, as it is and as it becomes.
pub(crate) struct List {
    pub(crate) path: PathBuf,
    before: String,
    /// The byte order mark, if the file has one.
    mark: &'static str,
    root: CstRootNode,
    servers: Option<CstObject>,
}

impl List {
    fn read(path: PathBuf, key: &str, before: &str) -> Result<Self, Problem> {
        let (mark, text) = before.strip_prefix(MARK).map_or(("", before), |rest| (MARK, rest));
        let syntax = |error: jsonc_parser::errors::ParseError| {
            Problem::new(Code::ConfigSyntax, format!("{}: {error}", shown(&path)))
        };
        let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(syntax)?;
        let object = match root.value() {
            None => None,
            Some(value) => Some(value.as_object().ok_or_else(|| problem(&path, "the file's value is not an object"))?),
        };
        let servers = match object.as_ref().and_then(|object| object.get(key)) {
            None => None,
            Some(property) => {
                Some(property.object_value().ok_or_else(|| problem(&path, &format!("`{key}` is not an object")))?)
            }
        };
        for object in object.iter().chain(&servers) {
            if let Some(name) = repeated(object) {
                let what = format!("{}: `{name}` is given twice", shown(&path));
                return Err(Problem::new(Code::ConfigKeyDuplicate, what));
            }
        }
        Ok(Self { path, before: before.to_owned(), mark, root, servers })
    }

    /// The servers by name, in the order of the file.
    pub(crate) fn servers(&self) -> Vec<(String, CstObject)> {
        let properties = self.servers.iter().flat_map(CstObject::properties);
        properties.filter_map(|property| Some((property.decoded_name()?, property.object_value()?))).collect()
    }

    fn change(self) -> Option<Change> {
        let after = format!("{}{}", self.mark, self.root);
        (after != self.before).then_some(Change { path: self.path, before: Some(self.before), after: Some(after) })
    }
}

/// The byte order mark of a file in UTF-8.
const MARK: &str = "\u{feff}";

/// The first key that is given twice.
fn repeated(object: &CstObject) -> Option<String> {
    let mut seen = BTreeSet::new();
    object
        .properties()
        .iter()
        .filter_map(jsonc_parser::cst::CstObjectProp::decoded_name)
        .find(|name| !seen.insert(name.clone()))
}

/// The lists of the request that exist, of one scope or of both.
pub(crate) fn lists_of(request: &InstallRequest, scope: Option<InstallScope>) -> Result<Vec<List>, Problem> {
    let keys = |path: &PathBuf| LISTS.iter().find(|(list, _)| path.ends_with(list.trim_start_matches("~/")));
    let existing = paths(request, scope).into_iter().filter_map(|path| {
        let (_, key) = keys(&path)?;
        let text = request.existing.get(&path)?;
        Some(List::read(path, key, text))
    });
    existing.collect()
}

/// The paths of the lists of one scope or of both, whether they exist or not.
fn paths(request: &InstallRequest, scope: Option<InstallScope>) -> Vec<PathBuf> {
    let path = |(list, _): &(&str, &str)| match list.strip_prefix("~/") {
        Some(below) => (InstallScope::User, request.home.join(below)),
        None => (InstallScope::Project, request.project.join(list)),
    };
    let all = LISTS.iter().map(path);
    all.filter(|(own, _)| scope.is_none_or(|scope| scope == *own)).map(|(_, path)| path).collect()
}

pub(crate) fn shown(path: &Path) -> String {
    format!("`{}`", path.display())
}

fn problem(path: &Path, what: &str) -> Problem {
    Problem::new(Code::ConfigValue, format!("{}: {what}", shown(path)))
}
