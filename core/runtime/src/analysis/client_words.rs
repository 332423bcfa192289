//! The words that a client gets, held against what its adapter lists.

use phasegate_adapter::{ClientOption, ClientStart, Takes};
use phasegate_shell::{Pattern, Piece};

/// A word of a client's, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// All of it.
    Known(String),
    /// How it begins.
    Begins(String),
    /// Nothing: it may be an option.
    Open,
}

/// What a client's words say, where all of its options are listed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// The folder that it works in, `None` in it where that is not known.
    pub(super) folder: Option<Option<String>>,
}

impl Word {
    pub(super) fn of(pattern: &Pattern) -> Self {
        let mut known = String::new();
        for piece in &pattern.0 {
            match piece {
                Piece::Text(text) => known.push_str(text),
                Piece::Home if known.is_empty() => known.push('~'),
                Piece::Home | Piece::Any | Piece::Glob | Piece::Tree if known.is_empty() => return Self::Open,
                Piece::Home | Piece::Any | Piece::Glob | Piece::Tree => return Self::Begins(known),
            }
        }
        Self::Known(known)
    }

    /// The text, where all of it is known.
    pub(super) fn text(&self) -> Option<&str> {
        if let Self::Known(text) = self { Some(text) } else { None }
    }

    /// What it begins with.
    pub(super) fn start(&self) -> &str {
        match self {
            Self::Known(text) | Self::Begins(text) => text,
            Self::Open => "",
        }
    }

    /// Whether a program takes it for an option. A prompt has blanks.
    fn is_option(&self) -> bool {
        let text = self.start();
        let is_bare = matches!(self.text(), Some("-" | "--"));
        text.starts_with('-') && !text.contains(char::is_whitespace) && !is_bare
    }
}

/// What is told of words that are not known. Behind `--` they are no options, nor are they behind the sign of an option; as
/// a word of its own a value may be one: a client may look for some options in every word.
pub(super) const NOT_KNOWN: &str =
    "with words that may be options: write a prompt behind `--`, a value as `--option=value`";

/// Holds the words against the list; the first one that is not on it, as it is told.
pub(super) fn listed(start: &ClientStart, words: &[Word]) -> Result<Said, String> {
    let mut said = Said::default();
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.next() {
        if *word == Word::Open {
            return Err(NOT_KNOWN.to_owned());
        }
        if word.text() == Some("--") {
            break;
        }
        if !word.is_option() {
            continue;
        }
        let shown = || word.start().to_owned();
        let (option, given) = option_of(start, word).ok_or_else(shown)?;
        if matches!(option.takes, Takes::Nothing) {
            continue;
        }
        // What looks like an option may be one, whatever stands before it.
        let value = given.or_else(|| rest.next_if(|next| !next.is_option() && **next != Word::Open).cloned());
        let known = value.as_ref().and_then(Word::text);
        match option.takes {
            Takes::OneOf(values) if !known.is_some_and(|value| values.contains(&value)) => return Err(shown()),
            Takes::With(wanted) if !known.is_some_and(|value| value.contains(wanted)) => return Err(shown()),
            Takes::Folder => said.folder = Some(known.map(str::to_owned)),
            _ => {}
        }
    }
    Ok(said)
}

/// The listed option that a word is, and the value within the word.
fn option_of<'s>(start: &'s ClientStart, word: &Word) -> Option<(&'s ClientOption, Option<Word>)> {
    let find = |name: &str| start.options.iter().find(|option| option.names.contains(&name));
    let text = word.start();
    let value = |text: &str| match word {
        Word::Begins(_) if text.is_empty() => Word::Open,
        Word::Begins(_) => Word::Begins(text.to_owned()),
        _ => Word::Known(text.to_owned()),
    };
    if let Some((name, given)) = text.split_once('=') {
        return Some((find(name)?, Some(value(given))));
    }
    word.text()?;
    if let Some(option) = find(text) {
        return Some((option, None));
    }
    // Short options in one word; the rest behind one that takes a value is the value.
    let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
    let mut last = None;
    for (at, letter) in letters.char_indices() {
        let option = find(&format!("-{letter}"))?;
        let behind = letters.get(at.saturating_add(letter.len_utf8())..).unwrap_or_default();
        last = Some((option, None));
        if !matches!(option.takes, Takes::Nothing) && !behind.is_empty() {
            return Some((option, Some(Word::Known(behind.to_owned()))));
        }
    }
    last
}

/// Whether the words look like this client's own: one of its marks, or a weaker one beside a prompt.
pub(super) fn is_marked(start: &ClientStart, words: &[Word], variables: &[String]) -> bool {
    let has = |marks: &[&str]| {
        let is_option = |word: &Word| marks.contains(&word.start().split('=').next().unwrap_or_default());
        words.iter().any(is_option) || variables.iter().any(|name| marks.contains(&name.as_str()))
    };
    let prompts = || words.iter().any(|word| word.text().is_some_and(|word| start.beside.contains(&word)));
    has(start.marks) || (has(start.weak_marks) && prompts())
}

/// Whether a client may get this variable.
pub(super) fn may_get(start: &ClientStart, name: &str) -> bool {
    let listed = |variable: &&str| match variable.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => *variable == name,
    };
    phasegate_shell::is_harmless(name, None) || start.variables.iter().any(listed)
}

#[cfg(test)]
mod tests {
    use phasegate_adapter::{flag, option, value};

    use super::*;

    static START: ClientStart = ClientStart {
        options: &[
            flag(&["-p", "--print"]),
            value(&["-m", "--model"]),
            option(&["--format"], Takes::OneOf(&["text"])),
            option(&["--sources"], Takes::With("project")),
            option(&["-r", "--resume"], Takes::Optional),
            option(&["--dir"], Takes::Folder),
        ],
        variables: &["MODEL_*", "ALONE"],
        marks: &["--safe", "TOOL_HOME"],
        weak_marks: &["--bare"],
        beside: &["-p"],
        file_variable: "",
    };

    fn said(line: &str) -> Result<Said, String> {
        let word = |word: &str| match word.split_once('?') {
            Some(("", _)) => Word::Open,
            Some((begins, _)) => Word::Begins(begins.to_owned()),
            None => Word::Known(word.replace('_', " ")),
        };
        listed(&START, &line.split(' ').map(word).collect::<Vec<_>>())
    }

    #[test]
    fn what_is_listed_passes_and_the_rest_is_told() {
        for line in [
            "hi",
            "-p hi",
            "-p -_do_this",
            "-pm opus hi",
            "-pmopus",
            "--model=? hi",
            "-p -- ? --bare",
            "-p review:? hi",
            "--resume=? hi",
            "-r x hi",
            "-p --resume",
            "--format text",
            "--format=text",
            "--sources user,project",
            "-- -",
        ] {
            assert!(said(line).is_ok(), "{line}: {:?}", said(line));
        }
        for (line, told) in [
            ("--bare -p hi", "--bare"),
            ("-p hi --bare=1", "--bare=1"),
            ("--model --bare", "--bare"),
            ("-pw one hi", "-pw"),
            ("-p ?", NOT_KNOWN),
            ("-r ? hi", NOT_KNOWN),
            ("--model ? hi", NOT_KNOWN),
            ("--dir ? hi", NOT_KNOWN),
            ("--?", "--"),
            ("--format stream", "--format"),
            ("--format ?", "--format"),
            ("--format", "--format"),
            ("--sources user", "--sources"),
        ] {
            assert_eq!(said(line).unwrap_err(), told, "{line}");
        }
        assert_eq!(said("--dir /tmp hi").unwrap().folder, Some(Some("/tmp".to_owned())));
        assert_eq!(said("--dir=? hi").unwrap().folder, Some(None));
    }

    #[test]
    fn a_mark_needs_no_name() {
        let words = |line: &str| line.split(' ').map(|word| Word::Known(word.to_owned())).collect::<Vec<_>>();
        assert!(is_marked(&START, &words("--safe"), &[]) && is_marked(&START, &words("-p --bare"), &[]));
        assert!(is_marked(&START, &words("x"), &["TOOL_HOME".to_owned()]));
        assert!(!is_marked(&START, &words("clone --bare x"), &["HOME".to_owned()]));
        assert!(may_get(&START, "MODEL_A") && may_get(&START, "CI") && !may_get(&START, "ALONE_B"));
    }
}
