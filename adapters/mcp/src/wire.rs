//! How messages travel: links, lines, standard input and output.

#[cfg(feature = "proxy")]
pub mod link;
#[cfg(feature = "proxy")]
pub(crate) mod lines;
#[cfg(feature = "proxy")]
pub mod stdio;
