//! Files that formats of artifacts are read from: the folders `formats` and `schemas` beside a config's `config.yaml`.

use std::collections::BTreeMap;

use phasegate_core::Code;
use serde_json::Value;

use crate::files::json_schema::JsonSchema;
use crate::files::prompts::PROMPTS_FOLDER;
use crate::files::shipped::SHIPPED_FILES;
use crate::input::{Kind, Level, SourceFile};
use crate::read::node::{Content, Entry, Node, Span};
use crate::read::read;
use crate::read::report::Finding;
use crate::read::suggestion::{did_you_mean, listed};
use crate::read::text::Text;
use crate::skills::agent;
use crate::source::FormatObject;
use crate::validate::validate;

/// The folder that formats lie in, beside `config.yaml`.
pub const FORMATS_FOLDER: &str = "formats";
/// The folder that JSON Schemas lie in, beside `config.yaml`.
pub const SCHEMAS_FOLDER: &str = "schemas";
/// The largest schema, in bytes: it is a part of the policy.
const MAX_BYTES: usize = 64 * 1024;

/// The files of one level, by the path that a config names them by (`formats/memory.yaml`).
pub(crate) struct Formats<'f>(BTreeMap<String, &'f str>);

impl Default for Formats<'_> {
    /// Those that ship with phasegate.
    fn default() -> Self {
        let is_text = |path: &str| path.starts_with(PROMPTS_FOLDER);
        let files = SHIPPED_FILES.iter().filter(|(path, _)| !is_text(path));
        Self(files.map(|(path, text)| ((*path).to_owned(), *text)).collect())
    }
}

impl<'f> Formats<'f> {
    /// Those of a level. They stand before shipped ones of the same name.
    pub(crate) fn of(files: &[&'f SourceFile], level: Level) -> Self {
        let mut known = Self::default();
        for file in files.iter().filter(|file| file.kind == Kind::Format && file.level == level) {
            let mut parts = file.path.rsplit(['/', '\\']);
            if let (Some(name), Some(folder)) = (parts.next(), parts.next()) {
                known.0.insert(format!("{folder}/{name}"), file.text.as_str());
            }
        }
        known
    }

    /// The rules in a file, with its tree; `None` after a mistake. `kind`: the type of the subagent that makes the artifact.
    pub(crate) fn rules(
        &self,
        written: &str,
        kind: Option<&str>,
        span: Span,
        findings: &mut Vec<Finding>,
    ) -> Option<(FormatObject, Node)> {
        let (path, root) = self.read(written, FORMATS_FOLDER, kind, span, findings)?;
        let mut found = Vec::new();
        let read = rules(root, &mut found);
        findings.extend(found.into_iter().map(|finding| finding.named_at(&path, span)));
        read
    }

    /// A JSON Schema, as JSON; `None` after a mistake.
    pub(crate) fn schema(&self, written: &str, span: Span, findings: &mut Vec<Finding>) -> Option<String> {
        let (path, root) = self.read(written, SCHEMAS_FOLDER, None, span, findings)?;
        let value = root.to_value();
        let text = value.to_string();
        let fault = match JsonSchema::new(&value) {
            Err(fault) => Some((format!("`{path}` is no JSON Schema"), fault)),
            Ok(_) if text.len() > MAX_BYTES => Some((
                format!("`{path}` is too large"),
                format!("it may have {MAX_BYTES} bytes, as a part of the policy"),
            )),
            Ok(_) => None,
        };
        let Some((message, cause)) = fault else { return Some(text) };
        let finding = Finding::error(Code::ConfigValue, span, message).cause(cause);
        findings.push(finding.suggest("mend the file; a schema refers to nothing outside of it"));
        None
    }

    /// The tree of a file.
    fn read(
        &self,
        written: &str,
        folder: &str,
        kind: Option<&str>,
        span: Span,
        findings: &mut Vec<Finding>,
    ) -> Option<(String, Node)> {
        let path = written.strip_prefix("./").unwrap_or(written);
        let Some(text) = self.0.get(path) else {
            findings.push(self.missing(path, folder, span));
            return None;
        };
        let mut found = Vec::new();
        let root = read(&Text::whole(&agent::of_text(text, kind)), &mut found);
        findings.extend(found.into_iter().map(|finding| finding.named_at(path, span)));
        root.map(|root| (path.to_owned(), root))
    }

    fn missing(&self, path: &str, folder: &str, span: Span) -> Finding {
        let (what, names) = match folder {
            SCHEMAS_FOLDER => ("JSON Schema", "`schemas/NAME.json` and `schemas/NAME.yaml`"),
            _ => ("format", "`formats/NAME.yaml` and `formats/NAME.json`"),
        };
        let finding = Finding::error(Code::ConfigValue, span, format!("there is no {what} `{path}`"));
        let finding = finding.cause(format!("they are the files {names} beside `config.yaml`"));
        let known = || self.0.keys().map(String::as_str).filter(|known| known.starts_with(folder));
        finding.suggest(did_you_mean(path, known()).unwrap_or_else(|| match known().next() {
            Some(_) => format!("the files there are {}", listed(known())),
            None => format!("write the file `.phasegate/{folder}/NAME.yaml`"),
        }))
    }
}

/// The rules that a tree has.
fn rules(root: Node, findings: &mut Vec<Finding>) -> Option<(FormatObject, Node)> {
    if !matches!(root.content, Content::Map(_)) {
        let finding = Finding::error(Code::ConfigValue, root.span, "a format is a list of keys with values");
        findings.push(finding.suggest("write for example `sections: [Findings, Verdict]`"));
        return None;
    }
    // The schema of skills says what a format is, so the rules are held against it where they would stand in a skill.
    const PLACE: [&str; 3] = ["artifacts", "format", "format"];
    let skill = validate(phasegate_schemas::Kind::Skill, in_skill(root), findings)?;
    let node = skill.at(&PLACE)?.clone();
    match serde_json::from_value(node.to_value()) {
        Ok(rules) => Some((rules, node)),
        Err(error) => {
            findings.push(Finding::error(Code::ConfigValue, node.span, error.to_string()));
            None
        }
    }
}

/// A skill with an artifact of this format.
fn in_skill(format: Node) -> Node {
    let span = format.span;
    let node = |content: Content| Node { span, content };
    let entry = |key: &str, node: Node| Entry { key: key.into(), key_span: span, node };
    let text = |text: &str| node(Content::Text(text.into()));
    let path = node(Content::List(vec![text("format.md")]));
    let artifact = node(Content::Map(vec![entry("path", path), entry("format", format)]));
    let phase = node(Content::Map(Vec::new()));
    node(Content::Map(vec![
        entry("skill", text("format")),
        entry("artifacts", node(Content::Map(vec![entry("format", artifact)]))),
        entry("phases", node(Content::Map(vec![entry("format", phase)]))),
    ]))
}

/// The fields of the YAML between the leading `---` lines of a text; `None`: there is none, or it cannot be read.
pub fn front_matter(text: &str) -> Option<FrontMatter<'_>> {
    let (body, rest) = crate::read::front_matter::split(text)?;
    let mut mistakes = Vec::new();
    // A key that stands there twice would have one value here and may have the other one elsewhere.
    let fields = read(&Text::whole(body), &mut mistakes).filter(|_| mistakes.is_empty()).map(|node| node.to_value());
    Some(FrontMatter { fields, rest })
}

/// What stands before a Markdown text.
#[derive(Debug)]
pub struct FrontMatter<'t> {
    /// Its fields; `None`: it is no YAML that can be read.
    pub fields: Option<Value>,
    /// The Markdown after it.
    pub rest: &'t str,
}
