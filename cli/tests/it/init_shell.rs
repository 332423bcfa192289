//! The shells of clients that their settings name: `init` puts the guard's there, and gives back what a person had set.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::World;

/// Settings in which a person has set a shell, by the client.
const SET: [(&str, &str, &str); 2] = [
    ("opencode", ".config/opencode/opencode.json", "{\n  // mine\n  \"shell\": \"/bin/sh\",\n}\n"),
    ("pi", ".pi/agent/settings.json", "{\"theme\":\"x\",\"shellPath\":\"~/bin/other\"}"),
];

fn put(world: &World, path: &str, text: &str) -> PathBuf {
    let path = world.home().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

fn own(world: &World, client: &str) -> PathBuf {
    world.home().join(".local/share/phasegate/shell").join(client).join("bash")
}

/// What the doctor says of the client's shell.
fn doctor(world: &World, client: &str) -> String {
    let output = world.phasegate(&["--json", "doctor"]).output().unwrap();
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let section = said["sections"].as_array().unwrap().iter().find(|section| section["about"] == client).unwrap();
    let texts = section["findings"].as_array().unwrap().iter().map(|finding| finding["what"].as_str().unwrap());
    texts.filter(|text| text.contains("shell") || text.contains("lines run held")).collect::<Vec<_>>().join("\n")
}

/// What a line prints in a shell.
fn printed(world: &World, shell: &Path, line: &str) -> String {
    let mut command = Command::new(shell);
    let output = command.args(["-c", line]).current_dir(world.root()).env_clear().envs(world.variables()).output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}

#[test]
fn init_puts_a_shell_before_the_persons_own_and_gives_it_back() {
    for (client, path, before) in SET {
        let world = World::unguarded();
        let (settings, other) = (put(&world, path, before), put(&world, "bin/other", "#!/bin/sh\necho other\n"));
        fs::set_permissions(&other, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let dry = world.run(&["init", client, "--dry-run", "--verbose"], 0);
        assert!(dry.contains(&format!("/shell/{client}/bash\"")), "{dry}");
        assert_eq!(fs::read_to_string(&settings).unwrap(), before, "--dry-run writes nothing");

        world.run(&["init", client, "--no-user"], 0);
        assert_eq!(fs::read_to_string(&settings).unwrap(), before, "--no-user leaves it alone");
        assert!(
            doctor(&world, client).contains("the client's shell is not the guard's: "),
            "{}",
            doctor(&world, client)
        );

        world.run(&["init", client], 0);
        let there = fs::read_to_string(&settings).unwrap();
        assert!(there.contains(&format!("{}\"", own(&world, client).display())), "{there}");
        assert!(!doctor(&world, client).contains("is not the guard's"), "{}", doctor(&world, client));
        assert!(world.run(&["init", client], 0).contains("nothing to change"));
        let told = printed(&world, &own(&world, client), "echo $0");
        assert_eq!(told, if client == "pi" { "other\n" } else { "/bin/sh\n" });

        world.run(&["init", "--undo"], 0);
        assert_eq!(fs::read_to_string(&settings).unwrap(), before, "{client}");
        assert!(!world.home().join(".local/share/phasegate").exists());
    }
}

#[test]
fn the_shell_stays_until_no_project_needs_it_and_other_settings_stay_as_they_are() {
    for (client, path, before) in SET {
        let world = World::unguarded();
        let settings = put(&world, path, before);
        world.write("other/README.md", "a project of its own");
        world.run(&["init", client], 0);
        world.run(&["init", client, "--project", "other"], 0);
        world.run(&["init", "--undo"], 0);
        let there = fs::read_to_string(&settings).unwrap();
        assert!(there.contains("/shell/"), "{there}");
        // The client, or a person, writes something else meanwhile.
        let (edited, wanted) = (there.replacen('{', "{\"x\": 1,", 1), before.replacen('{', "{\"x\": 1,", 1));
        fs::write(&settings, edited).unwrap();
        world.run(&["init", "--undo", "--project", "other"], 0);
        let (now, wanted): (Vec<_>, Vec<_>) = (words(&fs::read_to_string(&settings).unwrap()), words(&wanted));
        assert_eq!(now, wanted, "{client}");
        assert!(!world.home().join(".local/share/phasegate").exists());
    }
}

fn words(text: &str) -> Vec<char> {
    text.chars().filter(|sign| !sign.is_whitespace()).collect()
}

#[test]
fn the_doctor_names_settings_of_the_project_that_name_another_shell() {
    for (client, path, text) in [
        ("opencode", "opencode.json", "{\"shell\": \"/bin/sh\"}"),
        ("pi", ".pi/settings.json", "{\"shellPath\": \"/bin/sh\"}"),
    ] {
        let world = World::unguarded();
        world.run(&["init", client], 0);
        assert!(!doctor(&world, client).contains("is not the guard's"), "{}", doctor(&world, client));
        world.write(path, text);
        let wanted = format!("the client's shell is not the guard's: `{path}` names `/bin/sh`");
        assert!(doctor(&world, client).contains(&wanted), "{}", doctor(&world, client));
    }
}
