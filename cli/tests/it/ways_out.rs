//! The ways out: what a denial advises is done to the letter, and leads on.
//!
//! The faults are those of `conformance/faults`, which the real clients are put through. Each is played through a hook, the
//! bridge of each plugin and the MCP relay: what stays meets a fault otherwise. After each, an honest call is made.
//! Where it is denied, the commands in its text are run as a person runs them, with the skill that was active in the place
//! of `SKILL`, and then the honest call must pass. What a text advises beside commands stands in `ways-out.toml`.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::clients::{Client, Spoken};
use crate::support::{SKILL, World};

/// `cli/tests/ways-out.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ways {
    advice: Vec<Advice>,
    client: Vec<Spoken>,
    elsewhere: Vec<Elsewhere>,
    fault: Vec<Fault>,
}

/// What a text advises beside commands of phasegate.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Advice {
    /// A part of the text.
    says: String,
    /// How a person does it: a shell line in the scratch folder.
    line: String,
    /// Whether the client is started again, in an environment without mistakes.
    #[serde(default)]
    starts_anew: bool,
}

/// Faults that are not played here.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Elsewhere {
    /// How the names begin.
    names: Vec<String>,
    /// Why, and what plays them.
    #[serde(rename = "why")]
    _why: String,
}

/// A fault, as in `conformance/faults`.
#[derive(Clone, Deserialize)]
struct Fault {
    name: String,
    #[serde(default)]
    when: String,
    #[serde(default)]
    prepare: Vec<String>,
    #[serde(default)]
    hand: Vec<String>,
    #[serde(default)]
    agent: Vec<toml::Value>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: toml::Table,
    /// Whether the project is in warn mode.
    #[serde(default)]
    warns: bool,
}

#[derive(Deserialize)]
struct Scenarios {
    scenario: Vec<Fault>,
}

fn ways() -> Ways {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ways-out.toml");
    toml::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Every fault of every client, each name once.
fn faults() -> Vec<Fault> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../conformance/faults");
    let mut paths = Vec::new();
    for client in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        paths.extend(fs::read_dir(client).unwrap().map(|entry| entry.unwrap().path()));
    }
    paths.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    paths.sort();
    let mut names = BTreeSet::new();
    let read = |path| toml::from_str::<Scenarios>(&fs::read_to_string(path).unwrap()).unwrap().scenario;
    paths.into_iter().flat_map(read).filter(|fault: &Fault| names.insert(fault.name.clone())).collect()
}

/// A project whose guard is broken.
struct Broken {
    world: World,
    client: Client,
}

impl Broken {
    fn new(fault: &Fault, spoken: &Spoken) -> Self {
        let world = World::unguarded();
        world.write(".phasegate/config.yaml", if fault.warns { "mode: warn\n" } else { "mode: block\n" });
        world.write(".phasegate/skills/probe.yaml", &(SKILL.replace("careful", "probe") + "servers: [fs]\n"));
        world.write("a", "");
        world.install_program();
        fs::create_dir(world.state()).unwrap();
        let mut permissions = fs::metadata(world.state()).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o700);
        fs::set_permissions(world.state(), permissions).unwrap();
        let text = |value: &toml::Value| value.as_str().unwrap_or_default().to_string();
        let env = fault.env.iter().map(|(name, value)| (name.clone(), text(value))).collect();
        let mut broken = Self { world, client: Client::new(spoken, env) };
        broken.shell("cp -a project/.phasegate kept");
        fault.prepare.iter().for_each(|line| broken.shell(line));
        if fault.when != "start" {
            broken.client.begin(&broken.world);
            broken.client.activate(&broken.world);
        }
        fault.hand.iter().for_each(|line| broken.shell(line));
        match fault.when.as_str() {
            "start" => broken.client.begin(&broken.world),
            "restart" => broken.client.go_on(&broken.world),
            _ => {}
        }
        broken
    }

    /// Runs a line in the scratch folder, as an outside program or a person does.
    fn shell(&self, line: &str) {
        let mut command = Command::new("sh");
        let folder = self.world.root().parent().unwrap().to_path_buf();
        command.args(["-c", line]).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(command.status().unwrap().success(), "{line}");
    }

    /// The text by which an honest call is denied; `None`: it passes.
    fn denial(&mut self) -> Option<String> {
        self.client.denial(&self.world)
    }

    /// Does what a text advises; what was done.
    fn follow(&mut self, text: &str, ways: &Ways, depth: u32) -> Vec<String> {
        let mut done = Vec::new();
        for command in self.commands(text) {
            let words: Vec<&str> = command.split_whitespace().skip(1).collect();
            let output = self.world.in_terminal(&words);
            done.push(command.clone());
            let said = String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n");
            // What a command advises is followed, too.
            if let Some((_, help)) = said.split_once("help: ").filter(|_| depth < 3 && !output.status.success()) {
                done.extend(self.follow(help, ways, depth + 1));
            }
            if self.denial().is_none() {
                return done;
            }
        }
        for advice in ways.advice.iter().filter(|advice| text.contains(&advice.says)) {
            self.shell(&advice.line);
            if advice.starts_anew {
                self.client.env.clear();
                self.client.begin(&self.world);
            }
            done.push(advice.says.clone());
            if self.denial().is_none() {
                return done;
            }
        }
        done
    }

    /// The commands of phasegate that a text advises.
    fn commands(&self, text: &str) -> Vec<String> {
        let quoted = text.split('`').skip(1).step_by(2);
        let own = quoted.filter(|quoted| quoted.starts_with("phasegate "));
        own.map(|command| command.replace("SKILL", "probe").replace("SESSION", &self.client.session)).collect()
    }
}

/// Plays every fault through a client, and follows what it is told.
fn play(client: &str) {
    let ways = ways();
    let spoken = ways.client.iter().find(|spoken| spoken.name == client).unwrap();
    let is_elsewhere = |name: &str| {
        let mut names = ways.elsewhere.iter().flat_map(|elsewhere| &elsewhere.names);
        names.any(|known| name.starts_with(known.as_str()))
    };
    let mut stuck = Vec::new();
    let (mut played, mut followed) = (0, 0);
    for fault in faults().into_iter().chain(ways.fault.iter().cloned()) {
        if is_elsewhere(&fault.name) || !fault.agent.is_empty() || !fault.args.is_empty() {
            continue;
        }
        played += 1;
        let mut broken = Broken::new(&fault, spoken);
        let Some(mut text) = broken.denial() else { continue };
        followed += 1;
        let first = text.clone();
        let mut done = Vec::new();
        // A way may have more than one part, and a bridge that is lost on a busy machine is one: eight denials are followed.
        for _ in 0..8 {
            done.extend(broken.follow(&text, &ways, 0));
            match broken.denial() {
                None => break,
                Some(next) => text = next,
            }
        }
        if let Some(text) = broken.denial() {
            stuck.push(format!("{}: {first}  after {done:?}: {text}", fault.name));
        }
    }
    assert!(played > 30 && followed > 15, "{played} faults, {followed} denials");
    assert!(stuck.is_empty(), "{} of {followed} lead nowhere:\n{}", stuck.len(), stuck.join("\n"));
}

#[test]
fn what_a_denial_of_a_hook_advises_leads_on() {
    play("claude-code");
}

#[test]
fn what_a_denial_through_the_bridge_of_opencode_advises_leads_on() {
    play("opencode");
}

#[test]
fn what_a_denial_through_the_bridge_of_pi_advises_leads_on() {
    play("pi");
}

#[test]
fn what_a_denial_of_the_relay_advises_leads_on() {
    play("mcp");
}
