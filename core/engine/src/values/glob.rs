//! Globs: patterns of texts and of paths.

mod group;

use core::fmt;
use core::ops::Deref;

use once_cell::race::OnceBox;
use serde::{Deserialize, Serialize};

use crate::prelude::*;

pub use self::group::{FileSet, Files, Group};

/// Whether a text fits a pattern in which `*` stands for any characters, also none.
pub fn text_fits(pattern: &str, text: &str) -> bool {
    let Some((begin, rest)) = split_first(pattern, b'*') else { return pattern == text };
    let (middle, end) = split_last(rest, b'*').unwrap_or(("", rest));
    // Most patterns fit no text, and few have anything between two stars.
    let between = text.strip_prefix(begin).and_then(|text| text.strip_suffix(end));
    let Some(mut between) = between else { return false };
    for part in middle.split('*').filter(|part| !part.is_empty()) {
        let Some(after) = after_part(between, part) else { return false };
        between = after;
    }
    true
}

/// What stands after the first place where the part stands, which is not empty. A byte that a letter begins with stands
/// nowhere else in a text.
fn after_part<'t>(text: &'t str, part: &str) -> Option<&'t str> {
    let first = part.bytes().next()?;
    let places = text.bytes().enumerate().filter(|(_, byte)| *byte == first);
    let mut rests = places.filter_map(|(place, _)| text.get(place..));
    rests.find_map(|rest| rest.strip_prefix(part))
}

/// What stands before and after the first of these letters of ASCII. Texts here are short: a plain walk is the fastest.
fn split_first(text: &str, letter: u8) -> Option<(&str, &str)> {
    split_at(text, text.bytes().position(|byte| byte == letter)?)
}

/// What stands before and after the last of these letters of ASCII.
fn split_last(text: &str, letter: u8) -> Option<(&str, &str)> {
    split_at(text, text.bytes().rposition(|byte| byte == letter)?)
}

/// What stands before and after the letter of ASCII at a place.
fn split_at(text: &str, place: usize) -> Option<(&str, &str)> {
    Some((text.get(..place)?, text.get(place.saturating_add(1)..)?))
}

/// Whether a path fits a pattern: `*` and `?` stand for characters other than `/`, `**` for any folders, also none, and
/// `{a,b}` for one of several texts. A relative pattern fits no absolute path. A pattern that ends in `/**` fits everything
/// below the folder. The stored text of a [`Group`] is a pattern too.
pub fn path_fits(pattern: &str, path: &str) -> bool {
    if let Some(group) = Group::read(pattern) {
        return Set::of(&group.files).fits(path);
    }
    // Most patterns fit no path of a call, so the plain text that they begin with is compared before anything else.
    let plain = pattern.find(['*', '?', '{']).and_then(|end| pattern.get(..end)).unwrap_or_default();
    if !path.starts_with(plain) {
        return false;
    }
    if let Some((before, choices, after)) = braces(pattern) {
        // A plain end is compared before anything is put together.
        let plain = |choice: &str| after.is_empty() && !choice.contains(['*', '?', '{', '/']);
        let may = |choice: &&&str| !plain(choice) || path.ends_with(**choice);
        return choices.iter().filter(may).any(|choice| path_fits(&[before, choice, after].concat(), path));
    }
    if pattern.starts_with('/') != path.starts_with('/') {
        return false;
    }
    // So is the last name.
    let (last, name) = (last_name(pattern), last_name(path));
    if last != "**" && !name_fits(last, name) {
        return false;
    }
    let pattern: Vec<&str> = pattern.split('/').collect();
    let path: Vec<&str> = path.split('/').collect();
    parts_fit(&pattern, &path)
}

/// A pattern of paths as [`path_fits`] has it. It is stored as its text. Its braces are written out when it is first
/// asked: a policy has thousands of such texts, and most calls ask for few of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Glob {
    text: String,
    selects: OnceBox<Set>,
}

impl PartialEq for Glob {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Glob {}

/// What patterns select, less what others do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Set {
    /// The patterns without braces that it stands for.
    choices: Vec<Choice>,
    /// What it selects besides.
    sets: Vec<Set>,
    /// What it selects nothing of.
    except: Vec<Set>,
}

impl Set {
    fn of_pattern(pattern: &str) -> Self {
        Self { choices: choices(pattern).into_iter().map(Choice::new).collect(), ..Self::default() }
    }

    fn of(files: &FileSet) -> Self {
        let of_one = |files: &Files| match files {
            Files::Pattern(pattern) => Self::of_pattern(pattern),
            Files::Set(set) => Self::of(set),
        };
        let mut all = Self { except: files.except.iter().map(of_one).collect(), ..Self::default() };
        for set in files.any.iter().map(of_one) {
            match set.except.is_empty() && set.sets.is_empty() {
                true => all.choices.extend(set.choices),
                false => all.sets.push(set),
            }
        }
        all
    }

    fn fits(&self, path: &str) -> bool {
        let selected =
            self.choices.iter().any(|choice| choice.fits(path)) || self.sets.iter().any(|set| set.fits(path));
        selected && !self.except.iter().any(|set| set.fits(path))
    }

    /// Whether one of its patterns is so, whatever is excepted.
    fn any(&self, is: &dyn Fn(&Choice) -> bool) -> bool {
        self.choices.iter().any(is) || self.sets.iter().any(|set| set.any(is))
    }

    /// Whether one of its patterns is so, and nothing is excepted from it.
    fn wholly(&self, is: &dyn Fn(&Choice) -> bool) -> bool {
        self.except.is_empty() && (self.choices.iter().any(is) || self.sets.iter().any(|set| set.wholly(is)))
    }

    /// Whether one of its patterns is so in a folder of which not all is excepted.
    fn may(&self, folder: &str, is: &dyn Fn(&Choice) -> bool) -> bool {
        let here = self.choices.iter().any(is) || self.sets.iter().any(|set| set.may(folder, is));
        let all = |choice: &Choice| choice.goes_on_below(folder) || choice.has_all_below(folder);
        here && !self.except.iter().any(|set| set.wholly(&all))
    }
}

/// A pattern without braces.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Choice {
    text: String,
    shape: Shape,
}

/// The shapes that most patterns have, so that no pattern of these is taken apart for a call. The numbers are places in
/// the text: where its last name begins, and where the plain end of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// `src/main.rs`.
    Plain,
    /// `src/**`.
    Below { folder: usize },
    /// `docs/*.md`.
    Here { folder: usize, end: usize },
    /// `src/**/test_*.rs`.
    Deep { folder: usize, name: usize, end: usize },
    /// `src/**/tests/**`.
    Within { folder: usize, name: usize },
    /// Any other.
    Any { end: usize },
}

impl Shape {
    fn of(text: &str) -> Self {
        let Some(wild) = text.find(['*', '?']) else { return Self::Plain };
        let after = |at: usize| at.saturating_add(1);
        let folder = text.get(..wild).and_then(|begin| begin.rfind('/')).map_or(0, after);
        let end = text.rfind(['*', '?', '/']).map_or(0, after);
        let rest = text.get(folder..).unwrap_or_default();
        let place = |end: &str| text.len().saturating_sub(end.len());
        let is_name = |name: &str| name != "**" && !name.contains(['?', '/']);
        match rest.strip_prefix("**/") {
            _ if rest == "**" => Self::Below { folder },
            _ if is_name(rest) => Self::Here { folder, end },
            Some(name) if is_name(name) => Self::Deep { folder, name: place(name), end },
            Some(name) if name.strip_suffix("/**").is_some_and(is_name) => Self::Within { folder, name: place(name) },
            _ => Self::Any { end },
        }
    }
}

impl Choice {
    fn new(text: String) -> Self {
        Self { shape: Shape::of(&text), text }
    }

    fn fits(&self, path: &str) -> bool {
        let ends = |end: usize| self.text.get(end..).is_some_and(|end| path.ends_with(end));
        let name_fits = |from: usize, name: &str| self.text.get(from..).is_some_and(|pattern| text_fits(pattern, name));
        // A pattern that begins with a star is relative.
        let rest = |folder: usize| {
            let rest = self.text.get(..folder).and_then(|begin| path.strip_prefix(begin));
            rest.filter(|_| folder > 0 || !path.starts_with('/'))
        };
        match self.shape {
            Shape::Plain => self.text == path,
            Shape::Below { folder } => rest(folder).is_some(),
            Shape::Here { folder, end } => {
                ends(end)
                    && rest(folder).is_some_and(|rest| split_last(rest, b'/').is_none() && name_fits(folder, rest))
            }
            Shape::Deep { folder, name, end } => {
                ends(end) && rest(folder).is_some_and(|rest| name_fits(name, last_name(rest)))
            }
            Shape::Within { folder, name } => {
                let pattern = self.text.get(name..).and_then(|rest| rest.strip_suffix("/**")).unwrap_or_default();
                let folders = rest(folder).and_then(|rest| split_last(rest, b'/')).map(|(folders, _)| folders);
                folders.is_some_and(|folders| folders.split('/').any(|name| text_fits(pattern, name)))
            }
            Shape::Any { end } => ends(end) && path_fits(&self.text, path),
        }
    }

    /// Whether a file below this folder, at any depth, may be selected, whose path ends as one of these texts does, whatever
    /// the case.
    fn may_select_below(&self, folder: &str, ends: &[String]) -> bool {
        let lies = match folder {
            "" | "." => !self.text.starts_with('/'),
            "/" => true,
            folder => self.text.starts_with('/') == folder.starts_with('/') && may_lie_in(&self.text, folder),
        };
        lies && ends.iter().any(|end| self.may_end_as(end))
    }

    fn may_end_as(&self, end: &str) -> bool {
        let own = last_name(&self.text).rsplit(['*', '?']).next().unwrap_or_default();
        let (shorter, longer) = if own.len() < end.len() { (own, end) } else { (end, own) };
        let tail = longer.len().checked_sub(shorter.len()).and_then(|from| longer.get(from..));
        tail.is_some_and(|tail| tail.eq_ignore_ascii_case(shorter))
    }

    /// Whether everything below this folder is selected, as the folder itself is.
    fn goes_on_below(&self, folder: &str) -> bool {
        self.text.ends_with("**") && self.fits(folder)
    }

    /// Whether everything below this folder is selected.
    fn has_all_below(&self, folder: &str) -> bool {
        self.text.strip_suffix("/**").is_some_and(|start| path_fits(start, folder))
    }

    fn lies_below(&self, folder: &str) -> bool {
        self.text.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')) && !folder.contains(['*', '?'])
    }
}

impl Glob {
    fn selects(&self) -> &Set {
        let of = |text| Group::read(text).map_or_else(|| Set::of_pattern(text), |group| Set::of(&group.files));
        self.selects.get_or_init(|| Box::new(of(&self.text)))
    }

    /// The group that it is, if it is one.
    pub fn group(&self) -> Option<Group> {
        Group::read(&self.text)
    }

    /// The folder of the project of which it selects everything, and nothing else.
    pub fn whole_folder(&self) -> Option<&str> {
        let folder = self.text.strip_suffix("/**").filter(|_| self.group().is_none())?;
        let is_plain =
            |name: &str| !name.is_empty() && !name.starts_with('.') && !name.contains(['*', '?', '{', '}', '!']);
        folder.split('/').all(is_plain).then_some(folder)
    }

    /// Whether a path fits, as [`path_fits`] says.
    pub fn fits(&self, path: &str) -> bool {
        self.selects().fits(path)
    }

    /// Whether what it fits lies below this folder, as [`lies_below`] says.
    pub fn lies_below(&self, folder: &str) -> bool {
        self.selects().any(&|choice| choice.lies_below(folder))
    }

    /// Whether it selects every path of the project.
    pub fn selects_all(&self) -> bool {
        self.selects().wholly(&|choice| choice.text == "**" || choice.text == "**/*")
    }

    /// Whether a file that it selects may lie in this folder, at any depth. Of the folders of the whole machine, only those
    /// count of which the pattern names the last: `/**/.agent/plans/*.md` does not open each of them.
    pub fn may_lie_in(&self, folder: &str) -> bool {
        self.selects().may(folder, &|choice| match choice.text.strip_prefix("/**/") {
            Some(rest) if rest.contains('/') => names_last(rest, folder),
            _ => may_lie_in(&choice.text, folder),
        })
    }

    /// Whether it may select a file below this folder, at any depth, whose path ends as one of these texts does.
    pub fn may_select_below(&self, folder: &str, ends: &[String]) -> bool {
        self.selects().may(folder, &|choice| choice.may_select_below(folder, ends))
    }

    /// Whether it selects this folder and everything that lies in it.
    pub fn has_all_of(&self, folder: &str) -> bool {
        self.selects().wholly(&|choice| choice.goes_on_below(folder))
    }

    /// Whether it selects all that lies in a folder, at any depth.
    pub fn has_all_below(&self, folder: &str) -> bool {
        self.selects().wholly(&|choice| choice.has_all_below(folder))
    }
}

impl From<String> for Glob {
    fn from(text: String) -> Self {
        Self { text, selects: OnceBox::new() }
    }
}

impl From<&str> for Glob {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<Glob> for String {
    fn from(glob: Glob) -> Self {
        glob.text
    }
}

impl Deref for Glob {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

/// In words: the pattern, or what a file of the group is.
impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&in_words(&self.text))
    }
}

/// A pattern for people and agents: as it is, and of a group what one of its files is.
pub fn in_words(pattern: &str) -> String {
    Group::read(pattern).map_or_else(|| pattern.to_owned(), |group| group.say)
}

/// As [`in_words`], a pattern in backticks.
pub fn quoted(pattern: &str) -> String {
    Group::read(pattern).map_or_else(|| ["`", pattern, "`"].concat(), |group| group.say)
}

fn last_name(path: &str) -> &str {
    split_last(path, b'/').map_or(path, |(_, name)| name)
}

/// Whether what a pattern fits lies below this folder: the pattern begins with the folder's path, without a star.
pub fn lies_below(pattern: &str, folder: &str) -> bool {
    if let Some(group) = Group::read(pattern) {
        return group.files.patterns().into_iter().any(|pattern| lies_below(pattern, folder));
    }
    let plain = pattern.split('{').next().unwrap_or_default();
    if !folder.starts_with(plain) && !plain.starts_with(folder) {
        return false;
    }
    if let Some((before, choices, after)) = braces(pattern) {
        return choices.iter().any(|choice| lies_below(&[before, choice, after].concat(), folder));
    }
    pattern.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')) && !folder.contains(['*', '?'])
}

/// Whether a file that a pattern without braces selects may lie in this folder, at any depth.
fn may_lie_in(pattern: &str, folder: &str) -> bool {
    let (mut pattern, mut names) = (pattern.split('/'), folder.split('/'));
    loop {
        match (pattern.next(), names.next()) {
            (Some("**"), _) => return true,
            (Some(part), Some(name)) if name_fits(part, name) => {}
            (Some(_), None) => return true,
            (_, _) => return false,
        }
    }
}

/// Whether a folder ends as the first parts of a pattern do, which has a file behind them.
fn names_last(pattern: &str, folder: &str) -> bool {
    let parts: Vec<&str> = pattern.split('/').collect();
    let names: Vec<&str> = folder.split('/').collect();
    (1..parts.len()).any(|length| {
        let (begin, end) = (parts.get(..length), names.len().checked_sub(length).and_then(|at| names.get(at..)));
        begin.zip(end).is_some_and(|(begin, end)| begin.iter().zip(end).all(|(part, name)| name_fits(part, name)))
            && folder.starts_with('/')
    })
}

/// The patterns without braces that a pattern of paths stands for; of a group, those of what it may select.
pub fn choices(pattern: &str) -> Vec<String> {
    if let Some(group) = Group::read(pattern) {
        return group.files.patterns().into_iter().flat_map(choices).collect();
    }
    match braces(pattern) {
        Some((before, inside, after)) => {
            inside.iter().flat_map(|choice| choices(&[before, choice, after].concat())).collect()
        }
        None => alloc::vec![pattern.to_owned()],
    }
}

/// How many [`choices`] a pattern has, without making them.
pub fn count(pattern: &str) -> usize {
    let mut all = 1_usize;
    let mut rest = pattern;
    while let Some((_, inside, after)) = braces(rest) {
        let here = inside.iter().fold(0_usize, |sum, choice| sum.saturating_add(count(choice)));
        all = all.saturating_mul(here);
        rest = after;
    }
    all
}

/// The first group of braces, with what stands before and after it.
fn braces(pattern: &str) -> Option<(&str, Vec<&str>, &str)> {
    let open = pattern.find('{')?;
    let (before, inside) = (pattern.get(..open)?, pattern.get(open.saturating_add(1)..)?);
    let (mut depth, mut start, mut choices) = (0_usize, 0, Vec::new());
    for (at, c) in inside.char_indices() {
        match c {
            '{' => depth = depth.saturating_add(1),
            '}' if depth > 0 => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                choices.push(inside.get(start..at)?);
                start = at.saturating_add(1);
            }
            '}' => {
                choices.push(inside.get(start..at)?);
                return Some((before, choices, inside.get(at.saturating_add(1)..)?));
            }
            _ => {}
        }
    }
    None
}

/// Folder by folder. Which beginnings of the path the pattern so far can stand for is kept as a list of flags, so that
/// the time is bounded by the product of the lengths.
fn parts_fit(pattern: &[&str], path: &[&str]) -> bool {
    let mut reached = alloc::vec![false; path.len().saturating_add(1)];
    if let Some(start) = reached.first_mut() {
        *start = true;
    }
    for (number, part) in pattern.iter().enumerate() {
        let last = number.saturating_add(1) == pattern.len();
        let mut next = alloc::vec![false; reached.len()];
        let mut carried = false;
        for at in 0..reached.len() {
            let here = reached.get(at).copied().unwrap_or(false);
            let name = at.checked_sub(1).and_then(|before| path.get(before));
            let before = at.checked_sub(1).and_then(|before| reached.get(before)).copied().unwrap_or(false);
            let fits = match (*part, name) {
                ("**", _) => {
                    // At the end it stands for something below the folder, so for one name at least.
                    let enough = if last { before || carried } else { here || carried };
                    carried |= here;
                    enough
                }
                (_, None) => false,
                (part, Some(name)) => before && name_fits(part, name),
            };
            if let Some(slot) = next.get_mut(at) {
                *slot = fits;
            }
        }
        reached = next;
    }
    reached.last().copied().unwrap_or(false)
}

/// Whether the name of one file or folder fits.
fn name_fits(pattern: &str, name: &str) -> bool {
    if !pattern.contains('?') {
        return text_fits(pattern, name);
    }
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let mut reached = alloc::vec![false; name.len().saturating_add(1)];
    if let Some(start) = reached.first_mut() {
        *start = true;
    }
    for c in pattern {
        let mut next = alloc::vec![false; reached.len()];
        let mut carried = false;
        for at in 0..reached.len() {
            let here = reached.get(at).copied().unwrap_or(false);
            let before = at.checked_sub(1).and_then(|before| reached.get(before)).copied().unwrap_or(false);
            let letter = at.checked_sub(1).and_then(|before| name.get(before));
            carried |= here;
            let fits = match c {
                '*' => carried,
                '?' => before,
                c => before && letter == Some(&c),
            };
            if let Some(slot) = next.get_mut(at) {
                *slot = fits;
            }
        }
        reached = next;
    }
    reached.last().copied().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_in_a_text_stands_for_any_characters() {
        let fit = [("-out=*", "-out=a/b"), ("*", ""), ("a*b*c", "a-b-b-c"), ("a", "a"), ("*-x", "y-x"), ("a**b", "ab")];
        fit.into_iter().for_each(|(pattern, text)| assert!(text_fits(pattern, text), "{pattern} {text}"));
        let none = [("-out=*", "out=a"), ("a", "ab"), ("a*b", "a"), ("ab*ba", "aba"), ("", "a")];
        none.into_iter().for_each(|(pattern, text)| assert!(!text_fits(pattern, text), "{pattern} {text}"));
    }

    #[test]
    fn braces_stand_for_each_of_their_texts() {
        assert_eq!(choices("a{b,c{,d}}/{e,f}"), ["ab/e", "ab/f", "ac/e", "ac/f", "acd/e", "acd/f"]);
        assert_eq!(choices("a{b"), ["a{b"]);
        for pattern in ["a", "a{b", "a{b,c{,d}}/{e,f}", "{a,{b,c}d}{e,f}{g}"] {
            assert_eq!(count(pattern), choices(pattern).len(), "{pattern}");
        }
        assert_eq!(count(&"{a,b}".repeat(30)), 1 << 30);
    }

    #[test]
    fn a_pattern_of_the_whole_machine_opens_only_folders_that_it_names() {
        let plans = Glob::from("/**/.agent/plans/*.md");
        for folder in ["/srv/u/.agent", "/srv/u/.agent/plans", "/.agent/plans"] {
            assert!(plans.may_lie_in(folder), "{folder}");
        }
        for folder in ["/tmp/x", "/srv/u", "/", "/srv/u/.agent/plans/x", "/srv/u/plans", "src", ".agent/plans"] {
            assert!(!plans.may_lie_in(folder), "{folder}");
        }
        assert!(Glob::from("/**/*.md").may_lie_in("/tmp/x") && Glob::from("src/**").may_lie_in("src/a/b"));
    }

    #[test]
    fn a_pattern_may_select_files_below_a_folder() {
        let below = |pattern: &str, folder: &str, end: &str| {
            Glob::from(pattern).may_select_below(folder, core::slice::from_ref(&String::from(end)))
        };
        let may = [
            ("**/*.py", "src", ""),
            ("**/*.py", "src", ".py"),
            ("**/*.py", "src", "calc.PY"),
            ("**/*.py", ".", ""),
            ("**/*.py", "/", ""),
            ("src/**/*.{rs,py}", "src/sub", ".py"),
            ("src/main.rs", "src", "main.rs"),
            ("src/main.rs", "src", ""),
            ("**/{test_*,*_test}.*", "src", ".py"),
            ("**/tests/**", "src", ".txt"),
            ("docs/*.md", "docs", ".md"),
            ("/etc/**", "/etc", ""),
            ("**/é.py", "src", "é.py"),
        ];
        may.into_iter().for_each(|(pattern, folder, end)| assert!(below(pattern, folder, end), "{pattern} {folder}"));
        let none = [
            ("**/*.py", "notes", ".txt"),
            ("**/*.py", "/tmp/x", ""),
            ("src/**", "docs", ""),
            ("docs/*.md", "docs/sub", ""),
            ("src/main.rs", "src", ".py"),
            ("/etc/**", "etc", ""),
            ("**/é.py", "src", "\u{a9}.py"),
        ];
        none.into_iter().for_each(|(pattern, folder, end)| assert!(!below(pattern, folder, end), "{pattern} {folder}"));
    }

    #[test]
    fn a_pattern_of_paths_fits_by_folders() {
        let fit = [
            ("src/**", "src/a/b.rs"),
            ("src/**", "src/a"),
            ("**/*.test.ts", "a.test.ts"),
            ("**/*.test.ts", "x/y/a.test.ts"),
            ("{src,tests}/**", "tests/a.py"),
            ("a/**/b", "a/b"),
            ("a/**/b", "a/x/y/b"),
            ("docs/*.md", "docs/a.md"),
            ("a?c", "abc"),
            ("a?*.rs", "ab.rs"),
            ("**", "a/b"),
            ("{a,b{c,d}}/x", "bd/x"),
            ("/etc/**", "/etc/passwd"),
            ("src/main.rs", "src/main.rs"),
        ];
        fit.into_iter().for_each(|(pattern, path)| assert!(path_fits(pattern, path), "{pattern} {path}"));
        let none = [
            ("src/**", "src"),
            ("src/**", "src2/a"),
            ("docs/*.md", "docs/a/b.md"),
            ("*.rs", "a/b.rs"),
            ("a?c", "a/c"),
            ("{src,tests}/**", "srctests/a"),
            ("src/main.rs", "/src/main.rs"),
            ("**/passwd", "/etc/passwd"),
        ];
        none.into_iter().for_each(|(pattern, path)| assert!(!path_fits(pattern, path), "{pattern} {path}"));
    }

    /// As [`path_fits`], with nothing compared first.
    fn fits_by_parts(pattern: &str, path: &str) -> bool {
        if let Some((before, choices, after)) = braces(pattern) {
            return choices.iter().any(|choice| fits_by_parts(&[before, choice, after].concat(), path));
        }
        let (parts, names): (Vec<&str>, Vec<&str>) = (pattern.split('/').collect(), path.split('/').collect());
        pattern.starts_with('/') == path.starts_with('/') && parts_fit(&parts, &names)
    }

    #[test]
    fn what_is_compared_first_changes_no_answer() {
        fn joined(parts: &[&str]) -> Vec<String> {
            let mut all: Vec<_> = parts.iter().map(|part| String::from(*part)).collect();
            let mut longer = all.clone();
            for _ in 0..2 {
                longer =
                    longer.iter().flat_map(|one| parts.iter().map(move |part| [one, "/", part].concat())).collect();
                all.extend(longer.clone());
            }
            all
        }
        let paths = joined(&["", "a", "b", "ab", "{a"]);
        let mut fit = 0;
        for pattern in joined(&["", "a", "*", "**", "?", "a*", "a**b", "{a,b}", "{,/**}", "{a", "{b,**}"]) {
            for path in &paths {
                let fits = fits_by_parts(&pattern, path);
                assert_eq!(path_fits(&pattern, path), fits, "{pattern} {path}");
                let glob = Glob::from(pattern.as_str());
                assert_eq!(glob.fits(path), fits, "{pattern} {path}");
                assert_eq!(glob.lies_below(path), lies_below(&pattern, path), "{pattern} {path}");
                fit += u32::from(path_fits(&pattern, path));
            }
        }
        assert!(fit > 1000, "{fit}");
    }
}
