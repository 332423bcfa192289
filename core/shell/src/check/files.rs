//! Programs that write files which their words name.

pub(crate) mod tar;
pub(in crate::check) mod zip;
pub(in crate::check) mod output;
pub(in crate::check) mod temporary;
pub(in crate::check) mod replace;
