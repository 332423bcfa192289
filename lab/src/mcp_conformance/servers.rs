//! The servers that the suite is run against, as processes.

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::subject::{Server, Way};
use crate::npm::Packages;
use xtask::failure::{Failure, Result};
use xtask::process::build_programs;
use xtask::root::{target, write};

/// The reference server, below `node_modules`.
const EVERYTHING: &str = "@modelcontextprotocol/server-everything/dist/index.js";
/// How long a server may take until it listens.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often is looked whether it does.
const LOOK: Duration = Duration::from_millis(20);
/// The proxy's project is guarded, so that every call is decided and recorded.
const SETTINGS: &str = "use: [lsp-refactor]\nmode: block\n";

/// Where servers come from and work.
pub(super) struct Servers {
    node: PathBuf,
    everything: PathBuf,
    folder: PathBuf,
}

/// A server that listens, and its process, which ends with this value.
pub(super) struct Running {
    child: Child,
    url: String,
}

impl Servers {
    /// Builds the programs, and makes a project for the proxy.
    pub(super) fn new(packages: &Packages) -> Result<Self> {
        build_programs()?;
        let folder = std::env::temp_dir().join(format!("phasegate-mcp-conformance-{}", std::process::id()));
        write(&folder.join("project/.phasegate/config.yaml"), SETTINGS)?;
        Ok(Self { node: packages.node()?, everything: packages.file(EVERYTHING), folder })
    }

    /// Starts a server, and waits until it listens.
    pub(super) fn start(&self, server: Server, way: Way) -> Result<Running> {
        match (way, server) {
            (Way::Direct, Server::Test) => {
                let mut command = Command::new(program("phasegate-test-server"));
                self.told(command.args(["--listen", "127.0.0.1:0"]))
            }
            (Way::Inside, _) => {
                let mut command = Command::new(program("phasegate-test-server"));
                self.told(command.args(["--listen", "127.0.0.1:0", "--guarded", "test"]))
            }
            (Way::Direct, Server::Everything) => self.guessed(),
            (Way::Proxy, _) => {
                let mut command = Command::new(program("phasegate"));
                command.args(["mcp", "proxy", "--listen", "127.0.0.1:0", "--"]);
                match server {
                    Server::Test => command.arg(program("phasegate-test-server")),
                    Server::Everything => command.arg(&self.node).arg(&self.everything).arg("stdio"),
                };
                self.told(&mut command)
            }
        }
    }

    /// Whether the guards of the servers so far kept a journal: a call without a decision proves nothing about a guard.
    pub(super) fn decided(&self) -> bool {
        let files = walkdir::WalkDir::new(self.folder.join("state")).into_iter().flatten();
        files.filter(|entry| entry.path().extension().is_some_and(|end| end == "journal")).count() > 1
    }

    /// A server that prints where it listens.
    fn told(&self, command: &mut Command) -> Result<Running> {
        let mut child = self.spawn(command.stdout(Stdio::piped()))?;
        let mut url = String::new();
        let out = child.stdout.take().map(BufReader::new);
        let read = out.map_or(Ok(0), |mut out| out.read_line(&mut url));
        let running = Running { child, url: url.trim().to_string() };
        match read {
            Ok(_) if running.url.starts_with("http://") => Ok(running),
            _ => Err(Failure::new(format!("{command:?} did not say where it listens"))),
        }
    }

    /// The reference server listens on a port that it is given, and says nothing.
    fn guessed(&self) -> Result<Running> {
        let failed = |error: std::io::Error| Failure::new(format!("the reference server: {error}"));
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
        let port = free.map_err(failed)?.port();
        let mut command = Command::new(&self.node);
        command.arg(&self.everything).arg("streamableHttp").env("PORT", port.to_string()).stdout(Stdio::null());
        let child = self.spawn(&mut command)?;
        let mut running = Running { child, url: format!("http://127.0.0.1:{port}/mcp") };
        let began = Instant::now();
        while TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).is_err() {
            if running.child.try_wait().map_err(failed)?.is_some() || began.elapsed() > PATIENCE {
                return Err(Failure::new("the reference server did not come up"));
            }
            std::thread::sleep(LOOK);
        }
        Ok(running)
    }

    fn spawn(&self, command: &mut Command) -> Result<Child> {
        let below = |name: &str| self.folder.join(name);
        command.current_dir(below("project")).stdin(Stdio::null()).stderr(Stdio::null());
        command.env("HOME", below("home")).env("PHASEGATE_STATE_DIR", below("state"));
        command.env("PHASEGATE_CONFIG_DIR", below("user")).env("PHASEGATE_MACHINE_DIR", below("machine"));
        command.spawn().map_err(|error| Failure::new(format!("{command:?}: {error}")))
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Running {
    /// Where it listens.
    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn program(name: &str) -> PathBuf {
    target().join("debug").join(Path::new(name).with_extension(std::env::consts::EXE_EXTENSION))
}
