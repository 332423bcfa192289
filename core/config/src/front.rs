//! The front matter of a SKILL.md: what stands between its leading `---` lines.

use phasegate_core::Code;

use crate::node::{Content, Entry, Node, Span};
use crate::read::read;
use crate::report::Finding;
use crate::text::Text;

const KEY: &str = "tool_permissions";

/// The skill config in the front matter, with `skill` and `description` filled in from the skill's own; `None` if there is none.
///
/// A front matter that does not name `tool_permissions` is nobody's business here, however it is written.
pub(crate) fn config(file: &str, path: &str, findings: &mut Vec<Finding>) -> Option<Node> {
    let body = file.strip_prefix('\u{feff}').unwrap_or(file);
    let bom = file.len() - body.len();
    let mut lines = body.split_inclusive('\n');
    let first = lines.next().filter(|line| line.trim_end() == "---")?;
    let mut end = first.len();
    let closed = lines.any(|line| {
        let fence = line.trim_end() == "---";
        end += if fence { 0 } else { line.len() };
        fence
    });
    let matter = body.get(first.len()..end)?;
    if !matter.contains(KEY) {
        return None;
    }
    let text = Text::part(matter, bom + first.len(), 1);
    if !closed {
        let finding = Finding::error(Code::ConfigSyntax, text.start(), "the front matter has no end");
        findings.push(finding.suggest("put a line `---` after it"));
        return None;
    }
    let root = read(&text, findings)?;
    let metadata = root.entry("metadata").and_then(|entry| entry.node.entry(KEY));
    let permissions = root.entry(KEY).or(metadata)?;
    Some(completed(permissions, &root, path))
}

fn completed(permissions: &Entry, root: &Node, path: &str) -> Node {
    let mut node = Node { span: permissions.key_span, ..permissions.node.clone() };
    let Content::Map(entries) = &mut node.content else { return node };
    let folder = path.replace('\\', "/").rsplit('/').nth(1).unwrap_or_default().to_string();
    let named = root.entry("name").filter(|entry| entry.node.text().is_some_and(|name| !name.is_empty()));
    let (name, span) = named.map_or((folder, permissions.key_span), |entry| {
        (entry.node.text().unwrap_or_default().to_string(), entry.node.span)
    });
    add(entries, "skill", name, span);
    if let Some(entry) = root.entry("description") {
        add(entries, "description", entry.node.text().unwrap_or_default().to_string(), entry.node.span);
    }
    node
}

fn add(entries: &mut Vec<Entry>, key: &str, text: String, span: Span) {
    if entries.iter().all(|entry| entry.key != key) {
        entries.push(Entry { key: key.into(), key_span: span, node: Node { span, content: Content::Text(text) } });
    }
}
