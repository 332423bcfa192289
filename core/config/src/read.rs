//! YAML and JSON to a tree of nodes. JSON is read by the same parser: it is YAML.

use phasegate_core::Code;
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Tag};

use crate::node::{Content, Entry, Node, Span};
use crate::report::Finding;
use crate::scalar;
use crate::text::Text;

/// How deep a document may nest.
const DEPTH: usize = 64;
/// How large a document may be, in bytes.
const SIZE: usize = 1024 * 1024;

const QUOTE_STAR: &str = "put quotes around a text that begins with a star or an ampersand, such as `\"*\"`";
const QUOTE_AT: &str = "put quotes around a text that begins with `@`, such as `\"@read\"`";

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
    let mut reader = Reader { text, findings, open: Vec::new(), root: None };
    for event in Parser::new_from_str(untabbed.as_deref().unwrap_or(plain)) {
        let failed = match event {
            Ok((event, span)) => reader.event(event, &span.start, &span.end).err(),
            Err(error) => {
                let place = text.span(error.marker(), error.marker());
                let finding = Finding::error(Code::ConfigSyntax, place, error.info().to_string());
                let star = error.info().contains("alias");
                let at = error.info().contains("character: `@'");
                let help = [(star, QUOTE_STAR), (at, QUOTE_AT)].into_iter().find(|(found, _)| *found);
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
}

/// A list or mapping whose end has not been seen.
enum Open {
    List(Span, Vec<Node>),
    Map { span: Span, entries: Vec<Entry>, key: Option<(String, Span)> },
}

impl Reader<'_> {
    fn event(&mut self, event: Event<'_>, start: &Marker, end: &Marker) -> Result<(), Finding> {
        let span = self.text.span(start, end);
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) if self.root.is_some() => Err(unsupported(span, "a second document")),
            Event::DocumentStart(_) => Ok(()),
            Event::Alias(_) => Err(unsupported(span, "an alias (`*name`)").suggest(QUOTE_STAR)),
            Event::Scalar(value, style, anchor, tag) => {
                refuse(span, anchor, tag.as_deref())?;
                let content = match style {
                    ScalarStyle::Plain => scalar::plain(&value),
                    ScalarStyle::SingleQuoted
                    | ScalarStyle::DoubleQuoted
                    | ScalarStyle::Literal
                    | ScalarStyle::Folded => Content::Text(value.into_owned()),
                };
                self.scalar(value_text(&content), Node { span, content })
            }
            Event::SequenceStart(anchor, tag) => {
                refuse(span, anchor, tag.as_deref())?;
                self.nest(span, Open::List(span, Vec::new()))
            }
            Event::MappingStart(anchor, tag) => {
                refuse(span, anchor, tag.as_deref())?;
                self.nest(span, Open::Map { span, entries: Vec::new(), key: None })
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List(span, items)) => self.value(Node { span, content: Content::List(items) }),
                Some(Open::Map { span, entries, .. }) => self.value(Node { span, content: Content::Map(entries) }),
                None => Ok(()),
            },
        }
    }

    fn nest(&mut self, span: Span, open: Open) -> Result<(), Finding> {
        if let Some(Open::Map { key: None, .. }) = self.open.last() {
            return Err(unsupported(span, "a key that is not a text"));
        }
        if self.open.len() >= DEPTH {
            return Err(Finding::error(Code::ConfigSyntax, span, format!("nested deeper than {DEPTH} levels")));
        }
        self.open.push(open);
        Ok(())
    }

    fn scalar(&mut self, as_key: Option<String>, node: Node) -> Result<(), Finding> {
        if let Some(Open::Map { key: key @ None, .. }) = self.open.last_mut() {
            let Some(text) = as_key else { return Err(unsupported(node.span, "a key that is not a text")) };
            *key = Some((text, node.span));
            return Ok(());
        }
        self.value(node)
    }

    fn value(&mut self, node: Node) -> Result<(), Finding> {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List(_, items)) => items.push(node),
            Some(Open::Map { entries, key, .. }) => {
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

fn refuse(span: Span, anchor: usize, tag: Option<&Tag>) -> Result<(), Finding> {
    if anchor > 0 {
        return Err(unsupported(span, "an anchor (`&name`)").suggest("write the value out where it is needed"));
    }
    if let Some(tag) = tag {
        return Err(unsupported(span, &format!("a tag (`{}{}`)", tag.handle, tag.suffix)).suggest("remove the tag"));
    }
    Ok(())
}

fn unsupported(span: Span, what: &str) -> Finding {
    Finding::error(Code::ConfigSyntax, span, format!("{what} has no place in a config"))
}
