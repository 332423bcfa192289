//! The extension's file is written and removed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use phasegate_adapter::InstallScope;
use phasegate_pi::extension;

use super::cases::{adapter, request};

const PLACES: [(InstallScope, &str); 2] = [
    (InstallScope::Project, "/project/.pi/extensions/phasegate.ts"),
    (InstallScope::User, "/home/.pi/agent/extensions/phasegate.ts"),
];

fn files(files: &[(&str, &str)]) -> BTreeMap<PathBuf, String> {
    files.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect()
}

#[test]
fn it_is_put_there_once_and_taken_away_again() {
    for (scope, path) in PLACES {
        let changes = adapter().installer().install(&request(scope, BTreeMap::new())).unwrap();
        let [change] = changes.as_slice() else { panic!("{changes:?}") };
        let text = change.after.clone().unwrap();
        assert_eq!(
            (change.path.to_str(), &change.before, &text),
            (Some(path), &None, &extension("/opt/phasegate", phasegate_core::policy::Mode::Block))
        );
        let there = files(&[(path, &text)]);
        assert_eq!(
            adapter().installer().install(&request(scope, there.clone())).unwrap(),
            [],
            "a second time changes nothing"
        );
        assert_eq!(adapter().installer().unguarded(&request(scope, there.clone())), None);
        let changes = adapter().installer().uninstall(&request(scope, there)).unwrap();
        assert_eq!((changes.len(), &changes[0].after, changes[0].before.as_ref()), (1, &None, Some(&text)));
        assert_eq!(adapter().installer().uninstall(&request(scope, BTreeMap::new())).unwrap(), []);
    }
}

#[test]
fn an_earlier_one_is_renewed_and_taken_away() {
    let (scope, path) = PLACES[0];
    let earlier = "// phasegate for Pi: an earlier version.\nconst COMMAND = \"phasegate\";\n";
    let there = files(&[(path, earlier)]);
    let changes = adapter().installer().install(&request(scope, there.clone())).unwrap();
    assert_eq!(
        (changes[0].before.as_deref(), changes[0].after.clone()),
        (Some(earlier), Some(extension("/opt/phasegate", phasegate_core::policy::Mode::Block)))
    );
    assert_eq!(adapter().installer().uninstall(&request(scope, there.clone())).unwrap().len(), 1);
    assert!(adapter().installer().unguarded(&request(scope, there)).unwrap().contains("not as"));
}

#[test]
fn a_file_of_somebody_elses_stays() {
    let (scope, path) = PLACES[0];
    let there = files(&[(path, "export default () => {};\n")]);
    let problem = adapter().installer().install(&request(scope, there.clone())).unwrap_err();
    assert!(problem.message.contains("move it away"), "{problem}");
    assert_eq!(adapter().installer().uninstall(&request(scope, there)).unwrap(), []);
}

#[test]
fn settings_that_leave_it_out_are_a_problem() {
    for (path, entry) in [
        ("/project/.pi/settings.json", "-extensions/phasegate.ts"),
        ("/home/.pi/agent/settings.json", "!**/phasegate.ts"),
        ("/home/.pi/agent/settings.json", "!extensions/*"),
    ] {
        let settings = format!("{{\"extensions\": [\"./mine.ts\", \"{entry}\"]}}");
        let there =
            files(&[(path, &settings), (PLACES[0].1, &extension("phasegate", phasegate_core::policy::Mode::Block))]);
        let problem = adapter().installer().install(&request(InstallScope::Project, there.clone())).unwrap_err();
        assert!(problem.message.contains(entry), "{problem}");
        assert!(adapter().installer().unguarded(&request(InstallScope::Project, there)).unwrap().contains(entry));
    }
    let there = files(&[("/project/.pi/settings.json", "{\"extensions\": [\"!legacy.ts\", \"+x.ts\"]}")]);
    assert!(adapter().installer().install(&request(InstallScope::Project, there)).is_ok());
}

#[test]
fn who_installs_it_for_a_project_is_told_of_trust() {
    let advice = adapter().installer().advice(&request(InstallScope::Project, BTreeMap::new())).join("\n");
    for word in ["trusted", "--approve", "--user", "pi -e .pi/extensions/phasegate.ts"] {
        assert!(advice.contains(word), "{word}: {advice}");
    }
    assert!(adapter().installer().advice(&request(InstallScope::User, BTreeMap::new())).is_empty());
}
