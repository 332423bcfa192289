//! What the client's settings and plugins, as they are, mean for the guard.

use std::path::Path;

use phasegate_adapter::{ExamineRequest, Examined, Finding, Level};

use crate::install::{is_changed, is_whole, loaded, settings, started};
use crate::table::TABLE;

/// What the settings mean for the guard.
pub(crate) fn examine(request: &ExamineRequest) -> Examined {
    let mut examined = Examined::default();
    let found = loaded(&request.install);
    for (path, program) in &found {
        examined.findings.push(one(path, program.is_some(), request));
        examined.programs.extend(program.clone().filter(|program| !examined.programs.contains(program)));
    }
    if found.is_empty() {
        let what = "no plugin of phasegate is where the client would load it, so the client starts without the guard and says nothing";
        examined.findings.push(Finding::new(Level::Problem, what).with("run `phasegate init opencode`"));
    }
    if found.len() > 1 {
        let what = "more than one plugin of phasegate would be loaded; each call is decided once, by the first";
        examined.findings.push(Finding::new(Level::Note, what).with("keep the user's or the project's"));
    }
    let unread = request.install.existing.iter().filter(|(path, text)| unreadable(path, text));
    examined.findings.extend(unread.map(|(path, _)| {
        let what = format!("`{}` cannot be read as JSON", path.display());
        Finding::new(Level::Warning, what).with("correct it: which plugins it names is not known until then")
    }));
    examined.findings.extend(environment(request));
    let said = request.version.as_deref().map(|said| said.trim().trim_start_matches('v'));
    examined.findings.push(Finding::of_version(said.filter(|said| !said.is_empty()), TABLE.versions, "opencode"));
    examined
}

/// One plugin that would be loaded.
fn one(path: &Path, file: bool, request: &ExamineRequest) -> Finding {
    let place = path.display();
    let text = request.install.existing.get(path);
    let program = text.and_then(|text| started(text));
    match (file, text, program) {
        (true, Some(text), Some(program)) if is_whole(text, &program) => {
            Finding::new(Level::Ok, format!("`{place}` starts the guard"))
        }
        (true, Some(text), _) if is_changed(text) => {
            let what = format!("`{place}` is not as `phasegate init` writes it: what it does with a call is not known");
            Finding::new(Level::Problem, what).with("run `phasegate init opencode` again, with `--user` for the user's")
        }
        (true, ..) => Finding::new(Level::Warning, format!("`{place}` is not the plugin of this version of phasegate"))
            .with("run `phasegate init opencode` again"),
        (false, ..) => Finding::new(Level::Ok, format!("`{place}` names the plugin as a package"))
            .with("see that the package is installed: one that is missing is silently left out"),
    }
}

fn unreadable(path: &Path, text: &str) -> bool {
    let is_settings = path.extension().is_some_and(|kind| kind == "json" || kind == "jsonc");
    is_settings && !text.trim().is_empty() && settings(path, text).is_none()
}

/// What the environment switches off.
fn environment(request: &ExamineRequest) -> Vec<Finding> {
    let set = |name: &str| {
        let value = request.environment.get(name).map(|value| value.to_ascii_lowercase());
        value.is_some_and(|value| value == "1" || value == "true")
    };
    let mut found = Vec::new();
    if set("OPENCODE_PURE") {
        let what = "`OPENCODE_PURE` is set, so the client loads no plugin";
        found.push(Finding::new(Level::Problem, what).with("start the client without it"));
    }
    if set("OPENCODE_DISABLE_PROJECT_CONFIG") {
        let own = loaded(&request.install);
        let user = own.iter().any(|(path, _)| path.starts_with(&request.install.home));
        let level = if user { Level::Note } else { Level::Problem };
        let what = "`OPENCODE_DISABLE_PROJECT_CONFIG` is set, so the client loads no plugin of the project";
        found.push(Finding::new(level, what).with("install the plugin for the user: `phasegate init opencode --user`"));
    }
    found
}
