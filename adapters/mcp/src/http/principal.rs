//! Who calls: principals, known by their tokens.

use std::fmt;
use std::sync::Arc;

use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, HeaderMap};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::http::protocol::refusal::Refusal;

/// The shortest token that is taken, in characters.
pub const MIN_TOKEN_CHARS: usize = 16;

/// Who calls, by name. Sessions and handles belong to one principal and are no others'.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Principal(Arc<str>);

impl Principal {
    /// The principal of an address without tokens.
    pub fn local() -> Self {
        Self("local".into())
    }

    /// The principal's name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

/// The tokens that are taken, each with its principal. Only their digests are kept.
#[derive(Clone, Default)]
pub struct Tokens(Vec<(Principal, [u8; 32])>);

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(principal, _)| principal.name())).finish()
    }
}

/// A text that holds no tokens as they must be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadTokens {
    /// The line, counted from 1; 0 for the whole text.
    pub line: usize,
    /// What is wrong with it, as a fragment.
    pub text: String,
}

impl Tokens {
    /// Reads tokens: a line for each, `NAME TOKEN`, or one token alone, whose principal is `default`.
    /// Empty lines, and those that begin with `#`, say nothing.
    ///
    /// # Errors
    ///
    /// There is none; a line is something else; a token is short, or is given twice; a name is given twice.
    pub fn parse(text: &str) -> Result<Self, BadTokens> {
        let mut tokens: Vec<(Principal, [u8; 32])> = Vec::new();
        let lines: Vec<(usize, Vec<&str>)> = text
            .lines()
            .enumerate()
            .map(|(place, line)| (place.saturating_add(1), line.trim()))
            .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
            .map(|(number, line)| (number, line.split_whitespace().collect()))
            .collect();
        for (line, words) in &lines {
            let wrong = |text: String| BadTokens { line: *line, text };
            let (name, token) = match words.as_slice() {
                [token] if lines.len() == 1 => ("default", *token),
                [name, token] => (*name, *token),
                _ => return Err(wrong("not a name and a token with a blank between".into())),
            };
            let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
            if name.len() > 64 || !name.chars().all(plain) {
                return Err(wrong("the name has other characters than letters, digits, `-`, `_` and `.`".into()));
            }
            if token.len() < MIN_TOKEN_CHARS || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(wrong(format!(
                    "the token of `{name}` is shorter than {MIN_TOKEN_CHARS} characters, or not ASCII"
                )));
            }
            let digest = digest(token.as_bytes());
            if tokens.iter().any(|(known, other)| known.name() == name || *other == digest) {
                return Err(wrong(format!("the name `{name}`, or its token, is given twice")));
            }
            tokens.push((Principal(name.into()), digest));
        }
        if tokens.is_empty() {
            return Err(BadTokens { line: 0, text: "no token".into() });
        }
        Ok(Self(tokens))
    }

    /// Whether no token is asked for.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Who sent a request with these headers. Every token is compared, in the same time whether it fits or not.
    pub(super) fn principal(&self, headers: &HeaderMap) -> Result<Principal, Refusal> {
        if self.is_empty() {
            return Ok(Principal::local());
        }
        let refused =
            || Refusal::new(StatusCode::UNAUTHORIZED, -32600, "the request carries no token that is known here");
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let value = values.next().and_then(|value| value.to_str().ok()).filter(|_| values.next().is_none());
        let (scheme, token) = value.and_then(|value| value.split_once(' ')).ok_or_else(refused)?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(refused());
        }
        let given = digest(token.trim().as_bytes());
        let mut found = None;
        for (principal, known) in &self.0 {
            if bool::from(known.ct_eq(&given)) {
                found = Some(principal);
            }
        }
        found.cloned().ok_or_else(refused)
    }
}

fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(tokens: &Tokens, value: &str) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, value.parse().unwrap());
        tokens.principal(&headers).ok().map(|principal| principal.name().to_owned())
    }

    #[test]
    fn a_token_names_its_principal() {
        let tokens = Tokens::parse("# ours\nanna 0123456789abcdef\n\n  ben  fedcba9876543210  \n").unwrap();
        assert_eq!(sent(&tokens, "Bearer 0123456789abcdef").as_deref(), Some("anna"));
        assert_eq!(sent(&tokens, "bearer fedcba9876543210").as_deref(), Some("ben"));
        for wrong in [
            "Bearer 0123456789abcdeX",
            "Bearer",
            "Bearer ",
            "0123456789abcdef",
            "Basic 0123456789abcdef",
            "Bearer anna",
        ] {
            assert_eq!(sent(&tokens, wrong), None, "{wrong}");
        }
        assert!(tokens.principal(&HeaderMap::new()).is_err());
        assert_eq!(Tokens::default().principal(&HeaderMap::new()).unwrap(), Principal::local());
    }

    #[test]
    fn two_headers_are_none() {
        let tokens = Tokens::parse("0123456789abcdef").unwrap();
        let mut headers = HeaderMap::new();
        headers.append(AUTHORIZATION, "Bearer 0123456789abcdef".parse().unwrap());
        assert_eq!(tokens.principal(&headers).unwrap().name(), "default");
        headers.append(AUTHORIZATION, "Bearer 0123456789abcdef".parse().unwrap());
        assert!(tokens.principal(&headers).is_err());
    }

    #[test]
    fn lines_that_are_none_are_told() {
        for (text, line) in [
            ("", 0),
            ("# nothing\n", 0),
            ("a short", 1),
            ("short", 1),
            ("a 0123456789abcdef\nb", 2),
            ("a 0123456789abcdef\na 0123456789abcdeX", 2),
            ("a 0123456789abcdef\nb 0123456789abcdef", 2),
            ("a b 0123456789abcdef", 1),
            ("a/b 0123456789abcdef", 1),
            ("a 0123456789abcdé", 1),
        ] {
            assert_eq!(Tokens::parse(text).map_err(|bad| bad.line).err(), Some(line), "{text:?}");
        }
    }

    #[test]
    fn a_token_is_never_shown() {
        let tokens = Tokens::parse("anna 0123456789abcdef").unwrap();
        assert_eq!(format!("{tokens:?}"), r#"["anna"]"#);
    }
}
