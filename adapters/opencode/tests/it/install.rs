//! The plugin's file before and after.

use phasegate_adapter::{Change, InstallScope};
use phasegate_core::Code;
use phasegate_opencode::plugin;

use super::cases::{adapter, request};

const PROJECT: &str = "/project/.opencode/plugin/phasegate.ts";
const USER: &str = "/home/.config/opencode/plugin/phasegate.ts";

#[test]
fn it_is_written_once_and_taken_out_again() {
    for (scope, path) in [(InstallScope::Project, PROJECT), (InstallScope::User, USER)] {
        let changes = adapter().installer().install(&request(scope, [])).unwrap();
        let text = plugin("phasegate", phasegate_core::policy::Mode::Block);
        assert_eq!(changes, [Change { path: path.into(), before: None, after: Some(text.clone()) }]);
        let there = request(scope, [(path, text.clone())]);
        assert_eq!(adapter().installer().install(&there).unwrap(), []);
        assert_eq!(
            adapter().installer().uninstall(&there).unwrap(),
            [Change { path: path.into(), before: Some(text), after: None }]
        );
        assert_eq!(adapter().installer().uninstall(&request(scope, [])).unwrap(), []);
    }
}

#[test]
fn an_older_plugin_is_replaced_and_a_foreign_one_stays() {
    let older = plugin("/old/phasegate", phasegate_core::policy::Mode::Block).replace("bridge.start()", "");
    let changes = adapter().installer().install(&request(InstallScope::Project, [(PROJECT, older.clone())])).unwrap();
    assert_eq!(
        changes,
        [Change {
            path: PROJECT.into(),
            before: Some(older),
            after: Some(plugin("phasegate", phasegate_core::policy::Mode::Block))
        }]
    );

    let foreign = request(InstallScope::Project, [(PROJECT, "export const Other = async () => ({})\n".into())]);
    assert_eq!(adapter().installer().install(&foreign).unwrap_err().code, Code::ConfigValue);
    assert_eq!(adapter().installer().uninstall(&foreign).unwrap(), []);
}

#[test]
fn the_plugin_is_one_that_the_client_loads() {
    let text = plugin("phasegate", phasegate_core::policy::Mode::Block);
    let exports = text.lines().filter(|line| line.starts_with("export ")).collect::<Vec<_>>();
    assert_eq!(exports.len(), 1, "every export is called as a plugin: {exports:?}");
    assert!(exports[0].starts_with("export const Phasegate: Plugin = async"), "{exports:?}");
    for line in text.lines().filter(|line| line.starts_with("import ")) {
        let harmless = line.starts_with("import type ") || line.contains(" from \"node:");
        assert!(harmless, "an import that may not be found makes the client leave the plugin out: {line}");
    }
}
