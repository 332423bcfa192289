//! What is refused before anything is parsed.

use crate::judgement::Problem;

/// A line of more bytes than this is not read.
pub const MAX_LINE_BYTES: usize = 16 * 1024;
/// How many brackets and compound keywords may be open at once.
pub(crate) const MAX_NESTING: usize = 64;

/// The first of the letters that stand for holes in a text that is run. No line has them.
pub(crate) const FIRST_SIGN: char = '\u{10ff00}';

/// Refuses a line that no reader could show as it is: too long, or with characters that bash and an eye
/// read differently.
pub(crate) fn check(line: &str) -> Result<(), Problem> {
    check_but(line, |_| false)
}

/// The same of a text with holes.
pub(crate) fn check_script(text: &str) -> Result<(), Problem> {
    check_but(text, is_sign)
}

fn check_but(line: &str, is_hole: impl Fn(char) -> bool) -> Result<(), Problem> {
    if line.len() > MAX_LINE_BYTES {
        return Err(problem(format!("the line is longer than {MAX_LINE_BYTES} bytes"), 0, 0));
    }
    for (at, character) in line.char_indices() {
        if is_refused(character) && !is_hole(character) {
            let code = u32::from(character);
            return Err(problem(
                format!("the line holds the character U+{code:04X}, which shells and people read differently"),
                at,
                at.saturating_add(character.len_utf8()),
            ));
        }
    }
    Ok(())
}

/// Whether a line with this character is not read.
pub fn is_refused(character: char) -> bool {
    match character {
        '\n' | '\t' | ' '..='~' => false,
        '\u{200b}' | '\u{feff}' | '\u{2060}' | '\u{180e}' => true,
        _ => character.is_control() || character.is_whitespace() || is_sign(character),
    }
}

/// Whether a letter stands for a hole.
pub(crate) fn is_sign(letter: char) -> bool {
    ('\u{10ff00}'..='\u{10ff0f}').contains(&letter)
}

/// A problem at a place.
pub(crate) fn problem(what: impl Into<String>, start: usize, end: usize) -> Problem {
    Problem { what: what.into(), span: (offset(start), offset(end)) }
}

/// A byte offset as spans keep it.
pub(crate) fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
