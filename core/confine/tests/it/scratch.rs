//! A home with a checkout, a folder beside it, and commands run there as one user or another.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use phasegate_confine::{Level, Request};
use tempfile::TempDir;

/// Who runs a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum User {
    /// The user of the tests, who is root.
    Root,
    /// `nobody`, by `setpriv` of the tests' root.
    Nobody,
    /// The user of the tests, who is not root.
    Own,
}

impl User {
    /// The users as whom the tests can run commands.
    pub(crate) fn all() -> Vec<Self> {
        let uid = fs::metadata("/proc/self").map_or(0, |metadata| metadata.uid());
        match uid {
            0 if has("setpriv") => vec![Self::Root, Self::Nobody],
            0 => vec![Self::Root],
            _ => vec![Self::Own],
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Nobody => "nobody",
            Self::Own => "user",
        }
    }

    /// A program run as this user.
    pub(crate) fn command(self, program: &Path) -> Command {
        if self != Self::Nobody {
            return Command::new(program);
        }
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]).arg(program);
        command
    }
}

/// Whether a program is there, or the machine is of a kind.
pub(crate) fn has(need: &str) -> bool {
    match need {
        "x86_64" => cfg!(target_arch = "x86_64"),
        // Without this file the kernel's own configuration does not say; most kernels have no x32 form.
        "x32" => false,
        "pip" => {
            Command::new("python3").args(["-m", "pip", "--version"]).output().is_ok_and(|done| done.status.success())
        }
        // Only what every user may start counts.
        program => ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"]
            .iter()
            .any(|folder| Path::new(folder).join(program).exists()),
    }
}

/// A folder that no level hides. Every user may enter it where the tests are root.
pub(crate) fn base() -> PathBuf {
    let own = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    match User::all().first() {
        Some(User::Own) => own,
        _ => ["/srv", "/opt"].into_iter().map(PathBuf::from).find(|folder| folder.is_dir()).unwrap_or(own),
    }
}

/// The scratch folders of one test.
pub(crate) struct Scratch {
    folder: TempDir,
    user: User,
    id: String,
}

/// One of each user, from which the others are copied.
static FILLED: OnceLock<Vec<Scratch>> = OnceLock::new();

static COUNT: AtomicU32 = AtomicU32::new(0);

/// Made by the user who then attacks it.
const FILL: &str = r#"
set -e
mkdir -p "$PROJECT/src" "$GUARD/sub" "$HOME/.guard-home" "$OUT"
ln -s .guard-home "$HOME/.guard-link"
cd "$PROJECT"
echo hello > src/a.txt; echo hello > "$OUT/file"; echo more > "$OUT/inherited2"; : > "$OUT/inherited"
printf 'write:\n\techo evil > src/a.txt\n' > Makefile
echo hello > "$GUARD/policy"; echo s > "$GUARD/sub/state"; echo s > "$HOME/.guard-home/state"; echo 'export A=1' > "$HOME/.bashrc"
ln src/a.txt "$HOME/hard"; ln "$OUT/file" "$OUT/hard.txt"; ln "$GUARD/policy" "$HOME/hard-policy"; ln -s src/a.txt link
printf '.guard\n' > .gitignore
git config --global user.name t; git config --global user.email t@example.org; git config --global init.defaultBranch main
git init -q --template=; mkdir -p .git/hooks .git/info; git add .; git commit -qm one
git checkout -qb other; echo other > src/a.txt; git commit -qam two; git checkout -q main
ln -f src/a.txt "$HOME/hard"
chmod -R go-w "$HOME"
python3 -c "import os; os.setxattr(os.environ['OUT']+'/file', 'user.mark', b'1')" 2>/dev/null || true
"#;

impl Scratch {
    /// New folders that belong to a user.
    pub(crate) fn new(user: User) -> Self {
        let all = FILLED.get_or_init(|| User::all().into_iter().map(|user| Self::empty(user).fill(FILL)).collect());
        let first = all.iter().find(|scratch| scratch.user == user).unwrap();
        let [home, outside] = [first.home(), first.outside()].map(|folder| folder.display().to_string());
        let scratch = Self::empty(user);
        // One copy for both, or files with a name in each would be two.
        scratch.fill(&format!("cp -a {home} {outside} ."))
    }

    /// New folders where every level hides what is not asked for.
    pub(crate) fn in_temporary_folder(user: User) -> Self {
        Self::empty_in(user, "/tmp".as_ref()).fill(FILL)
    }

    fn empty(user: User) -> Self {
        Self::empty_in(user, &base())
    }

    fn empty_in(user: User, base: &Path) -> Self {
        let folder = tempfile::tempdir_in(base).unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let number = u64::from(std::process::id()) * 1000 + u64::from(COUNT.fetch_add(1, Ordering::Relaxed)) % 1000;
        Self { folder, user, id: format!("phasegate-attack-{}", number % 2_000_000_000) }
    }

    /// Changes the project before a test.
    pub(crate) fn make(&self, line: &str) {
        assert!(self.bare(line).status().unwrap().success(), "{line}");
    }

    pub(crate) fn user(&self) -> User {
        self.user
    }

    fn fill(self, line: &str) -> Self {
        let filled = self.bare(line).output().unwrap();
        assert!(filled.status.success(), "{}", String::from_utf8_lossy(&filled.stderr));
        self
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.home().join("project")
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.root().join("outside")
    }

    pub(crate) fn guarded(&self) -> [PathBuf; 3] {
        [self.project().join(".guard"), self.home().join(".guard-home"), self.home().join(".guard-link")]
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// A temporary folder of its own, in the one of all.
    pub(crate) fn temporary(&self) -> PathBuf {
        Path::new("/tmp").join(&self.id)
    }

    /// The folder for work folders, one for each scratch, so that tests see what is left in it.
    pub(crate) fn work(&self) -> PathBuf {
        PathBuf::from("/var/tmp").join(format!("work-{}", self.id))
    }

    /// A program run as the user of this scratch, in its project.
    pub(crate) fn with_program(&self, program: &std::ffi::OsStr) -> Command {
        let mut command = self.user.command(program.as_ref());
        self.as_environment(&mut command);
        command
    }

    fn environment(&self, mut command: Command) -> Command {
        self.as_environment(&mut command);
        command
    }

    /// Gives a command the folders of this scratch, and nothing else.
    pub(crate) fn as_environment<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let tools = program().parent().unwrap().to_owned();
        command.env_clear();
        command
            .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
            .env("LC_ALL", "C.UTF-8")
            .env("SHELL", "/bin/bash");
        command.env("HOME", self.home()).env("PROJECT", self.project()).env("OUT", self.outside());
        command.env("GUARD", self.project().join(".guard")).env("ID", &self.id).env("TOOLS", tools);
        command.current_dir(if self.project().exists() { self.project() } else { self.root() });
        command.stdin(Stdio::null())
    }

    /// A line of the shell, unconfined.
    pub(crate) fn bare(&self, line: &str) -> Command {
        let mut command = self.environment(self.user.command("bash".as_ref()));
        command.args(["-c", line]);
        command
    }

    /// The same with descriptors of files open for writing, and a program before the shell.
    pub(crate) fn with_descriptors(&self, before: &[std::ffi::OsString], line: &str) -> Command {
        let open = r#"exec 6<"$GUARD" 7>>"$GUARD/policy" 8<"$OUT" 9>>"$OUT/inherited"; exec "$@""#;
        let mut command = self.environment(self.user.command("bash".as_ref()));
        command.args(["-c", open, "open"]).args(before).args(["bash", "-c", line]);
        command
    }

    /// The program that confines, at a level.
    pub(crate) fn confining(&self, request: &Request) -> Vec<std::ffi::OsString> {
        let mut before = vec![program().into(), "confine".into()];
        before.extend(request.to_args());
        before
    }

    /// A request of this scratch: the home is overlaid, the folder beside it is in sight.
    pub(crate) fn request(&self, level: Level) -> Request {
        let mut request = Request::new(level, Vec::new(), self.work());
        request.overlaid = vec![self.home()];
        request.visible = vec![self.outside(), program().parent().unwrap().to_owned()];
        request.protected = self.guarded().to_vec();
        request
    }

    /// A line of the shell, confined.
    pub(crate) fn confined(&self, request: &Request, line: &str) -> Command {
        let before = self.confining(request);
        let mut command = self.environment(self.user.command(before[0].as_ref()));
        command.args(&before[1..]).args(["bash", "-c", line]);
        command
    }

    /// Why a level does not work for this user; nothing if it does.
    pub(crate) fn refused(&self, request: &Request) -> Option<String> {
        let mut command = self.environment(self.user.command(&program()));
        let output = command.arg("probe").args(request.to_args()).output().unwrap();
        (!output.status.success()).then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Everything that the attacks may change.
    pub(crate) fn snapshot(&self, also: &[String]) -> Snapshot {
        let mut seen = Snapshot::new();
        for folder in [self.home(), self.outside()] {
            look(&folder, &mut seen);
        }
        for folder in also {
            let path = Path::new(folder).join(&self.id);
            if path.exists() {
                look(&path, &mut seen);
            }
        }
        seen
    }

    /// The protected folders, by their paths.
    pub(crate) fn snapshot_of_guarded(&self) -> Snapshot {
        let mut seen = Snapshot::new();
        self.guarded().iter().for_each(|folder| look(folder, &mut seen));
        seen
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.work());
        for folder in ["/tmp", "/var/tmp", "/dev/shm"] {
            let _ = fs::remove_file(Path::new(folder).join(&self.id));
            let _ = fs::remove_dir_all(Path::new(folder).join(&self.id));
        }
    }
}

/// Paths, each with what is there.
pub(crate) type Snapshot = BTreeMap<PathBuf, String>;

/// What differs, as lines for a person.
pub(crate) fn difference(before: &Snapshot, after: &Snapshot) -> Vec<String> {
    let gone = before.keys().filter(|path| !after.contains_key(*path)).map(|path| format!("D {}", path.display()));
    let other = after.iter().filter_map(|(path, what)| match before.get(path) {
        None => Some(format!("A {} {what}", path.display())),
        Some(old) => (old != what).then(|| format!("M {} {old} -> {what}", path.display())),
    });
    gone.chain(other).collect()
}

fn look(path: &Path, seen: &mut Snapshot) {
    let Ok(metadata) = fs::symlink_metadata(path) else { return };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // What the server makes, and nobody attacks.
    if ["pid", "pid.new", "port", "udp", "descriptor", "tmux.sock"].contains(&name.as_ref()) {
        return;
    }
    let marks = ["user.mark", "user.evil"].map(|mark| rustix::fs::lgetxattr(path, mark, &mut [0_u8; 8][..]).is_ok());
    let what = if metadata.is_symlink() {
        format!("-> {}", fs::read_link(path).unwrap_or_default().display())
    } else if metadata.is_file() {
        let content = fs::read(path).unwrap_or_default();
        let text: String = String::from_utf8_lossy(&content).chars().take(60).collect();
        let time = (metadata.mtime(), metadata.mtime_nsec());
        format!("{:o} {} {} {time:?} {marks:?} {text:?}", metadata.mode(), metadata.uid(), content.len())
    } else {
        format!("{:o} {}", metadata.mode(), metadata.uid())
    };
    seen.insert(path.to_owned(), what);
    if metadata.is_dir() && !metadata.is_symlink() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            look(&entry.path(), seen);
        }
    }
}

/// The program of these tests, where every user may start it, with the tools of the attacks beside it.
pub(crate) fn program() -> PathBuf {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::copy("/proc/self/exe", folder.path().join("confine")).unwrap();
        for tool in ["server.py", "ring.py"] {
            fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(tool), folder.path().join(tool)).unwrap();
        }
        folder
    });
    folder.path().join("confine")
}

/// Removes what a static does not: the folder of the program, and the folders that others were copied from.
pub(crate) fn clean() {
    for scratch in FILLED.get().into_iter().flatten() {
        let _ = fs::remove_dir_all(scratch.root());
    }
    let _ = fs::remove_dir_all(program().parent().unwrap());
}
