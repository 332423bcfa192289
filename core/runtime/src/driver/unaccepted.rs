//! What clients start, and no person accepted: texts that name hooks or servers are not loaded then (rules 4.12).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use phasegate_adapter::Problem;
use phasegate_core::calls::tool::{AGENT, BASH, READ, SHELL, SKILL, WRITE};
use phasegate_core::{Code, Event, EventKind};

use super::Driver;
use crate::clients::client_settings::{self, REPOSITORY};
use crate::clients::client_texts::{Kind, Search};
use crate::sessions::snapshot::SessionChange;

/// The name of the command by which a person speaks to the guard.
const COMMAND: &str = "phasegate";
/// Labels of tools that load no text.
const PLAIN: [&str; 3] = [READ, WRITE, SHELL];

impl Driver<'_> {
    /// Notes how the texts are that the client has loaded: when the session begins, and when a person accepts them.
    pub(super) fn note_texts(&mut self, from: &Path) {
        let mut texts = self.texts_search(from).stamps(&|_| true);
        texts.retain(|_, stamp| !stamp.is_empty());
        self.loaded.own.change(SessionChange::Texts(texts));
    }

    /// Takes up the folders with texts that the client finds on the way to the files of a call.
    pub(super) fn find_texts(&mut self, event: &Event) {
        let EventKind::ToolCall { tool, analysis, .. } = &event.kind else { return };
        if tool == BASH || analysis.paths.is_empty() {
            return;
        }
        let root = &self.project.root;
        let search = self.texts_search(&self.start);
        let files = analysis.paths.iter().map(|path| root.join(&path.written));
        let new: BTreeSet<PathBuf> = files.flat_map(|file| search.folders_beside(&file)).collect();
        if new.is_empty() {
            return;
        }
        let is_new = |name: &str| {
            let place = name.strip_prefix(client_settings::BELOW_ROOT).map(|below| root.join(below));
            place.is_some_and(|place| new.iter().any(|folder| place.starts_with(folder)))
        };
        let all = Search { others: new.clone(), ..search }.stamps(&|_| true);
        let found = all.into_iter().filter(|(name, stamp)| !stamp.is_empty() && is_new(name));
        let mut texts = self.loaded.own.snapshot.texts.clone();
        for (name, stamp) in found {
            texts.entry(name).or_insert(stamp);
        }
        self.loaded.own.change(SessionChange::Texts(texts));
    }

    /// Why no skill, command or agent is loaded now: one of them names what the client would start outside of every call, and
    /// no person accepted that, or it may have done so since the session began: the client may have taken it up then. Which
    /// one a call means is not asked: a client finds them by more than one name.
    pub(super) fn loads_unaccepted(&self, event: &Event) -> Option<Problem> {
        let known = self.loaded.shared.snapshot.strength.as_ref()?.servers.as_ref()?;
        if !self.is_closed() {
            return None;
        }
        let search = self.texts_search(&self.start);
        // Whatever tool of the client works on no file and runs no line may load one.
        let is_plain = || event.labels().is_some_and(|labels| PLAIN.iter().any(|label| labels.contains(*label)));
        let of_agents = |kind| matches!(kind, Kind::Agents | Kind::Repository);
        let loads: &dyn Fn(Kind) -> bool = match &event.kind {
            // One with a copy of the repository for itself has the client run `git`.
            EventKind::ToolCall { tool, server: None, input, .. } if tool == AGENT => {
                let copies = input.get("isolation").is_some_and(|given| !given.is_null());
                if copies || search.isolates() { &of_agents } else { &|kind| kind == Kind::Agents }
            }
            EventKind::ToolCall { tool, server: None, .. } if tool == SKILL => &|kind| kind != Kind::Repository,
            EventKind::ToolCall { server: None, .. } if !is_plain() => &|_| true,
            EventKind::Skill { .. } => &|kind| kind != Kind::Repository,
            _ => return None,
        };
        let remedy = |what: &str| format!("ask the user to look at it and to run `phasegate reload`, or {what}");
        let now = search.definitions(loads);
        // The person's own word is the way out, as long as its own text is the known one.
        let is_word = matches!(&event.kind, EventKind::Skill { name, .. } if name == COMMAND);
        let matters = |name: &str| !is_word || Path::new(name).file_stem().is_some_and(|stem| stem == COMMAND);
        let mut others = now.iter().filter(|(name, digest)| known.get(*name) != Some(digest));
        if let Some((other, _)) = others.find(|(name, _)| matters(name)) {
            let file = client_settings::file(other).unwrap_or(other);
            if other == REPOSITORY {
                let why = "what `.git` has `git` start is not what a person accepted, and the client would start it";
                return Some(Problem::new(Code::SettingsKept, why).with_remedy(remedy("go on without it")));
            }
            let why = format!(
                "`{file}` may name hooks, servers or shell lines that the client starts by itself, and no person accepted it"
            );
            let remedy = remedy("leave no such lines in it, and only keys with plain values in its head");
            return Some(Problem::new(Code::SettingsKept, why).with_remedy(remedy));
        }
        if is_word {
            return None;
        }
        let began = &self.loaded.own.snapshot.texts;
        let now = search.stamps(loads);
        let before = |name: &str| began.get(name).map_or("", String::as_str);
        let (place, _) = now.iter().find(|(name, stamp)| before(name) != stamp.as_str())?;
        let why = if place == REPOSITORY {
            "what `.git` has `git` start changed since this session began, and the client would start it".to_owned()
        } else {
            let place = client_settings::file(place).unwrap_or(place);
            format!("files in `{place}` changed since this session began, and the client may have loaded them")
        };
        Some(Problem::new(Code::SettingsKept, why).with_remedy(remedy("go on without it")))
    }

    /// Whether a person accepted what a settings file of the project says; those of the user are the person's own.
    pub(super) fn is_accepted(&self, file: &Path) -> bool {
        let Ok(below) = file.strip_prefix(&self.project.root) else { return true };
        let strength = self.loaded.shared.snapshot.strength.as_ref();
        let Some(known) = strength.and_then(|strength| strength.servers.as_ref()) else { return true };
        let now = client_settings::definitions(self.runtime.platforms.places(), &self.project.root, &self.project.root);
        let name = format!("{}{}", client_settings::BELOW_ROOT, below.display());
        now.get(&name) == known.get(&name)
    }

    /// The folders of the project from which the client loads texts, and those that these lie in.
    pub(super) fn text_folders(&self) -> Vec<PathBuf> {
        let names = self.loaded.own.snapshot.texts.keys().filter(|name| *name != REPOSITORY);
        let places = names.filter_map(|name| name.strip_prefix(client_settings::BELOW_ROOT));
        let both =
            places.flat_map(|name| Path::new(name).ancestors().take(2)).filter(|path| !path.as_os_str().is_empty());
        let folders: BTreeSet<PathBuf> = both.map(|path| self.project.root.join(path)).collect();
        folders.into_iter().filter(|folder| folder.is_dir()).collect()
    }

    fn texts_search<'s>(&'s self, from: &'s Path) -> Search<'s> {
        let (platforms, home) = (self.runtime.platforms.places(), &self.runtime.locations.home);
        Search::knowing(platforms, home, &self.project.root, from, &self.loaded.own.snapshot.texts)
    }
}
