//! The whole suite: every file under `cases/` becomes trials, or fails the run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use phasegate_adapter::Adapter;

use crate::blessing::blessing;
use crate::expected::ExpectedFailures;
use crate::loading::Loading;
use crate::play::case::Case;
use crate::play::folders::cases;
use crate::play::{frames, story};
use crate::report::outcome;
use crate::trial::{Check, Mismatch, Trial, Verdict};
use crate::upstream::{Fixture, Sample};
use crate::{harmless, platform, shell, texts, upstream};

/// Every trial, and the known departures.
pub struct Suite {
    /// The trials, sorted by id.
    pub trials: Vec<Trial>,
    /// The known departures.
    pub expected: Arc<ExpectedFailures>,
}

const SAMPLES: &str = "seed-000/upstream/000-skill-phase-enforcement.json";
const EXPECTED: &str = "expected-failures.toml";
const FIXTURES: &str = "seed-000/upstream/000-fixtures.json";

/// Reads every case.
#[must_use]
pub fn load() -> Suite {
    let mut loading = Loading { unused: files(), ..Loading::default() };
    samples(&mut loading);
    let adapters = phasegate_adapters::all();
    for path in loading.below("") {
        let area = path.split('/').next().unwrap_or_default();
        if path.ends_with(".json")
            && path != texts::FILE
            && path != outcome::FILE
            && !adapters.iter().any(|adapter| adapter.id() == area)
        {
            stories(&mut loading, &path);
        }
    }
    for adapter in &adapters {
        frames::trials(&mut loading, *adapter);
        platform::sessions(&mut loading, adapter.id());
        harmless::trials(&mut loading, adapter.id());
    }
    shell::trials(&mut loading);
    kept_texts(&mut loading);
    twice(&mut loading);
    let expected = expected(&mut loading, &adapters);
    for path in std::mem::take(&mut loading.unused) {
        loading.fails(&path, &"no trial uses this file");
    }
    if loading.trials.is_empty() {
        loading.fails("cases", &"the suite is empty");
    }
    loading.trials.sort_by(|a, b| a.id.cmp(&b.id));
    Suite { trials: loading.trials, expected }
}

impl Suite {
    /// Runs one trial.
    #[must_use]
    pub fn verdict(&self, trial: &Trial) -> Verdict {
        self.expected.judge(&trial.id, (trial.run)())
    }
}

fn stories(loading: &mut Loading, path: &str) {
    let Some(text) = loading.take(path) else { return };
    let cases = match Case::parse(&text) {
        Ok(cases) => cases,
        Err(problem) => return loading.fails(path, &problem),
    };
    let area = path.trim_end_matches(".json");
    for case in cases.into_iter().map(Arc::new) {
        let id = format!("decide/{area}/{}", case.case);
        let columns: Vec<Option<String>> =
            if case.columns.is_empty() { vec![None] } else { case.columns.keys().cloned().map(Some).collect() };
        for column in columns {
            let id = column.as_ref().map_or_else(|| id.clone(), |column| format!("{id}@{column}"));
            let case = Arc::clone(&case);
            let run = Box::new(move || story::play(&case, column.as_deref()));
            loading.trials.push(Trial { id, check: Check::Decide, adapter: None, area: area.into(), run });
        }
    }
}

/// Two cases of one name would hide each other.
fn twice(loading: &mut Loading) {
    let mut ids = BTreeSet::new();
    let twice: Vec<String> =
        loading.trials.iter().filter(|trial| !ids.insert(&trial.id)).map(|trial| trial.id.clone()).collect();
    for id in twice {
        loading.fails(&id, &"two cases have this name");
    }
}

/// Each text stands in one place, and each key has a text.
fn kept_texts(loading: &mut Loading) {
    let _ = (loading.take(texts::FILE), loading.take(outcome::FILE));
    let sessions: BTreeSet<String> =
        (loading.trials.iter()).filter_map(|trial| trial.id.strip_prefix("session/").map(str::to_owned)).collect();
    let problems = move || {
        let all = texts::problems().into_iter().chain(outcome::problems(&sessions));
        all.map(|problem| Mismatch::broken(texts::FILE, problem)).collect()
    };
    let id = format!("suite/{}", texts::FILE);
    let run = Box::new(move || if blessing() { Vec::new() } else { problems() });
    loading.trials.push(Trial { id, check: Check::Suite, adapter: None, area: "files".into(), run });
}

fn samples(loading: &mut Loading) {
    let (Some(samples), Some(fixtures)) = (loading.take(SAMPLES), loading.take(FIXTURES)) else { return };
    let fixtures: Arc<BTreeMap<String, Fixture>> = match serde_json::from_str(&fixtures) {
        Ok(fixtures) => Arc::new(fixtures),
        Err(error) => return loading.fails(FIXTURES, &error),
    };
    let samples: Vec<Sample> = match serde_json::from_str(&samples) {
        Ok(samples) => samples,
        Err(error) => return loading.fails(SAMPLES, &error),
    };
    for sample in samples {
        let fixtures = Arc::clone(&fixtures);
        let id = format!("decide/seed-000/upstream/{}", sample.name);
        let run = Box::new(move || upstream::play(&sample, &fixtures));
        loading.trials.push(Trial { id, check: Check::Decide, adapter: None, area: "seed-000/upstream".into(), run });
    }
}

fn expected(loading: &mut Loading, adapters: &[&'static dyn Adapter]) -> Arc<ExpectedFailures> {
    let mut all = ExpectedFailures::default();
    let mut read = |loading: &mut Loading, name: &str, adapter: Option<&str>| {
        let Some(text) = loading.take(name) else { return };
        let added = ExpectedFailures::parse(&text).and_then(|own| {
            unknown(loading, name, &own);
            match adapter {
                Some(adapter) => all.add(adapter, own),
                None => {
                    all.entry.extend(own.entry);
                    Ok(())
                }
            }
        });
        if let Err(problem) = added {
            loading.fails(name, &problem);
        }
    };
    read(loading, &format!("../{EXPECTED}"), None);
    for adapter in adapters {
        let name = format!("{}/{EXPECTED}", adapter.id());
        if loading.unused.contains(&name) {
            read(loading, &name, Some(adapter.id()));
        }
    }
    Arc::new(all)
}

/// One failing trial for each case of an entry that names no trial.
fn unknown(loading: &mut Loading, name: &str, own: &ExpectedFailures) {
    let ids: BTreeSet<&str> = loading.trials.iter().map(|trial| trial.id.as_str()).collect();
    let unknown: Vec<String> = own.unknown(&ids).into_iter().map(str::to_string).collect();
    for case in unknown {
        loading.fails(name, &format!("there is no trial `{case}`"));
    }
}

fn files() -> BTreeSet<String> {
    let root = cases();
    let files = walkdir::WalkDir::new(&root).into_iter().flatten().filter(|entry| entry.file_type().is_file());
    files
        .map(|entry| entry.path().strip_prefix(&root).unwrap_or(entry.path()).to_string_lossy().replace('\\', "/"))
        .filter(|path| !path.ends_with("README.md"))
        .collect()
}
