//! The program under test, as it listens.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::http::PATIENCE;

/// The program as it listens.
pub(crate) struct Program {
    child: Child,
    /// The address that it listens at.
    pub(crate) address: String,
}

impl Program {
    /// Starts the program; it must say where it listens.
    pub(crate) fn start(folder: &Path, root: &Path, args: &[String]) -> Result<Self, String> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_phasegate"));
        command.current_dir(root).env_clear();
        for name in ["PATH", "LLVM_PROFILE_FILE"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        for (name, below) in [
            ("HOME", "home"),
            ("PHASEGATE_STATE_DIR", "state"),
            ("PHASEGATE_CONFIG_DIR", "config"),
            ("PHASEGATE_MACHINE_DIR", "machine"),
        ] {
            command.env(name, folder.join(below));
        }
        command.env("LET_IN", "let me in").arg("mcp").args(args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix("/mcp"));
        match address {
            Some(address) => Ok(Self { address: address.to_owned(), child }),
            None => {
                let mut errors = String::new();
                child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
                let status = child.wait().unwrap();
                Err(format!("{status}: {errors}"))
            }
        }
    }

    /// Processes that the program started and that live.
    pub(crate) fn children(&self) -> Vec<u32> {
        let id = self.child.id();
        let file = format!("/proc/{id}/task");
        let mut children = Vec::new();
        for task in std::fs::read_dir(file).into_iter().flatten() {
            let text = std::fs::read_to_string(task.unwrap().path().join("children")).unwrap_or_default();
            children.extend(text.split_whitespace().map(|id| id.parse::<u32>().unwrap()));
        }
        children
    }

    /// Waits until the program has this many children.
    pub(crate) fn wait_for_children(&self, count: usize) -> Result<(), String> {
        let until = Instant::now() + PATIENCE;
        loop {
            let children = self.children();
            if children.len() == count {
                return Ok(());
            }
            if Instant::now() > until {
                return Err(format!("the program has {} children, not {count}", children.len()));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sends the program a signal, and waits until it has ended.
    pub(crate) fn signal(&mut self, name: &str) {
        let told = Command::new("kill").arg(format!("-{name}")).arg(self.child.id().to_string()).status().unwrap();
        assert!(told.success());
        self.child.wait().unwrap();
    }

    /// Tells the program to end, and sees that it does, with all that it started. What it said on standard error.
    pub(crate) fn end(mut self) -> Result<String, String> {
        let children = self.children();
        let told = Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        assert!(told.success());
        let status = self.child.wait().unwrap();
        let mut errors = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        for child in children {
            let state = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
            if !state.is_empty() && !state.contains(") Z ") {
                return Err(format!("the process {child} was left behind"));
            }
        }
        if status.success() { Ok(errors) } else { Err(format!("ended with {status}: {errors}")) }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
