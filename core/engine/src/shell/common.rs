//! Whether two command patterns select a command in common.

use alloc::collections::BTreeSet;

use crate::calls::analysis::{SimpleCommand, Word};
use crate::prelude::*;
use crate::shell::words::{SYSTEM_FOLDERS, command, fits};
use crate::state::redacted_tests::Fit;

/// A command that both patterns select; `None` if there is none, or only one whose words a shell takes for more than one
/// command.
pub fn common(one: &str, other: &str) -> Option<SimpleCommand> {
    let (a, b): (Vec<&str>, Vec<&str>) = (one.split_whitespace().collect(), other.split_whitespace().collect());
    let both = |command: &SimpleCommand| fits(command, one) == Fit::Yes && fits(command, other) == Fit::Yes;
    let plain = both_select(&a, &b).filter(both);
    plain.or_else(|| in_a_folder(&a, &b).chain(in_a_folder(&b, &a)).find(both))
}

/// Commands in common where the first pattern means a program of the system by its bare name.
fn in_a_folder<'p>(bare: &'p [&str], whole: &'p [&str]) -> impl Iterator<Item = SimpleCommand> + 'p {
    let name = bare.first().filter(|_| whole.first().is_some_and(|program| program.contains('/')));
    name.into_iter().flat_map(move |name| {
        SYSTEM_FOLDERS.iter().filter_map(move |folder| {
            let program = [*folder, *name].concat();
            both_select(&[&[program.as_str()], bare.get(1..).unwrap_or_default()].concat(), whole)
        })
    })
}

fn both_select(a: &[&str], b: &[&str]) -> Option<SimpleCommand> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let mut words = Vec::new();
    walk(a, b, &mut words, &mut BTreeSet::new()).then_some(())?;
    if words.is_empty() {
        words.push("a".into());
    }
    let divides = |word: &String| word.contains(|letter| "|&;<>()$`\n".contains(letter));
    (!words.iter().any(divides)).then(|| command(words.into_iter().map(Word::Known).collect()))
}

/// Whether the rests of two patterns select the same words, which are added to `words`. `dead`: by length, the rests that
/// do not.
fn walk(a: &[&str], b: &[&str], words: &mut Vec<String>, dead: &mut BTreeSet<(usize, usize)>) -> bool {
    let Some(((first, rest), (other, others))) = a.split_first().zip(b.split_first()) else {
        return a.iter().chain(b).all(|word| *word == "*");
    };
    if dead.contains(&(a.len(), b.len())) {
        return false;
    }
    let (many, several) = (*first == "*", *other == "*");
    if (many && walk(rest, b, words, dead)) || (several && walk(a, others, words, dead)) {
        return true;
    }
    if !(many && several)
        && let Some(word) = common_word(first, other)
    {
        words.push(word);
        if walk(if many { a } else { rest }, if several { b } else { others }, words, dead) {
            return true;
        }
        words.pop();
    }
    dead.insert((a.len(), b.len()));
    false
}

/// A text that both patterns of one word select.
fn common_word(one: &str, other: &str) -> Option<String> {
    if !one.contains('*') && !other.contains('*') {
        return (one == other).then(|| one.into());
    }
    let (a, b): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut text = String::new();
    let found = spell(&a, &b, &mut text, &mut BTreeSet::new());
    // Only stars alone have nothing in common that must stand there.
    found.then(|| if text.is_empty() { "a".into() } else { text })
}

fn spell(a: &[char], b: &[char], text: &mut String, dead: &mut BTreeSet<(usize, usize)>) -> bool {
    let Some(((first, rest), (other, others))) = a.split_first().zip(b.split_first()) else {
        return a.iter().chain(b).all(|letter| *letter == '*');
    };
    if dead.contains(&(a.len(), b.len())) {
        return false;
    }
    let (many, several) = (*first == '*', *other == '*');
    if (many && spell(rest, b, text, dead)) || (several && spell(a, others, text, dead)) {
        return true;
    }
    let letter = match (many, several) {
        (true, true) => None,
        (true, false) => Some(*other),
        (false, true) => Some(*first),
        (false, false) => (first == other).then_some(*first),
    };
    if let Some(letter) = letter {
        text.push(letter);
        if spell(if many { a } else { rest }, if several { b } else { others }, text, dead) {
            return true;
        }
        text.pop();
    }
    dead.insert((a.len(), b.len()));
    false
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use proptest::prelude::*;

    use super::*;

    /// All commands of up to three words of up to three letters of `a` and `b`.
    fn commands() -> Vec<SimpleCommand> {
        let words: Vec<String> = texts(3).into_iter().filter(|word| !word.is_empty()).collect();
        let mut all: Vec<Vec<Word>> = vec![Vec::new()];
        let mut last = all.clone();
        for _ in 0..3 {
            let longer = |start: &Vec<Word>| {
                let start = start.clone();
                words.iter().map(move |word| [start.clone(), vec![Word::Known(word.clone())]].concat())
            };
            last = last.iter().flat_map(longer).collect();
            all.extend(last.iter().cloned());
        }
        all.into_iter().filter(|words| !words.is_empty()).map(command).collect()
    }

    fn texts(longest: usize) -> Vec<String> {
        let mut all = vec![String::new()];
        for from in 0..(1 << longest) - 1 {
            let start: String = all[from].clone();
            all.extend(['a', 'b'].map(|letter| {
                let mut text = start.clone();
                text.push(letter);
                text
            }));
        }
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn a_common_command_is_found_wherever_there_is_one(
            one in "[ab*]{1,2}( [ab*]{1,2}){0,1}", other in "[ab*]{1,2}( [ab*]{1,2}){0,1}",
        ) {
            let both = |command: &SimpleCommand| fits(command, &one) == Fit::Yes && fits(command, &other) == Fit::Yes;
            let found = common(&one, &other);
            // Two letters and two words each: what is in common is in common in three letters and three words.
            prop_assert_eq!(found.is_some(), commands().iter().any(both), "{} and {}", one, other);
            prop_assert!(found.as_ref().is_none_or(both));
        }
    }

    #[test]
    fn patterns_have_commands_in_common() {
        let cases = [
            ("foo * x", "foo y *", Some("foo y x")),
            ("foo *a", "foo b*", Some("foo ba")),
            ("git * --dry-run", "git push *", Some("git push --dry-run")),
            ("git push", "/usr/bin/git *", Some("/usr/bin/git push")),
            ("make CC=gcc *", "make *", Some("make CC=gcc")),
            ("* all", "make *", Some("make all")),
            ("*", "*", Some("a")),
            ("foo a", "foo b", None),
            ("foo a*", "foo *b c", None),
            ("make | tee", "make *", None),
        ];
        for (one, other, wanted) in cases {
            let words = |line: &str| line.split(' ').map(|word| Word::Known(word.into())).collect::<Vec<_>>();
            let found = common(one, other).map(|command| command.words);
            assert_eq!(found, wanted.map(words), "{one}: {other}");
        }
    }
}
