//! `python3 -c TEXT`, `python3 <<'EOF'`: a text that may only read.

use phasegate_core::analysis::{Access, Verdict};

use crate::field::{Bit, Field};
use crate::finding::Finding;
use crate::obeyed::Readers;
use crate::python;
use crate::table::{Check, Rule};
use crate::tree::Span;
use crate::walk::Walk;

/// Options without a value that change nothing about what a text does.
const FLAGS: &str = "bBdEIOPqRsSuv";
/// Values of `-X` that name no file and no module.
const EXTRAS: [&str; 4] = ["utf8", "dev", "importtime", "utf8=1"];
/// Values of `-W`; others can name a module.
const WARNINGS: [&str; 6] = ["ignore", "default", "error", "always", "once", "module"];
/// Programs that are no CPython, or an old one.
const OTHERS: [&str; 4] = ["python2", "pypy", "pypy3", "py"];

/// A text for python, and whether modules of the working folder are out of its reach.
struct Given {
    text: String,
    span: Span,
    isolated: bool,
    /// Whether it came on the standard input.
    fed: bool,
    /// Whether all of it is in the line.
    whole: bool,
}

/// What python does by its arguments, where it runs a text that only reads; an error says what is in doubt about the text.
pub(crate) fn judge(
    walk: &mut Walk<'_>,
    rule: &Rule,
    name: &str,
    args: &[Field],
    span: Span,
) -> Result<Option<Finding>, String> {
    if rule.check != Some(Check::Python) || OTHERS.contains(&name) {
        return Ok(None);
    }
    let Some(given) = given(walk, args, span)? else { return Ok(None) };
    let reads = python::judge(&given.text, name == "python").map_err(|doubt| doubt.because)?;
    let lost = |readers| walk.trust.lost.contains(&readers);
    let shadowed = !walk.trust.repository || lost(Readers::Modules) || lost(Readers::Repository);
    if shadowed && !given.isolated {
        return Err(format!("`{name}` may load modules of the working folder, without `-I`"));
    }
    if given.fed {
        walk.stdin = None;
    }
    for path in reads.paths {
        walk.touch(&Field::text(folder_of(&path), given.span), Access::Read);
    }
    if reads.anything || !given.whole {
        walk.computed = true;
        walk.touch(&Field::any(given.span), Access::Read);
    }
    Ok(Some(Finding::new(Verdict::Read, "the Python text only reads", span)))
}

/// The text that python runs; `None` where it runs something else.
fn given(walk: &Walk<'_>, args: &[Field], span: Span) -> Result<Option<Given>, String> {
    let mut isolated = false;
    let mut words = args.iter();
    while let Some(field) = words.next() {
        let Some(word) = field.known() else { return Ok(None) };
        if word == "-" {
            break;
        }
        let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')) else { return Ok(None) };
        for (at, letter) in letters.char_indices() {
            isolated |= matches!(letter, 'I' | 'P');
            if FLAGS.contains(letter) {
                continue;
            }
            let attached = letters.get(at.saturating_add(1)..).filter(|rest| !rest.is_empty());
            let value = attached.map(|rest| Field::text(rest, field.span)).or_else(|| words.next().cloned());
            let Some(value) = value else { return Ok(None) };
            match letter {
                'c' => {
                    let text = text_of(&value).ok_or("the Python text is made at run time")?;
                    let whole = value.known().is_some();
                    return Ok(Some(Given { text, span: value.span, isolated, fed: false, whole }));
                }
                'W' if value.known().is_some_and(|value| WARNINGS.contains(&value)) => break,
                'X' if value.known().is_some_and(|value| EXTRAS.contains(&value)) => break,
                _ => return Ok(None),
            }
        }
    }
    let Some(input) = &walk.stdin else { return Ok(None) };
    let text = input.known().ok_or("the Python text is made at run time")?.to_owned();
    Ok(Some(Given { text, span, isolated, fed: true, whole: true }))
}

/// The text of a word; an integer in it may stand where it is a number of its own.
fn text_of(field: &Field) -> Option<String> {
    if field.many {
        return None;
    }
    let of_name = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '.';
    let mut text = String::new();
    let mut number = false;
    for bit in &field.bits {
        match bit {
            Bit::Text(known) if number && known.starts_with(of_name) => return None,
            Bit::Text(known) => {
                text.push_str(known);
                number = false;
            }
            Bit::Number if !number && !text.ends_with(of_name) => {
                text.push('1');
                number = true;
            }
            _ => return None,
        }
    }
    Some(text)
}

/// The folder that a pattern of file names starts from, or the path itself where it is none.
fn folder_of(path: &str) -> &str {
    let Some(at) = path.find(['*', '?', '[']) else { return path };
    match path.get(..at).and_then(|start| start.rsplit_once('/')) {
        Some(("", _)) => "/",
        Some((folder, _)) => folder,
        None => ".",
    }
}
