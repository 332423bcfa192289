//! Lists of matchers as written to matchers.

use phasegate_core::matcher::Matcher;

use super::builder::Builder;
use super::{object, pattern};
use crate::node::{Node, Span};
use crate::source::MatcherSource;

/// Builds the matchers of a list with their places.
pub(crate) fn list(builder: &mut Builder<'_>, sources: &[MatcherSource], nodes: &Node) -> (Vec<Matcher>, Vec<Span>) {
    let built = sources.iter().zip(nodes.items());
    built.filter_map(|(source, node)| one(builder, source, node).map(|matcher| (matcher, node.span))).unzip()
}

/// Builds one matcher.
pub(crate) fn one(builder: &mut Builder<'_>, source: &MatcherSource, node: &Node) -> Option<Matcher> {
    match source {
        MatcherSource::Pattern(text) => pattern::from_pattern(builder, text, node.span),
        MatcherSource::Object(object) => object::matcher(builder, object, node),
    }
}
