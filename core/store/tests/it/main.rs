//! The store from outside: journals on a disk that fails, and journals in parts.

mod journal;
mod parts;
