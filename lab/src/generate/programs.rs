//! `core/shell/src/table/shipped.txt`: the programs table, from `core/shell/programs/*.toml`.

use phasegate_shell::{Family, shipped_source};

use super::generated::Generated;
use xtask::failure::{Failure, Result};
use xtask::root::{read, root};

/// The text of the table.
pub(super) fn text() -> Result<Generated> {
    let folder = root().join("core/shell/programs");
    let entries =
        std::fs::read_dir(&folder).map_err(|error| Failure::new(format!("`{}`: {error}", folder.display())))?;
    let mut paths: Vec<_> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort();
    let mut families = Vec::new();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "toml")) {
        let family: Family =
            toml::from_str(&read(path)?).map_err(|error| Failure::new(format!("`{}`: {error}", path.display())))?;
        families.push(family);
    }
    let text = shipped_source(families).map_err(Failure::new)?;
    Ok(Generated { path: "core/shell/src/table/shipped.txt".into(), text })
}
