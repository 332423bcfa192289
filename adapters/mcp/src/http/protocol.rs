//! What a request has to say: its revision, its headers, its body.

pub(in crate::http) mod versions;
pub(in crate::http) mod revision;
pub(in crate::http) mod accept;
pub(in crate::http) mod parameters;
pub(in crate::http) mod lists;
pub(in crate::http) mod pages;
pub(in crate::http) mod reply;
pub(in crate::http) mod refusal;
