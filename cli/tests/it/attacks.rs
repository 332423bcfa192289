//! The attacks on the guard, as data: what came of each is what the table says, no better and no worse.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{Reply, World, reply};

/// `conformance/attacks/attacks.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    attack: Vec<Attack>,
    harmless: Vec<Harmless>,
}

/// Calls that look like attacks.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Harmless {
    what: String,
    tool: String,
    inputs: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Attack {
    what: String,
    /// What an outside program does before the call.
    prepare: Option<String>,
    /// The call that the guard is asked about.
    tool: Option<String>,
    #[serde(default)]
    input: Value,
    /// Other inputs of the same attack, which end as it does.
    #[serde(default)]
    also: Vec<Value>,
    /// The message that is sent in place of the one for the call.
    frame: Option<String>,
    /// A line that runs inside a program which the guard has let run.
    line: Option<String>,
    /// The subagent that makes the call.
    agent: Option<String>,
    /// The session that makes it.
    session: Option<String>,
    /// Whether a call that can run programs is open in session `s` meanwhile.
    #[serde(default)]
    within: bool,
    /// Whether the kernel holds no line, so that the text alone decides.
    #[serde(default)]
    by_text: bool,
    outcome: String,
    why: String,
}

const SKILL: &str = "
skill: careful
mode: block
unlisted: allow
phases:
  look:
    allowed: [Read]
    forbidden: [Edit, Write]
    done_when: { ok: Read }
  write:
    allowed: [Edit, Write]
    done_when: { ok: Edit }
";

/// A guarded project with a session `s` in which a call was just denied, and the guard's program beside it.
fn world(confine: &str) -> World {
    let world = World::unguarded().with_client();
    let config = format!("mode: block\nconfine: {confine}\n");
    for (path, text) in [
        ("notes.md", "x\n"),
        ("src/a.rs", "\n"),
        (".phasegate/config.yaml", &config),
        (".phasegate/skills/careful.yaml", SKILL),
    ] {
        world.write(path, text);
    }
    world.install_program();
    shell(
        &world,
        "git init -q . && git add notes.md src && git -c user.name=t -c user.email=t@example.com commit -q -m start",
    );
    shell(&world, "phasegate init claude-code --mode block");
    fs::create_dir(world.shell().parent().unwrap()).unwrap();
    fs::copy(world.home().join(".local/share/phasegate/shell/bash"), world.shell()).unwrap();
    world.start("s");
    world.call("s", "start", "Skill", json!({"skill": "careful"}));
    assert!(stands(&world), "the guard works");
    world
}

/// Makes a folder what another one is. The program is large: it is copied where it is another one.
fn copy(from: &Path, to: &Path) {
    let program = |folder: &Path| {
        let data = folder.join("bin/phasegate").symlink_metadata().ok()?;
        Some((data.len(), data.modified().ok()?, data.permissions()))
    };
    let spared = if program(from) == program(to) { "bin" } else { "" };
    let line = "chmod -R u+rwX \"$2\" && find \"$2\" -mindepth 1 -maxdepth 1 ! -name \"$3\" -exec rm -rf {} + && \
                cd \"$1\" && find . -mindepth 1 -maxdepth 1 ! -name \"$3\" -exec cp -a {} \"$2\" \\;";
    let copied = Command::new("sh").args(["-c", line, "sh"]).args([from, to]).arg(spared).status().unwrap();
    assert!(copied.success(), "{} to {}", from.display(), to.display());
}

/// Runs a line as a person would.
fn shell(world: &World, line: &str) {
    run(world, Path::new("sh"), line);
}

/// Runs a line as the client runs that of its agent.
fn client_shell(world: &World, line: &str) {
    let line = line.replace('\'', r#"'"'"'"#);
    run(world, &world.shell(), &format!("eval '{line}' < /dev/null && pwd -P >| /tmp/claude-0-cwd"));
}

fn run(world: &World, shell: &Path, line: &str) {
    let bin = world.program().parent().unwrap().display().to_string();
    let mut command = Command::new(shell);
    command.args(["-c", line]).current_dir(world.root()).env_clear().envs(world.variables());
    command.env("PATH", format!("{bin}:/usr/bin:/bin")).output().unwrap();
}

/// Whether a call that the skill forbids is denied.
fn stands(world: &World) -> bool {
    let input = json!({"file_path": "notes.md", "old_string": "x", "new_string": "y"});
    // Another program in the guard's place answers as it likes.
    let answer = world.call("s", "probe", "Edit", input);
    matches!(answer.status.code(), Some(0 | 2)) && matches!(reply(&answer), Reply::Denied(_))
}

/// The current content of all protected paths.
fn kept(world: &World) -> Vec<Option<Vec<u8>>> {
    let files = [".phasegate/config.yaml", ".phasegate/skills/careful.yaml", ".claude/settings.json"];
    let mut all: Vec<_> = files.iter().map(|file| fs::read(world.root().join(file)).ok()).collect();
    all.push(fs::read(world.root().join(".claude/settings.local.json")).ok());
    all.push(fs::read(world.home().join(".claude/settings.json")).ok());
    let program = fs::metadata(world.program()).ok();
    all.push(program.map(|program| format!("{} {:?}", program.len(), program.permissions()).into_bytes()));
    all
}

fn play(world: &World, attack: &Attack, input: &Value, id: &str) -> &'static str {
    if let Some(line) = &attack.prepare {
        shell(world, line);
    }
    let before = kept(world);
    let (passed, told) = match (&attack.line, &attack.tool) {
        (Some(line), None) => within(world, id, || {
            client_shell(world, line);
            (true, String::new())
        }),
        (None, Some(tool)) if attack.within => {
            within(world, &format!("open-{id}"), || asked(world, attack, tool, input, id))
        }
        (None, Some(tool)) => asked(world, attack, tool, input, id),
        _ => panic!("{}: either a tool or a line", attack.what),
    };
    let (after, stands) = (kept(world), stands(world));
    // The first two are the configs, whose accepted form decides.
    let rest = |all: &[Option<Vec<u8>>]| all[2..].to_vec();
    match (passed, stands && after == before) {
        (false, _) => "denied",
        (true, true) => "stands",
        (true, false) if stands && rest(&after) == rest(&before) && next_stands(world, id) => "waits",
        (true, false) if stands && told.contains("the guard depends on") && is_stopped(world, id) => "noticed",
        (true, false) => "through",
    }
}

/// Whether the next session tells its user that a change waits, and denies what this one denies.
fn next_stands(world: &World, id: &str) -> bool {
    let session = format!("next-{id}");
    let told = world.start(&session);
    world.call(&session, "start", "Skill", json!({"skill": "careful"}));
    let input = json!({"file_path": "notes.md", "old_string": "x", "new_string": "y"});
    let denied = matches!(reply(&world.call(&session, "probe", "Edit", input)), Reply::Denied(_));
    denied && String::from_utf8_lossy(&told.stdout).contains("stay in force")
}

/// Whether neither this session nor the next one can do more than read, because of what a call changed.
fn is_stopped(world: &World, id: &str) -> bool {
    let next = format!("next-{id}");
    world.start(&next);
    ["s", &next].into_iter().all(|session| {
        let call = world.call(session, &format!("stopped-{session}"), "Bash", json!({"command": "make all"}));
        matches!(reply(&call), Reply::Denied(text) if text.contains("forbidden-change"))
    })
}

/// What is told with the result of a call.
fn told(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Does something while a call that can run programs is open.
fn within(world: &World, id: &str, act: impl FnOnce() -> (bool, String)) -> (bool, String) {
    let input = json!({"command": "make all"});
    let open = world.call("s", id, "Bash", input.clone());
    assert!(!matches!(reply(&open), Reply::Denied(_)), "{open:?}");
    let (passed, said) = act();
    (passed, said + &told(&world.ok("s", id, "Bash", input)))
}

/// Whether the call was let through, and what is told of its result; a shell line is run in between.
fn asked(world: &World, attack: &Attack, tool: &str, input: &Value, id: &str) -> (bool, String) {
    let session = attack.session.as_deref().unwrap_or("s");
    if attack.session.is_some() {
        world.start(session);
    }
    let mut fields = json!({"tool_name": tool, "tool_input": input, "tool_use_id": id});
    if let Some(agent) = &attack.agent {
        fields["agent_id"] = json!(agent);
        fields["agent_type"] = json!("general-purpose");
    }
    let answer = match &attack.frame {
        Some(frame) => world.hook(frame.clone()),
        None => world.frame(session, "PreToolUse", fields),
    };
    if matches!(reply(&answer), Reply::Denied(_)) {
        return (false, String::new());
    }
    let Some(line) = input["command"].as_str().filter(|_| attack.frame.is_none() && !attack.by_text) else {
        return (true, String::new());
    };
    client_shell(world, line);
    // A client whose folder is gone starts its hooks all the same.
    fs::create_dir_all(world.root()).unwrap();
    (true, told(&world.ok(session, id, tool, input.clone())))
}

#[test]
fn every_attack_ends_as_the_table_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../conformance/attacks/attacks.toml");
    let file: File = toml::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert!(file.attack.len() >= 40, "{}", file.attack.len());
    let (world, by_text) = (world("auto"), world("off"));
    let levels: Value =
        serde_json::from_slice(&world.phasegate(&["--json", "confine", "probe"]).output().unwrap().stdout).unwrap();
    let protects = |level: &Value| level["level"] == "protect" && level["works"] == true;
    if !levels["levels"].as_array().unwrap().iter().any(protects) {
        eprintln!("what the kernel keeps cannot be shown here: {levels}");
        return;
    }
    let (folder, kept) = (world.root().parent().unwrap().to_path_buf(), tempfile::tempdir().unwrap());
    copy(&folder, kept.path());
    let mut wrong = Vec::new();
    for (at, attack) in file.attack.iter().enumerate() {
        assert!(!attack.why.is_empty(), "{}", attack.what);
        for (number, input) in std::iter::once(&attack.input).chain(&attack.also).enumerate() {
            let played_in = if attack.by_text { &by_text } else { &world };
            let outcome = play(played_in, attack, input, &format!("a{at}-{number}"));
            if outcome != attack.outcome {
                wrong.push(format!("{}: {outcome}, not {}: {input}", attack.what, attack.outcome));
            }
            if matches!(outcome, "through" | "waits" | "noticed") {
                copy(kept.path(), &folder);
            }
        }
        if attack.prepare.is_some() {
            copy(kept.path(), &folder);
        }
    }
    world.start("free");
    for (at, row) in file.harmless.iter().enumerate() {
        for (number, input) in row.inputs.iter().enumerate() {
            let answer = world.call("free", &format!("h{at}-{number}"), &row.tool, input.clone());
            if let Reply::Denied(text) = reply(&answer) {
                wrong.push(format!("{}: denied: {input}: {text}", row.what));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
