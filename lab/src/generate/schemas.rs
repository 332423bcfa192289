//! `schemas/*.schema.json`: the JSON Schemas, from the config and event types.

use super::generated::Generated;

/// Every schema.
pub(super) fn files() -> Vec<Generated> {
    phasegate_config::schema::all()
        .into_iter()
        .map(|(name, value)| Generated { path: format!("schemas/{name}"), text: format!("{value:#}\n") })
        .collect()
}
