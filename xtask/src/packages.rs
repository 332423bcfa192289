//! `cargo xtask packages`: the crates that others depend on, packed, and each used as a registry would give it.

use serde_json::Value;
use toml::Table;

use xtask::failure::{Failure, Result};
use xtask::process::{cargo, output, run as run_command};
use xtask::root::{read, root, target, write};

/// A crate that may be published.
struct Package {
    name: String,
    version: String,
}

/// Packs every crate that may be published, and checks each alone, with nothing but packages to depend on.
pub(crate) fn run() -> Result {
    let packages = published()?;
    let names = packages.iter().flat_map(|package| ["-p", &package.name]);
    run_command(cargo(&["package", "--quiet", "--allow-dirty", "--no-verify"]).args(names))?;
    let folder = target().join("packages");
    for package in &packages {
        let archive = target().join(format!("package/{}.crate", package.file()));
        std::fs::create_dir_all(&folder).map_err(|error| Failure::file(&folder, error))?;
        run_command(std::process::Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(&folder))?;
        write(&folder.join(package.user()).join("Cargo.toml"), &package.manifest())?;
        write(&folder.join(package.user()).join("src/lib.rs"), "")?;
    }
    write(&folder.join("Cargo.toml"), &workspace(&packages))?;
    write(&folder.join("Cargo.lock"), &read(&root().join("Cargo.lock"))?)?;
    for package in &packages {
        anstream::println!("{}", package.file());
        let mut check = cargo(&["check", "--quiet", "-p", &package.user()]);
        run_command(check.current_dir(&folder).env("CARGO_TARGET_DIR", target()))?;
    }
    Ok(())
}

fn published() -> Result<Vec<Package>> {
    let metadata = output(&mut cargo(&["metadata", "--format-version", "1", "--no-deps"]))?;
    let metadata: Value = serde_json::from_str(&metadata)
        .map_err(|error| Failure::new(format!("`cargo metadata` printed no JSON: {error}")))?;
    let packages = metadata.get("packages").and_then(Value::as_array).into_iter().flatten();
    let text = |package: &Value, key: &str| Some(package.get(key)?.as_str()?.to_owned());
    let named = |package: &Value| Some(Package { name: text(package, "name")?, version: text(package, "version")? });
    Ok(packages.filter(|package| package.get("publish").is_some_and(Value::is_null)).filter_map(named).collect())
}

impl Package {
    /// What its archive and the folder in it are called.
    fn file(&self) -> String {
        format!("{}-{}", self.name, self.version)
    }

    /// The crate that depends on it alone.
    fn user(&self) -> String {
        format!("uses-{}", self.name)
    }

    fn manifest(&self) -> String {
        let Self { name, version } = self;
        let user = self.user();
        format!("[package]\nname = \"{user}\"\nedition = \"2024\"\n\n[dependencies]\n{name} = \"={version}\"\n")
    }
}

/// A workspace in which packages stand for what a registry would give.
fn workspace(packages: &[Package]) -> String {
    let path = |package: &Package| Table::from_iter([("path".to_owned(), package.file().into())]);
    let patched: Table = packages.iter().map(|package| (package.name.clone(), path(package).into())).collect();
    let users: Vec<_> = packages.iter().map(|package| toml::Value::from(package.user())).collect();
    let workspace = Table::from_iter([
        ("members".to_owned(), users.into()),
        ("exclude".to_owned(), packages.iter().map(Package::file).map(toml::Value::from).collect::<Vec<_>>().into()),
        ("resolver".to_owned(), "3".into()),
    ]);
    let patch = Table::from_iter([("crates-io".to_owned(), patched.into())]);
    Table::from_iter([("workspace".to_owned(), workspace.into()), ("patch".to_owned(), patch.into())]).to_string()
}
