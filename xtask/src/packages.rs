//! `cargo xtask packages`: the crates that others depend on, packed, and each used as a registry would give it.
//!
//! What the crates depend on is checked once for all of them, with the features that the workspace asks for: else it is
//! checked anew for almost every crate, which takes four minutes. `--alone` does that, before a release.

use serde_json::Value;
use toml::Table;

use xtask::failure::{Failure, Result};
use xtask::process::{cargo, output, run as run_command};
use xtask::root::{read, root, target, write};

/// How the packages are used.
#[derive(clap::Args, Default)]
pub(crate) struct Args {
    /// Check each with no features of its dependencies but those that it asks for.
    #[arg(long)]
    pub(crate) alone: bool,
}

/// The crate that depends on all that crates of the workspace depend on.
const ALL: &str = "uses-all";

/// A crate that may be published.
struct Package {
    name: String,
    version: String,
}

/// Packs every crate that may be published, and checks each alone, with nothing but packages to depend on.
pub(crate) fn run(args: &Args) -> Result {
    let metadata = metadata()?;
    let packages = published(&metadata);
    let names = packages.iter().flat_map(|package| ["-p", &package.name]);
    run_command(cargo(&["package", "--quiet", "--allow-dirty", "--no-verify"]).args(names))?;
    let folder = target().join("packages");
    for package in &packages {
        let archive = target().join(format!("package/{}.crate", package.file()));
        std::fs::create_dir_all(&folder).map_err(|error| Failure::file(&folder, error))?;
        // Files as new as they are: the archive gives all of them one old time, and cargo would take what it built before.
        run_command(std::process::Command::new("tar").arg("-xzmf").arg(&archive).arg("-C").arg(&folder))?;
        write(&folder.join(package.user()).join("Cargo.toml"), &package.manifest())?;
        write(&folder.join(package.user()).join("src/lib.rs"), "")?;
    }
    write(&folder.join(ALL).join("Cargo.toml"), &uses_all(&metadata))?;
    write(&folder.join(ALL).join("src/lib.rs"), "")?;
    write(&folder.join("Cargo.toml"), &workspace(&packages)?)?;
    write(&folder.join("Cargo.lock"), &read(&root().join("Cargo.lock"))?)?;
    for package in &packages {
        anstream::println!("{}", package.file());
        let mut check = cargo(&["check", "--quiet", "-p", &package.user()]);
        if !args.alone {
            check.args(["-p", ALL]);
        }
        run_command(check.current_dir(&folder).env("CARGO_TARGET_DIR", target()))?;
    }
    Ok(())
}

/// Checks each library of the workspace alone, with the features that it asks for itself; one that has default features, also
/// without them.
pub(crate) fn libraries() -> Result {
    let is_library = |target: &Value| target.pointer("/kind/0").is_some_and(|kind| kind == "lib");
    for package in metadata()? {
        let targets = package.get("targets").and_then(Value::as_array);
        let (Some(name), true) = (text(&package, "name"), targets.into_iter().flatten().any(is_library)) else {
            continue;
        };
        let has_default = package.pointer("/features/default").is_some();
        for more in [&[][..], &["--no-default-features"]].into_iter().take(1 + usize::from(has_default)) {
            anstream::println!("{name} {}", more.join(" "));
            run_command(cargo(&["check", "--quiet", "--lib", "-p", &name]).args(more))?;
        }
    }
    Ok(())
}

fn metadata() -> Result<Vec<Value>> {
    let metadata = output(&mut cargo(&["metadata", "--format-version", "1", "--no-deps"]))?;
    let metadata: Value = serde_json::from_str(&metadata)
        .map_err(|error| Failure::new(format!("`cargo metadata` printed no JSON: {error}")))?;
    Ok(metadata.get("packages").and_then(Value::as_array).cloned().unwrap_or_default())
}

fn text(value: &Value, key: &str) -> Option<String> {
    Some(value.get(key)?.as_str()?.to_owned())
}

fn published(metadata: &[Value]) -> Vec<Package> {
    let named = |package: &Value| Some(Package { name: text(package, "name")?, version: text(package, "version")? });
    metadata.iter().filter(|package| package.get("publish").is_some_and(Value::is_null)).filter_map(named).collect()
}

/// The manifest of a crate that asks for every feature that a crate of the workspace asks for, of what is not the
/// workspace's and not optional.
fn uses_all(metadata: &[Value]) -> String {
    let mut dependencies = Table::new();
    let all = metadata.iter().filter_map(|package| package.get("dependencies")?.as_array()).flatten();
    let flag = |one: &Value, key: &str| one.get(key).and_then(Value::as_bool).unwrap_or_default();
    let counts = |one: &&Value| {
        let is_foreign = one.get("source").is_some_and(Value::is_string);
        is_foreign && !flag(one, "optional") && text(one, "kind").as_deref() != Some("build")
    };
    for one in all.filter(counts) {
        let (Some(name), Some(version)) = (text(one, "name"), text(one, "req")) else { continue };
        let key = text(one, "rename").unwrap_or_else(|| name.clone());
        let known = dependencies.entry(key).or_insert_with(|| Table::new().into());
        let Some(known) = known.as_table_mut() else { continue };
        let by_default = flag(one, "uses_default_features")
            || known.get("default-features").and_then(toml::Value::as_bool).unwrap_or_default();
        let features = one.get("features").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let mut features: Vec<toml::Value> = features.map(toml::Value::from).collect();
        features.extend(known.get("features").and_then(toml::Value::as_array).into_iter().flatten().cloned());
        known.insert("package".to_owned(), name.into());
        known.insert("version".to_owned(), version.into());
        known.insert("default-features".to_owned(), by_default.into());
        known.insert("features".to_owned(), features.into());
    }
    let package = [("name", ALL), ("version", "0.0.0"), ("edition", "2024")];
    let package = Table::from_iter(package.map(|(key, value)| (key.to_owned(), value.into())));
    Table::from_iter([("package".to_owned(), package.into()), ("dependencies".to_owned(), dependencies.into())])
        .to_string()
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

/// A workspace in which packages stand for what a registry would give. It has the profiles of this one, so that what both
/// depend on is checked once.
fn workspace(packages: &[Package]) -> Result<String> {
    let path = |package: &Package| Table::from_iter([("path".to_owned(), package.file().into())]);
    let patched: Table = packages.iter().map(|package| (package.name.clone(), path(package).into())).collect();
    let users: Vec<_> = packages.iter().map(Package::user).chain([ALL.to_owned()]).map(toml::Value::from).collect();
    let workspace = Table::from_iter([
        ("members".to_owned(), users.into()),
        ("exclude".to_owned(), packages.iter().map(Package::file).map(toml::Value::from).collect::<Vec<_>>().into()),
        ("resolver".to_owned(), "3".into()),
    ]);
    let patch = Table::from_iter([("crates-io".to_owned(), patched.into())]);
    let own: Table =
        read(&root().join("Cargo.toml"))?.parse().map_err(|error| Failure::new(format!("Cargo.toml: {error}")))?;
    let profiles = own.get("profile").map(|profiles| ("profile".to_owned(), profiles.clone()));
    let all = [("workspace".to_owned(), workspace.into()), ("patch".to_owned(), patch.into())];
    Ok(all.into_iter().chain(profiles).collect::<Table>().to_string())
}
