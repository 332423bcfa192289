//! Plain scalars by the core schema of YAML 1.2: `on`, `yes` and `no` are texts.

use serde_json::Number;

use crate::read::node::Content;

/// What a plain (not quoted) scalar means.
pub(crate) fn plain(text: &str) -> Content {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Content::Null,
        "true" | "True" | "TRUE" => return Content::Bool(true),
        "false" | "False" | "FALSE" => return Content::Bool(false),
        _ => {}
    }
    number(text).map_or_else(|| Content::Text(text.to_string()), Content::Number)
}

fn number(text: &str) -> Option<Number> {
    if let Some(digits) = text.strip_prefix("0o") {
        return u64::from_str_radix(digits, 8).ok().map(Number::from);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().map(Number::from);
    }
    let body = text.strip_prefix(['-', '+']).unwrap_or(text);
    if body.is_empty() || body.chars().any(|letter| !matches!(letter, '0'..='9' | '.' | 'e' | 'E' | '+' | '-')) {
        return None;
    }
    if body.bytes().all(|byte| byte.is_ascii_digit()) {
        let whole = text.strip_prefix('+').unwrap_or(text);
        return whole.parse::<i64>().map(Number::from).or_else(|_| whole.parse::<u64>().map(Number::from)).ok();
    }
    body.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        .then(|| text.parse::<f64>().ok().and_then(Number::from_f64))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_older_yaml_reads_as_truth_are_texts() {
        for word in ["on", "off", "yes", "no", "On", "y", "1.2.3", "-", ".", "e", "1e", "+", "0xg", "2026-11-21"] {
            assert_eq!(plain(word), Content::Text(word.into()), "{word}");
        }
    }

    #[test]
    fn numbers_are_numbers() {
        assert_eq!(plain("12"), Content::Number(12.into()));
        assert_eq!(plain("-3"), Content::Number((-3).into()));
        assert_eq!(plain("0x10"), Content::Number(16.into()));
        assert_eq!(plain("0o10"), Content::Number(8.into()));
        assert_eq!(plain("1.5"), Content::Number(Number::from_f64(1.5).unwrap()));
        assert_eq!(plain("~"), Content::Null);
    }
}
