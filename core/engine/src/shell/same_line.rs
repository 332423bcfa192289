//! Lines of the shell that differ in blanks and quotes alone.

use crate::calls::analysis::{SimpleCommand, Word};
use crate::prelude::*;
use crate::shell::shell_word;

/// What may stand between the commands of a line that is compared word by word.
const OPERATORS: [&str; 8] = ["", "&&", "||", ";", "|", "|&", "&", "\n"];

/// The words of a line with each in the same quotes, and the operators between its commands. Two lines with the same text
/// run the same.
///
/// `None`: a word is known only when the line runs, or the line has more than commands and operators.
pub fn in_words(line: &str, commands: &[SimpleCommand]) -> Option<String> {
    let mut text = String::new();
    let mut from = 0;
    for command in commands {
        let (start, end) = (usize::try_from(command.span.0).ok()?, usize::try_from(command.span.1).ok()?);
        // A command inside another one begins before that ends.
        between(&mut text, line.get(from..start)?)?;
        text.push_str(&command_in_words(command)?);
        from = end;
    }
    between(&mut text, line.get(from..)?)?;
    Some(text)
}

/// The same of one command.
pub fn command_in_words(command: &SimpleCommand) -> Option<String> {
    let mut text = String::new();
    for (name, value) in &command.assignments {
        text.push_str(name);
        text.push('=');
        quoted(&mut text, value)?;
    }
    command.words.iter().try_for_each(|word| quoted(&mut text, word))?;
    for (operator, target) in &command.redirections {
        // The text of a here-document stands elsewhere in the line.
        if operator.contains("<<") {
            return None;
        }
        text.push_str(operator);
        quoted(&mut text, target)?;
    }
    Some(text)
}

fn between(text: &mut String, gap: &str) -> Option<()> {
    let operator = gap.trim_matches([' ', '\t']);
    text.push_str(OPERATORS.contains(&operator).then_some(operator)?);
    Some(())
}

fn quoted(text: &mut String, word: &Word) -> Option<()> {
    let Word::Known(known) = word else { return None };
    text.push_str(&shell_word::quoted(known));
    text.push(' ');
    Some(())
}
