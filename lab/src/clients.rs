//! Real MCP clients and servers, as their registries have them: installed by name into the target folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::npm::{self, Packages};
use xtask::failure::{Failure, Result};
use xtask::process;
use xtask::root::{read, root, write};

/// Where they are described: a `package.json` with its lock, and a list of pinned packages for each Python SDK.
const FOLDER: &str = "conformance/clients";

/// What is installed.
pub(crate) struct Clients {
    packages: Packages,
    /// Where the Python SDKs and the scripts are.
    folder: PathBuf,
}

impl Clients {
    /// Installs what is not there yet.
    pub(crate) fn installed() -> Result<Self> {
        let (from, packages) = (root().join(FOLDER), npm::install(FOLDER)?);
        // A script finds the packages beside itself.
        let folder = packages.file("..");
        for which in ["1", "2"] {
            python(&from.join(format!("python-{which}.txt")), &folder.join(format!("python-{which}")))?;
        }
        for script in ["typescript.mjs", "python.py"] {
            write(&folder.join(script), &read(&from.join(script))?)?;
        }
        Ok(Self { packages, folder })
    }

    /// A client of this name that does the steps of a plan (a file) with the server of a command, and its version.
    pub(crate) fn client(&self, name: &str, plan: &Path) -> Result<(Command, String)> {
        let (program, script, package) = match name {
            "typescript" => (self.packages.node()?, "typescript.mjs", "@modelcontextprotocol/sdk"),
            "python-1" => (self.folder.join("python-1/bin/python"), "python.py", "mcp"),
            "python-2" => (self.folder.join("python-2/bin/python"), "python.py", "mcp"),
            other => return Err(Failure::new(format!("there is no client `{other}`"))),
        };
        let version = match name.strip_prefix("python-") {
            Some(which) => pinned(&read(&root().join(FOLDER).join(format!("python-{which}.txt")))?, package),
            None => self.version(package).ok(),
        };
        let version = version.ok_or_else(|| Failure::new(format!("`{package}` has no version")))?;
        let mut command = Command::new(program);
        command.arg(self.folder.join(script)).arg(plan).current_dir(&self.folder);
        Ok((command, format!("{package} {version}")))
    }

    /// The inspector without its page: one request a process. Its arguments follow the server's command.
    pub(crate) fn inspector(&self) -> Result<(Command, String)> {
        let package = "@modelcontextprotocol/inspector";
        let mut command = Command::new(self.packages.node()?);
        command.arg(self.module(package).join("clients/launcher/build/index.js")).arg("--cli");
        command.current_dir(&self.folder);
        Ok((command, format!("{package} {}", self.version(package)?)))
    }

    /// The command of the server that has a bit of everything, and its version.
    pub(crate) fn everything(&self) -> Result<(Vec<String>, String)> {
        let package = "@modelcontextprotocol/server-everything";
        let script = self.module(package).join("dist/index.js");
        Ok((
            vec![self.packages.node()?.display().to_string(), script.display().to_string()],
            format!("{package} {}", self.version(package)?),
        ))
    }

    fn module(&self, package: &str) -> PathBuf {
        self.packages.file(package)
    }

    fn version(&self, package: &str) -> Result<String> {
        let path = self.module(package).join("package.json");
        let about: serde_json::Value =
            serde_json::from_str(&read(&path)?).map_err(|error| Failure::file(&path, error))?;
        let version = about.get("version").and_then(serde_json::Value::as_str).map(str::to_string);
        version.ok_or_else(|| Failure::file(&path, "no version"))
    }
}

/// The version that a list of pinned packages gives one of them.
fn pinned(list: &str, package: &str) -> Option<String> {
    list.lines().find_map(|line| Some(line.strip_prefix(package)?.strip_prefix("==")?.trim().to_string()))
}

/// Makes an environment that has the packages of a list, unless that was done already.
fn python(list: &Path, place: &Path) -> Result {
    let (wanted, stamp) = (read(list)?, place.join("installed.txt"));
    if read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    let needs =
        |failure| Failure::new(format!("{failure}\nthe Python SDKs need `python3` with `venv`, and the registry"));
    process::output(Command::new("python3").args(["-m", "venv", "--clear"]).arg(place)).map_err(needs)?;
    let mut pip = Command::new(place.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check", "--requirement"]).arg(list);
    process::output(&mut pip).map_err(needs)?;
    write(&stamp, &wanted)
}

#[cfg(test)]
mod tests {
    use super::pinned;

    #[test]
    fn a_pinned_version_is_that_of_the_package_alone() {
        assert_eq!(pinned("mcp-types==2.3.0\nmcp==2.3.1\n", "mcp").as_deref(), Some("2.3.1"));
        assert_eq!(pinned("mcp-types==2.3.0\n", "mcp"), None);
    }
}
