//! Readings of arguments that options alone cannot express: one file each.

pub(crate) mod files;
pub(crate) mod run;
pub(crate) mod command;
mod builtin;
mod date;
pub(crate) mod find;
mod forge;
pub(crate) mod git;
mod worktree;
mod git_dir;
mod network;
mod statement;
mod verb;

use phasegate_core::calls::analysis::Access;

use crate::expand::field::Field;
use crate::finding::Finding;
use crate::table::Check;
use crate::walk::Walk;
use command::Command;

/// Runs a check; `None` says that nothing is worse than the rule says.
#[expect(clippy::too_many_lines, reason = "an arm for each check")]
pub(crate) fn run(check: Check, walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    match check {
        Check::Find => find::find(walk, command),
        Check::Fd => find::fd(walk, command),
        Check::Sed => run::sed::check(walk, command),
        Check::Awk => run::awk::check(walk, command),
        Check::Plus => run::pager::check(command),
        Check::Shell => run::shell::check(walk, command),
        Check::Fed => run::shell::fed(walk, command),
        Check::Eval => run::shell::eval(walk, command),
        Check::Exec => None,
        Check::Tar | Check::Archive => files::tar::check(walk, command),
        Check::Zip => files::zip::check(walk, command),
        Check::Temporary => files::temporary::check(walk, command),
        Check::Ssh => network::ssh(walk, command),
        Check::LocalOperands => network::local_operands(command),
        Check::NamesOnly => network::names_only(command),
        Check::Package => run::package::check(command),
        Check::KnownInput => network::known_input(walk, command),
        Check::GitPaths => git::paths(walk, command),
        Check::GitWorktree => worktree::check(walk, command),
        Check::Recursive => find::recursive(walk, command),
        Check::Mirror => network::mirror(walk, command),
        Check::GitFormat => git::format(command),
        Check::Tee => files::output::tee(command),
        Check::Rustc => files::output::rustc(walk, command),
        Check::Dd => files::output::dd(walk, command),
        Check::Folder => builtin::folder(walk, command),
        Check::Declare => builtin::declare(walk, command),
        Check::Names => builtin::names(walk, command),
        Check::Test => builtin::test(command),
        Check::Set => builtin::set(walk, command),
        Check::Trap => run::shell::trap(walk, command),
        Check::Alias => builtin::alias(walk, command),
        Check::Date => date::check(command),
        Check::Git => git::configuration(walk, command).or_else(|| git_dir::check(walk, command)),
        Check::Listing => git::listing(command),
        Check::GitConfig => git::config(walk, command),
        Check::GitTemplate => git::template(walk, command),
        Check::GitFirst => git::first(command),
        Check::Patch => {
            // What it is given names the files.
            if !command.has(&["dry-run", "version", "stat", "numstat", "summary", "check"]) {
                walk.touch(&Field { many: false, ..Field::any(command.span) }, Access::Write);
            }
            None
        }
        Check::ResponseFile => run::response_file::check(command),
        Check::RemoteName => git::remote_name(command),
        Check::GitUrl => git::url(command),
        Check::GhApi => forge::api(command),
        Check::InPlace => files::replace::check(walk, command),
        Check::Curl => network::curl(walk, command),
        Check::Wget => network::wget(walk, command),
        Check::Httpie => network::httpie(walk, command),
        Check::KnownOperands => network::known_operands(command),
        Check::Verb => verb::verb(command),
        Check::Setting => verb::setting(command),
        Check::Statement => statement::check(walk, command),
        Check::Tool => run::tool::check(walk, command),
        Check::OtherFolder => run::other_folder::check(walk, command),
        Check::Links => files::output::links(walk, command),
    }
}
