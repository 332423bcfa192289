//! What is wrong with rules, and where.

use core::ops::Range;
use std::string::{String, ToString};
use std::vec::Vec;

use dogwood_language::{Error, ValidationError};

/// What is wrong, and where in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub message: String,
    /// What to do about it, where known.
    pub help: Option<String>,
    /// Which bytes of the source it is about, where known.
    pub span: Option<Range<usize>>,
}

impl Problem {
    /// A problem without a place.
    #[must_use]
    pub fn new(message: &str) -> Self {
        Self { message: message.to_string(), help: None, span: None }
    }

    /// The same problem in these bytes, unless it has a place.
    #[must_use]
    pub(super) fn at(mut self, start: usize, end: usize) -> Self {
        self.span = self.span.or(Some(start..end));
        self
    }
}

pub(super) fn of_error(error: Error) -> Vec<Problem> {
    let place = |offset: usize, length: usize| Some(offset..offset + length);
    match &error {
        Error::Parse(errors) => errors
            .iter()
            .map(|error| {
                let span = error.location().span();
                Problem { span: place(span.offset(), span.len()), ..Problem::new(&error.to_string()) }
            })
            .collect(),
        Error::Macro(error) => {
            let span = error.location().span();
            std::vec![Problem { span: place(span.offset(), span.len()), ..Problem::new(&error.to_string()) }]
        }
        Error::Cedarify(error) => {
            let span = error.location().map(|location| location.span());
            let span = span.and_then(|span| place(span.offset(), span.len()));
            std::vec![Problem { span, ..Problem::new(&error.to_string()) }]
        }
        _ => std::vec![Problem::new(&error.to_string())],
    }
}

pub(super) fn of_validation(error: &ValidationError) -> Problem {
    match error {
        ValidationError::Cedar { message, span, help, .. } | ValidationError::Extension { message, span, help, .. } => {
            Problem {
                message: message.clone(),
                help: help.clone(),
                span: Some(span.offset()..span.offset() + span.len()),
            }
        }
        _ => Problem::new(&error.to_string()),
    }
}
