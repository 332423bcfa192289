//! Texts that configs name: the files of a folder `prompts` beside a config's `config.yaml`.

use std::collections::BTreeMap;

use phasegate_core::Code;

use crate::files::shipped::SHIPPED_FILES;
use crate::input::{Kind, Level, SourceFile};
use crate::read::node::Span;
use crate::read::report::Finding;
use crate::read::suggestion::{did_you_mean, listed};

/// The folder that the texts lie in, beside `config.yaml`.
pub const PROMPTS_FOLDER: &str = "prompts";
/// The most characters of a text.
const MAX_CHARS: usize = 4_000;

/// The texts of one level, by the path that a config names them by (`prompts/review.md`).
pub(crate) struct Prompts<'f>(BTreeMap<String, &'f str>);

impl Default for Prompts<'_> {
    /// Those that ship with phasegate.
    fn default() -> Self {
        let texts = SHIPPED_FILES.iter().filter(|(path, _)| path.starts_with(PROMPTS_FOLDER));
        Self(texts.map(|(path, text)| ((*path).to_owned(), *text)).collect())
    }
}

impl<'f> Prompts<'f> {
    /// Those of a level. They stand before shipped ones of the same name.
    pub(crate) fn of(files: &[&'f SourceFile], level: Level) -> Self {
        let texts = files.iter().filter(|file| file.kind == Kind::Prompt && file.level == level);
        let name = |file: &SourceFile| file.path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        let mut known = Self::default();
        known.0.extend(texts.map(|file| (format!("{PROMPTS_FOLDER}/{}", name(file)), file.text.as_str())));
        known
    }

    /// The text that a config names, if it is there.
    pub(crate) fn known(&self, written: &str) -> Option<&'f str> {
        self.0.get(written.strip_prefix("./").unwrap_or(written)).copied()
    }

    /// The text that a config names; `None` after a mistake.
    pub(crate) fn text(&self, written: &str, span: Span, findings: &mut Vec<Finding>) -> Option<String> {
        let path = written.strip_prefix("./").unwrap_or(written);
        let Some(text) = self.0.get(path) else {
            findings.push(self.missing(path, span));
            return None;
        };
        let (text, length) = (text.trim(), text.trim().chars().count());
        if text.is_empty() || length > MAX_CHARS {
            let what = if text.is_empty() { "is empty".to_owned() } else { format!("has {length} characters") };
            let finding = Finding::error(Code::ConfigValue, span, format!("`{path}` {what}"));
            let cause = format!("an agent reads it whenever it enters the phase; it may have {MAX_CHARS} characters");
            findings.push(finding.cause(cause).suggest("write what the agent has to know, and name other files in it"));
            return None;
        }
        Some(text.to_owned())
    }

    fn missing(&self, path: &str, span: Span) -> Finding {
        let finding = Finding::error(Code::ConfigValue, span, format!("there is no text `{path}`"));
        let finding =
            finding.cause("texts are the files `prompts/NAME.md` and `prompts/NAME.txt` beside `config.yaml`");
        let known = || self.0.keys().map(String::as_str);
        finding.suggest(did_you_mean(path, known()).unwrap_or_else(|| match known().next() {
            Some(_) => format!("the texts are {}", listed(known())),
            None => format!("write the file, for example `.phasegate/{PROMPTS_FOLDER}/plan.md`"),
        }))
    }
}
