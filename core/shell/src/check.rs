//! Readings of arguments that options alone cannot express: one file each.

mod awk;
mod builtin;
mod date;
mod find;
mod forge;
mod git;
mod network;
mod output;
mod pager;
mod sed;
mod shell;
mod statement;
mod tar;
mod verb;

pub(crate) use find::before_exec;
pub(crate) use tar::normalize as normalize_tar;

use crate::field::{Bit, Field};
use crate::judge::{Finding, Scan, Walk};
use crate::table::{Check, Rule};
use crate::tree::Span;
use phasegate_core::tool::Verdict;

/// A command that is checked.
pub(crate) struct Command<'c> {
    /// The name of its entry in the table.
    pub(crate) name: &'c str,
    pub(crate) rule: &'c Rule,
    pub(crate) args: &'c [Field],
    pub(crate) scan: &'c Scan<'c>,
    /// The place of the program's name.
    pub(crate) span: Span,
}

impl Command<'_> {
    /// Whether an option of one of these names was given.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.scan.options.iter().any(|given| names.contains(&given.name.as_str()))
    }

    /// The values given to options of these names.
    pub(crate) fn values<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = &'a Field> {
        let named = self.scan.options.iter().filter(|given| names.contains(&given.name.as_str()));
        named.filter_map(|given| given.value.as_ref())
    }

    /// The worst that can be said of an operand.
    pub(crate) fn doubt(&self, field: &Field, what: &str) -> Option<Finding> {
        Some(Finding::new(Verdict::Unknown, format!("{what} of `{}` is made at run time", self.name), field.span))
    }
}

/// Runs a check; `None` says that nothing is worse than the rule says.
pub(crate) fn run(check: Check, walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    match check {
        Check::Find => find::find(walk, command),
        Check::Fd => find::fd(walk, command),
        Check::Sed => sed::check(walk, command),
        Check::Awk => awk::check(walk, command),
        Check::Plus => pager::check(command),
        Check::Shell => shell::check(walk, command),
        Check::Eval => shell::eval(walk, command),
        Check::Exec => None,
        Check::Tar | Check::Archive => tar::check(command),
        Check::LocalOperands => network::local_operands(command),
        Check::KnownInput => network::known_input(walk, command),
        Check::GitPaths => git::paths(walk, command),
        Check::Mirror => network::mirror(walk, command),
        Check::GitFormat => git::format(command),
        Check::Tee => output::tee(command),
        Check::Dd => output::dd(walk, command),
        Check::StandardOutput => output::standard_output(command),
        Check::Service => output::service(command),
        Check::Folder => builtin::folder(walk, command),
        Check::Declare => builtin::declare(walk, command),
        Check::Names => builtin::names(walk, command),
        Check::Test => builtin::test(command),
        Check::Let => builtin::let_(walk, command),
        Check::Set => builtin::set(command),
        Check::Trap => shell::trap(walk, command),
        Check::Alias => builtin::alias(command),
        Check::Date => date::check(command),
        Check::Git => git::configuration(command),
        Check::Listing => git::listing(command),
        Check::GitConfig => git::config(command),
        Check::GitFirst => git::first(command),
        Check::GitUrl => git::url(command),
        Check::GhApi => forge::api(command),
        Check::Curl => network::curl(command),
        Check::Wget => network::wget(command),
        Check::Httpie => network::httpie(command),
        Check::KnownOperands => network::known_operands(command),
        Check::Verb => verb::verb(command),
        Check::Setting => verb::setting(command),
        Check::Statement => statement::check(command),
        Check::Redis => statement::redis(command),
    }
}

/// A text for a small language: known, with integers where they are integers for sure.
pub(crate) fn script(field: &Field) -> Option<String> {
    if field.many && field.bits.iter().any(|bit| matches!(bit, Bit::Any | Bit::Glob)) {
        return None;
    }
    let mut text = String::new();
    for bit in &field.bits {
        match bit {
            Bit::Text(known) => text.push_str(known),
            Bit::Number => text.push('1'),
            Bit::Any | Bit::Glob | Bit::Home | Bit::Plain => return None,
        }
    }
    Some(text)
}
