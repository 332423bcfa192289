//! What the client's settings, as they are, mean for the guard.

use std::path::Path;

use phasegate_adapter::{ExamineRequest, Examined, Finding, InstallScope, Level, SettingsShell};
use serde_json::Value;

use crate::install::{command_of, is_whole, packages, place, settings, switched_off};
use crate::table::{EXTENSION, TABLE};

/// The newest version that has no project trust.
const WITHOUT_TRUST: &str = "0.73.1";

/// What the settings mean for the guard.
pub(crate) fn examine(request: &ExamineRequest) -> Examined {
    let mut examined = Examined::default();
    let install = &request.install;
    if let Some((path, why)) = switched_off(install) {
        let what = format!("`{}` {why}", path.display());
        examined.findings.push(Finding::new(Level::Problem, what).with("take that entry out"));
    }
    let version = request.version.as_deref().map(|said| said.split_whitespace().next_back().unwrap_or_default());
    let user = copy(&mut examined, request, InstallScope::User);
    let project = copy(&mut examined, request, InstallScope::Project);
    let packaged = packages(install);
    for path in &packaged {
        let what = format!("`{}` names the guard's package", path.display());
        examined.findings.push(
            Finding::new(Level::Note, what).with("try a call that must be denied: what it loads is not seen here"),
        );
    }
    match (user, project, packaged.is_empty()) {
        (false, false, true) => {
            let what = "the extension is in no folder that it is loaded from";
            examined.findings.push(Finding::new(Level::Problem, what).with("run `phasegate init pi --user`"));
        }
        (false, true, true) if version != Some(WITHOUT_TRUST) => examined.findings.push(trust(request)),
        _ => {}
    }
    examined.findings.extend(shells(install));
    examined.findings.extend(environment(request));
    examined.findings.push(Finding::of_version(version, TABLE.versions, "pi"));
    examined
}

/// Looks at one copy of the extension. Answers whether it is there.
fn copy(examined: &mut Examined, request: &ExamineRequest, scope: InstallScope) -> bool {
    let path = place(&request.install, scope);
    let Some(text) = request.install.existing.get(&path) else { return false };
    let path = path.display();
    let finding = if is_whole(text) {
        Finding::new(Level::Ok, format!("the extension is `{path}`"))
    } else {
        Finding::new(Level::Problem, format!("`{path}` is not as `phasegate init` writes it"))
            .with("run `phasegate init pi` again, with `--user` for the user's")
    };
    examined.findings.push(finding);
    if let Some(command) = command_of(text).filter(|command| !examined.programs.contains(command)) {
        examined.programs.push(command);
    }
    true
}

/// A project's extension alone is loaded only where the project is trusted.
fn trust(request: &ExamineRequest) -> Finding {
    let always = settings(&request.install).any(|(path, value)| {
        path.starts_with(&request.install.home) && value.get("defaultProjectTrust") == Some(&Value::from("always"))
    });
    if always {
        return Finding::new(Level::Ok, "every project is trusted, so the client loads this one's extensions");
    }
    let what = format!(
        "only the project has the extension: a client that was not told to trust the project does not load `{EXTENSION}`, and \
         its subagents never do"
    );
    Finding::new(Level::Warning, what).with("run `phasegate init pi --user`")
}

/// What the client runs before every line of the agent's, without asking.
fn shells(request: &phasegate_adapter::InstallRequest) -> Vec<Finding> {
    let named = |path: &Path, value: &Value| {
        ["shellPath", "shellCommandPrefix"]
            .into_iter()
            .filter(|key| value.get(*key).is_some_and(|said| !said.as_str().is_some_and(SettingsShell::is_ours)))
            .map(|key| {
                let what = format!("`{}` sets `{key}`: lines of the agent mean what it makes of them", path.display());
                Finding::new(Level::Note, what).with("see that it changes nothing about the lines themselves")
            })
            .collect::<Vec<_>>()
    };
    settings(request).flat_map(|(path, value)| named(path, &value)).collect()
}

fn environment(request: &ExamineRequest) -> Option<Finding> {
    let folder = request.environment.get("PI_CODING_AGENT_DIR").filter(|folder| !folder.is_empty())?;
    let what =
        format!("`PI_CODING_AGENT_DIR` is `{folder}`: clients started from here look for the user's extensions there");
    Some(Finding::new(Level::Warning, what).with("put the extension there too, or unset the variable"))
}
