//! The text that the tools of the shipped skills work on. It is kept in memory.

/// The text in the beginning.
const BEGINNING: &str =
    "fn greeting() -> &str { \"hello\" }\nfn main() { print(greeting()) }  \ntest greeting: failing\n";

/// A text.
pub(crate) struct Document {
    text: String,
}

impl Default for Document {
    fn default() -> Self {
        Self { text: BEGINNING.to_owned() }
    }
}

/// What a tool answers: a text, or why it failed.
pub(crate) type Answer = Result<String, String>;

impl Document {
    /// The text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The lines with a word in them, with their numbers.
    pub(crate) fn lines_with(&self, word: &str) -> Vec<String> {
        let lines = self.text.lines().enumerate().filter(|(_, line)| line.contains(word));
        lines.map(|(at, line)| format!("{}: {line}", at + 1)).collect()
    }

    /// The text with one part in place of another.
    pub(crate) fn edited(&self, old: &str, new: &str) -> Answer {
        if old.is_empty() {
            return Ok(format!("{}{new}\n", self.text));
        }
        if !self.text.contains(old) {
            return Err(format!("the document has no `{old}`"));
        }
        Ok(self.text.replacen(old, new, 1))
    }

    /// The text with every use of a word replaced.
    pub(crate) fn renamed(&self, old: &str, new: &str) -> Answer {
        if old.is_empty() || !self.text.contains(old) {
            return Err(format!("the document has no symbol `{old}`"));
        }
        Ok(self.text.replace(old, new))
    }

    /// The text without blanks at the ends of its lines.
    pub(crate) fn formatted(&self) -> String {
        self.text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
    }

    /// Takes another text.
    pub(crate) fn set(&mut self, text: String) {
        self.text = text;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_apply_once_and_renames_everywhere() {
        let mut document = Document::default();
        assert_eq!(document.lines_with("greeting").len(), 3);
        assert!(document.edited("absent", "x").is_err());
        document.set(document.edited("hello", "good day").unwrap());
        assert!(document.text().contains("good day"));
        document.set(document.renamed("greeting", "salute").unwrap());
        assert_eq!(document.lines_with("greeting"), Vec::<String>::new());
        assert!(document.formatted().lines().all(|line| !line.ends_with(' ')));
    }
}
