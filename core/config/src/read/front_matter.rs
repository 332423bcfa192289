//! The front matter of a SKILL.md: what stands between its leading `---` lines.

use phasegate_core::Code;

use crate::read::node::{Content, Entry, Node, Span};
use crate::read::read;
use crate::read::report::Finding;
use crate::read::text::Text;

const KEY: &str = "tool_permissions";

/// The skill config in the front matter, with `skill` and `description` filled in from the skill's own; `None` if there is none.
///
/// A front matter without `tool_permissions`, or a likely typo of it, is ignored.
pub(crate) fn config(file: &str, path: &str, findings: &mut Vec<Finding>) -> Option<Node> {
    let matter = Matter::of(file).filter(Matter::names_permissions)?;
    let text = Text::part(matter.body, matter.before, 1);
    if !matter.closed {
        let finding = Finding::error(Code::ConfigSyntax, text.start(), "the front matter has no end");
        findings.push(finding.suggest("put a line `---` after it"));
        return None;
    }
    let root = read(&text, findings)?;
    permissions(&root, findings).map(|entry| completed(entry, &root, path))
}

/// Whether the front matter of a SKILL.md says what phases it has, or says something that is probably meant so.
///
/// Where it does not, the file guards nothing and has no mistakes. Where it does, it may be damaged.
pub fn names_permissions(file: &str) -> bool {
    Matter::of(file).is_some_and(|matter| matter.names_permissions())
}

/// What stands between the leading `---` lines of a text, and what comes after them.
pub(crate) fn split(text: &str) -> Option<(&str, &str)> {
    let matter = Matter::of(text).filter(|matter| matter.closed)?;
    let end = matter.before + matter.body.len();
    let rest = text.get(end..)?;
    Some((matter.body, rest.get(rest.find('\n').map_or(rest.len(), |end| end + 1)..)?))
}

/// What stands between the leading `---` lines.
struct Matter<'f> {
    body: &'f str,
    /// Bytes of the file before it.
    before: usize,
    /// Whether the second `---` is there.
    closed: bool,
}

impl<'f> Matter<'f> {
    fn of(file: &'f str) -> Option<Self> {
        let text = file.strip_prefix('\u{feff}').unwrap_or(file);
        let bom = file.len() - text.len();
        let mut lines = text.split_inclusive('\n');
        let first = lines.next().filter(|line| line.trim_end() == "---")?;
        let mut end = first.len();
        let closed = lines.any(|line| {
            let fence = line.trim_end() == "---";
            end += if fence { 0 } else { line.len() };
            fence
        });
        text.get(first.len()..end).map(|body| Self { body, before: bom + first.len(), closed })
    }

    fn names_permissions(&self) -> bool {
        // What stands before a colon may be a key; whether it is one is seen later.
        let parts = self.body.lines().flat_map(|line| line.split_inclusive(':'));
        let parts = parts.filter_map(|part| part.strip_suffix(':')).filter_map(|part| part.rsplit(['{', ',']).next());
        let mut keys = parts.map(|part| part.trim_matches([' ', '\t', '"', '\'', '?']));
        self.body.contains(KEY) || keys.any(is_nearly_the_key)
    }
}

/// Whether a key is probably meant to be `tool_permissions`.
fn is_nearly_the_key(key: &str) -> bool {
    let plain = |text: &str| text.chars().filter(|letter| letter.is_alphanumeric()).collect::<String>().to_lowercase();
    key != KEY && key.len() <= 2 * KEY.len() && strsim::damerau_levenshtein(&plain(key), &plain(KEY)) <= 2
}

/// Where the phases stand: at the top, or under `metadata`.
fn permissions<'r>(root: &'r Node, findings: &mut Vec<Finding>) -> Option<&'r Entry> {
    let metadata = root.entry("metadata").map_or(&[][..], |entry| entry.node.entries());
    let both = || root.entries().iter().chain(metadata);
    let nearly: Vec<&Entry> = both().filter(|entry| is_nearly_the_key(&entry.key)).collect();
    for entry in &nearly {
        findings.push(
            Finding::error(Code::ConfigKeyUnknown, entry.key_span, format!("`{}` is not a key here", entry.key))
                .cause("its content would have no effect")
                .suggest(format!("did you mean `{KEY}`?")),
        );
    }
    let mut right = both().filter(|entry| entry.key == KEY);
    let first = right.next();
    if let (Some(first), Some(second)) = (first, right.next()) {
        let (one, other) = (first.key_span.line, second.key_span.line);
        findings.push(
            Finding::error(Code::ConfigKeyDuplicate, second.key_span, format!("`{KEY}` is given twice"))
                .cause(format!("it is given on line {one} at the top and on line {other} under `metadata`"))
                .suggest("keep one of the two"),
        );
    }
    // What was probably meant is read too, so that all mistakes are found at once.
    first.or_else(|| nearly.into_iter().find(|entry| matches!(entry.node.content, Content::Map(_))))
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
