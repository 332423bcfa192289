//! A project for a test, in folders of its own.

use crate::locations::Locations;
use crate::project::Project;
use crate::runtime::Runtime;

/// A folder that goes with the value, a runtime whose places are all below it, and a project there with this skill.
pub fn project(skill: &str) -> std::io::Result<(tempfile::TempDir, Runtime, Project)> {
    let folder = tempfile::tempdir()?;
    let top = folder.path().canonicalize()?;
    let skills = top.join("project/.phasegate/skills");
    std::fs::create_dir_all(&skills)?;
    std::fs::write(skills.join("work.yaml"), skill)?;
    let [state, user, machine, home] = ["state", "user", "machine", "home"].map(|name| top.join(name));
    let locations = Locations { state, user, machine, home };
    let project = Project::find(&locations, &top.join("project"));
    Ok((folder, Runtime::new(locations, []), project))
}
