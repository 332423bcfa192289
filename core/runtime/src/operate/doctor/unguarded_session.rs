//! Sessions that ran without the plugin: the platform keeps them, and the plugin's bridge said nothing meanwhile.

use std::path::{Path, PathBuf};

use phasegate_adapter::{Adapter, Finding, Level, SessionTable};

use super::bridge::changed;
use super::request::Asked;
use super::sqlite::{Value, rows};
use crate::clients::heartbeat::Beat;
use crate::locations::Locations;
use crate::project::Project;
use crate::timestamp::timestamp;

/// How long after the bridge's last word a session of its may begin: the bridge says that it works every few seconds.
const BEGAN: i64 = 60_000;
/// How long after it something may happen in a session: a reply without a call may take minutes.
const LAST: i64 = 600_000;

/// The newest session of this project that the plugin did not take part in. Sessions from before the plugin was
/// installed are none of its concern.
pub(super) fn examine(
    locations: &Locations,
    project: &Project,
    adapter: &dyn Adapter,
    asked: &Asked<'_>,
) -> Option<Finding> {
    let table = adapter.diagnostics().session_table()?;
    let beat = Beat::read(project, adapter.id());
    let (began, last) = match &beat {
        Some(beat) => (beat.last.saturating_add(BEGAN), beat.last.saturating_add(LAST)),
        None => (i64::MAX, changed(locations, project, adapter)?),
    };
    let mut sessions = kept(&table, &database(&table, &locations.home, asked))?;
    sessions.retain(|session| session.began > began || session.last > last);
    sessions.sort_by_key(|session| std::cmp::Reverse(session.last));
    let session =
        sessions.into_iter().find(|session| Project::find(locations, &session.folder).root == project.root)?;
    let what = match &beat {
        None => "the plugin has never run in this project".to_owned(),
        Some(beat) => format!("the plugin last answered at {}", timestamp(beat.last)),
    };
    let what = format!("a session of the client ran here without the guard until {}: {what}", timestamp(session.last));
    let step = format!(
        "see that nothing switches plugins off, run `phasegate init {}`, start a session of the client here, and run this again",
        adapter.id()
    );
    Some(Finding::new(Level::Problem, what).with(step))
}

/// A session as the platform keeps it.
struct Session {
    folder: PathBuf,
    began: i64,
    last: i64,
}

fn kept(table: &SessionTable, database: &Path) -> Option<Vec<Session>> {
    let rows = rows(database, table.table, &[table.folder, table.began, table.last])?;
    let session = |row: Vec<Value>| match row.as_slice() {
        [Value::Text(folder), Value::Integer(began), Value::Integer(last)] => {
            Some(Session { folder: folder.into(), began: *began, last: *last })
        }
        _ => None,
    };
    Some(rows.into_iter().filter_map(session).collect())
}

fn database(table: &SessionTable, home: &Path, asked: &Asked<'_>) -> PathBuf {
    let named = asked.environment.get("XDG_DATA_HOME").filter(|folder| Path::new(folder).is_absolute());
    named.map_or_else(|| home.join(".local/share"), PathBuf::from).join(table.database)
}
