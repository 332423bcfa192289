//! The runtime from outside: what a probe says, and what is kept of old sessions.

mod probe;
mod retention;
