//! What a confined command sees, leaves and reports, at each level that works here.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use libtest_mimic::{Failed, Trial};
use phasegate_confine::{Cache, Fake, Level, Report, Request};

use crate::scratch::{Scratch, User, has};

/// A test at one level, as one user.
type Check = fn(&Scratch, Level) -> Result<(), Failed>;

const READ_ONLY: [Level; 3] = Level::READ_ONLY;
const MOUNTED: [Level; 2] = [Level::Overlay, Level::Binds];

/// A test and the levels that it is about.
struct Row {
    name: &'static str,
    levels: &'static [Level],
    check: Check,
}

const fn row(name: &'static str, levels: &'static [Level], check: Check) -> Row {
    Row { name, levels, check }
}

const ROWS: &[Row] = &[
    row("the status is the command's own", &Level::ALL, statuses),
    row("a program that does not exist is said", &Level::ALL, no_program),
    row("standard streams can be used and opened", &Level::ALL, streams),
    row("a file is copied out", &READ_ONLY, returned),
    row("no link is followed when a file is copied out", &MOUNTED, returned_link),
    row("a writable folder keeps changes", &READ_ONLY, writable),
    row("localhost works inside", &MOUNTED, localhost),
    row("the network is as without where it is asked for", &READ_ONLY, network),
    row("a cache is kept for the session alone", &MOUNTED, cache),
    row("changes are told", &[Level::Overlay], changes),
    row("caches, locks and equal files are not told", &[Level::Overlay], silent),
    row("a mount in the home is no hindrance", &MOUNTED, mount_in_home),
    row("a home in the temporary folder can be used", &MOUNTED, temporary_home),
    row("a terminal is passed on, and its keys", &READ_ONLY, terminal),
    row("a missing folder is not protected in silence", &[Level::Protect], missing),
    row("what a kernel lacks is said", &Level::ALL, fakes),
];

/// Every row as every user, at each level that works here.
pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for user in User::all() {
        let first = Scratch::new(user);
        let works: Vec<Level> =
            Level::ALL.into_iter().filter(|level| first.refused(&first.request(*level)).is_none()).collect();
        for row in ROWS {
            for level in row.levels.iter().copied() {
                let name = format!("behaviour/{}/{level}/{}", user.name(), row.name);
                let trial = Trial::test(name, move || (row.check)(&Scratch::new(user), level));
                trials.push(trial.with_ignored_flag(!works.contains(&level)));
            }
        }
    }
    trials
}

fn run(scratch: &Scratch, request: &Request, line: &str) -> Output {
    scratch.confined(request, line).output().unwrap()
}

fn report(output: &Output) -> Result<Report, Failed> {
    let text = String::from_utf8_lossy(&output.stderr);
    let last = text.lines().last().unwrap_or_default();
    serde_json::from_str(last).map_err(|_| Failed::from(format!("no report: {text}")))
}

fn equal<T: PartialEq + std::fmt::Debug>(left: T, right: T) -> Result<(), Failed> {
    if left == right { Ok(()) } else { Err(format!("{left:?}, not {right:?}").into()) }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

fn statuses(scratch: &Scratch, level: Level) -> Result<(), Failed> {
    for (line, status) in [("exit 3", 3), ("true", 0), ("bash -c 'kill -SEGV $$'", 139), ("sh -c 'kill -TERM $$'", 143)]
    {
        let ended = run(scratch, &scratch.request(level), &format!("{line}; exit $?")).status;
        equal(ended.code(), Some(status)).map_err(|error| format!("{line}: {error:?}"))?;
    }
    // The command itself, not a child of it.
    let output = run(scratch, &scratch.request(level), "kill -TERM $$");
    let signal = std::os::unix::process::ExitStatusExt::signal(&output.status);
    let expected = if level == Level::Protect { (None, Some(15)) } else { (Some(143), None) };
    equal((output.status.code(), signal), expected)
}

fn no_program(scratch: &Scratch, level: Level) -> Result<(), Failed> {
    let before = scratch.confining(&scratch.request(level));
    let mut command = scratch.with_program(&before[0]);
    let output = command.args(&before[1..]).arg("no-such-program").output().unwrap();
    equal(output.status.code(), Some(125))?;
    let told = text(&output.stderr);
    equal(told.contains("`no-such-program` cannot be started: No such file"), true).map_err(|_| Failed::from(told))
}

fn streams(scratch: &Scratch, level: Level) -> Result<(), Failed> {
    let line = "cat; (echo out > /dev/stdout) | cat; (echo err > /dev/stderr) 2>&1 | cat >&2; echo x > /dev/null; f=$(mktemp) && echo y > $f && cat $f";
    let mut command = scratch.confined(&scratch.request(level), line);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"in\n").unwrap();
    let output = child.wait_with_output().unwrap();
    equal(text(&output.stdout), "in\nout\ny".to_owned())?;
    equal(text(&output.stderr).lines().next(), Some("err"))
}

fn returned(scratch: &Scratch, level: Level) -> Result<(), Failed> {
    let file = Path::new("/tmp").join(scratch.id());
    let request = Request { returned: vec![file.clone()], ..scratch.request(level) };
    run(scratch, &request, "cd src && pwd -P >| /tmp/$ID");
    equal(text(&fs::read(&file).unwrap_or_default()), scratch.project().join("src").display().to_string())
}

fn returned_link(scratch: &Scratch, level: Level) -> Result<(), Failed> {
    let file = Path::new("/tmp").join(scratch.id());
    let request = Request { returned: vec![file.clone()], ..scratch.request(level) };
    run(scratch, &request, "ln -s /etc/passwd /tmp/$ID");
    equal(file.symlink_metadata().is_ok(), false)
}

fn writable(scratch: &Scratch, level: Level) -> Result<(), Failed> {
    let folder = scratch.project().join("src");
    let request = Request { writable: vec![folder.clone()], ..scratch.request(level) };
    let output = run(scratch, &request, "echo kept > src/kept; echo lost > lost");
    equal(text(&fs::read(folder.join("kept")).unwrap_or_default()), "kept".to_owned())?;
    equal(scratch.project().join("lost").exists(), false)?;
    let told: Vec<_> = report(&output)?.changes.into_iter().map(|change| change.path).collect();
    let lost = scratch.project().join("lost").display().to_string();
    equal(told, if level == Level::Overlay { vec![lost] } else { Vec::new() })
}

const LOCALHOST: &str = r#"python3 -c "
import socket,threading
s=socket.create_server(('127.0.0.1',0))
threading.Thread(target=lambda: s.accept()[0].send(b'yes')).start()
print(socket.create_connection(s.getsockname()).recv(9).decode())
u=socket.socket(socket.AF_UNIX); u.bind('/tmp/u')""#;

fn localhost(scratch: &Scratch, level: Level) -> Result<(), Failed> {
    if !has("python3") {
        return Ok(());
    }
    let output = run(scratch, &scratch.request(level), LOCALHOST);
    equal(text(&output.stdout), "yes".to_owned()).map_err(|_| Failed::from(text(&output.stderr)))
}

fn network(scratch: &Scratch, level: Level) -> Result<(), Failed> {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let line = format!("exec 3<>/dev/tcp/127.0.0.1/{}", server.local_addr().unwrap().port());
    let request = Request { network: true, ..scratch.request(level) };
    equal(run(scratch, &request, &line).status.success(), true)?;
    equal(run(scratch, &scratch.request(level), &line).status.success(), false)
}

fn cache(scratch: &Scratch, level: Level) -> Result<(), Failed> {
    let path = scratch.project().join("target");
    scratch.make("mkdir target; echo old > target/old");
    let layer = scratch.outside().join("layer");
    let request = Request { caches: vec![Cache { path: path.clone(), layer }], ..scratch.request(level) };
    let first = run(scratch, &request, "echo new > target/new && ls target");
    let second = run(scratch, &request, "cat target/new");
    equal(text(&second.stdout), "new".to_owned()).map_err(|_| Failed::from(text(&first.stderr)))?;
    equal(path.join("new").exists(), false)?;
    equal(report(&second)?.changes, Vec::new())
}

fn changes(scratch: &Scratch, level: Level) -> Result<(), Failed> {
    let line = "echo x >> src/a.txt; echo n > n; rm Makefile; mkdir d; chmod 755 .gitignore; echo k > .env; \
                rm -r .guard/sub; mkdir .guard/sub; git commit -qam x; rm -r ../.guard-home; exit 4";
    let output = run(scratch, &scratch.request(level), line);
    let report = report(&output)?;
    equal(report.status, 4)?;
    let home = scratch.home();
    let told: Vec<String> = report
        .changes
        .iter()
        .map(|change| {
            format!("{} {}", change.kind.letter(), Path::new(&change.path).strip_prefix(&home).unwrap().display())
        })
        .collect();
    let expected = [
        "D .guard-home",
        "A project/.env",
        "M project/.git/refs/heads/main",
        "M project/.gitignore",
        "D project/Makefile",
        "A project/d",
        "A project/n",
        "M project/src/a.txt",
    ];
    equal(told, expected.map(String::from).to_vec())
}

fn silent(scratch: &Scratch, level: Level) -> Result<(), Failed> {
    scratch.make("printf 'out/\\n*.log\\n' > .gitignore");
    let line = "git status; mkdir -p out/deep target .pytest_cache ~/.cache/x ~/.npm; echo x > out/deep/f; \
                echo Signature > target/CACHEDIR.TAG; echo y > target/y; touch .pytest_cache/z ~/.cache/x/a ~/.npm/b; \
                touch new.lock; echo hello > t; cat t > src/a.txt; rm t; touch src/a.txt; mkdir -p p/__pycache__; \
                touch p/__pycache__/a.pyc; mkdir -p ~/.config/go/telemetry/local; echo 1 > ~/.config/go/telemetry/local/go.count; \
                echo '[]' > .eslintcache";
    let output = run(scratch, &scratch.request(level), line);
    equal(report(&output)?.changes, Vec::new())
}

fn mount_in_home(scratch: &Scratch, level: Level) -> Result<(), Failed> {
    if !has("unshare") || scratch.user() == User::Own {
        return Ok(());
    }
    let before: Vec<String> =
        scratch.confining(&scratch.request(level)).iter().map(|arg| format!("'{}'", arg.display())).collect();
    let line = "echo lost > src/a.txt; echo lost > $HOME/mounted/f; cat src/a.txt";
    let user =
        if scratch.user() == User::Nobody { "setpriv --reuid=65534 --regid=65534 --clear-groups --" } else { "" };
    let mount = "mkdir $HOME/mounted; mount -t tmpfs -o mode=777 none $HOME/mounted; echo kept > $HOME/mounted/f";
    let outer = format!("{mount}; {user} {} bash -c '{line}'; cat $HOME/mounted/f", before.join(" "));
    let mut command = Command::new("unshare");
    let command = command.args(["-m", "bash", "-c", &outer]);
    let output = scratch.as_environment(command).output().unwrap();
    let expected = if level == Level::Overlay { "lost\nkept" } else { "hello\nkept" };
    equal(text(&output.stdout), expected.to_owned()).map_err(|_| Failed::from(text(&output.stderr)))?;
    equal(text(&fs::read(scratch.project().join("src/a.txt")).unwrap()), "hello".to_owned())
}

fn temporary_home(scratch: &Scratch, level: Level) -> Result<(), Failed> {
    let scratch = Scratch::in_temporary_folder(scratch.user());
    // What others have in the temporary folder is seen through the layer, and stays as it is; without one it is out of sight.
    let other = tempfile::Builder::new().prefix("others").tempfile_in("/tmp").unwrap();
    fs::write(other.path(), "theirs\n").unwrap();
    fs::set_permissions(other.path(), fs::Permissions::from_mode(0o666)).unwrap();
    let place = other.path().display();
    let line =
        format!("echo lost > src/a.txt; cat src/a.txt; cat {place} 2>/dev/null || echo hidden; echo x > {place}");
    let output = run(&scratch, &scratch.request(level), &line);
    let expected = if level == Level::Overlay { "lost\ntheirs" } else { "hello\nhidden" };
    let told = format!("{} {}", text(&output.stdout), text(&output.stderr));
    equal(text(&output.stdout), expected.to_owned()).map_err(|_| Failed::from(told))?;
    equal(text(&fs::read(other.path()).unwrap()), "theirs".to_owned())?;
    equal(text(&fs::read(scratch.project().join("src/a.txt")).unwrap()), "hello".to_owned())
}

fn terminal(scratch: &Scratch, level: Level) -> Result<(), Failed> {
    if !has("script") {
        return Ok(());
    }
    let before: Vec<String> =
        scratch.confining(&scratch.request(level)).iter().map(|arg| format!("'{}'", arg.display())).collect();
    let line = "test -t 0 && test -t 1 || exit 1; trap \"exit 42\" INT; echo ready >/dev/tty; sleep 9 & wait; exit 2";
    let confined = format!("{} bash -c '{line}'", before.join(" "));
    // The key is pressed when the command says that it is ready.
    let outer = format!(
        "mkfifo keys; script -qefc \"{}\" /dev/null < keys | (exec 5>keys; read -r x; printf '\\003' >&5; cat >/dev/null); exit ${{PIPESTATUS[0]}}",
        confined.replace('"', "\\\"")
    );
    let output = scratch.bare(&outer).output().unwrap();
    equal(output.status.code(), Some(42))
        .map_err(|_| Failed::from(format!("{:?} {}", output.status, text(&output.stderr))))
}

fn missing(scratch: &Scratch, level: Level) -> Result<(), Failed> {
    let request = Request { protected: vec![scratch.project().join("none")], ..scratch.request(level) };
    let output = run(scratch, &request, "echo ran");
    equal(text(&output.stdout), String::new())?;
    equal(output.status.code(), Some(125))
}

fn fakes(scratch: &Scratch, level: Level) -> Result<(), Failed> {
    let root = scratch.user() == User::Root;
    for fake in [Fake::NoUserNamespaces, Fake::NoOverlay, Fake::NoLandlock, Fake::NoProc] {
        let refused = match fake {
            Fake::NoUserNamespaces => level != Level::Landlock,
            Fake::NoOverlay => level == Level::Overlay,
            Fake::NoLandlock => level == Level::Landlock || root && level != Level::Protect,
            Fake::NoProc => root && [Level::Overlay, Level::Binds].contains(&level),
        };
        let request = Request { fakes: vec![fake], ..scratch.request(level) };
        equal(scratch.refused(&request).is_some(), refused).map_err(|error| format!("{fake:?}: {error:?}"))?;
        let output = run(scratch, &request, "echo ran");
        equal(text(&output.stdout), if refused { String::new() } else { "ran".to_owned() })?;
        equal(output.status.code(), Some(if refused { 125 } else { 0 }))?;
    }
    Ok(())
}
