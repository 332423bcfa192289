//! A platform: its settings, its version, and the program that it starts as the guard.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use phasegate_adapter::{Adapter, ExamineRequest, Examined, Finding, InstallRequest, InstallScope, Level};

use phasegate_core::policy::Mode;

use super::request::Asked;
use super::{bridge, modules, shell, unguarded_session};
use crate::bounds::{self, MAX_SETTINGS_BYTES};
use crate::deadline::try_within;
use crate::locations::Locations;
use crate::project::Project;

/// How long a program may take to say its version.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) fn examine(
    locations: &Locations,
    project: &Project,
    mode: Mode,
    adapter: &'static dyn Adapter,
    asked: &Asked<'_>,
) -> Examined {
    let folder = adapter.installer().project_folder(&project.root, &asked.start);
    let (existing, unreadable) = read(adapter, locations, folder);
    let request = ExamineRequest {
        install: InstallRequest {
            project: folder.to_path_buf(),
            home: locations.home.clone(),
            command: asked.command.clone(),
            mode,
            scope: InstallScope::Project,
            shell: None,
            existing,
        },
        version: adapter.diagnostics().version_command().and_then(version),
        environment: asked.environment.clone(),
    };
    let mut examined = adapter.diagnostics().examine(&request);
    let paths = request.install.existing.keys().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>();
    let what = if paths.is_empty() {
        Finding::new(Level::Note, "no settings file is there")
    } else {
        Finding::new(Level::Ok, format!("settings read: {}", paths.join(", ")))
    };
    if let Some(why) = adapter.installer().unguarded(&request.install)
        && examined.findings.iter().all(|finding| finding.level < Level::Problem)
    {
        let what = format!("a change of settings would not be refused in a session that starts now: {why}");
        examined.findings.push(Finding::new(Level::Warning, what).with("run `phasegate init` again"));
    }
    if adapter.installer().in_both_scopes()
        && folder == project.root
        && adapter.installer().unguarded(&request.install).is_none()
    {
        let mut own = request.install.clone();
        own.existing.retain(|path, _| !path.starts_with(&project.root));
        if adapter.installer().unguarded(&own).is_some() {
            let what = "the user's settings start no guard: a client that is started in a subfolder of the project is not guarded";
            let step = format!("run `phasegate init {}` once on this machine", adapter.id());
            examined.findings.push(Finding::new(Level::Warning, what).with(step));
        }
    }
    if adapter.bridged() {
        let unguarded = unguarded_session::examine(locations, project, adapter, asked);
        let installed = adapter.installer().unguarded(&request.install).is_none();
        let own = (installed && unguarded.is_none()).then(|| bridge::examine(locations, project, adapter));
        examined.findings.extend(unguarded.into_iter().chain(own));
    }
    let of_shell = adapter.shell().map(|of| shell::examine(of, locations, project, &request.install, asked));
    examined.findings.extend(of_shell);
    examined.findings.extend(modules::examine(locations, project, adapter, &request.install));
    examined.findings.insert(0, what);
    if folder != project.root {
        let (here, root) = (folder.display(), project.root.display());
        let what = format!("a client that is started here reads the project's settings in `{here}`, not in `{root}`");
        examined.findings.insert(0, Finding::new(Level::Note, what));
    }
    examined.findings.extend(unreadable);
    let programs = examined.programs.iter().map(|program| program_finding(locations, adapter, program, mode));
    examined.findings.extend(programs);
    examined
}

/// The settings files that exist: those that the platform names, and what lies beside the machine's in a folder of the
/// same name that ends with `.d`.
fn read(adapter: &dyn Adapter, locations: &Locations, folder: &Path) -> (BTreeMap<PathBuf, String>, Vec<Finding>) {
    let places = adapter.installer().places();
    let mut paths = places.settings_files(folder, &locations.home);
    let machine = places.settings.iter().filter(|file| file.starts_with('/'));
    for folder in machine.map(|file| Path::new(file).with_extension("d")) {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        paths.extend(entries.filter(|path| path.extension().is_some_and(|end| end == "json")));
    }
    let (mut existing, mut unreadable) = (BTreeMap::new(), Vec::new());
    for path in paths {
        match bounds::read(&path, MAX_SETTINGS_BYTES) {
            Ok(text) => {
                existing.insert(path, text);
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                let what = format!("`{}` cannot be read, also not by the client: {error}", path.display());
                unreadable.push(Finding::new(Level::Problem, what).with("make it readable, or remove it"));
            }
        }
    }
    (existing, unreadable)
}

/// Whether the program that the platform starts is there, and is this one.
fn program_finding(locations: &Locations, adapter: &dyn Adapter, program: &str, mode: Mode) -> Finding {
    let init = format!("run `phasegate init {}`", adapter.id());
    let Some(path) = locations.program_file(program).or_else(|| on_path(program)).filter(|path| path.is_file()) else {
        let then = if mode == Mode::Block { "every call is denied" } else { "no call is guarded" };
        let what = format!("the hooks start `{program}`, which does not exist here: {then}");
        return Finding::new(Level::Problem, what).with(init);
    };
    if !program.contains('/') && !adapter.installer().by_name() {
        let what = format!(
            "the hooks start the program by its name, so that whatever comes first as `{program}` on the client's `PATH` answers"
        );
        return Finding::new(Level::Warning, what).with(format!("{init}, which names it by its place"));
    }
    let own = std::env::current_exe().and_then(|own| own.canonicalize()).ok();
    if own.is_some() && path.canonicalize().ok() == own {
        return Finding::new(Level::Ok, format!("the hooks start `{program}`, which is this program"));
    }
    let this = env!("CARGO_PKG_VERSION");
    match said(&path, "--version") {
        None => Finding::new(Level::Problem, format!("the hooks start `{program}`, which cannot be run")).with(init),
        Some(text) if text.trim().ends_with(this) => {
            Finding::new(Level::Note, format!("the hooks start `{program}`, another file of the same version, {this}"))
        }
        Some(text) => {
            let what = format!("the hooks start `{program}`, which says `{}`; this is {this}", text.trim());
            Finding::new(Level::Warning, what).with(format!("{init} with the program to use"))
        }
    }
}

/// The file that `PATH` finds by a name.
fn on_path(program: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// What a command of a program and its arguments prints.
fn version(command: Vec<String>) -> Option<String> {
    let mut words = command.into_iter();
    let program = words.next()?;
    printed(Path::new(&program), words.collect())
}

/// The first line that a program prints for this argument; `None` if it cannot be run, fails or takes too long.
fn said(program: &Path, argument: &str) -> Option<String> {
    printed(program, vec![argument.to_owned()])
}

fn printed(program: &Path, arguments: Vec<String>) -> Option<String> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stderr(Stdio::null());
    let ask = move || command.output().ok().filter(|output| output.status.success());
    let output = try_within(PATIENCE, ask)??;
    String::from_utf8_lossy(&output.stdout).lines().next().map(str::to_string)
}
