//! The program as people install it: the pages that a hook touches, and its size.

use super::hooks::Place;
use super::reference::Counts;
use crate::bench::build::guard;
use xtask::failure::{Failure, Result};
use xtask::root::read;

/// How often each hook is started: where the system puts things differs by a page or two.
const RUNS: usize = 9;

/// Counts page faults of hooks, and the program's bytes.
pub(super) fn count(counts: &mut Counts) -> Result {
    let guard = guard(false)?;
    let size = guard.metadata().map_err(|error| Failure::file(&guard, error))?.len();
    counts.of("the installed program").near("bytes", size);
    let place = Place::new()?;
    let session = place.session("faults", &guard)?;
    for frame in &session.frames {
        let Some(name) = &frame.name else {
            frame.feed(session.hook(&[]))?;
            continue;
        };
        let mut found = Vec::new();
        for _ in 0..RUNS {
            let before = faults_of_children()?;
            frame.feed(session.hook(&[]))?;
            found.push(faults_of_children()?.saturating_sub(before));
        }
        found.sort_unstable();
        let median = found.get(RUNS / 2).copied().unwrap_or(0);
        counts.of(&format!("an installed hook: {name}")).near("page faults", median);
    }
    Ok(())
}

/// The page faults of the processes that this one has waited for: the eleventh field of `/proc/self/stat`, the ninth after
/// the program's name.
fn faults_of_children() -> Result<u64> {
    let path = std::path::Path::new("/proc/self/stat");
    let text = read(path)?;
    let field = text.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(8)?.parse().ok());
    field.ok_or_else(|| Failure::file(path, "does not say how many page faults there were"))
}
