//! Messages of hooks: how they are read, and answered.

pub(crate) mod escapes;
pub(crate) mod wire;
pub(crate) mod tools;
pub(crate) mod outcome;
pub(crate) mod notice;
pub(crate) mod read_skill;
pub(crate) mod decode;
pub(crate) mod encode;
