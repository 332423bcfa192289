//! Formats as written to formats.

use phasegate_core::Code;
use phasegate_core::evidence::format::{Format, Markdown, Rules, Schema, TextTest, values};
use phasegate_core::policy::input::fault;
use phasegate_core::policy::matcher::ArgTest;

use super::builder::{Builder, child};
use super::inputs;
use super::object::argument;
use crate::read::node::Node;
use crate::read::report::Finding;
use crate::skills::agent::{self, AGENT};
use crate::skills::instance::{names, sample};
use crate::source::{FormatObject, FormatSource, LinePattern, LineSource};

/// The most characters of a format in words.
const MAX_CHARS: usize = 240;
/// The most characters of one text in it.
const MAX_TEXT_CHARS: usize = 48;

/// Builds a format; `None` after a mistake. `kind`: the type of the subagent that makes the artifact.
pub(super) fn format(
    builder: &mut Builder<'_>,
    source: &FormatSource,
    kind: Option<&str>,
    node: &Node,
) -> Option<Format> {
    match source {
        FormatSource::Rules(rules) => of_object(builder, rules, node),
        FormatSource::File(path) => {
            let named = builder.texts?;
            let (rules, tree) = named.formats.rules(path, kind, node.span, builder.findings)?;
            let mut texts = Vec::new();
            inputs::texts(&tree, &mut texts);
            if texts.iter().any(|(text, _)| names(text).iter().any(|name| name == AGENT)) {
                let why = "the phases that produce the artifact are not done by one type of subagent";
                builder.findings.push(agent::unknown(node.span, why));
            }
            builder.in_formats.extend(texts.into_iter().map(|(text, _)| (text.to_owned(), node.span)));
            let mut findings = Vec::new();
            let mut inner =
                Builder { texts: Some(named), ..Builder::new(&mut findings, builder.lenient, builder.groups) };
            let built = of_object(&mut inner, &rules, &tree);
            builder.findings.extend(findings.into_iter().map(|finding| finding.named_at(path, node.span)));
            built
        }
    }
}

fn of_object(builder: &mut Builder<'_>, source: &FormatObject, node: &Node) -> Option<Format> {
    let Some(file) = &source.schema else { return markdown(builder, source, node) };
    if let Some(other) = node.entries().iter().find(|entry| entry.key != "schema") {
        let message = format!("`schema` is about JSON, and `{}` about Markdown", other.key);
        builder
            .findings
            .push(Finding::error(Code::ConfigValue, other.key_span, message).suggest("remove one of the two"));
    }
    let schema = builder.texts?.formats.schema(file, child(node, "schema").span, builder.findings)?;
    let file = file.strip_prefix("./").unwrap_or(file).to_owned();
    Some(Format {
        text: format!("JSON as `{}` describes it", cut(&file)),
        rules: Rules::Schema(Schema { file, schema }),
    })
}

fn markdown(builder: &mut Builder<'_>, source: &FormatObject, node: &Node) -> Option<Format> {
    let title = source.title.as_ref().map(|line| heading(builder, line, child(node, "title")));
    let sections: Vec<Option<TextTest>> = (source.sections.iter().flatten())
        .zip(child(node, "sections").items())
        .map(|(line, node)| heading(builder, line, node))
        .collect();
    let lines: Vec<Option<TextTest>> = (source.lines.iter().flatten())
        .zip(child(node, "lines").items())
        .map(|(line, node)| self::line(builder, line, node))
        .collect();
    let last_line = source.last_line.as_ref().map(|line| self::line(builder, line, child(node, "last_line")));
    let front_matter = source.front_matter.iter().map(|(path, test)| argument(path, test)).collect();
    let rules = Markdown {
        title: whole(title)?,
        sections: sections.into_iter().collect::<Option<_>>()?,
        min_words: source.min_words,
        lines: lines.into_iter().collect::<Option<_>>()?,
        last_line: whole(last_line)?,
        front_matter,
    };
    Some(Format { text: words(&rules), rules: Rules::Markdown(Box::new(rules)) })
}

/// What was written, if it could be built; `None` after a mistake.
fn whole<T>(built: Option<Option<T>>) -> Option<Option<T>> {
    match built {
        None => Some(None),
        Some(built) => built.map(Some),
    }
}

/// A heading, without the marks before it.
fn heading(builder: &mut Builder<'_>, source: &LineSource, node: &Node) -> Option<TextTest> {
    if let LineSource::Text(text) = source
        && let Some((marks, meant)) = text.trim().split_once(' ')
        && marks.chars().all(|letter| letter == '#')
    {
        let finding = Finding::error(Code::ConfigValue, node.span, format!("`{text}` is the text of no heading"));
        builder.findings.push(finding.suggest(format!("write `{}`, without the marks", meant.trim())));
        return None;
    }
    line(builder, source, node)
}

fn line(builder: &mut Builder<'_>, source: &LineSource, node: &Node) -> Option<TextTest> {
    match source {
        LineSource::Text(text) => Some(TextTest::Is(text.split_whitespace().collect::<Vec<_>>().join(" "))),
        LineSource::Pattern(LinePattern { matches }) => {
            // Where an input stands, its value will.
            let sample = names(matches).iter().fold(matches.clone(), |text, name| text.replace(&sample(name), "x"));
            let Some(fault) = fault(&sample) else { return Some(TextTest::Matches(matches.clone())) };
            let last = fault.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            let message = format!("`{matches}` is no regular expression");
            let finding = Finding::error(Code::ConfigValue, child(node, "matches").span, message).cause(last);
            builder.findings.push(finding.suggest("write one such as `.+ Agent Output: .+`"));
            None
        }
    }
}

/// The format in words.
fn words(rules: &Markdown) -> String {
    let mut parts: Vec<String> = rules.title.iter().map(|title| format!("the title {}", shown(title))).collect();
    let words = rules.min_words.map(|least| format!("at least {least} {}", if least == 1 { "word" } else { "words" }));
    if !rules.sections.is_empty() {
        let named: Vec<String> = rules.sections.iter().map(shown).collect();
        let section = if named.len() == 1 { "the section" } else { "each of the sections" };
        parts.push(format!("{} in {section} {}", words.as_deref().unwrap_or("text"), named.join(", ")));
    } else {
        parts.extend(words);
    }
    parts.extend(rules.lines.iter().map(|line| format!("the line {}", shown(line))));
    parts.extend(rules.last_line.iter().map(|line| format!("the last line {}", shown(line))));
    let field = |test: &ArgTest| match values(&test.is) {
        Some(values) => format!("`{}` ({})", cut(&test.path), cut(&values)),
        None => format!("`{}`", cut(&test.path)),
    };
    let fields: Vec<String> = rules.front_matter.iter().map(field).collect();
    parts.extend((!fields.is_empty()).then(|| format!("{} in its front matter", fields.join(", "))));
    let text = format!("Markdown with {}", parts.join(", "));
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}\u{2026}", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn shown(test: &TextTest) -> String {
    match test {
        TextTest::Is(text) => format!("`{}`", cut(text)),
        TextTest::Matches(pattern) => format!("that matches `{}`", cut(pattern)),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT_CHARS) {
        Some((end, _)) => format!("{}\u{2026}", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
