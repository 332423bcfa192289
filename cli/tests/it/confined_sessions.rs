//! A session in plan mode whose lines the kernel holds, for each client whose shell `init` sets: this test is the client, which
//! asks its hook or its plugin's bridge, and then starts the shell that its settings name.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a test that can show nothing here says why")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::serve::Bridge;
use crate::support::{Reply, World, reply};

const CLIENTS: [&str; 3] = ["claude-code", "opencode", "pi"];

/// A project with a fault, and what finds it.
const FILES: [(&str, &str); 3] = [
    ("Makefile", "build/app: src/a.c\n\tmkdir -p build\n\tcp src/a.c build/app\n"),
    ("src/a.c", "a+b\n"),
    ("check.sh", "! grep -q a-b src/a.c\n"),
];

/// A client in a guarded project.
struct Client {
    id: &'static str,
    world: World,
    bridge: Option<Bridge>,
    calls: u32,
}

impl Client {
    /// One in a session of plan mode; `None` where no level holds a line.
    fn in_plan_mode(id: &'static str, config: &str) -> Option<Self> {
        Self::of(id, config, true)
    }

    /// One in a session, of plan mode or without a run.
    fn of(id: &'static str, config: &str, plans: bool) -> Option<Self> {
        let world = World::unguarded().with_client();
        FILES.iter().for_each(|(path, text)| world.write(path, text));
        fs::write(world.home().join(".bashrc"), "true\n").unwrap();
        world.run(&["init", id, "--skill", "plan-mode", "--mode", "block"], 0);
        let settings = world.root().join(".phasegate/config.yaml");
        fs::write(&settings, fs::read_to_string(&settings).unwrap() + config).unwrap();
        world.run(&["reload"], 0);
        let probe = world.phasegate(&["confine", "probe"]).output().unwrap();
        if probe.status.code() != Some(0) {
            eprintln!("skipped, no level works here: {}", String::from_utf8_lossy(&probe.stdout));
            return None;
        }
        if plans {
            world.run(&["start", "plan-mode"], 0);
        }
        let mut client = Self { id, world, bridge: None, calls: 0 };
        client.start();
        Some(client)
    }

    fn start(&mut self) {
        if self.id == "claude-code" {
            fs::create_dir(self.world.shell().parent().unwrap()).unwrap();
            fs::copy(self.shell(), self.world.shell()).unwrap();
            self.world.start("s");
            return;
        }
        // As its plugin does: the shell says what it can do before the first line is asked about.
        assert_eq!(self.run(":").status.code(), Some(0));
        let mut bridge = Bridge::of(&self.world, self.id, &[]);
        let (platform, directory) = (self.id, self.world.root());
        bridge.say(&json!({"hello": {"protocol": 1, "platform": platform, "client": "9.9.9", "directory": directory}}));
        assert_eq!(bridge.read()["hello"]["platform"], platform);
        self.bridge = Some(bridge);
        let info = json!({"type": "session.created", "properties": {"info": {"id": "ses_s", "title": "t"}}});
        match self.id {
            "opencode" => self.told(json!({"hook": "event", "input": {"event": info}})),
            _ => self.told(json!({"event": {"type": "session_start", "reason": "startup"}})),
        };
    }

    /// What the bridge answers to a frame of the session.
    fn told(&mut self, mut frame: Value) -> Value {
        let root = self.world.root();
        let of_all = match self.id {
            "opencode" => json!({"session": {"id": "ses_s"}, "directory": root, "terminal": false}),
            _ => json!({"session": "s", "cwd": root, "mode": "json", "hasUI": false}),
        };
        frame.as_object_mut().unwrap().extend(of_all.as_object().unwrap().clone());
        self.calls += 1;
        let bridge = self.bridge.as_mut().unwrap();
        bridge.say(&json!({"id": self.calls, "event": frame}));
        bridge.read()
    }

    /// The shell that the client's settings name.
    fn shell(&self) -> PathBuf {
        let adapter = phasegate_adapters::find(self.id).unwrap();
        let files = adapter.installer().places().settings_files(&self.world.root(), &self.world.home());
        let texts = files.iter().filter_map(|file| fs::read_to_string(file).ok());
        texts.filter_map(|text| adapter.shell().unwrap().named(&text)).next().unwrap().into()
    }

    /// What the guard says of a line that the client is about to run; `None`: it may run.
    fn denied(&mut self, id: &str, line: &str) -> Option<String> {
        let answer = match self.id {
            "claude-code" => {
                return match reply(&self.world.call("s", id, "Bash", json!({"command": line}))) {
                    Reply::Denied(why) => Some(why),
                    Reply::Silent | Reply::Told(_) => None,
                };
            }
            "opencode" => self.told(json!({"hook": "tool.execute.before", "servers": [],
                "input": {"tool": "bash", "sessionID": "ses_s", "callID": id}, "output": {"args": {"command": line}}})),
            _ => self.told(json!({"event": {"type": "tool_call", "toolName": "bash", "toolCallId": id,
                "input": {"command": line}}, "loaded": "project"})),
        };
        answer["reply"]["deny"].as_str().or(answer["reply"]["reason"].as_str()).map(str::to_owned)
    }

    /// Runs a line as the client does.
    fn run(&self, line: &str) -> Output {
        let text = match self.id {
            "claude-code" => {
                format!("eval '{}' < /dev/null && pwd -P >| /tmp/claude-0-cwd", line.replace('\'', r#"'"'"'"#))
            }
            _ => line.to_owned(),
        };
        let shell = if self.id == "claude-code" { self.world.shell() } else { self.shell() };
        let mut command = Command::new(shell);
        command.args(["-c", &text]).current_dir(self.world.root()).env_clear().envs(self.world.variables());
        command.output().unwrap()
    }

    /// Asks about a line and runs it: its exit status, and what it prints.
    fn tried(&mut self, id: &str, line: &str) -> (Option<i32>, String) {
        assert_eq!(self.denied(id, line), None, "{}: {line}", self.id);
        let output = self.run(line);
        (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    }

    /// The bytes of a file of the project; `None`: there is none.
    fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.world.root().join(path)).ok()
    }
}

#[test]
fn a_session_in_plan_mode_builds_tests_and_tries_a_fix_of_which_nothing_stays() {
    for id in CLIENTS {
        let Some(mut client) = Client::in_plan_mode(id, "") else { return };
        let (status, told) = client.tried("c1", "make && cat build/app");
        assert_eq!(status, Some(73), "{id}: {told}");
        assert!(
            told.contains("not kept: A build/app\nphasegate: Phase research of skill plan-mode only reads"),
            "{told}"
        );
        assert_eq!(client.text("build/app"), None, "{id}");
        assert_eq!(client.tried("c2", "sh check.sh").0, Some(0), "{id}");
        let (status, told) = client.tried("c3", "sed -i s/a+b/a-b/ src/a.c; sh check.sh");
        assert!(status == Some(1) && told.contains("not kept: M src/a.c\n"), "{id}: {told}");
        assert_eq!(client.text("src/a.c").as_deref(), Some("a+b\n"), "{id}");
        // A line that nothing was left of, such as a person's.
        assert_eq!(client.run("echo x > typed").status.code(), Some(73), "{id}");
        assert_eq!(client.text("typed"), None, "{id}");
        for line in ["git push", "sh check.sh && curl https://example.org"] {
            assert!(client.denied("c4", line).is_some(), "{id}: {line}");
        }
    }
}

#[test]
fn no_line_of_a_session_changes_the_guards_own_files() {
    for id in CLIENTS {
        let Some(mut client) = Client::of(id, "", false) else { return };
        let state = client.world.state().display().to_string();
        client.world.write("evil.txt", &format!("echo x > {state}/x; echo x >> ~/.bashrc; echo y > made; exit 7\n"));
        let (status, told) = client.tried("c1", "sh evil.txt");
        assert_eq!(status, Some(7), "{id}: {told}");
        assert!(told.matches("Read-only file system").count() >= 2, "{id}: {told}");
        assert_eq!(fs::read_to_string(client.world.home().join(".bashrc")).unwrap(), "true\n", "{id}");
        assert!(client.text("made").is_some() && !client.world.state().join("x").exists(), "{id}");
    }
}

#[test]
fn where_the_config_has_nothing_held_a_session_runs_what_is_known_to_read() {
    for id in CLIENTS {
        let Some(mut client) = Client::in_plan_mode(id, "confine: off\n") else { return };
        assert!(client.denied("c1", "make").is_some(), "{id}");
        assert_eq!(client.tried("c2", "cat src/a.c"), (Some(0), "a+b\n".into()), "{id}");
    }
}
