//! What happens to the guard in a session that it guards.

use std::fs;
use std::io;
use std::time::Duration;

use serde_json::{Value, json};

use super::world::{Origin, World};

/// How long a client has to notice changed settings.
const NOTICED: Duration = Duration::from_millis(2500);

/// What happens to the guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Its program is killed when it is started.
    Killed,
    /// Its program never answers.
    Hung,
    /// Its program prints half of an answer, and ends well.
    Garbled,
    /// Another program ends well in its place, and says nothing.
    Replaced,
    /// Its program is gone.
    Gone,
    /// A line in the client's settings switches it off.
    Disabled,
    /// It is as it was.
    Mended,
}

impl Fault {
    /// Those that can happen to a client, in their order. One that hangs may not get further.
    pub(super) fn all(origin: &Origin<'_>) -> Vec<Self> {
        let switched = origin.drive.switch().map(|_| Self::Disabled);
        let first = [Self::Killed, Self::Garbled, Self::Replaced, Self::Gone].into_iter();
        first.chain(switched).chain([Self::Hung]).collect()
    }

    /// What happens, as a fragment.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Killed => "the guard is killed",
            Self::Hung => "the guard hangs",
            Self::Garbled => "the guard's answer is garbled",
            Self::Replaced => "another program stands in the guard's place",
            Self::Gone => "the guard's program is gone",
            Self::Disabled => "settings switch the guard off",
            Self::Mended => "the guard is back",
        }
    }

    /// Makes it happen.
    pub(super) fn happen(self, world: &World, origin: &Origin<'_>) -> io::Result<()> {
        let pids = world.path("pids").display().to_string();
        let script = match self {
            Self::Killed => "kill -KILL $$".to_owned(),
            Self::Hung => format!("echo $$ >> '{pids}'\nexec sleep 60"),
            Self::Garbled => r#"printf '{"hookSpecificOutput":{"hookEv'"#.to_owned(),
            Self::Replaced => "exit 0".to_owned(),
            Self::Gone => {
                world.programs.iter().for_each(|program| drop(fs::remove_file(program)));
                world.end_noted();
                return Ok(());
            }
            Self::Disabled => return switched_off(world, origin),
            Self::Mended => {
                if let Some((file, _)) = origin.drive.switch() {
                    world.put_back(file)?;
                }
                return world.mend();
            }
        };
        world.replace(&format!("#!/bin/sh\n{script}\n"))?;
        world.end_noted();
        Ok(())
    }
}

fn switched_off(world: &World, origin: &Origin<'_>) -> io::Result<()> {
    let Some((file, key)) = origin.drive.switch() else { return Ok(()) };
    let path = world.path("project").join(file);
    fs::create_dir_all(path.parent().unwrap_or(&path))?;
    let text = fs::read_to_string(&path).unwrap_or_default();
    let mut settings: Value = serde_json::from_str(&text).unwrap_or_else(|_| json!({}));
    if let Some(fields) = settings.as_object_mut() {
        fields.insert(key.to_owned(), true.into());
    }
    fs::write(&path, settings.to_string())?;
    std::thread::sleep(NOTICED);
    Ok(())
}
