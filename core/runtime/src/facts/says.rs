//! The source `says`: whether the message of an event has a part that a pattern fits. It looks at the event alone, so that the
//! answer stands in the journal where the text does not.

use phasegate_core::events::agent_message::message;
use phasegate_core::evidence::fact::{Fact, Source};
use phasegate_core::{Event, FactKey, FactValue, Facts};
use phasegate_store::digest::sha256_hex;
use regex::Regex;
use serde::Deserialize as _;
use serde_json::Value;

/// The name of the source.
const NAME: &str = "says";

/// Answers the questions about the event's message, and returns the others.
pub(crate) fn answer(event: &Event, keys: &[FactKey], facts: &mut Facts) -> Vec<FactKey> {
    let (asked, others): (Vec<&FactKey>, Vec<&FactKey>) = keys.iter().partition(|key| key.source() == NAME);
    for key in asked {
        facts.insert(key.clone(), Fact { value: said(event, &key.args()), source: Source::Agent });
    }
    others.into_iter().cloned().collect()
}

/// A digest of the message that says so; `false` if it does not. Unknown if the event has no message or the pattern is none.
fn said(event: &Event, args: &Value) -> FactValue {
    let arguments = <(String, Option<String>)>::deserialize(args).ok();
    let patterns = arguments.and_then(|(pattern, except)| {
        Some((Regex::new(&pattern).ok()?, except.map(|except| Regex::new(&except)).transpose().ok()?))
    });
    match (message(event), patterns) {
        (Some(text), Some((pattern, except))) if says(text, &pattern, except.as_ref()) => {
            FactValue::Known(sha256_hex(text.as_bytes()).into())
        }
        (Some(_), Some(_)) => FactValue::Known(false.into()),
        _ => FactValue::Unknown,
    }
}

/// Whether a part of the text fits, in a sentence in which the exception does not.
fn says(text: &str, pattern: &Regex, except: Option<&Regex>) -> bool {
    pattern.find_iter(text).any(|found| {
        let sentence = sentence(text, found.start(), found.end());
        except.is_none_or(|except| !except.is_match(sentence))
    })
}

/// The sentence that holds a part of a text: up to a line's end, or to a `.`, `!` or `?` that a blank follows.
fn sentence(text: &str, start: usize, end: usize) -> &str {
    let ends = |at: usize, letter: char| {
        let next = text.get(at + letter.len_utf8()..).and_then(|rest| rest.chars().next());
        letter == '\n' || (matches!(letter, '.' | '!' | '?') && next.is_none_or(char::is_whitespace))
    };
    let before = text.get(..start).unwrap_or_default();
    let from = before.char_indices().rev().find(|(at, letter)| ends(*at, *letter));
    let from = from.map_or(0, |(at, letter)| at + letter.len_utf8());
    let after = text.get(end..).unwrap_or_default();
    let to = after.char_indices().find(|(at, letter)| ends(end + at, *letter));
    let to = to.map_or(text.len(), |(at, letter)| end + at + letter.len_utf8());
    text.get(from..to).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATTERN: &str = r"(?i)(?:decompos(?:e|ition)|tasks?)\s+(?:complete|created|defined)";
    const EXCEPT: &str = r"(?i)\b(?:no|not|never|yet|cannot|without|will|when|until|before|if)\b|n't\b|\?\s*$";

    fn holds(text: &str) -> bool {
        says(text, &Regex::new(PATTERN).unwrap(), Some(&Regex::new(EXCEPT).unwrap()))
    }

    #[test]
    fn a_sentence_that_claims_it_counts() {
        for text in
            ["Tasks created.", "All done: tasks defined", "I looked around.\nDecomposition complete!\nNo risks left."]
        {
            assert!(holds(text), "{text}");
        }
    }

    #[test]
    fn a_sentence_that_denies_or_asks_does_not() {
        for text in [
            "No tasks defined yet",
            "Are the tasks defined?",
            "The tasks aren't listed. No tasks created.",
            "I will say `tasks created` when I am done.",
            "",
        ] {
            assert!(!holds(text), "{text}");
        }
    }

    #[test]
    fn a_dot_within_a_word_ends_no_sentence() {
        let text = "Spec saved to .opencode/specs/f/spec.md. Next one.";
        assert_eq!(sentence(text, 5, 10), "Spec saved to .opencode/specs/f/spec.md.");
        assert_eq!(sentence("é. ü\n", 4, 6), " ü\n");
    }
}
