//! Tests of the shell reader.

mod bash;
mod corpus;
