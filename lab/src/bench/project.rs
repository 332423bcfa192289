//! A guarded project with a session in it, which every sample finds as the first one did.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use phasegate_adapter::{Adapter, InstallRequest, InstallScope};
use serde_json::Value;

use super::failed::failed;
use super::process::Program;
use xtask::failure::{Failure, Result};
use xtask::process::{build_programs, output, program};

/// Files up to so many bytes are kept whole, larger ones by their length: they are only ever appended to.
const WHOLE: u64 = 256 * 1024;
/// How many variables a session's environment has besides those that matter.
const VARIABLES: usize = 40;

/// A guarded project, a session in it, and what the session sends.
pub(super) struct Project {
    /// The platform.
    pub(super) adapter: &'static dyn Adapter,
    /// A call that the session's phase allows.
    pub(super) call: String,
    /// That the call succeeded, which is evidence.
    pub(super) result: String,
    folder: PathBuf,
}

/// What the state folder held.
pub(super) struct Snapshot {
    folder: PathBuf,
    files: BTreeMap<PathBuf, Kept>,
}

/// A file's content and mtime: the sub-second part of the mtime is a journal's fingerprint.
struct Kept {
    length: u64,
    modified: SystemTime,
    whole: Option<Vec<u8>>,
}

impl Kept {
    fn of(path: &Path) -> io::Result<Self> {
        let data = path.metadata()?;
        let whole = if data.len() <= WHOLE { Some(fs::read(path)?) } else { None };
        Ok(Self { length: data.len(), modified: data.modified()?, whole })
    }

    /// Makes the file what it was.
    fn restore(&self, path: &Path) -> io::Result<()> {
        let data = path.metadata()?;
        if data.len() == self.length && data.modified()? == self.modified {
            return Ok(());
        }
        let file = OpenOptions::new().write(true).open(path)?;
        match &self.whole {
            Some(before) if !fs::read(path)?.starts_with(before) => {
                file.set_len(0)?;
                (&file).write_all(before)?;
            }
            Some(_) | None => file.set_len(self.length)?,
        }
        file.set_modified(resealed(self.modified, SystemTime::now()))
    }
}

impl Project {
    /// Sets the project of a recorded session up in this folder, played up to its first judged call.
    pub(super) fn stage(folder: &Path) -> Result<Self> {
        let shown = folder.to_string_lossy().into_owned();
        build_programs()?;
        let told = output(program("phasegate-conformance").args(["stage", &shown]))?;
        Self::told(&told, folder)
    }

    /// The project that `stage` set up in this folder, with what it printed.
    pub(super) fn told(told: &str, folder: &Path) -> Result<Self> {
        let told: Value = serde_json::from_str(told).map_err(failed)?;
        let text = |key: &str| {
            let text = told.get(key).and_then(Value::as_str).map(str::to_string);
            text.ok_or_else(|| failed(format!("the staged session has no `{key}`")))
        };
        let id = text("adapter")?;
        let adapter = phasegate_adapters::find(&id).ok_or_else(|| failed(format!("no adapter `{id}`")))?;
        Ok(Self { adapter, call: text("call")?, result: text("result")?, folder: folder.to_path_buf() })
    }

    /// The guard, started as it is without a shell.
    pub(super) fn program(&self, guard: &Path, args: &[&str]) -> Program {
        let words = std::iter::once(guard.as_os_str().to_owned()).chain(args.iter().map(OsString::from)).collect();
        Program { words, folder: self.root(), environment: self.environment(), succeeds: true }
    }

    /// The command that `init` writes for a call, for a shell.
    pub(super) fn command(&self, guard: &Path) -> Result<String> {
        let request = InstallRequest {
            project: self.root(),
            home: self.folder.join("home"),
            command: guard.to_string_lossy().into_owned(),
            mode: phasegate_core::policy::Mode::Block,
            scope: InstallScope::Project,
            shell: None,
            existing: BTreeMap::new(),
        };
        let changes = self.adapter.installer().install(&request).map_err(failed)?;
        let texts = changes.iter().filter_map(|change| serde_json::from_str::<Value>(change.after.as_ref()?).ok());
        let mut commands = Vec::new();
        texts.for_each(|value| strings(&value, &mut commands));
        let found =
            commands.into_iter().find(|text| text.starts_with(&request.command) && text.ends_with("exit 2;; esac"));
        found.ok_or_else(|| failed("`init` writes no command that denies when the guard fails"))
    }

    /// The session's environment: what matters, and as much more as a client's usually has.
    fn environment(&self) -> BTreeMap<String, OsString> {
        let mut variables: BTreeMap<String, OsString> =
            (0..VARIABLES).map(|at| (format!("BENCH_VARIABLE_{at}"), "x".repeat(at).into())).collect();
        variables.insert("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into());
        for (name, folder) in [("HOME", "home"), ("PHASEGATE_STATE_DIR", "state"), ("PHASEGATE_MACHINE_DIR", "machine")]
        {
            variables.insert(name.into(), self.folder.join(folder).into());
        }
        for name in self.adapter.installer().places().project_variables {
            variables.insert(name, self.root().into());
        }
        variables
    }

    fn root(&self) -> PathBuf {
        self.folder.join("project")
    }

    /// What the state folder holds now.
    pub(super) fn snapshot(&self) -> Result<Snapshot> {
        let folder = self.folder.join("state");
        let mut kept = BTreeMap::new();
        for path in files(&folder)? {
            let content = Kept::of(&path).map_err(|error| Failure::file(&path, error))?;
            kept.insert(path, content);
        }
        Ok(Snapshot { folder, files: kept })
    }

    /// How many records the longest journal of a session has.
    pub(super) fn records(&self) -> Result<u64> {
        let mut most = 0;
        for path in files(&self.folder.join("state"))? {
            let of_session = path.parent().is_some_and(|folder| folder.ends_with("sessions"));
            if of_session && path.extension().is_some_and(|end| end == "journal") {
                let bytes = fs::read(&path).map_err(|error| Failure::file(&path, error))?;
                most = most.max(bytes.iter().filter(|byte| **byte == b'\n').count() as u64);
            }
        }
        Ok(most)
    }
}

impl Snapshot {
    /// Makes the state folder what it was.
    pub(super) fn restore(&self) -> Result {
        for path in files(&self.folder)? {
            let restored = match self.files.get(&path) {
                None => fs::remove_file(&path),
                Some(kept) => kept.restore(&path),
            };
            restored.map_err(|error| Failure::file(&path, error))?;
        }
        Ok(())
    }
}

/// The time now, with the part of a second of another time.
fn resealed(before: SystemTime, now: SystemTime) -> SystemTime {
    let since = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    SystemTime::UNIX_EPOCH + Duration::new(since(now).as_secs(), since(before).subsec_nanos())
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        walkdir::WalkDir::new(folder).into_iter().collect::<std::result::Result<Vec<_>, _>>().map_err(failed)?;
    Ok(entries.into_iter().filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).collect())
}

fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| strings(field, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
