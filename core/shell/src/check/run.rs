//! Programs that run what their words say.

pub(in crate::check) mod shell;
pub(in crate::check) mod awk;
pub(in crate::check) mod sed;
pub(crate) mod program_text;
pub(in crate::check) mod response_file;
pub(in crate::check) mod pager;
pub(in crate::check) mod package;
pub(in crate::check) mod tool;
pub(crate) mod other_folder;
