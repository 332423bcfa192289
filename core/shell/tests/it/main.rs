//! Tests of the shell reader.

mod corpus;
