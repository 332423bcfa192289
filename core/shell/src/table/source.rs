//! The shipped table's files to the text that is compiled in.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;

use super::rule::{Operands, Rule};

/// One file of the shipped table.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Family {
    /// Programs that read the paths they are given, with any option.
    #[serde(default)]
    readers: String,
    /// Programs that read no paths and change nothing, with any option.
    #[serde(default)]
    silent: String,
    /// Whether the programs show what runs on the machine, or ask services there.
    #[serde(default)]
    outside: bool,
    /// The other programs, by name.
    #[serde(flatten)]
    programs: BTreeMap<String, Rule>,
}

impl Family {
    /// The programs of the family, by name.
    pub fn into_programs(self) -> BTreeMap<String, Rule> {
        let mut programs = self.programs;
        let outside = self.outside;
        for (names, touches) in [(self.readers, Operands::Read), (self.silent, Operands::None)] {
            for name in names.split_ascii_whitespace() {
                let rule = Rule { any_option: true, touches, ..Rule::default() };
                programs.entry(name.to_owned()).or_insert(rule);
            }
        }
        programs.values_mut().for_each(|rule| rule.outside |= outside);
        programs
    }
}

/// The text of the shipped table: a line for every rule, its name, a tab and its JSON, in the order of names.
///
/// # Errors
///
/// A name that two families define, or a rule that has no JSON form.
pub fn shipped_source(families: Vec<Family>) -> Result<String, String> {
    let mut rules = BTreeMap::new();
    for family in families {
        for (name, program) in family.into_programs() {
            let mut flat = BTreeMap::new();
            program.flatten(&name, &mut flat);
            for (name, rule) in flat {
                if rules.insert(name.clone(), rule).is_some() {
                    return Err(format!("`{name}` is defined twice"));
                }
            }
        }
    }
    let mut text = String::new();
    for (name, rule) in &rules {
        let json = serde_json::to_string(rule).map_err(|error| error.to_string())?;
        writeln!(text, "{name}\t{json}").map_err(|error| error.to_string())?;
    }
    Ok(text)
}
