//! The engine from outside: its tables against ARCHITECTURE.md, laws over random sessions, and an independent model of it.

mod budgets;
mod facts;
mod gates;
mod holding;
mod laws;
mod oracle;
mod reasons;
mod rules;
mod runners;
mod safety;
mod table;
mod total;
mod tree;
