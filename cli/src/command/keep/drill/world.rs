//! A copy of the project and of what the client obeys of the user's home, in a folder that is removed at the end.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use ignore::WalkBuilder;
use phasegate_adapter::{Adapter, ExamineRequest, InstallRequest, InstallScope, PROGRAM, below_home};
use phasegate_adapters::drive::Drive;
use phasegate_core::policy::Mode;
use phasegate_runtime::Locations;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::plan::{MARK, MARKED, OWN, SECRET};

/// The most files that are copied from one place.
const MAX_FILES: usize = 4000;
/// The longest file that is copied, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// How often the copy is removed until nothing writes into it, and how long it is waited each time.
const TRIES: u32 = 30;
const PAUSE: Duration = Duration::from_millis(50);
/// The program that a client finds by its name in a copy with faults.
const PROGRAM_COPY: &str = "bin/phasegate";
/// The folder of the guard's programs, below the home.
const PROGRAMS: &str = ".local/share/phasegate";

/// Whose things are copied.
#[derive(Clone, Copy)]
pub(super) struct Origin<'a> {
    /// The project's root.
    pub(super) root: &'a Path,
    /// The user's folders.
    pub(super) locations: &'a Locations,
    /// The client.
    pub(super) adapter: &'a dyn Adapter,
    /// How it is started.
    pub(super) drive: &'a dyn Drive,
}

/// The copy.
pub(super) struct World {
    base: TempDir,
    /// The programs that hooks start, where a fault puts others.
    pub(super) programs: Vec<PathBuf>,
    /// What stands in their places before.
    right: String,
}

impl World {
    /// Copies. `faulty`: the programs of the guard can be replaced in it.
    pub(super) fn new(origin: &Origin<'_>, faulty: bool) -> io::Result<Self> {
        let base = tempfile::Builder::new().prefix("phasegate-drill-").tempdir()?;
        let mut world = Self { base, programs: Vec::new(), right: String::new() };
        for folder in ["project", "home", "state", "tmp", "bin"] {
            fs::create_dir_all(world.path(folder))?;
        }
        let named = if faulty { named_programs(origin) } else { Vec::new() };
        let places = world.places(origin, &named);
        copy(origin.root, &world.path("project"), true, &places)?;
        for name in settings_of_project(origin.adapter) {
            copy(&origin.root.join(&name), &world.path("project").join(&name), false, &places)?;
        }
        for file in [MARKED, SECRET, OWN] {
            let file = world.path("project").join(file);
            fs::create_dir_all(file.parent().unwrap_or(&file))?;
            fs::write(file, format!("{MARK}\n"))?;
        }
        if origin.root.join(".git").exists() {
            let mut git = world.command(Path::new("git"), origin);
            drop(git.args(["init", "-q"]).stdout(Stdio::null()).stderr(Stdio::null()).status());
        }
        for name in origin.drive.home() {
            copy(&from_home(origin, name), &world.path("home").join(name), false, &places)?;
        }
        copy(&origin.locations.user, &world.path("config"), false, &places)?;
        world.programs(origin, faulty, &places, named.first())?;
        if let Some((file, _)) = origin.drive.switch() {
            drop(fs::copy(world.path("project").join(file), world.path("switch")));
        }
        Ok(world)
    }

    /// A path in it.
    pub(super) fn path(&self, below: &str) -> PathBuf {
        self.base.path().join(below)
    }

    /// A command in the project's copy, with the user's environment, but for what names their folders and their model.
    /// Nothing that it starts reaches another machine by the usual ways.
    pub(super) fn command(&self, program: &Path, origin: &Origin<'_>) -> Command {
        let mut command = Command::new(program);
        for name in origin.drive.cleared() {
            command.env_remove(name);
        }
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"] {
            command.env_remove(name);
        }
        for (name, below) in origin.drive.moves().iter().filter(|(name, _)| std::env::var_os(name).is_some()) {
            command.env(name, self.path("home").join(below));
        }
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
            command.env(name, "http://127.0.0.1:9");
        }
        for name in ["NO_PROXY", "no_proxy"] {
            command.env(name, "127.0.0.1,localhost");
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = [self.path("bin")].into_iter().chain(std::env::split_paths(&path));
        if let (false, Ok(path)) = (self.programs.is_empty(), std::env::join_paths(path)) {
            command.env("PATH", path);
        }
        command.env("HOME", self.path("home")).env("TMPDIR", self.path("tmp"));
        // Some clients take the folder from here.
        command.env("PWD", self.path("project")).env_remove("OLDPWD");
        command.env("PHASEGATE_STATE_DIR", self.path("state")).env("PHASEGATE_CONFIG_DIR", self.path("config"));
        command.current_dir(self.path("project")).stdin(Stdio::null());
        command
    }

    /// Puts a script in the place of each program that the hooks start.
    pub(super) fn replace(&self, script: &str) -> io::Result<()> {
        for program in &self.programs {
            drop(fs::remove_file(program));
            put(program, script)?;
        }
        Ok(())
    }

    /// Puts the settings back that a fault changed.
    pub(super) fn put_back(&self, file: &str) -> io::Result<()> {
        let (kept, path) = (self.path("switch"), self.path("project").join(file));
        if kept.exists() {
            return fs::copy(kept, path).map(drop);
        }
        if path.exists() { fs::remove_file(path) } else { Ok(()) }
    }

    /// Puts the guard back.
    pub(super) fn mend(&self) -> io::Result<()> {
        self.end_noted();
        self.replace(&self.right)
    }

    /// Ends the processes of the guard that wrote down their ids.
    pub(super) fn end_noted(&self) {
        let text = fs::read_to_string(self.path("pids")).unwrap_or_default();
        for pid in text.lines().filter_map(|line| Pid::from_raw(line.parse().ok()?)) {
            let _ = kill_process(pid, Signal::KILL);
        }
        drop(fs::remove_file(self.path("pids")));
    }

    /// The places of the user, each with its copy, and the programs that settings name, each with what a fault replaces.
    fn places(&self, origin: &Origin<'_>, named: &[PathBuf]) -> Vec<(String, String)> {
        let pair = |from: &Path, to: &str| (from.display().to_string(), self.path(to).display().to_string());
        // What lies deeper comes first.
        let named = named.iter().map(|program| pair(program, PROGRAM_COPY));
        named.chain([pair(origin.root, "project"), pair(&origin.locations.home, "home")]).collect()
    }

    /// The link that hooks start, and what else they start where a fault is to replace it.
    fn programs(
        &mut self,
        origin: &Origin<'_>,
        faulty: bool,
        places: &[(String, String)],
        named: Option<&PathBuf>,
    ) -> io::Result<()> {
        copy(
            &origin.locations.home.join(PROGRAMS).join("shell"),
            &self.path("home").join(PROGRAMS).join("shell"),
            false,
            places,
        )?;
        let link = self.path("home").join(below_home(PROGRAM).unwrap_or(PROGRAM));
        let real = origin.locations.program().filter(|real| real.symlink_metadata().is_ok());
        let Some(real) = named.cloned().or(real) else { return Ok(()) };
        fs::create_dir_all(link.parent().unwrap_or(&link))?;
        let leads = real.canonicalize().or_else(|_| fs::read_link(&real))?;
        if !faulty {
            return symlink(leads, link);
        }
        // A plugin starts the guard once, so that only a process that is known can be ended.
        let pids = self.path("pids");
        self.right = format!("#!/bin/sh\necho $$ >> '{}'\nexec '{}' \"$@\"\n", pids.display(), leads.display());
        self.programs = vec![link, self.path(PROGRAM_COPY)];
        self.mend()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.end_noted();
        // What was just killed may still write.
        let left = || self.base.path().exists() && fs::remove_dir_all(self.base.path()).is_err();
        let _ = (0..TRIES).any(|_| {
            std::thread::sleep(PAUSE);
            !left()
        });
    }
}

/// The programs that settings of the project or the user name by their whole paths.
fn named_programs(origin: &Origin<'_>) -> Vec<PathBuf> {
    let home = &origin.locations.home;
    let files = origin.adapter.installer().places().settings_files(origin.root, home);
    let existing = files.into_iter().filter_map(|path| Some((path.clone(), fs::read_to_string(path).ok()?))).collect();
    let install = InstallRequest {
        project: origin.root.to_path_buf(),
        home: home.clone(),
        command: PROGRAM.to_owned(),
        mode: Mode::Block,
        scope: InstallScope::Project,
        shell: None,
        existing,
    };
    let request = ExamineRequest { install, version: None, environment: BTreeMap::new() };
    let programs = origin.adapter.diagnostics().examine(&request).programs.into_iter();
    programs.filter(|program| program.starts_with('/')).map(PathBuf::from).collect()
}

/// A script that can be started.
fn put(path: &Path, script: &str) -> io::Result<()> {
    let new = path.with_extension("new");
    fs::write(&new, script)?;
    fs::set_permissions(&new, fs::Permissions::from_mode(0o755))?;
    fs::rename(new, path)
}

/// A file or folder of the user's home, where a variable may have moved it.
fn from_home(origin: &Origin<'_>, name: &str) -> PathBuf {
    let moved = origin.drive.moves().iter().find_map(|(variable, below)| {
        let rest = name.strip_prefix(below)?.trim_start_matches('/');
        Some(PathBuf::from(std::env::var_os(variable)?).join(rest))
    });
    moved.unwrap_or_else(|| origin.locations.home.join(name))
}

/// What a client obeys in a project, and the guard's configs: version control may not know them.
fn settings_of_project(adapter: &dyn Adapter) -> Vec<String> {
    let places = adapter.installer().places();
    let all = [places.settings, places.unseen, places.installed, places.skill_folders, vec![".phasegate".to_owned()]];
    let own = |name: &String| !name.starts_with(['~', '/']) && !name.contains('*');
    all.into_iter().flatten().filter(own).collect()
}

/// Copies a file or a folder, as far as it is there; paths of the user in settings become those of the copies.
fn copy(from: &Path, to: &Path, only_known: bool, places: &[(String, String)]) -> io::Result<()> {
    if !from.exists() {
        return Ok(());
    }
    let mut walk = WalkBuilder::new(from);
    walk.standard_filters(only_known).hidden(false).filter_entry(|entry| entry.file_name() != ".git");
    for entry in walk.build().flatten().filter(|entry| entry.path().is_file()).take(MAX_FILES) {
        let below = entry.path().strip_prefix(from).unwrap_or(entry.path());
        let place = if below.as_os_str().is_empty() { to.to_path_buf() } else { to.join(below) };
        if fs::metadata(entry.path()).is_ok_and(|data| data.len() > MAX_BYTES) {
            continue;
        }
        fs::create_dir_all(place.parent().unwrap_or(to))?;
        fs::copy(entry.path(), &place)?;
        let is_settings = place.extension().is_some_and(|end| end == "json" || end == "toml");
        if let (true, Ok(text)) = (is_settings, fs::read_to_string(&place)) {
            let new = places.iter().fold(text.clone(), |text, (from, to)| text.replace(from.as_str(), to));
            if new != text {
                fs::write(&place, new)?;
            }
        }
    }
    Ok(())
}
