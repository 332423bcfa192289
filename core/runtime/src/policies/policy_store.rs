//! Compiled policies: made from configs once, kept by content, loaded as plain data ever after.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use phasegate_adapter::Problem;
use phasegate_config::instance;
use phasegate_config::{Confine, Diagnostic, Kind, Level, Mcp, Settings, Severity, SourceFile, compile, skill_version};
use phasegate_core::policy::{Mode, Policy, Skill};
use phasegate_core::runs::inputs;
use phasegate_core::state::Run;
use phasegate_core::{Code, Event, State};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::project::discover::Found;
use phasegate_store::digest::sha256_hex;
use phasegate_store::disk::Disk as _;
use phasegate_store::disk::active_disk::disk;
use phasegate_store::disk::ownership::read_own;

/// The format of stored policies that this version writes and reads.
const FORMAT: u32 = 3;

/// The folder of compiled policies.
#[derive(Clone, Debug)]
pub struct PolicyStore {
    folder: PathBuf,
}

/// What the settings files say, as far as a live session needs it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KeptSettings {
    /// The least strict mode any run may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Where the audit events are also written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_log: Option<String>,
    /// The names of arguments that journals keep a digest of only.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub redact: BTreeSet<String>,
    /// Programs that shell lines may name, beside the shipped table.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub programs: BTreeMap<String, phasegate_shell::Rule>,
    /// Whether the repository's own configuration may name programs that no person chose.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub distrust_repository: bool,
    /// Whether the client's shell is to hold lines.
    #[serde(skip_serializing_if = "phasegate_core::values::is_default")]
    pub confine: Confine,
    /// What holds for MCP servers.
    #[serde(skip_serializing_if = "phasegate_core::values::is_default")]
    pub mcp: Mcp,
}

/// What the configs found mean.
#[derive(Clone, Debug)]
pub enum Current {
    /// There are none that guard.
    Unguarded,
    /// They are in order.
    Ready(Box<Ready>),
    /// They have mistakes.
    Invalid {
        /// The strictest mode the configs ask for, as far as they could be understood.
        mode: Option<Mode>,
        /// Whether a mode may be asked for that could not be understood.
        unclear: bool,
        /// Whether the configs speak of block mode, also where that could not be understood.
        speaks_of_block: bool,
        /// The mistakes.
        diagnostics: Vec<Diagnostic>,
    },
}

/// Configs that are in order.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The policy.
    pub policy: Policy,
    /// The settings.
    pub settings: KeptSettings,
    /// The digest of the file that the policy is stored in.
    pub digest: String,
    /// Whether configs of the project itself take part.
    pub own: bool,
}

impl Ready {
    /// Whether the configs ask for nothing: no skill applies and no mode is set, as in a file that was emptied.
    pub fn is_void(&self) -> bool {
        self.policy.skills.is_empty()
            && self.policy.budgets.is_empty()
            && self.policy.rules.is_none()
            && self.policy.access.is_normal()
            && self.settings.mode.is_none()
    }

    /// The strictest mode that any run can begin with unasked.
    pub fn strictest(&self) -> Mode {
        strictest(&self.policy, self.settings.mode)
    }
}

/// The strictest mode of this policy's skills and of all runs.
pub fn strictest(policy: &Policy, all: Option<Mode>) -> Mode {
    policy.modes().chain(all).max().unwrap_or(Mode::Warn)
}

/// The strictest mode of this policy's skills and of those that begin, whatever mode rules, budgets and access have.
pub fn strictest_of_skills(policy: &Policy, all: Option<Mode>) -> Mode {
    policy.skills.iter().filter_map(|skill| skill.mode).chain(all).max().unwrap_or(Mode::Warn)
}

/// Whether a config has the word `block`, or a word that nearly equals it in the place of a mode.
fn speak_of_block(files: &[SourceFile], diagnostics: &[Diagnostic]) -> bool {
    let meant = |diagnostic: &Diagnostic| diagnostic.suggestion.as_deref() == Some("did you mean `block`?");
    files.iter().any(|file| file.text.to_ascii_lowercase().contains("block")) || diagnostics.iter().any(meant)
}

/// Whether there are rules, or settings say something of them, or probably mean to.
fn speak_of_rules(files: &[SourceFile], diagnostics: &[Diagnostic]) -> bool {
    let meant = |diagnostic: &Diagnostic| diagnostic.suggestion.as_deref() == Some("did you mean `rules`?");
    let says = |file: &SourceFile| file.kind == Kind::Settings && file.text.contains("rules");
    files.iter().any(|file| matches!(file.kind, Kind::Rules | Kind::Facts) || says(file))
        || diagnostics.iter().any(meant)
}

#[derive(Serialize, Deserialize)]
struct Stored<T> {
    format: u32,
    content: T,
}

#[derive(Serialize, Deserialize)]
struct CacheEntry {
    /// The digest of the stored policy.
    policy: String,
    settings: KeptSettings,
}

impl PolicyStore {
    /// The store in this state folder.
    pub fn new(state: &Path) -> Self {
        Self { folder: state.join("compiled") }
    }

    /// What these configs mean: from the store if they were compiled before, else compiled and stored.
    ///
    /// # Errors
    ///
    /// `state-not-saved`: the compiled policy cannot be written.
    pub fn current(&self, found: &Found) -> Result<Current, Problem> {
        if !found.guards() {
            return Ok(Current::Unguarded);
        }
        let own = found.project_guards();
        let digest = content_digest(&found.files);
        if found.problems.is_empty()
            && let Some(entry) = self.read::<CacheEntry>("cache", &digest)
            && let Some(policy) = self.policy(&entry.policy)
        {
            let ready = Ready { policy, settings: entry.settings, digest: entry.policy, own };
            return Ok(Current::Ready(Box::new(ready)));
        }
        let compiled = compile(&found.files);
        if compiled.has_errors() || !found.problems.is_empty() {
            let mut diagnostics = found.problems.clone();
            diagnostics.extend(compiled.diagnostics);
            let modes = compiled.policy.modes().chain(compiled.settings.mode);
            let unclear = compiled.settings.mode_unclear || !found.problems.is_empty();
            // Rules deny in every mode, and with a mistake none can be asked.
            let of_rules = speak_of_rules(&found.files, &diagnostics).then_some(Mode::Block);
            let speaks_of_block = of_rules.is_some() || speak_of_block(&found.files, &diagnostics);
            return Ok(Current::Invalid { mode: modes.chain(of_rules).max(), unclear, speaks_of_block, diagnostics });
        }
        let Settings { mode, audit_log, redact, programs, trust_repository, confine, mcp, .. } = compiled.settings;
        let distrust_repository = !trust_repository;
        let settings = KeptSettings { mode, audit_log, redact, programs, distrust_repository, confine, mcp };
        let mut ready = Ready { policy: compiled.policy, settings, digest: String::new(), own };
        self.save(&digest, &mut ready).map_err(|error| {
            Problem::new(Code::StateNotSaved, format!("`{}` cannot be written: {error}", self.folder.display()))
        })?;
        Ok(Current::Ready(Box::new(ready)))
    }

    /// The strictest mode that these configs ask for; `None` if they have errors. Nothing is stored.
    pub fn mode(found: &Found) -> Option<Mode> {
        let compiled = compile(&found.files);
        let modes = compiled.policy.modes().chain(compiled.settings.mode);
        let is_whole = found.problems.is_empty() && !compiled.has_errors();
        is_whole.then(|| modes.max().unwrap_or(Mode::Warn))
    }

    /// The policy of this version that is stored in the file with this digest, with the skills that live runs of
    /// `state` began with.
    ///
    /// # Errors
    ///
    /// `policy-missing`: the policy, or the skill of a live run, is not in the store, or the policy was changed there.
    pub fn load(&self, version: &str, digest: &str, state: &State) -> Result<Policy, Problem> {
        let policy = self.plain(version, digest).ok_or_else(|| {
            Problem::new(Code::PolicyMissing, format!("the compiled policy `{version}` is gone or damaged"))
        })?;
        self.with_earlier(policy, state)
    }

    /// The policy of this version that is stored in the file with this digest; `None` if it is gone or was changed.
    pub fn plain(&self, version: &str, digest: &str) -> Option<Policy> {
        self.policy(digest).filter(|policy| policy.version == version)
    }

    /// The file that a policy with this digest is stored in; `None` if that is no digest.
    pub fn policy_file(&self, digest: &str) -> Option<PathBuf> {
        self.path("policies", digest)
    }

    /// The policy, with the skills of earlier policies that live runs of `state` began with.
    ///
    /// # Errors
    ///
    /// `policy-missing`: the skill of a live run is not in the store.
    pub fn with_earlier(&self, mut policy: Policy, state: &State) -> Result<Policy, Problem> {
        for run in state.live_runs() {
            if policy.skill_version(&run.skill, &run.version).is_none() {
                let skill = self.skill(&run.version).ok_or_else(|| {
                    let message =
                        format!("the config that run `{}` of skill `{}` began with is gone", run.id, run.skill);
                    Problem::new(Code::PolicyMissing, message)
                })?;
                policy.earlier.push(skill);
            }
        }
        Ok(policy)
    }

    /// As [`PolicyStore::with_earlier`], of a policy that others hold too: it is copied only where something is missing.
    ///
    /// # Errors
    ///
    /// As for [`PolicyStore::with_earlier`].
    pub fn completed(&self, policy: &Arc<Policy>, state: &State) -> Result<Arc<Policy>, Problem> {
        let known = |run: &Run| policy.skill_version(&run.skill, &run.version).is_some();
        if state.live_runs().all(known) {
            return Ok(Arc::clone(policy));
        }
        self.with_earlier(Policy::clone(policy), state).map(Arc::new)
    }

    /// Whether the run follows this skill, or an instance of it.
    pub fn follows(&self, run: &Run, skill: Option<&Skill>) -> bool {
        let made =
            |version: &String| self.skill(&run.version).and_then(|own| own.instance_of).as_ref() == Some(version);
        skill.is_some_and(|skill| skill.version == run.version || made(&skill.version))
    }

    /// The policy, with an instance of the skill that the event may begin with values, which is stored where `keep` says so.
    ///
    /// # Errors
    ///
    /// `state-not-saved`: the instance cannot be written.
    pub fn with_instance(
        &self,
        policy: &Arc<Policy>,
        state: &State,
        event: &Event,
        keep: bool,
    ) -> Result<Arc<Policy>, Problem> {
        let Some(made) = made(policy, event) else { return Ok(Arc::clone(policy)) };
        if keep {
            self.keep(&made)?;
        }
        let mut policy = Policy::clone(policy);
        let lives = |version: &str| state.live_runs().any(|run| run.version == version);
        policy.earlier.retain(|skill| skill.instance_of.is_none() || lives(&skill.version));
        policy.earlier.push(made);
        Ok(Arc::new(policy))
    }

    /// Stores a skill and those that it runs, for the runs that begin with them.
    ///
    /// # Errors
    ///
    /// `state-not-saved`: it cannot be written.
    pub fn keep(&self, skill: &Skill) -> Result<(), Problem> {
        if self.has_skill(&skill.version) {
            return Ok(());
        }
        self.write_skill(skill).map_err(|error| {
            Problem::new(Code::StateNotSaved, format!("`{}` cannot be written: {error}", self.folder.display()))
        })
    }

    /// Whether the policy whose file has this digest is stored, and was not changed.
    pub fn has_policy(&self, digest: &str) -> bool {
        let path = self.path("policies", digest);
        path.and_then(|path| read_own(&path).ok()).is_some_and(|bytes| sha256_hex(&bytes) == digest)
    }

    /// Whether the skill of this version is stored, and was not changed.
    pub fn has_skill(&self, version: &str) -> bool {
        self.skill(version).is_some()
    }

    /// The files of stored policies and skills, and of what configs were found to mean.
    pub fn files(&self) -> Vec<PathBuf> {
        let folders = ["policies", "skills", "cache"].map(|kind| self.folder.join(kind));
        let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten());
        let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|end| end == "json"));
        paths.sort();
        paths
    }

    /// The stored skill of this version; `None` if it is gone or its content has another version.
    pub fn skill(&self, version: &str) -> Option<Skill> {
        let skill: Skill = self.read("skills", version)?;
        (skill.version == version && skill_version(&skill) == version).then_some(skill)
    }

    /// Stores what was compiled, and notes the digest of the policy's file.
    fn save(&self, digest: &str, ready: &mut Ready) -> io::Result<()> {
        ready.policy.skills.iter().try_for_each(|skill| self.write_skill(skill))?;
        let policy = packed(&ready.policy)?;
        ready.digest = sha256_hex(&policy);
        self.write("policies", &ready.digest, &policy)?;
        let entry = CacheEntry { policy: ready.digest.clone(), settings: ready.settings.clone() };
        self.write("cache", digest, &packed(entry)?)
    }

    /// Writes a skill, after those that it runs.
    fn write_skill(&self, skill: &Skill) -> io::Result<()> {
        skill.children.iter().try_for_each(|child| self.write_skill(child))?;
        self.write("skills", &skill.version, &packed(skill)?)
    }

    fn write(&self, kind: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(kind, name).ok_or_else(|| io::Error::other("a version is not a digest"))?;
        path.parent().map_or(Ok(()), |folder| disk().make_folder(folder))?;
        disk().replace(&path, bytes)
    }

    /// The policy whose file has this digest; `None` if it is gone or its content has another one.
    fn policy(&self, digest: &str) -> Option<Policy> {
        let bytes = read_own(&self.path("policies", digest)?).ok()?;
        (sha256_hex(&bytes) == digest).then(|| unpacked(&bytes))?
    }

    fn read<T: DeserializeOwned>(&self, kind: &str, name: &str) -> Option<T> {
        unpacked(&read_own(&self.path(kind, name)?).ok()?)
    }

    fn path(&self, kind: &str, name: &str) -> Option<PathBuf> {
        let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        plain.then(|| self.folder.join(kind).join(format!("{name}.json")))
    }
}

/// The instance that the event may begin, where the policy has it not.
pub(crate) fn made(policy: &Policy, event: &Event) -> Option<Skill> {
    let (skill, values) = inputs::asked(policy, event)?;
    instance(skill, &values).filter(|made| policy.skill_version(&made.name, &made.version).is_none())
}

fn packed(content: impl Serialize) -> io::Result<Vec<u8>> {
    Ok(serde_json::to_vec(&Stored { format: FORMAT, content })?)
}

fn unpacked<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    // A `str` is parsed faster than bytes: its strings are not checked one by one.
    let stored: Stored<T> = serde_json::from_str(std::str::from_utf8(bytes).ok()?).ok()?;
    (stored.format == FORMAT).then_some(stored.content)
}

/// The first mistakes, as one text.
pub fn summary(diagnostics: &[Diagnostic]) -> String {
    let errors: Vec<_> = diagnostics.iter().filter(|found| found.severity == Severity::Error).collect();
    let shown: Vec<_> = errors
        .iter()
        .take(3)
        .map(|found| {
            format!("`{}` line {}, column {}: {} [{}]", found.path, found.line, found.column, found.message, found.code)
        })
        .collect();
    let more = errors.len().saturating_sub(shown.len());
    let rest = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("the config has mistakes: {}{rest}", shown.join("; "))
}

/// The digest of all that a compilation depends on: the texts, and the program that compiles.
fn content_digest(files: &[SourceFile]) -> String {
    let mut bytes = format!("{FORMAT} {} {}\n", env!("CARGO_PKG_VERSION"), program_mark()).into_bytes();
    for file in files {
        let level = match file.level {
            Level::Project => 'p',
            Level::User => 'u',
            Level::Machine => 'm',
        };
        let head = format!("{level} {:?} {} {} {}\n", file.kind, file.path.len(), file.path, file.text.len());
        bytes.extend_from_slice(head.as_bytes());
        bytes.extend_from_slice(file.text.as_bytes());
    }
    sha256_hex(&bytes)
}

/// Tells builds of one version apart: size and time of the program's file.
fn program_mark() -> String {
    let data = std::env::current_exe().and_then(|path| path.metadata());
    let time = data.as_ref().ok().and_then(|data| data.modified().ok());
    let since = time.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    format!("{} {}", data.map(|data| data.len()).unwrap_or(0), since.map_or(0, |since| since.as_millis()))
}
