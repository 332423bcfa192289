//! The paths that code names: what an interpreter is given on its line, as an argument or on its standard input.

use std::collections::BTreeSet;

use phasegate_core::calls::analysis::Access;

use super::made_lines::is_stream;
use crate::check::run::other_folder::line;
use crate::expand::field::Field;
use crate::judge::guard::is_sign;
use crate::script::{self, Doubt, Script};
use crate::tree::Span;
use crate::walk::Walk;

/// Editors whose commands are on their standard input.
const EDITORS: [&str; 3] = ["ed", "ex", "red"];
/// The most paths that one text of code is taken to name; a text with more may change any.
const MAX_NAMED: usize = 256;
/// The longest name without a folder that is taken for one, in bytes.
const MAX_NAME: usize = 64;

/// How code runs a text as a line, or the words of one.
const RUNNERS: [&str; 7] = ["system", "popen", "exec", "spawn", "subprocess", "`", "qx"];
/// Signs after which languages of editors, debuggers, databases and builds have a line that they run.
const SIGNS: [&str; 10] = ["!", "$(", "`", ";", "\n\t", "exec ", "shell ", "spawn ", "%w[", "qw("];
/// Functions that remove a folder with all that it holds: of Python, JavaScript, Ruby and Perl.
const REMOVERS: [&str; 7] = ["rmtree", "rmSync", "rmdirSync", "removeSync", "rm_r", "remove_tree", "remove_dir_all"];
/// Words with which code changes files, in whatever language, or hides what it calls.
const WRITERS: [&str; 20] = [
    "write",
    "Write",
    "unlink",
    "remove",
    "rename",
    "truncate",
    "copy",
    "move",
    "mkdir",
    "touch",
    "save",
    "dump(",
    "chmod",
    "link",
    "eval",
    "import_module",
    "getattr",
    "__",
    "mode",
    ".rm(",
];

impl Walk<'_> {
    /// Takes note of the paths that code names. What the code does with them is not known.
    pub(super) fn touch_named_in(&mut self, program: &str, args: &[Field]) {
        for field in args {
            let text = Script::of([field]).text;
            if text.contains(['\'', '"', '`', '(', ' ']) {
                self.touch_named(&text, program.starts_with("python"), access_of(&text), field.span);
            }
        }
    }

    /// The same of the text of the line that a program gets on its standard input; where it has none and takes its code from
    /// there, of what the programs of the line print.
    pub(super) fn touch_named_in_input(&mut self, takes_code: bool, edits: bool, span: Span) {
        let said = |words: &Vec<Field>| Script::of(words).text.replace("\\n", "\n");
        let texts = match &self.input {
            Some(text) => vec![Script::of([text]).text],
            None if takes_code => self.said.iter().map(said).collect(),
            None => Vec::new(),
        };
        let (is_python, access) = (false, |text: &str| if edits { Access::Write } else { access_of(text) });
        texts.iter().for_each(|text| self.touch_named(text, is_python, access(text), span));
    }

    fn touch_named(&mut self, text: &str, is_python: bool, access: Access, span: Span) {
        if !self.spend(text.len(), span) {
            return;
        }
        if RUNNERS.iter().any(|name| text.contains(name)) {
            self.say_code(text, span);
        }
        self.say_lines(vec![text.trim().to_owned()], span);
        self.say_lines(lines_after_signs(text), span);
        let text = &script::filled(text);
        let of_path = |letter: char| letter.is_alphanumeric() || "._/~*-".contains(letter) || is_sign(letter);
        let words = text.split(|letter| !of_path(letter));
        let paths = words.filter(|word| word.contains('/') && !word.starts_with("//"));
        let named: BTreeSet<&str> = paths.chain(quoted_names(text, is_python)).collect();
        if named.len() > MAX_NAMED {
            return self.touch(&Field::any(span), Access::Write);
        }
        for word in named {
            self.touch(&script::field(word, span), access);
        }
        if REMOVERS.iter().any(|name| text.contains(name)) {
            let quoted = text.split(['\'', '"', '`']).skip(1).step_by(2).filter(|word| !word.is_empty());
            quoted.take(MAX_NAMED).for_each(|word| self.touch(&script::field(word, span), Access::Remove));
        }
    }
}

impl Walk<'_> {
    /// Takes note that a script may change the files that its words name, and any other.
    pub(crate) fn touch_words_of(&mut self, text: &str, span: Span) {
        let text = text.replace("\\/", "/");
        let words = text.split([' ', '\t', '\n', ';', '{', '}', '"', '(', ')', '>']);
        for word in words.filter(|word| word.contains(['.', '/'])).take(MAX_NAMED) {
            self.touch(&script::field(word, span), Access::Write);
        }
        self.touch(&Field { many: false, ..Field::any(span) }, Access::Write);
    }

    /// Judges the lines that texts among the words of a program hold, where it may run them in a language of its own.
    pub(crate) fn say_texts(&mut self, args: &[Field]) {
        for field in args {
            let Some(Script { text, .. }) = line(field) else { continue };
            if self.spend(text.len(), field.span) {
                self.say_lines(vec![text.trim().to_owned()], field.span);
                self.say_lines(quoted_lines(&text), field.span);
                self.say_lines(lines_after_signs(&text), field.span);
            }
        }
    }

    /// Judges the lines that code may run: each text in quotes that begins with a known program, and lists of such words.
    pub(crate) fn say_code(&mut self, text: &str, span: Span) {
        self.say_lines(quoted_lines(text), span);
    }

    fn say_lines(&mut self, lines: Vec<String>, span: Span) {
        let worst = self.worst_so_far();
        for line in lines.iter().filter(|line| line.contains(' ')).take(MAX_NAMED) {
            let program = line.split_whitespace().next().unwrap_or_default();
            if self.knows(&Field::text(program, span)) {
                let text = line.trim_end_matches('|').to_owned();
                self.said_line(&Script { text, doubt: Doubt::Words, span });
            }
        }
        self.back_to(worst);
    }
}

/// The texts in quotes, and lists of them as one line each.
fn quoted_lines(text: &str) -> Vec<String> {
    let pieces: Vec<&str> = text.split(['\'', '"', '`']).collect();
    let mut lines: Vec<String> = Vec::new();
    for pair in pieces.chunks(2) {
        let [before, word] = pair else { break };
        match lines.last_mut() {
            Some(line) if before.trim() == "," => line.extend([" ", *word]),
            Some(line) if matches!(before.trim(), "" | "+" | ".") => line.push_str(word),
            _ => lines.push((*word).to_owned()),
        }
    }
    lines
}

/// What stands after signs that run a line.
fn lines_after_signs(text: &str) -> Vec<String> {
    SIGNS.iter().flat_map(|sign| text.split(*sign).skip(1)).map(after_sign).collect()
}

/// The line that stands after a sign that runs one, to where it ends there.
fn after_sign(text: &str) -> String {
    let text = text.trim_start();
    text.split(['\n', '\'', '"', '`', ')', ']', '}']).next().unwrap_or_default().trim_end().to_owned()
}

/// What code may do to what it names: it writes by the words for that, by the mode in which it opens a file, or by what runs
/// more.
fn access_of(text: &str) -> Access {
    let is_mode = |piece: &str| piece.len() <= 3 && piece.contains(['w', 'a', 'x', '+', '>']);
    let mut pieces = text.split(['\'', '"', '`']);
    let says = [WRITERS.as_slice(), &RUNNERS, &REMOVERS].concat().iter().any(|word| text.contains(word));
    let writes = says || pieces.any(|piece| is_mode(piece.trim()) || piece.trim_start().starts_with('>'));
    if writes { Access::Write } else { Access::Read }
}

pub(super) fn is_editor(name: &str) -> bool {
    EDITORS.contains(&name)
}

/// Whether a word of an interpreter is an option that holds code, or a module's name.
fn code(word: &str) -> bool {
    let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
    letters.contains(['c', 'e', 'm', 'p', 'r'])
}

/// The words behind the code on the line of an interpreter, which that code gets.
pub(super) fn behind_code(args: &[Field]) -> &[Field] {
    let is_code = |field: &Field| field.known().is_some_and(|word| code(word) && !word.contains('m'));
    let at = args.iter().position(is_code).unwrap_or(args.len());
    args.get(at.saturating_add(2)..).unwrap_or(&[])
}

/// Whether an interpreter may take its code from the standard input: no option holds code, and no word names a file.
pub(super) fn reads_code(args: &[Field]) -> bool {
    let mut words = args.iter().map(Field::known);
    match words.find(|word| word.is_none_or(|word| code(word) || !word.starts_with('-') || word == "-")).flatten() {
        None | Some("-") => true,
        Some(word) => is_stream(word) || !(code(word) || word.contains(['.', '/'])),
    }
}

/// The names with an end that stand alone in quotes: `open('calc.py')`.
fn quoted_names(text: &str, is_python: bool) -> impl Iterator<Item = &str> {
    let of_name = |letter: char| letter.is_alphanumeric() || "._-".contains(letter) || is_sign(letter);
    let named = move |piece: &&str| {
        let end = piece.trim_start_matches('.').split_once('.').map_or("", |(_, end)| end);
        !end.is_empty() && piece.len() <= MAX_NAME && piece.chars().all(of_name)
    };
    let pieces: Vec<&str> = text.split(['\'', '"', '`']).collect();
    let keys = is_python && !text.contains("__");
    let is_key = move |at: usize, pieces: &[&str]| {
        let beside = at.checked_sub(1).and_then(|before| pieces.get(before)).zip(pieces.get(at.saturating_add(1)));
        keys && beside.is_some_and(|(before, behind)| is_subscript(before, behind))
    };
    let names = (1..pieces.len()).filter(|at| !is_key(*at, &pieces)).filter_map(|at| pieces.get(at).copied());
    names.filter(named).collect::<Vec<_>>().into_iter()
}

/// Whether a text of Python that stands between these is the key of a subscript: `d['x.key']`.
pub fn is_subscript(before: &str, behind: &str) -> bool {
    let Some(value) = before.strip_suffix('[').filter(|_| behind.starts_with(']')) else { return false };
    let of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let name = value.rsplit(|letter| !of_name(letter)).next().unwrap_or_default();
    value.ends_with([')', ']']) || name.starts_with(|letter: char| letter.is_ascii_lowercase() || letter == '_')
}
