//! A shell line read into simple commands, and judged: does it only read, and if not, what does it do?
//!
//! Pure: no files, no environment, no clock. What cannot be read or is not known is never `read`.

mod check;
mod expand;
mod field;
mod guard;
mod judge;
mod judgement;
mod parse;
mod scope;
mod table;
mod tree;

pub use guard::LONGEST;
pub use judge::judge;
pub use judgement::{Judgement, Part, Pattern, Piece, Problem, Touch, Trust};
pub use table::{Check, Family, Operands, Rule, Style, Table, Wraps, shipped_source};
