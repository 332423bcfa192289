//! A scripted model on loopback: the server, and the forms in which clients ask a model and read its answers.

pub mod http;
pub mod messages;
pub mod responses;
