//! Files beside a config that it names: formats, prompts, and the skills and packs that ship.

pub(crate) mod paths;
pub(crate) mod texts;
pub(crate) mod prompts;
pub(crate) mod formats;
pub(crate) mod json_schema;
pub(crate) mod shipped;
pub(crate) mod packs;
