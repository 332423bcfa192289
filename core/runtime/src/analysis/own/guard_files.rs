//! What of the guard's own a call would change, or might: as far as its paths, its line or its arguments say.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use phasegate_core::calls::analysis::{Access, Guarded, Part, PathUse, Verdict, Word};
use phasegate_core::shell::safety::REGISTER;
use phasegate_shell::{Judgement, Pattern, Piece, judge};
use serde_json::Value;

use crate::analysis::line::Shell;
use crate::analysis::paths::arguments::{
    COPIES, blanks_off, each_text, is_one_of, is_script, is_typed, keyed_patterns, removes, spellings,
};
use crate::analysis::paths::pattern_matches::matched;
use crate::bounds::{MAX_PATH_BYTES, MAX_PIECES};
use crate::protected::Protected;
use crate::protected::protected_path::Change;

/// The longest text, in bytes, that may be a path: what a server makes shorter before it asks the system may be longer
/// than the system takes.
const LONGEST: usize = 32 * 1024;

/// The most words of a text that are looked at as paths.
const MAX_WORDS: usize = 256;
/// A folder that paths start from, and what is protected there.
pub(in crate::analysis) struct Place<'a> {
    pub(in crate::analysis) base: &'a Path,
    pub(in crate::analysis) protected: Protected<'a>,
}

impl Place<'_> {
    /// By the paths of a file tool.
    pub(in crate::analysis) fn by_paths(&self, paths: &[PathUse]) -> Vec<Guarded> {
        paths.iter().filter_map(|path| self.meant(&path.written, path.access)).collect()
    }

    /// For a shell command: by its known paths and, for programs that cannot be analysed, by their words.
    pub(in crate::analysis) fn by_line(&self, judged: &Judgement, line: &str) -> Vec<Guarded> {
        let mut found: Vec<Guarded> = Vec::new();
        for touch in &judged.touches {
            found.extend(match touch.path.text() {
                Some(written) if written.len() > MAX_PATH_BYTES => change(touch.access).map(|_| too_long()),
                Some(written) => self.touched(&written, touch.access),
                None => self.may_touch(&touch.path, touch.access),
            });
            // What is put into a folder has the names of its sources there.
            let part = touch.part.and_then(|part| judged.parts.get(usize::try_from(part).ok()?));
            let copied = part.filter(|part| touch.access == Access::Write && is_one_of(part, &COPIES));
            let landing = copied.map(|part| self.landing(&touch.path, Some(part))).unwrap_or_default();
            found.extend(landing.iter().filter_map(|path| self.touched(path, Access::Write)));
        }
        found.extend(self.forged(judged));
        found.extend(self.clients(judged, line));
        found.extend(self.within(judged, line));
        found.extend(self.named(judged));
        found.extend(self.guard_commands(judged));
        found.extend(self.spoken_of(judged, line));
        found
    }

    /// By the messages to the guard that the line sends: they may be about any project.
    pub(in crate::analysis) fn forged(&self, judged: &Judgement) -> Vec<Guarded> {
        let found: Vec<_> = judged.parts.iter().filter_map(|part| forged(&part.command.words)).collect();
        if !found.is_empty() {
            self.protected.note_others();
        }
        found
    }

    /// By the words of commands that do more than read: what such a command names and is not known to read, it may change,
    /// whatever option the name stands behind.
    fn named(&self, judged: &Judgement) -> Vec<Guarded> {
        let more = judged.parts.iter().filter(|part| part.command.verdict != Verdict::Read);
        let words = more.flat_map(|part| part.words.iter().skip(1)).filter_map(Pattern::text);
        let read = |word: &str| {
            let reads = judged.touches.iter().filter(|touch| touch.access == Access::Read);
            reads.filter_map(|touch| touch.path.text()).any(|path| path == word || path.ends_with(&format!("/{word}")))
        };
        words
            .filter(|word| !read(word))
            .flat_map(values)
            .filter_map(|path| self.touched(&path, Access::Write))
            .collect()
    }

    /// For a tool without labels: every string in its arguments may be a path, a command line or a slash command.
    pub(in crate::analysis) fn by_arguments(&self, tool: &str, input: &Value, shell: &Shell) -> Vec<Guarded> {
        let mut found = Vec::new();
        let removes = removes(tool);
        let input = if tool == REGISTER { keyed_patterns(input) } else { Cow::Borrowed(input) };
        each_text(&input, "", &mut |name, text| {
            if is_typed(text) {
                found.push(Guarded { part: Part::State, path: text.chars().take(60).collect() });
            }
            let path = !text.is_empty() && text.len() < LONGEST && !blanks_off(text).contains('\n');
            if is_script(name) {
                let judged = judge(text, &shell.table, shell.trust.clone());
                if judged.verdict != Verdict::Read {
                    found.extend(self.by_line(&judged, text));
                }
            } else if path && text.contains(' ') {
                // A text for people is not a known command line; only certain changes count.
                let judged = judge(text, &shell.table, shell.trust.clone());
                let known = judged.touches.iter().filter_map(|touch| Some((touch.path.text()?, touch.access)));
                found.extend(known.filter_map(|(written, access)| self.touched(&written, access)));
            }
            if path && !is_script(name) {
                found.extend(self.meant(text, Access::Write));
                // The folder that all is in is where many tools work, whatever they are called.
                if removes && !self.base.starts_with(self.absolute(text)) {
                    found.extend(self.meant(text, Access::Remove));
                }
            }
        });
        found
    }

    /// A path, in whatever spelling a platform or a server may take it.
    fn meant(&self, written: &str, access: Access) -> Option<Guarded> {
        let spellings = spellings(written, self.protected.home());
        let found = spellings.iter().find_map(|spelling| self.touched(spelling, access))?;
        Some(Guarded { path: written.to_string(), ..found })
    }

    /// Where a path that a call names leads, without links; by words alone where that cannot be known.
    pub(in crate::analysis) fn absolute(&self, written: &str) -> PathBuf {
        self.protected.resolve(self.base, written).unwrap_or_else(|| self.base.join(written))
    }

    /// A known path.
    pub(in crate::analysis) fn touched(&self, written: &str, access: Access) -> Option<Guarded> {
        let change = change(access)?;
        let leads = self.absolute(written);
        let found = self.protected.part(&leads, change);
        let part = found.or_else(|| {
            // What is removed or made is the name itself, also where it is a link.
            let name = self.base.join(written);
            let name = self.absolute(name.parent()?.to_str()?).join(name.file_name()?);
            if name == leads { None } else { self.protected.part(&name, change) }
        })?;
        Some(Guarded { part, path: written.to_string() })
    }

    /// A path known in part: guarded where the folder that it surely lies in is, or where it can stand for a place of the
    /// guard and what is known of it says so.
    pub(in crate::analysis) fn may_touch(&self, path: &Pattern, access: Access) -> Option<Guarded> {
        let change = change(access)?;
        if is_too_long(path) {
            return Some(too_long());
        }
        let mut known = String::new();
        for piece in &path.0 {
            match piece {
                Piece::Text(text) => known.push_str(text),
                Piece::Home => known.push_str(self.protected.home()),
                Piece::Any | Piece::Tree | Piece::Glob => break,
            }
        }
        if is_known(path) {
            return self.touched(&known, access);
        }
        let below = known
            .rsplit_once('/')
            .and_then(|(folder, _)| self.protected.part(&self.absolute(folder).join("\u{fffd}"), change));
        let exists = || {
            let (folder, name) = path_in_folder(path);
            let found = |path: &Pattern| matched(path, self.base, self.protected.home());
            let below = folder.iter().flat_map(found).map(|folder| folder.join(name));
            let paths: Vec<PathBuf> = found(path).into_iter().chain(below).collect();
            paths.iter().find_map(|path| self.protected.part(&self.absolute(path.to_str()?), change))
        };
        let part = below.or_else(exists)?;
        Some(Guarded { part, path: shown(path) })
    }

    /// If the line has a program that cannot be analysed: by the names that its words contain, and its input.
    fn spoken_of(&self, judged: &Judgement, line: &str) -> Option<Guarded> {
        let opaque: Vec<_> = judged.parts.iter().filter(|part| is_opaque(part)).collect();
        let named = |text: &str| {
            let speaks = || self.protected.spoken_of(text).map(|(part, path)| Guarded { part, path });
            speaks().or_else(|| paths_in(text).find_map(|path| self.touched(path, Access::Write)))
        };
        if judged.problem.is_some() {
            return named(line);
        }
        let words = || opaque.iter().flat_map(|part| part.words.iter().skip(1));
        // What is too long for a path and has blanks is a script, or a text for people: it is searched below.
        let is_path = |word: &&Pattern| !(is_too_long(word) && has_blanks(word));
        if let Some(guarded) = words().filter(is_path).find_map(|word| self.may_touch(word, Access::Write)) {
            return Some(guarded);
        }
        let assigned = opaque
            .iter()
            .flat_map(|part| &part.command.assignments)
            .filter_map(|(_, word)| word.known().map(str::to_owned));
        let text = words().map(shown).chain(assigned).collect::<Vec<_>>().join("\n");
        // What such a program gets as its input is not among its words.
        let fed = !opaque.is_empty() && line.contains("<<");
        named(&text).or_else(|| fed.then(|| named(line)).flatten())
    }
}

/// Whether nobody can see what the part's program does.
fn is_opaque(part: &phasegate_shell::Part) -> bool {
    matches!(part.command.verdict, Verdict::Execute | Verdict::Unknown)
}

/// What is told of a path that is not looked at.
fn too_long() -> Guarded {
    Guarded { part: Part::Policy, path: "a path that is too long to be looked at".to_owned() }
}

/// The folder that a path lies in, and its last name, where that is known.
fn path_in_folder(path: &Pattern) -> (Option<Pattern>, &str) {
    let Some((Piece::Text(text), before)) = path.0.split_last() else { return (None, "") };
    let Some((folder, name)) = text.rsplit_once('/') else { return (None, "") };
    let folder = before.iter().cloned().chain([Piece::Text(folder.to_owned())]);
    (Some(Pattern(folder.filter(|piece| *piece != Piece::Text(String::new())).collect())), name)
}

/// Whether all of a path is known.
fn is_known(path: &Pattern) -> bool {
    path.0.iter().all(|piece| matches!(piece, Piece::Text(_) | Piece::Home))
}

/// Whether a path that is known in part is too long to be compared.
fn is_too_long(path: &Pattern) -> bool {
    let bytes = |piece: &Piece| if let Piece::Text(text) = piece { text.len() } else { 0 };
    !is_known(path) && (path.0.len() > MAX_PIECES || path.0.iter().map(bytes).sum::<usize>() > MAX_PATH_BYTES)
}

fn has_blanks(path: &Pattern) -> bool {
    path.0.iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains(char::is_whitespace)))
}

/// What a word may name: the word, what stands behind its sign, or the value right behind a short option.
fn values(word: String) -> Vec<String> {
    match word.split_once('=') {
        Some((_, value)) => vec![value.to_string()],
        None if word.starts_with("--") => Vec::new(),
        None if word.starts_with('-') => {
            let begins = word.find(['.', '/', '~']).and_then(|at| word.get(at..));
            begins.map(str::to_owned).into_iter().collect()
        }
        None => vec![word],
    }
}

/// The words of a text that are paths with a folder.
fn paths_in(text: &str) -> impl Iterator<Item = &str> {
    words_of(text).filter(|word| word.contains('/'))
}

/// The words of a text, without the signs around them.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let ends = |sign: char| sign.is_whitespace() || "'\"`()<>|;,=&${}[]".contains(sign);
    text.split(ends).filter(|word| !word.is_empty() && word.len() < LONGEST).take(MAX_WORDS)
}

/// A message to the guard that its client did not send.
fn forged(words: &[Word]) -> Option<Guarded> {
    if let [Word::Unknown, Word::Known(speaks), Word::Known(_), ..]
    | [Word::Unknown, Word::Unknown, Word::Known(speaks), Word::Known(_), ..] = words
        && speaks == "hook"
    {
        return Some(Guarded { part: Part::State, path: "* hook".to_owned() });
    }
    let mut known = words.iter().map(|word| match word {
        Word::Known(text) => text.as_str(),
        Word::Unknown | Word::Value => "",
    });
    let program = known.next()?.rsplit(['/', '\\']).next()?.to_ascii_lowercase();
    let ours = program.strip_suffix(".exe").unwrap_or(&program) == "phasegate";
    let speaks = known.find(|word| ours && ["hook", "serve", "mcp", ""].contains(word))?;
    Some(Guarded { part: Part::State, path: format!("phasegate {speaks}").trim_end().to_string() })
}

pub(in crate::analysis) fn change(access: Access) -> Option<Change> {
    match access {
        Access::Write => Some(Change::Write),
        Access::Remove => Some(Change::Remove),
        Access::Read | Access::Execute => None,
    }
}

pub(in crate::analysis) fn shown(path: &Pattern) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Any | Piece::Tree | Piece::Glob => "*".to_string(),
        Piece::Home => "~".to_string(),
    };
    path.0.iter().map(piece).collect()
}
