//! Rules that ask for what happened before: what is wrong with them, and what the packs are as data.

use std::path::Path;

use phasegate_config::{Compiled, Kind, Level, Lowered, SourceFile, compile, packs};
use phasegate_core::Code;

const PUSH: &str = "@id(\"tests\") @reason(\"no tests\")\nforbid(principal, action == Action::\"Bash\", resource)\n\
                    when { context.command.program == \"git\" }\n\
                    unless temporal { formerly within 8h Action::\"Bash\"::response{ output.tests: \"passed\" } };\n";
const NO_RM: &str = "@id(\"no-rm\") forbid(principal, action == Action::\"Bash\", resource)\n\
                     when { context.command.program == \"rm\" };\n";

fn of(text: &str) -> Compiled {
    compile(&[SourceFile { path: "own.cedar".into(), text: text.into(), level: Level::Project, kind: Kind::Rules }])
}

/// The code, the line and the message of each mistake.
fn found(compiled: &Compiled) -> Vec<(Code, usize, &str)> {
    compiled.diagnostics.iter().map(|found| (found.code, found.line, found.message.as_str())).collect()
}

#[test]
fn a_condition_is_kept_beside_its_rules_under_a_name_that_says_what_it_is() {
    let compiled = of(&format!("{NO_RM}{PUSH}"));
    assert_eq!(found(&compiled), []);
    let level = &compiled.policy.rules.as_ref().unwrap().levels[0];
    let ids: Vec<&str> = level.rules.rules().iter().map(|rule| rule.id.as_str()).collect();
    assert_eq!((ids, level.history.len()), (vec!["no-rm", "tests"], 1));
    assert_eq!(level.history[0].field, format!("past_{}", level.history[0].key));
    // Order, layout and further rules with the same condition change nothing of it.
    let other = of(&format!("// a\n{PUSH}{}\n{NO_RM}", PUSH.replace("tests\")", "again\")")));
    assert_eq!(found(&other), []);
    assert_eq!(other.policy.rules.as_ref().unwrap().levels[0].history, level.history);
    assert_eq!(of(&format!("{PUSH}\n\n{NO_RM}")).policy.version, compiled.policy.version);
    let longer = of(&format!("{NO_RM}{}", PUSH.replace("8h", "9h")));
    assert_ne!(longer.policy.version, compiled.policy.version);
}

#[test]
fn mistakes_have_their_place_in_the_text_as_it_is_written() {
    let field = of(&format!("{NO_RM}{}", PUSH.replace("output.tests", "output.test")));
    assert_eq!(
        field.diagnostics.iter().map(|found| (found.code, found.line)).collect::<Vec<_>>(),
        [(Code::RuleInvalid, 6)]
    );
    let attribute = of(&format!("{NO_RM}{}", PUSH.replace("command.program ==", "command.programm ==")));
    assert_eq!(attribute.diagnostics.first().map(|found| (found.code, found.line)), Some((Code::RuleInvalid, 5)));
    let nameless = of(&format!("{NO_RM}{}", PUSH.replace("@id(\"tests\") ", "")));
    assert_eq!(nameless.diagnostics.first().map(|found| found.code), Some(Code::RuleInvalid));
    let endless = of(&PUSH.replace("8h", "800h"));
    assert_eq!(endless.diagnostics.first().map(|found| found.code), Some(Code::RuleInvalid));
    for compiled in [field, attribute, nameless, endless] {
        assert!(compiled.has_errors());
    }
}

/// Written anew with `PHASEGATE_BLESS=1`.
#[test]
fn the_packs_ship_as_data() {
    for pack in packs().iter().filter(|pack| pack.lowered().is_some()) {
        let compiled = of(pack.text);
        assert_eq!(found(&compiled), [], "{}", pack.name);
        let level = compiled.policy.rules.as_ref().unwrap().levels[0].clone();
        let lowered = Lowered { rules: level.rules.rules().to_vec(), history: level.history };
        assert!(!lowered.history.is_empty(), "{}", pack.name);
        if std::env::var_os("PHASEGATE_BLESS").is_some() {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("packs/lowered/{}.json", pack.name));
            std::fs::write(path, serde_json::to_string_pretty(&lowered).unwrap() + "\n").unwrap();
        } else {
            assert_eq!(pack.lowered(), Some(lowered), "{}", pack.name);
        }
    }
}
