//! YAML and JSON to a tree of nodes. JSON is read by the same parser: it is YAML.

pub(crate) mod node;
pub(crate) mod text;
pub(crate) mod scalar;
pub(crate) mod report;
pub(crate) mod front_matter;
pub mod outline;
pub(crate) mod suggestion;
pub(crate) mod typo;

use std::collections::BTreeMap;

use phasegate_core::Code;
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Tag};

use crate::read::node::{Content, Entry, Node, Span};
use crate::read::report::Finding;
use crate::read::text::Text;

/// How deep a document may nest.
const DEPTH: usize = 64;
/// How large a document may be, in bytes.
const SIZE: usize = 1024 * 1024;

/// How many values aliases may stand for in one document.
const ALIASED: usize = 10_000;

const QUOTE_STAR: &str = "put quotes around a text that begins with a star or an ampersand, such as `\"*\"`";
const QUOTE_AT: &str = "put quotes around a text that begins with `@`, such as `\"@read\"`";
const QUOTE_VALUE: &str = "put quotes around a text with `${...}`, such as `\"db/${id}.sql\"`";

/// Reads one document. What could be read up to a mistake is thrown away; duplicate keys are reported and left out.
pub(crate) fn read(text: &Text<'_>, findings: &mut Vec<Finding>) -> Option<Node> {
    if text.body().len() > SIZE {
        findings.push(Finding::error(
            Code::ConfigSyntax,
            text.start(),
            format!("the file is larger than {SIZE} bytes"),
        ));
        return None;
    }
    let plain = text.body();
    // A tab may indent JSON, which to YAML is a mistake; inside a JSON text it is never written raw.
    let untabbed = (plain.trim_start().starts_with('{') && plain.contains('\t')).then(|| plain.replace('\t', " "));
    let mut reader = Reader { text, findings, open: Vec::new(), root: None, anchors: BTreeMap::new(), aliased: 0 };
    for event in Parser::new_from_str(untabbed.as_deref().unwrap_or(plain)) {
        let failed = match event {
            Ok((event, span)) => reader.event(event, &span.start, &span.end).err(),
            Err(error) => {
                let place = text.span(error.marker(), error.marker());
                let finding = Finding::error(Code::ConfigSyntax, place, error.info().to_string());
                let star = ["alias", "anchor"].iter().any(|word| error.info().contains(word));
                let at = error.info().contains("character: `@'");
                let line = plain.lines().nth(error.marker().line().saturating_sub(1)).unwrap_or_default();
                let value = error.info().contains("flow") && line.contains("${");
                let help =
                    [(star, QUOTE_STAR), (at, QUOTE_AT), (value, QUOTE_VALUE)].into_iter().find(|(found, _)| *found);
                Some(match help {
                    Some((_, help)) => finding.suggest(help),
                    None => finding,
                })
            }
        };
        if let Some(finding) = failed {
            reader.findings.push(finding);
            return None;
        }
    }
    let root = reader.root.filter(|root| root.content != Content::Null);
    Some(root.unwrap_or(Node { span: text.start(), content: Content::Map(Vec::new()) }))
}

struct Reader<'a> {
    text: &'a Text<'a>,
    findings: &'a mut Vec<Finding>,
    open: Vec<Open>,
    root: Option<Node>,
    /// The values that have an anchor, by its number.
    anchors: BTreeMap<usize, Node>,
    /// How many values aliases stood for so far.
    aliased: usize,
}

/// A list or mapping whose end has not been seen, and the number of its anchor; 0: it has none.
struct Open {
    anchor: usize,
    span: Span,
    within: Within,
}

enum Within {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, key: Option<(String, Span)> },
}

impl Reader<'_> {
    fn event(&mut self, event: Event<'_>, start: &Marker, end: &Marker) -> Result<(), Finding> {
        let span = self.text.span(start, end);
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) if self.root.is_some() => Err(unsupported(span, "a second document")),
            Event::DocumentStart(_) => Ok(()),
            Event::Alias(anchor) => self.alias(anchor, span),
            Event::Scalar(value, style, anchor, tag) => {
                refuse(span, tag.as_deref())?;
                let content = match style {
                    ScalarStyle::Plain => scalar::plain(&value),
                    ScalarStyle::SingleQuoted
                    | ScalarStyle::DoubleQuoted
                    | ScalarStyle::Literal
                    | ScalarStyle::Folded => Content::Text(value.into_owned()),
                };
                let node = Node { span, content };
                self.keep(anchor, &node);
                self.scalar(value_text(&node.content), node)
            }
            Event::SequenceStart(anchor, tag) => {
                refuse(span, tag.as_deref())?;
                self.nest(Open { anchor, span, within: Within::List(Vec::new()) })
            }
            Event::MappingStart(anchor, tag) => {
                refuse(span, tag.as_deref())?;
                self.nest(Open { anchor, span, within: Within::Map { entries: Vec::new(), key: None } })
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(Open { anchor, span, within }) = self.open.pop() else { return Ok(()) };
                let content = match within {
                    Within::List(items) => Content::List(items),
                    Within::Map { entries, .. } => Content::Map(entries),
                };
                let node = Node { span, content };
                self.keep(anchor, &node);
                self.value(node)
            }
        }
    }

    fn keep(&mut self, anchor: usize, node: &Node) {
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
    }

    /// What the anchor stands before, once more, in the place of the alias.
    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), Finding> {
        let Some(node) = self.anchors.get(&anchor) else {
            return Err(Finding::error(Code::ConfigSyntax, span, "an alias (`*name`) stands within its own anchor"));
        };
        let (size, depth) = node.extent();
        self.aliased += size;
        if self.aliased > ALIASED {
            let message = format!("the aliases (`*name`) stand for more than {ALIASED} values");
            return Err(Finding::error(Code::ConfigSyntax, span, message));
        }
        if self.open.len() + depth > DEPTH + 1 {
            return Err(too_deep(span));
        }
        let node = Node { span, content: node.content.clone() };
        self.scalar(value_text(&node.content), node)
    }

    fn nest(&mut self, open: Open) -> Result<(), Finding> {
        if let Some(Within::Map { key: None, .. }) = self.open.last().map(|open| &open.within) {
            return Err(unsupported(open.span, "a key that is not a text"));
        }
        if self.open.len() >= DEPTH {
            return Err(too_deep(open.span));
        }
        self.open.push(open);
        Ok(())
    }

    fn scalar(&mut self, as_key: Option<String>, node: Node) -> Result<(), Finding> {
        if let Some(Within::Map { key: key @ None, .. }) = self.open.last_mut().map(|open| &mut open.within) {
            let Some(text) = as_key else { return Err(unsupported(node.span, "a key that is not a text")) };
            *key = Some((text, node.span));
            return Ok(());
        }
        self.value(node)
    }

    fn value(&mut self, node: Node) -> Result<(), Finding> {
        match self.open.last_mut().map(|open| &mut open.within) {
            None => self.root = Some(node),
            Some(Within::List(items)) => items.push(node),
            Some(Within::Map { entries, key }) => {
                let Some((key, key_span)) = key.take() else {
                    return Err(unsupported(node.span, "a key that is not a text"));
                };
                match entries.iter().find(|entry| entry.key == key) {
                    Some(first) => {
                        let line = first.key_span.line;
                        self.findings.push(
                            Finding::error(Code::ConfigKeyDuplicate, key_span, format!("`{key}` is given twice"))
                                .cause(format!("it was given on line {line} already"))
                                .suggest("keep one of the two, or give one another name"),
                        );
                    }
                    None => entries.push(Entry { key, key_span, node: shown_at_key(node, key_span) }),
                }
            }
        }
        Ok(())
    }
}

/// What has no text of its own in one line is shown at its key.
fn shown_at_key(node: Node, key: Span) -> Node {
    let nested = matches!(node.content, Content::List(_) | Content::Map(_));
    let span = if nested || node.span.start == node.span.end { key } else { node.span };
    Node { span, ..node }
}

fn value_text(content: &Content) -> Option<String> {
    match content {
        Content::Null => Some("null".into()),
        Content::Bool(truth) => Some(truth.to_string()),
        Content::Number(number) => Some(number.to_string()),
        Content::Text(text) => Some(text.clone()),
        Content::List(_) | Content::Map(_) => None,
    }
}

fn refuse(span: Span, tag: Option<&Tag>) -> Result<(), Finding> {
    if let Some(tag) = tag {
        return Err(unsupported(span, &format!("a tag (`{}{}`)", tag.handle, tag.suffix)).suggest("remove the tag"));
    }
    Ok(())
}

fn too_deep(span: Span) -> Finding {
    Finding::error(Code::ConfigSyntax, span, format!("nested deeper than {DEPTH} levels"))
}

fn unsupported(span: Span, what: &str) -> Finding {
    Finding::error(Code::ConfigSyntax, span, format!("{what} has no place in a config"))
}
