//! What of the guard's own a call would change, or might: as far as its paths, its line or its arguments say.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use phasegate_core::analysis::{Access, Guarded, Part, PathUse, Verdict, Word};
use phasegate_core::safety::REGISTER;
use phasegate_shell::{Judgement, Pattern, Piece, judge};
use serde_json::Value;

use super::arguments::{
    blanks_off, each_text, is_one_of, is_patch, is_script, is_typed, keyed_patterns, removes, spellings,
};
use super::line::Shell;
use super::matched::matched;
use super::rough::patterns;
use crate::bounds::{MAX_PATH_BYTES, MAX_PIECES};
use crate::protected::Protected;
use crate::protected::protected_path::Change;

/// The longest text, in bytes, that may be a path: what a server makes shorter before it asks the system may be longer
/// than the system takes.
const LONGEST: usize = 32 * 1024;

/// The most words of a text that are looked at as paths.
const MAX_WORDS: usize = 256;
/// The path by which a program reads what a process substitution prints.
const SUBSTITUTED: &str = "/dev/fd/63";

/// Programs that run later what they are fed, in a form of their own.
const FED: [&str; 1] = ["crontab"];

/// Programs that print their words.
const PRINTS: [&str; 2] = ["echo", "printf"];

/// The signs around strings of scripts.
const QUOTES: [char; 2] = ['\'', '"'];
/// What stands between strings that a script puts together.
const JOINS: [&str; 7] = ["", "+", ".", "..", "||", "~", ","];

/// A folder that paths start from, and what is protected there.
pub(super) struct Place<'a> {
    pub(super) base: &'a Path,
    pub(super) protected: Protected<'a>,
}

impl Place<'_> {
    /// By the paths of a file tool.
    pub(super) fn by_paths(&self, paths: &[PathUse]) -> Vec<Guarded> {
        paths.iter().filter_map(|path| self.meant(&path.written, path.access)).collect()
    }

    /// For a shell command: by its known paths and, for programs that cannot be analysed, by their words.
    pub(super) fn by_line(&self, judged: &Judgement, line: &str) -> Vec<Guarded> {
        let mut found = self.by_plain_line(judged, line);
        found.extend(self.rewritten(judged, line));
        found
    }

    /// As [`Place::by_line`], by what the line itself says.
    pub(super) fn by_plain_line(&self, judged: &Judgement, line: &str) -> Vec<Guarded> {
        let mut found: Vec<Guarded> = Vec::new();
        for touch in &judged.touches {
            let guarded = match touch.path.text() {
                Some(written) => self.touched(&written, touch.access).or_else(|| {
                    if written.len() > MAX_PATH_BYTES {
                        return change(touch.access).map(|_| too_long());
                    }
                    let rest = beyond(&written)?;
                    self.may_touch(&Pattern(vec![Piece::Any, Piece::Text(rest)]), touch.access)
                }),
                None => {
                    let half = || self.half_named(&touch.path, touch.access);
                    self.may_touch(&touch.path, touch.access).or_else(half)
                }
            };
            found.extend(guarded);
        }
        if judged.problem.is_some() || sets_dots_elsewhere(line) {
            let may_remove = |pattern: &Pattern| self.may_touch(pattern, Access::Remove);
            found.extend(patterns(line).iter().filter_map(may_remove));
        }
        found.extend(self.forged(judged));
        found.extend(self.clients(judged));
        found.extend(self.within(judged, line));
        found.extend(self.named(judged));
        found.extend(self.copied(judged, line));
        found.extend(self.guard_program(judged, line));
        found.extend(self.packed(judged));
        found.extend(self.unpacked(judged));
        found.extend(self.listed(judged, line));
        found.extend(self.patched(judged, line));
        found.extend(self.through_descriptors(judged));
        found.extend(self.spoken_of(judged, line));
        found
    }

    /// By the messages to the guard that the line sends: they may be about any project.
    pub(super) fn forged(&self, judged: &Judgement) -> Vec<Guarded> {
        let found: Vec<_> = judged.parts.iter().filter_map(|part| forged(&part.command.words)).collect();
        if !found.is_empty() {
            self.protected.note_others();
        }
        found
    }

    /// By what the line reads, where it also writes to something that is open: what was opened to be read is then opened
    /// anew.
    fn through_descriptors(&self, judged: &Judgement) -> Vec<Guarded> {
        let open = |text: &str| text == "/dev/stdin" || text.starts_with("/dev/fd/") || text.starts_with("/proc/");
        let words = judged.parts.iter().flat_map(|part| part.words.iter().skip(1)).filter_map(Pattern::text);
        let written = judged.touches.iter().filter(|touch| change(touch.access).is_some());
        if !written.filter_map(|touch| touch.path.text()).chain(words).any(|text| open(&text)) {
            return Vec::new();
        }
        let read = judged.touches.iter().filter(|touch| touch.access == Access::Read);
        read.filter_map(|touch| self.touched(&touch.path.text()?, Access::Write)).collect()
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
    pub(super) fn by_arguments(&self, tool: &str, input: &Value, shell: &Shell) -> Vec<Guarded> {
        let mut found = Vec::new();
        let removes = removes(tool);
        let input = if tool == REGISTER { keyed_patterns(input) } else { Cow::Borrowed(input) };
        each_text(&input, "", &mut |name, text| {
            if is_typed(text) {
                found.push(Guarded { part: Part::State, path: text.chars().take(60).collect() });
            }
            if text.contains('\n') && is_patch(text) {
                found.extend(text.lines().find_map(|line| self.headed(line)));
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
    pub(super) fn absolute(&self, written: &str) -> PathBuf {
        self.protected.resolve(self.base, written).unwrap_or_else(|| self.base.join(written))
    }

    /// A known path.
    pub(super) fn touched(&self, written: &str, access: Access) -> Option<Guarded> {
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
    pub(super) fn may_touch(&self, path: &Pattern, access: Access) -> Option<Guarded> {
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
        let held = known.rsplit_once('/').and_then(|(folder, _)| self.holds(folder)).map(|held| held.part);
        let exists = || {
            let paths = matched(path, self.base, self.protected.home());
            paths.iter().find_map(|path| self.protected.part(&self.absolute(path.to_str()?), change))
        };
        let part = below.or(held).or_else(|| self.protected.could_mean(path, change, self.base)).or_else(exists)?;
        Some(Guarded { part, path: shown(path) })
    }

    /// A folder below the one that the line starts in, or elsewhere, that holds something of the guard's own.
    fn holds(&self, written: &str) -> Option<Guarded> {
        let leads = self.absolute(written);
        let around = self.base.starts_with(&leads) || Path::new(self.protected.home()).starts_with(&leads);
        let part = if around { None } else { self.protected.part(&leads, Change::Remove) }?;
        Some(Guarded { part, path: written.to_string() })
    }

    /// If the line has a program or a path that could be anything: by the names that it contains.
    fn spoken_of(&self, judged: &Judgement, line: &str) -> Option<Guarded> {
        let opaque = |verdict| matches!(verdict, Verdict::Execute | Verdict::Unknown);
        let loose = judged.touches.iter().any(|touch| change(touch.access).is_some() && touch.path.text().is_none());
        let own = |text: &str| {
            let plain = unescaped(text);
            let plain = plain.as_deref().unwrap_or(text);
            let wholes = [plain, text].map(|text| [whole(text, ""), whole(text, "/"), strung(text)]);
            let wholes = wholes.into_iter().flatten().chain([(plain != text).then(|| plain.to_owned())]);
            let wholes: Vec<_> = wholes.collect();
            let mut texts = std::iter::once(text).chain(wholes.iter().filter_map(Option::as_deref));
            let speaks = |text: &str| self.protected.spoken_of(text).map(|(part, path)| Guarded { part, path });
            let names = |text: &str| paths_in(text).find_map(|path| self.touched(path, Access::Write));
            texts.find_map(|text| speaks(text).or_else(|| names(text)))
        };
        let scripts = judged.parts.iter().filter(|part| opaque(part.command.verdict)).flat_map(|part| &part.words);
        // A program that nobody can see into gets its script as its input too.
        let any_opaque = judged.parts.iter().any(|part| opaque(part.command.verdict));
        let prints = |part: &&phasegate_shell::Part| any_opaque && line.contains('|') && is_one_of(part, &PRINTS);
        let printed = judged.parts.iter().filter(prints).flat_map(|part| &part.words);
        let here = (any_opaque && line.contains("<<")).then(|| line.to_owned());
        let mut hidden = scripts.chain(printed).map(shown).chain(here).flat_map(|text| hidden_patterns(&text));
        // What a script does to them is not known: it may remove them.
        if let Some(guarded) = hidden.find_map(|pattern| self.may_touch(&pattern, Access::Remove)) {
            return Some(guarded);
        }
        if loose || judged.problem.is_some() {
            // The line may put names together, as from a list of parts.
            let together = || {
                let close = |sign: &char| !sign.is_whitespace() && !"'\"(),+".contains(*sign);
                let text: String = line.chars().filter(close).collect();
                self.protected.spoken_of(&text).map(|(part, path)| Guarded { part, path })
            };
            return own(line).or_else(|| words_of(line).find_map(|word| self.holds(word))).or_else(together);
        }
        let unseen = judged.parts.iter().filter(|part| opaque(part.command.verdict) || part.unnamed);
        let folders = unseen.clone().flat_map(|part| &part.folders).filter_map(Pattern::text);
        let words = unseen.flat_map(|part| part.words.iter().skip(1)).filter_map(Pattern::text);
        let named = |text: String| {
            let values = values(text.clone());
            words_of(&text).chain(values.iter().map(String::as_str)).find_map(|word| self.holds(word))
        };
        if let Some(guarded) = folders.chain(words).find_map(named) {
            return Some(guarded);
        }
        let opaque: Vec<_> = judged.parts.iter().filter(|part| opaque(part.command.verdict)).collect();
        if opaque.is_empty() {
            return None;
        }
        let words = || opaque.iter().flat_map(|part| part.words.iter().skip(1));
        // What is too long for a path and has blanks is a script, or a text for people: it is searched below.
        let is_path = |word: &&Pattern| !(is_too_long(word) && has_blanks(word));
        if let Some(guarded) = words().filter(is_path).find_map(|word| self.may_touch(word, Access::Write)) {
            return Some(guarded);
        }
        let assigned = opaque.iter().flat_map(|part| &part.command.assignments).filter_map(|(_, word)| match word {
            Word::Known(text) => Some(text.clone()),
            Word::Unknown | Word::Value => None,
        });
        let text = words().map(shown).chain(assigned).collect::<Vec<_>>().join("\n");
        // What such a program gets as its input is not among its words.
        let fed = line.contains("<<") || text.contains(SUBSTITUTED) || opaque.iter().any(|part| is_one_of(part, &FED));
        own(&text).or_else(|| fed.then(|| own(line)).flatten())
    }
}

/// What is told of a path that is not looked at.
fn too_long() -> Guarded {
    Guarded { part: Part::Policy, path: "a path that is too long to be looked at".to_owned() }
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

/// Whether a line makes patterns match hidden names in a shell that it starts, or in folders of any depth.
fn sets_dots_elsewhere(line: &str) -> bool {
    (line.contains("-O") && line.contains("dotglob")) || line.contains("BASHOPTS") || line.contains("globstar")
}

/// The words of a script that are patterns of hidden names.
fn hidden_patterns(text: &str) -> Vec<Pattern> {
    let hidden = |word: &str| {
        let names = word.split('/').filter_map(|name| name.strip_prefix('.'));
        let mut lettered = names.filter(|name| name.starts_with(|first: char| first.is_ascii_alphabetic()));
        lettered.any(|name| name.contains(['*', '?']))
    };
    let ends = |sign: char| sign.is_whitespace() || "'\"`()<>|;,=&${}".contains(sign);
    let words: Vec<String> = text.split(ends).filter(|word| hidden(word)).map(str::to_owned).collect();
    words.into_iter().take(MAX_WORDS).flat_map(|word| patterns(&word)).collect()
}

/// A text with the characters in place of the escapes that scripts write for them; `None` if there are none.
fn unescaped(text: &str) -> Option<String> {
    let (mut out, mut rest, mut any) = (String::new(), text, false);
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let digits = |from: usize, most: usize, radix: u32| {
            let digits = after.get(from..).unwrap_or_default();
            let length = digits.chars().take(most).take_while(|sign| sign.is_digit(radix)).count();
            let value = digits.get(..length).and_then(|digits| u32::from_str_radix(digits, radix).ok());
            value.and_then(char::from_u32).map(|sign| (sign, from.saturating_add(length)))
        };
        let found = match after.chars().next() {
            Some('x') if after.starts_with("x{") => digits(2, 6, 16).map(|(sign, end)| (sign, end.saturating_add(1))),
            Some('u') if after.starts_with("u{") => digits(2, 6, 16).map(|(sign, end)| (sign, end.saturating_add(1))),
            Some('x') => digits(1, 2, 16),
            Some('u') => digits(1, 4, 16),
            Some('U') => digits(1, 8, 16),
            Some('0'..='7') => digits(0, 3, 8),
            _ => None,
        };
        match found {
            Some((sign, end)) => {
                any = true;
                out.push(sign);
                rest = after.get(end..).unwrap_or_default();
            }
            None => {
                out.push('\\');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    any.then_some(out)
}

/// A text with strings that stand beside each other written as one, where a string ends with the sign that it begins with.
fn strung(text: &str) -> Option<String> {
    let (mut out, mut rest, mut joined) = (String::new(), text, false);
    while let Some(at) = rest.find(QUOTES) {
        let (before, string) = rest.split_at(at);
        out.push_str(before);
        let Some(quote) = string.chars().next() else { break };
        let Some((inside, after)) = string.get(1..).and_then(|string| string.split_once(quote)) else {
            rest = string;
            break;
        };
        out.push_str(inside);
        let next = after.find(QUOTES).map(|at| after.split_at(at)).filter(|(gap, _)| JOINS.contains(&gap.trim()));
        if let Some((_, string)) = next {
            joined = true;
            rest = string;
        } else {
            out.push(quote);
            rest = after;
        }
    }
    out.push_str(rest);
    joined.then_some(out)
}

/// A text with strings that a script puts together written as one, with this between them; `None` if there are none.
fn whole(text: &str, between: &str) -> Option<String> {
    let (mut whole, mut rest, mut joined) = (String::new(), text, false);
    while let Some((before, after)) = rest.split_once(QUOTES) {
        whole.push_str(before);
        let next = after.split_once(QUOTES).filter(|(gap, _)| JOINS.contains(&gap.trim()));
        if let Some((_, opened)) = next {
            // The quote closes a string, and the one behind it opens the next.
            whole.push_str(between);
            (rest, joined) = (opened, true);
        } else {
            whole.push('"');
            rest = after;
        }
    }
    whole.push_str(rest);
    joined.then_some(whole)
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

/// The rest of a path through another process's folder or files, which this process cannot see.
fn beyond(written: &str) -> Option<String> {
    let ways = ["cwd", "root", "fd"].map(|name| format!("/{name}/"));
    let below = written.strip_prefix("/proc/").or_else(|| written.strip_prefix("/dev"))?;
    ways.iter().find_map(|way| below.split_once(way.as_str())).map(|(_, rest)| format!("/{rest}"))
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

pub(super) fn change(access: Access) -> Option<Change> {
    match access {
        Access::Write => Some(Change::Write),
        Access::Remove => Some(Change::Remove),
        Access::Read | Access::Execute => None,
    }
}

pub(super) fn shown(path: &Pattern) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Any | Piece::Tree | Piece::Glob => "*".to_string(),
        Piece::Home => "~".to_string(),
    };
    path.0.iter().map(piece).collect()
}
