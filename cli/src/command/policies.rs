//! Writing policies: checking, explaining and playing them.

pub mod check;
pub mod skill;
pub mod rules;
pub mod safety;
pub mod explain;
pub mod replay;
pub mod backtest;
pub mod shell;
pub mod schema;
pub mod confine;
