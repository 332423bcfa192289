//! Typos: whether a name is probably a misspelling of another.
//!
//! Names that differ as names of real tools do (`get_user` and `set_user`, `get_test` and `get_tests`, `step_1` and
//! `step_2`) are no sure typos.

mod words;

/// How sure it is that one name is another one, misspelt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Typo {
    /// Both may be real.
    Likely,
    /// Hardly anybody names two tools so.
    Sure,
}

/// A name, taken apart once: it is compared with many others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    words: Vec<String>,
    joined: String,
    digits: Vec<char>,
    /// How often each letter of ASCII stands in it.
    letters: [u8; 26],
    /// Which letters of ASCII stand in it, a bit each.
    present: u32,
}

impl Name {
    pub(crate) fn of(name: &str) -> Self {
        let words = words(name);
        let joined = words.concat();
        let (mut letters, mut present) = ([0_u8; 26], 0);
        for letter in joined.bytes().filter(u8::is_ascii_lowercase) {
            if let Some(count) = letters.get_mut(usize::from(letter - b'a')) {
                *count = count.saturating_add(1);
                present |= 1 << (letter - b'a');
            }
        }
        Self { digits: digits(&joined), words, joined, letters, present }
    }

    /// Whether edits of so many words can make one of the other; two edits of a word change at most four letters.
    fn is_near(&self, other: &Self, words: u32) -> bool {
        let different: u32 = self.letters.iter().zip(&other.letters).map(|(a, b)| u32::from(a.abs_diff(*b))).sum();
        different <= 4 * words
    }
}

/// Whether `name` is `known`, misspelt.
pub(crate) fn typo(name: &str, known: &str) -> Option<Typo> {
    if name == known { None } else { typo_of(&Name::of(name), &Name::of(known)) }
}

/// As [`typo`], of two different names.
pub(crate) fn typo_of(a: &Name, b: &Name) -> Option<Typo> {
    // The first two are quick, and enough for most names.
    if (a.present ^ b.present).count_ones() > 8 || a.digits != b.digits || !a.is_near(b, 2) {
        return None;
    }
    if a.joined == b.joined {
        return Some(Typo::Sure);
    }
    if a.words.len() != b.words.len() {
        let long = a.joined.len().min(b.joined.len()) >= 6;
        return if long && a.is_near(b, 1) { word_typo(&a.joined, &b.joined) } else { None };
    }
    let mut differing = a.words.iter().zip(&b.words).filter(|(a, b)| a != b);
    match (differing.next(), differing.next(), differing.next()) {
        (Some((one, other)), None, _) => word_typo(one, other).filter(|_| a.is_near(b, 1)),
        (Some((a, b)), Some((c, d)), None) => {
            let sure = word_typo(a, b) == Some(Typo::Sure) && word_typo(c, d) == Some(Typo::Sure);
            sure.then_some(Typo::Sure)
        }
        _ => None,
    }
}

/// Whether `name` is `host`, a tool of an agent host, misspelt. These are few and begin with a capital letter: what
/// begins so and is nearly one of them is meant to be one.
pub(crate) fn host_typo(name: &str, host: &str) -> Option<Typo> {
    let (a, b) = (name.to_lowercase(), host.to_lowercase());
    if name != host && a == b {
        return Some(Typo::Sure);
    }
    if name.starts_with(char::is_lowercase) && words(name).concat() == b {
        // `web_search` is how an MCP server names such a tool.
        return Some(Typo::Likely);
    }
    if !name.starts_with(char::is_uppercase) || digits(&a) != digits(&b) {
        return typo(name, host);
    }
    let shorter = a.chars().count().min(b.chars().count());
    let begins_alike = a.chars().next() == b.chars().next();
    match strsim::damerau_levenshtein(&a, &b) {
        1 if shorter >= 3 && (begins_alike || a.chars().count() == 1 + shorter || word_typo(&a, &b).is_some()) => {
            Some(Typo::Sure)
        }
        1 if shorter >= 4 => Some(Typo::Likely),
        2 if shorter >= 7 && begins_alike => Some(Typo::Sure),
        _ => None,
    }
}

/// The words of a name: `apply_edit` and `applyEdit` have two.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower_before = false;
    for letter in name.chars() {
        let starts = !letter.is_alphanumeric() || (letter.is_uppercase() && lower_before);
        if starts && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
        lower_before = letter.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

fn digits(word: &str) -> Vec<char> {
    word.chars().filter(char::is_ascii_digit).collect()
}

/// Whether one word is another one, misspelt.
fn word_typo(a: &str, b: &str) -> Option<Typo> {
    if digits(a) != digits(b) {
        return None;
    }
    if words::is_word(a) && words::is_word(b) {
        return (strsim::damerau_levenshtein(a, b) == 1).then_some(Typo::Likely);
    }
    let (long, short): (Vec<char>, Vec<char>) = if a.chars().count() >= b.chars().count() {
        (a.chars().collect(), b.chars().collect())
    } else {
        (b.chars().collect(), a.chars().collect())
    };
    let before = long.iter().zip(&short).take_while(|(a, b)| a == b).count();
    let rest = short.len() - before;
    let after = long.iter().rev().zip(short.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let differs =
        |word: &[char]| word.iter().skip(before).take(word.len() - before - after).copied().collect::<Vec<_>>();
    match (differs(&long).as_slice(), differs(&short).as_slice()) {
        ([a, b], [c, d]) if (a, b) == (d, c) => (short.len() >= 4 - before.min(1)).then_some(Typo::Sure),
        ([extra], []) => left_out(*extra, &long, before, after),
        ([_], [_]) if before == 0 => None,
        ([_], [_]) if after == 0 => (short.len() >= 5).then_some(Typo::Likely),
        ([_], [_]) => match short.len() {
            0..=4 => None,
            5 => Some(Typo::Likely),
            _ => Some(Typo::Sure),
        },
        _ => {
            let alike = short.len() >= 8 && before > 0 && after > 0 && long.len() <= short.len() + 2;
            (alike && strsim::damerau_levenshtein(a, b) <= 2).then_some(Typo::Sure)
        }
    }
}

/// One letter more in one of two words.
fn left_out(extra: char, long: &[char], before: usize, after: usize) -> Option<Typo> {
    let doubled = before.checked_sub(1).and_then(|at| long.get(at)) == Some(&extra);
    match (before, after) {
        (0, _) => None,
        _ if long.len() < 4 => None,
        (_, 0) if extra == 's' => (long.len() >= 5).then_some(Typo::Likely),
        (_, 0) if !doubled => (long.len() >= 5).then_some(Typo::Likely),
        _ => Some(Typo::Sure),
    }
}

#[cfg(test)]
mod tests {
    use super::{Typo, host_typo, typo};

    #[test]
    fn typos_are_sure_where_no_two_tools_are_named_so() {
        for (name, known) in [
            ("aply_edit", "apply_edit"),
            ("apply_edti", "apply_edit"),
            ("apply-edit", "apply_edit"),
            ("applyEdit", "apply_edit"),
            ("APPLY_EDIT", "apply_edit"),
            ("apply_edt", "apply_edit"),
            ("applyy_edit", "apply_edit"),
            ("blast_raduis", "blast_radius"),
            ("find_refrneces", "find_references"),
            ("analyze", "analyse"),
        ] {
            assert_eq!(typo(name, known), Some(Typo::Sure), "{name} {known}");
            assert_eq!(typo(known, name), Some(Typo::Sure), "{known} {name}");
        }
    }

    #[test]
    fn names_of_real_tools_are_no_sure_typos() {
        for (name, known) in [
            ("get_test", "get_tests"),
            ("get_user", "set_user"),
            ("simulate_chain", "simulate_edit"),
            ("read_file", "load_file"),
            ("read_file", "read_files"),
            ("step_1", "step_2"),
            ("preview_edit", "review_edit"),
            ("create_node", "create_mode"),
            ("import_x", "export_x"),
            ("lock", "unlock"),
            ("get_stats", "get_status"),
            ("get_content", "get_context"),
            ("list_collections", "list_connections"),
            ("upload_file", "unload_file"),
            ("start_lsp", "restart_lsp"),
            ("create", "created"),
            ("a", "b"),
        ] {
            assert_ne!(typo(name, known), Some(Typo::Sure), "{name} {known}");
            assert_ne!(typo(known, name), Some(Typo::Sure), "{known} {name}");
        }
    }

    #[test]
    fn tools_of_hosts_are_known_by_their_capital_letter() {
        for (name, host) in [
            ("Raed", "Read"),
            ("Grepp", "Grep"),
            ("Bsah", "Bash"),
            ("Wirte", "Write"),
            ("wirte", "Write"),
            ("bash", "Bash"),
            ("BASH", "Bash"),
            ("Rea", "Read"),
            ("Edits", "Edit"),
            ("NotebokEdti", "NotebookEdit"),
        ] {
            assert_eq!(host_typo(name, host), Some(Typo::Sure), "{name} {host}");
        }
        for (name, host) in [
            ("Bash", "Bash"),
            ("Head", "Read"),
            ("hash", "Bash"),
            ("emit", "Edit"),
            ("kill", "Skill"),
            ("batch", "Bash"),
            ("web_search", "WebSearch"),
            ("read_file", "Read"),
        ] {
            assert_ne!(host_typo(name, host), Some(Typo::Sure), "{name} {host}");
        }
    }
}
