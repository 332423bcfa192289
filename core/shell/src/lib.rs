//! A shell line read into simple commands, and judged: does it only read, and if not, what does it do?
//!
//! Pure: no files, no environment, no clock. What cannot be read or is not known is never `read`.

mod syntax;
mod judgement;
mod tree;
mod parse;
mod script;
mod scope;
mod expand;
mod table;
mod obeyed;
mod finding;
mod arguments;
mod variables;
mod output;
mod zsh;
mod walk;
mod check;
mod judge;

pub use judge::code_paths::is_subscript;
pub use judge::guard::{MAX_LINE_BYTES, is_refused};
pub use judge::judge;
pub use judgement::{Judgement, Part, Pattern, Piece, Problem, Touch, Trust};
pub use obeyed::{Readers, names_programs, obeying};
pub use table::{Check, Family, Operands, Rule, Style, Table, Wraps, shipped_source};
pub use variables::is_harmless;
