//! What the settings of all levels say together of the registry of command safety.

use phasegate_core::Code;
use phasegate_core::policy::Safety;
use phasegate_core::shell::safety::{SafetyPattern, is_never_read};

use crate::input::Level;
use crate::read::node::Node;
use crate::read::report::Finding;
use crate::source::safety::SafetySource;

/// The settings of all levels combined.
pub(crate) fn combine<'s>(levels: impl Iterator<Item = &'s SafetySource>) -> Safety {
    let mut all = Safety::default();
    let (mut compat, mut strict) = (false, false);
    for level in levels {
        all.programs.extend(level.programs.named().iter().cloned());
        all.any |= level.programs.is_any();
        all.overrides.extend(level.overrides.iter().cloned());
        compat |= level.compat == Some(true);
        strict |= level.compat == Some(false);
        all.silent |= level.prompt == Some(false);
    }
    for list in [&mut all.programs, &mut all.overrides] {
        list.sort();
        list.dedup();
    }
    Safety { compat: compat && !strict, ..all }
}

/// Reports names that mean no program, and programs of which no agent may register a READ.
pub(crate) fn check(source: &SafetySource, node: &Node, level: Level, findings: &mut Vec<Finding>) {
    let Some(own) = node.entry("safety").map(|entry| &entry.node) else { return };
    if source.programs.is_any() && level == Level::Project {
        let span = own.span_at(&["programs"]);
        findings.push(
            Finding::error(Code::ConfigValue, span, "a project does not say `any`: its agents can write its files")
                .suggest("name the programs, or write it into the settings of the user or of the machine"),
        );
    }
    for (key, names) in [("programs", source.programs.named()), ("override", &source.overrides)] {
        for (name, item) in names.iter().zip(own.items_of(key)) {
            let fault = SafetyPattern::read(name).err().map(|fault| fault.words());
            let fault =
                fault.or_else(|| name.contains(['*', ' ', '\'', '"']).then(|| "it has more than a name".to_owned()));
            if let Some(fault) = fault {
                findings.push(
                    Finding::error(Code::ConfigValue, item.span, format!("`{name}` is no name of a program"))
                        .cause(fault)
                        .suggest("write the bare name: `gcloud`; of `npx go-gmail`, `go-gmail`"),
                );
            } else if key == "programs" && is_never_read(name) && !source.overrides.contains(name) {
                findings.push(
                    Finding::warning(
                        Code::ConfigValue,
                        item.span,
                        format!("no agent registers a command of `{name}` as READ"),
                    )
                    .cause("it runs or writes what it is given, so it is on the never-read list")
                    .suggest(format!("remove it, or name it under `override` too: `override: [{name}]`")),
                );
            }
        }
    }
}
