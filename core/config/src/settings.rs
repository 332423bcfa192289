//! Settings of all levels, put together.

pub(crate) mod mcp;
pub(crate) mod safety;
pub(crate) mod budgets;
pub(crate) mod groups;
pub(crate) mod settings_check;
