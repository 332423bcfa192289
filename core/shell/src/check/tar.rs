//! `tar`: options without a dash.

use std::borrow::Cow;

use crate::field::Field;

/// Short options of `tar` that take a value.
const VALUED: &str = "fbCTXgIFKLNVH";

/// The arguments with the first word written as options where it is the old form (`tar tvf a.tar`).
pub(crate) fn normalize(args: &[Field]) -> Cow<'_, [Field]> {
    let old = args.first().and_then(|field| field.known().map(|word| (field, word)));
    let Some((field, word)) = old.filter(|(_, word)| !word.starts_with('-') && !word.is_empty()) else {
        return Cow::Borrowed(args);
    };
    let plain: String = word.chars().filter(|letter| !VALUED.contains(*letter)).collect();
    let mut changed = Vec::new();
    if !plain.is_empty() {
        changed.push(Field::text(&format!("-{plain}"), field.span));
    }
    let mut rest = args.get(1..).unwrap_or(&[]).iter();
    for letter in word.chars().filter(|letter| VALUED.contains(*letter)) {
        changed.push(Field::text(&format!("-{letter}"), field.span));
        changed.extend(rest.next().cloned());
    }
    changed.extend(rest.cloned());
    Cow::Owned(changed)
}
