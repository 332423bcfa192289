//! The inner sandbox: bash runs one line, and every write goes to a separate layer.
//!
//! Each line gets fresh mount, process, IPC and host name namespaces, overlays over a prepared checkout and the
//! system's folders, a user without rights to the rest, and limits. There is no network: the outer sandbox has an empty
//! one.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Serialize;

use super::difference::{Change, between};
use super::namespace::{broken, wide};
use super::trace::{CALLS, Trace, read as read_trace};
use xtask::failure::{Failure, Result};

/// Where lines run.
pub(super) const PROJECT: &str = "/home/user/project";
/// Folders of the system that lines see, each under an overlay.
const SYSTEM: &[&str] = &["usr", "etc", "var", "opt", "bin", "sbin", "lib", "lib32", "lib64", "libx32"];
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom"];
/// What a line may do beyond its user's rights: all that makes a write succeed, so that it is seen.
const CAPABILITIES: &str = "-all,+dac_override,+fowner,+chown";
/// How long a line may run, in seconds.
const SECONDS: &str = "2";
/// Bash asks this where a program is not there; the trace then shows its name.
const MISSING: &str = "BASH_FUNC_command_not_found_handle%%=() { exec \"/missing/$1\"; }";
/// $1: the line's folder, $2: its time, $3: its user, $4: what is traced, $5: its rights, $6: the shell, $7: the line,
/// $8: one more variable.
const SETUP: &str = r#"
cd "$1" && mount --all --fstab fstab || exit 125
prlimit --nproc=200 --cpu=10 --fsize=8388608 --nofile=512 --core=0 --data=2147483648 \
timeout --signal=KILL "$2" strace -f --seccomp-bpf -qq -e signal=none -s 128 -e trace="$4" -o trace \
chroot merged setpriv --reuid="$3" --regid="$3" --keep-groups --inh-caps="$5" --ambient-caps="$5" --bounding-set="$5" --no-new-privs \
env -i -C /home/user/project HOME=/home/user USER=user LOGNAME=user LANG=C.UTF-8 TERM=dumb \
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$8" "$6" --norc --noprofile -c "$7"
"#;

/// What a line really did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Truth {
    /// Files that are other than before.
    pub(super) changes: BTreeSet<Change>,
    /// Programs, connections, signals.
    pub(super) trace: Trace,
    /// The exit status; none where a signal or the time limit ended the line.
    pub(super) status: Option<i32>,
    /// Whether the time limit ended it. What it did until then counts.
    pub(super) timed_out: bool,
}

/// A place where lines are run, one after another.
pub(super) struct Sandbox {
    place: PathBuf,
    user: String,
    shell: String,
    folders: Vec<&'static str>,
}

impl Sandbox {
    /// Makes the checkout in a file system of its own, which exists as long as the outer namespace.
    pub(super) fn new(place: &Path, number: usize) -> Result<Self> {
        let place = place.join(number.to_string());
        fs::create_dir_all(&place).map_err(|error| Failure::file(&place, error))?;
        let size = "size=96m,nr_inodes=40000,mode=755";
        quiet(Command::new("mount").args(["-t", "tmpfs", "-o", size, "tmpfs"]).arg(&place))?;
        let base = place.join("base");
        fs::create_dir_all(&base).map_err(|error| Failure::file(&base, error))?;
        let mut folders = Vec::new();
        for name in SYSTEM {
            let real = Path::new("/").join(name);
            if let Ok(target) = fs::read_link(&real) {
                let link = base.join(name);
                std::os::unix::fs::symlink(target, &link).map_err(|error| Failure::file(&link, error))?;
            } else if real.is_dir() {
                fs::create_dir_all(base.join(name)).map_err(|error| Failure::file(&real, error))?;
                folders.push(*name);
            }
        }
        quiet(Command::new("sh").args(["-c", include_str!("checkout.sh"), "checkout"]).arg(&base))?;
        let user = if wide() { (1000 + number).to_string() } else { "0".into() };
        let home = base.join("home/user");
        quiet(Command::new("chown").args(["-R", &format!("{user}:{user}")]).arg(&home))?;
        let mut refresh = Command::new("setpriv");
        refresh.args(["--reuid", &user, "git", "update-index", "-q", "--refresh"]);
        refresh.current_dir(home.join("project")).env("HOME", &home).stdout(Stdio::null());
        let _ = refresh.status();
        let shell = ["/usr/bin/bash", "/bin/bash"].into_iter().find(|path| Path::new(path).exists());
        let shell = shell.ok_or_else(|| broken("no bash"))?.to_string();
        Ok(Self { place, user, shell, folders })
    }

    /// Runs a line and says what it did.
    ///
    /// # Errors
    ///
    /// The sandbox did not start; the line then did not run.
    pub(super) fn run(&self, line: &str) -> Result<Truth> {
        // No argument can hold it; bash leaves it out where it reads a file.
        let line = &line.replace('\0', "");
        let place = self.place.join("line");
        self.layers(&place)?;
        let mut command = Command::new("unshare");
        command.args(["--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child=KILL"]);
        command.args(["sh", "-c", SETUP, "sh"]).arg(&place).args([SECONDS, &self.user, CALLS, CAPABILITIES]);
        command.args([&self.shell, line, MISSING]).stdin(Stdio::null()).stdout(Stdio::null());
        let said = fs::File::create(place.join("said")).map_err(|error| broken(&error.to_string()))?;
        let status = command.stderr(said).status().map_err(|error| broken(&error.to_string()))?;
        let text = fs::read(place.join("trace")).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        if !text.contains(&format!("execve(\"{}\"", self.shell)) {
            let said = fs::read_to_string(place.join("said")).unwrap_or_default();
            return Err(broken(&format!("the shell was not run ({status}): {}", said.trim())));
        }
        let mut truth = Truth { trace: read_trace(&text, &self.shell), ..Truth::default() };
        truth.timed_out = status.code() == Some(137);
        truth.status = status.code().filter(|_| !truth.timed_out);
        truth.changes = between(&place.join("up/root"), &self.place.join("base"), "")?;
        for name in &self.folders {
            let lower = Path::new("/").join(name);
            truth.changes.extend(between(&place.join("up").join(name), &lower, &format!("/{name}"))?);
        }
        self.forget_refreshed_index(&mut truth, &place);
        fs::remove_dir_all(&place).map_err(|error| Failure::file(&place, error))?;
        Ok(truth)
    }

    /// The empty layers of a line, and the table of what is mounted.
    fn layers(&self, place: &Path) -> Result {
        let mut table = String::new();
        let mut layer = |name: &str, lower: &Path, inside: &str| -> Result {
            let (up, work) = (place.join("up").join(name), place.join("work").join(name));
            for folder in [&up, &work, &place.join("merged")] {
                fs::create_dir_all(folder).map_err(|error| Failure::file(folder, error))?;
            }
            let (lower, merged) = (lower.display(), place.join("merged").join(inside));
            let options = format!("userxattr,lowerdir={lower},upperdir={},workdir={}", up.display(), work.display());
            table += &entry("overlay", &merged, "overlay", &options);
            Ok(())
        };
        layer("root", &self.place.join("base"), "")?;
        for name in &self.folders {
            layer(name, &Path::new("/").join(name), name)?;
        }
        let merged = place.join("merged");
        table += &entry("proc", &merged.join("proc"), "proc", "defaults");
        for name in DEVICES {
            table += &entry(&format!("/dev/{name}"), &merged.join("dev").join(name), "none", "bind");
        }
        // Not a terminal.
        table += &entry("/dev/null", &merged.join("dev/tty"), "none", "bind");
        let path = place.join("fstab");
        fs::write(&path, table).map_err(|error| Failure::file(&path, error))
    }

    /// A git index in which only the times of files are other than before holds nothing new: reading refreshes it.
    fn forget_refreshed_index(&self, truth: &mut Truth, place: &Path) {
        let index = Change::Changed(format!("{PROJECT}/.git/index"));
        if !truth.changes.contains(&index) {
            return;
        }
        let project = self.place.join(format!("base{PROJECT}"));
        let listed = |index: &Path| {
            let mut git = Command::new("setpriv");
            git.args(["--reuid", &self.user, "git", "ls-files", "--stage", "-v"]).env("GIT_INDEX_FILE", index);
            git.env("HOME", self.place.join("base/home/user")).current_dir(&project).stderr(Stdio::null());
            git.output().ok().filter(|output| output.status.success()).map(|output| output.stdout)
        };
        let new = listed(&place.join(format!("up/root{PROJECT}/.git/index")));
        if new.is_some() && new == listed(&project.join(".git/index")) {
            truth.changes.remove(&index);
        }
    }
}

/// A line of the table of mounts; blanks in paths are written as `mount` wants them.
fn entry(what: &str, place: &Path, kind: &str, options: &str) -> String {
    let safe = |text: &str| text.replace(' ', "\\040");
    format!("{} {} {kind} {} 0 0\n", safe(what), safe(&place.to_string_lossy()), safe(options))
}

/// Runs a program that prepares the sandbox.
fn quiet(command: &mut Command) -> Result {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| broken(&format!("{}: {error}", xtask::process::shown(command))))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let program = command.get_program().to_string_lossy().into_owned();
    Err(broken(&format!("`{program}` failed: {}", said.trim())))
}
