//! What calls did to files: looked at before and after each call that may do more than read (rules 4.11).

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use phasegate_adapter::InstallScope;
use phasegate_core::calls::analysis::Part;
use phasegate_core::calls::builtin_tools::builtin_labels;
use phasegate_core::calls::forbidden_change::{ForbiddenChange, ForbiddingPhase};
use phasegate_core::calls::tool::only_reads;
use phasegate_core::events::file_effects::{asks_whether_changed, change_of, still_forbids, watched_paths, with_begun};
use phasegate_core::policy::Mode;
use phasegate_core::{Effect, Event, EventKind, Outcome, State};

use super::suspects::{Blame, Suspects};
use super::{Driver, undoing};
use crate::analysis::added_code;
use crate::clients::hook_installation::unguarded;
use crate::effects::MAX_FILES;
use crate::effects::copies::Copies;
use crate::effects::directory_snapshot::{self, Watching};
use crate::effects::look::{Ground, Seen};
use crate::effects::manifest::{Background, Manifest, mark_of};
use crate::effects::stamp::Stamp;
use crate::effects::{content, copies_file, manifest_file};
use crate::operate::restore::Restored;
use crate::project::paths::display;
use crate::project::session_key;
use crate::sessions::snapshot::{ProjectChange, SessionChange, Violation, WatchMark};

/// The most files that a project keeps as changed although they might not be.
const MAX_VIOLATIONS: usize = MAX_FILES;
/// The most files that a notice names.
const MAX_NAMED: usize = 3;

/// What a look leads to for the file that it found.
enum Found {
    /// It is as it may be.
    Fine,
    /// It is told, and nothing follows from it.
    Told(String),
    /// A call did what it might not.
    Violation(Box<Violation>),
}

impl Driver<'_> {
    /// Whether effects are looked at: where the events are those of calls that run here.
    fn looks_at_effects(&self) -> bool {
        self.store.is_on_disk()
    }

    /// Looks at what changed since the last look, before the event is decided, and notes whose doing it is.
    pub(super) fn look_at_effects(&mut self, event: &mut Event) {
        self.watched = None;
        event.changed = Vec::new();
        if !self.looks_at_effects() || !is_due(event) {
            return;
        }
        let kept = self.loaded.shared.snapshot.changes_kept;
        let Some(mark) = self.loaded.own.snapshot.watch.clone().filter(|mark| mark.kept == kept) else { return };
        let key = session_key(&self.session);
        let path = manifest_file(&self.project, &key, mark.number);
        if mark_of(&path).as_ref() != Some(&mark.stamp) {
            self.note_lost(event, path);
            return;
        }
        let Some(mut manifest) = Manifest::read(&path) else { return };
        let open: Vec<PathBuf> = self.open_violations();
        let whole = !manifest.capped;
        let seen = manifest.look(&self.ground(&open));
        if whole && manifest.capped {
            self.add_notice("phasegate: there are more files and folders now than are watched; what programs change in the rest is not seen.");
        }
        let mut copies = Copies::new(copies_file(&self.project, &key));
        if !seen.is_empty() {
            let new = seen.into_iter().filter(|one| !open.contains(&one.path)).collect();
            self.note_effects(event, &mut manifest, new, &mut copies);
        }
        self.watched = Some(Watching { manifest, copies });
    }

    /// Notes that the manifest is not as it was left: what changed since then cannot be told.
    fn note_lost(&mut self, event: &Event, path: PathBuf) {
        let suspects = Suspects::of(self, event, None);
        let lost = Seen::lost(path);
        match self.judge_effect(&suspects, &self.state, &lost, false) {
            Found::Violation(violation) => self.add_violations(vec![*violation]),
            Found::Told(text) => self.tell_all(vec![text]),
            Found::Fine => {}
        }
        self.loaded.own.change(SessionChange::Watch(None));
    }

    /// Writes what is watched, as the record of this event will say.
    fn save_watch(&mut self, mut watching: Watching) {
        kept("copies", watching.copies.write());
        if !watching.manifest.dirty {
            return;
        }
        let key = session_key(&self.session);
        let last = self.loaded.own.snapshot.watch.as_ref().map_or(0, |mark| mark.number);
        let number = last.saturating_add(1);
        let written = watching.manifest.write(&manifest_file(&self.project, &key, number));
        match written {
            Ok(stamp) => {
                let mark = WatchMark { number, stamp, kept: self.loaded.shared.snapshot.changes_kept };
                self.loaded.own.change(SessionChange::Watch(Some(mark)));
            }
            Err(error) => kept("manifest", Err(error)),
        }
    }

    fn note_effects(&mut self, event: &mut Event, manifest: &mut Manifest, seen: Vec<Seen>, copies: &mut Copies) {
        let suspects = Suspects::of(self, event, manifest.background.as_ref());
        let moved = self.moved_from(&suspects, &seen);
        let adds_none = |one: &Seen| moved.contains(&one.after) || self.adds_none(manifest, copies, one);
        let seen: Vec<_> = seen.into_iter().map(|one| (adds_none(&one), one)).collect();
        event.changed = seen.iter().filter_map(|(adds_none, one)| self.begins(&suspects, one, *adds_none)).collect();
        if !event.changed.is_empty() {
            event.changed.extend(seen.iter().filter_map(|(_, one)| self.is_asked(one)));
        }
        // The runs that would begin forbid what would have been denied, had the call said it.
        let state = self.state_with(event);
        let (mut told, mut violations) = (Vec::new(), Vec::new());
        for (adds_none, one) in &seen {
            match self.judge_effect(&suspects, &state, one, *adds_none) {
                Found::Fine => manifest.settle(one, copies),
                Found::Told(text) => {
                    told.push(text);
                    manifest.settle(one, copies);
                }
                Found::Violation(violation) => violations.push(*violation),
            }
        }
        self.tell_all(told);
        let mut violations = if suspects.act() { self.put_back_what_starts(violations) } else { violations };
        if violations.is_empty() {
            return;
        }
        // What is to be put back begins nothing.
        event.changed.retain(|path| !violations.iter().any(|one| one.change.path == *path));
        let state = self.state_with(event);
        for by in violations.iter_mut().filter_map(|one| one.change.by.as_mut()) {
            if state.run(&by.run).is_none() {
                by.run.clear();
            }
        }
        self.add_violations(violations);
    }

    /// The state in which an event is answered: with the runs that begin by what it says to have changed.
    fn state_with(&self, event: &Event) -> State {
        match event.changed.is_empty() {
            true => self.state.clone(),
            false => with_begun(&self.loaded.own.policy, &self.state, event),
        }
    }

    /// The path of a changed file, where a skill waits for such a change.
    fn begins(&self, suspects: &Suspects, seen: &Seen, adds_none: bool) -> Option<String> {
        let path = display(&self.project.root, &seen.path).filter(|_| seen.part.is_none())?;
        suspects.begin(self, &path, &change_of(&path, adds_none)).then_some(path)
    }

    /// The path of a changed file, where a skill that waits for such a change asks whether it is as it was.
    fn is_asked(&self, seen: &Seen) -> Option<String> {
        let path = display(&self.project.root, &seen.path).filter(|_| seen.part.is_none())?;
        asks_whether_changed(&self.loaded.own.policy, &self.state, &path).then_some(path)
    }

    /// The contents of files that are gone, and to which the same applies as to a file that is new: one that has it was moved.
    fn moved_from(&self, suspects: &Suspects, seen: &[Seen]) -> Vec<Option<String>> {
        let gone = seen.iter().filter(|one| one.part.is_none() && one.after.is_none() && one.before.is_some());
        let counts = |one: &&Seen| {
            let path = display(&self.project.root, &one.path).unwrap_or_default();
            let change = change_of(&path, false);
            self.begins(suspects, one, false).is_some()
                || matches!(suspects.blame(self, &self.state, &path, &change), Blame::Call(_))
        };
        gone.filter(counts).map(|one| one.before.clone()).collect()
    }

    /// Puts back at once what calls changed of the guard's own, where the client would not start the guard any more: of the
    /// next session's calls nobody would be asked. The violations that remain.
    fn put_back_what_starts(&mut self, violations: Vec<Violation>) -> Vec<Violation> {
        let (own, mut rest): (Vec<_>, Vec<_>) = violations.into_iter().partition(|one| one.change.by.is_none());
        if own.is_empty() || !self.is_unguarded() {
            rest.extend(own);
            return rest;
        }
        let mut told = Vec::new();
        for violation in own {
            match self.runtime.restore(&self.project, &violation, false) {
                Ok(Restored::PutBack | Restored::Removed) => told.push(format!(
                    "{}, so that nothing would start the guard; it is put back as it was before that call",
                    accused(&violation.change)
                )),
                Ok(Restored::Same | Restored::NoCopy | Restored::Elsewhere) | Err(_) => rest.push(violation),
            }
        }
        self.tell_all(told);
        rest
    }

    /// Whether the client's settings, as they are now, would not start the guard, and did so when the session began.
    fn is_unguarded(&self) -> bool {
        if self.loaded.own.snapshot.unwired.is_some() {
            return false;
        }
        let clients = &self.runtime.platforms.places().clients;
        let client = clients.iter().find(|client| Some(client.adapter.id()) == self.client.as_deref());
        let (locations, root) = (&self.runtime.locations, &self.project.root);
        client.is_some_and(|client| unguarded(client.adapter, locations, root, InstallScope::Project).is_some())
    }

    fn add_violations(&mut self, violations: Vec<Violation>) {
        let texts = violations.iter().map(|one| accused(&one.change)).collect();
        self.tell_all(texts);
        self.add_notice(
            "Until that is as it was, only calls pass that read or that put it back: `phasegate restore`, `git restore` of \
             these files alone, an edit of them. If the change is meant, a person accepts it with `phasegate restore --keep`.",
        );
        let mut all = self.loaded.shared.snapshot.violations.clone();
        all.extend(violations);
        let surplus = all.len().saturating_sub(MAX_VIOLATIONS);
        all.drain(..surplus);
        self.loaded.shared.change(ProjectChange::Violations(all));
    }

    /// Whether a file has no line of code that it had not before, as far as a copy tells.
    fn adds_none(&self, manifest: &Manifest, copies: &Copies, seen: &Seen) -> bool {
        if seen.after.is_none() {
            return true;
        }
        if seen.part.is_some() || !self.loaded.own.policy.asks_for_code() {
            return false;
        }
        let copied = manifest.file(&seen.path).and_then(|(_, file)| copies.get(file.copied?).ok());
        let before = copied.filter(|bytes| Some(content::digest(bytes, &seen.path, None, &[])) == seen.before);
        let texts = before
            .as_deref()
            .zip(seen.bytes.as_deref())
            .map(|(before, after)| Some((std::str::from_utf8(before).ok()?, std::str::from_utf8(after).ok()?)));
        let path = seen.path.to_string_lossy();
        texts.flatten().is_some_and(|(before, after)| added_code::none(&path, before, after))
    }

    /// Whose doing a change is, and whether it might be, with the runs of `state`.
    fn judge_effect(&self, suspects: &Suspects, state: &State, seen: &Seen, adds_none: bool) -> Found {
        let path = display(&self.project.root, &seen.path).unwrap_or_default();
        let blame = match seen.part {
            None => suspects.blame(self, state, &path, &change_of(&path, adds_none)),
            Some(Part::Policy | Part::Skill) if suspects.act() => Blame::Accepted,
            Some(Part::Policy | Part::Skill) => Blame::Nobody,
            // A client that is started there may be without the guard, or with another one; a clone brings such files, too.
            Some(_) if suspects.act() && self.folder_below(seen).is_some() => self.blame_below(suspects, seen, &path),
            // What a person changes is theirs, as long as the guard is started.
            Some(_) if !suspects.act() && !self.is_unguarded() => Blame::Nobody,
            Some(_) => suspects.of_guard(&path),
        };
        let violation = |change| {
            let (before, after) = (seen.before.clone(), seen.after.clone());
            let (session, id) = (self.session.clone(), suspects.id());
            Found::Violation(Box::new(Violation { session, id, change, before, after }))
        };
        match blame {
            Blame::Nobody => Found::Fine,
            Blame::Accepted => Found::Told(format!(
                "`{path}` changed; what decides are the configs that were accepted, until a person accepts others with \
                 `phasegate reload`"
            )),
            Blame::Unsure(text) => Found::Told(text),
            Blame::Call(change) if self.is_strict_about(change.by.as_ref()) => violation(change),
            Blame::Call(change) => Found::Told(accused(&change)),
        }
    }

    /// The folder below the project's root, in which a client would obey the file.
    fn folder_below<'s>(&self, seen: &'s Seen) -> Option<&'s Path> {
        let settings = &self.runtime.platforms.places().settings;
        let own = |folder: &&Path| {
            seen.path.strip_prefix(folder).is_ok_and(|name| settings.iter().any(|own| name == Path::new(own)))
        };
        let folder = seen.path.ancestors().find(own)?;
        let is_below = folder.starts_with(&self.project.root) && !self.start.starts_with(folder);
        Some(folder).filter(|folder| is_below && *folder != self.project.root)
    }

    /// Whose doing a file is that a client in a folder below obeys: a violation only where that would start no guard.
    fn blame_below(&self, suspects: &Suspects, seen: &Seen, path: &str) -> Blame {
        let folder = self.folder_below(seen).unwrap_or(&self.project.root);
        let clients = &self.runtime.platforms.places().clients;
        let client = clients.iter().find(|client| Some(client.adapter.id()) == self.client.as_deref());
        let starts = client.is_none_or(|client| {
            unguarded(client.adapter, &self.runtime.locations, folder, InstallScope::User).is_none()
        });
        let own = seen.path.strip_prefix(folder).map(|name| self.project.root.join(name));
        // Another checkout of this project brings what is accepted here.
        let same = own.is_ok_and(|own| std::fs::read(own).ok().is_some_and(|own| Some(own) == seen.bytes));
        if starts || same || seen.after.is_none() {
            let below = display(&self.project.root, folder).unwrap_or_default();
            return Blame::Unsure(format!("`{path}` changed: a client that is started in `{below}` obeys it"));
        }
        suspects.of_guard(path)
    }

    fn is_strict_about(&self, by: Option<&ForbiddingPhase>) -> bool {
        match by {
            Some(by) => by.mode == Mode::Block,
            None => {
                let policy = &self.loaded.own.policy;
                policy.modes().chain(self.state.live_runs().map(|run| run.mode)).any(|mode| mode == Mode::Block)
            }
        }
    }

    /// Notes in a call which files are not as they were, or that it puts them back.
    pub(super) fn note_violations(&mut self, event: &mut Event) {
        if let EventKind::ToolCall { analysis, .. } = &mut event.kind {
            (analysis.changed, analysis.undoes) = (Vec::new(), false);
        }
        if !matches!(event.kind, EventKind::ToolCall { .. }) || self.loaded.shared.snapshot.violations.is_empty() {
            return;
        }
        let state = self.state_with(event);
        self.drop_violations(&state);
        let open = self.open_changes(&state);
        let undoes = !open.is_empty() && undoing::undoes(event, &open);
        if let EventKind::ToolCall { analysis, .. } = &mut event.kind {
            analysis.undoes = undoes;
            analysis.changed = if undoes { Vec::new() } else { open };
        }
    }

    /// What calls changed although they might not, as far as it stops this session.
    pub(super) fn open_changes(&self, state: &State) -> Vec<ForbiddenChange> {
        let changes = self.loaded.shared.snapshot.violations.iter().map(|violation| &violation.change);
        let applies = |change: &&ForbiddenChange| {
            change.by.as_ref().is_none_or(|by| still_forbids(&self.loaded.own.policy, state, by, &change.path))
        };
        changes.filter(applies).cloned().collect()
    }

    /// Drops what is as it was, and what no run of this session forbids any more.
    fn drop_violations(&mut self, state: &State) {
        let keys = &self.runtime.platforms.places().client_keys;
        let policy = &self.loaded.own.policy;
        let stays = |violation: &Violation| {
            let Violation { session, change, before, .. } = violation;
            let path = self.project.root.join(&change.path);
            let part = change.by.is_none().then_some(Part::Settings);
            let stamp = Stamp::of(&path).filter(|stamp| !stamp.is_folder());
            let now = stamp.and_then(|stamp| content::of(&path, &stamp, part, keys)).map(|content| content.digest);
            let forbids = || change.by.as_ref().is_none_or(|by| still_forbids(policy, state, by, &change.path));
            now != *before && (*session != self.session || forbids())
        };
        let all = &self.loaded.shared.snapshot.violations;
        let rest: Vec<Violation> = all.iter().filter(|violation| stays(violation)).cloned().collect();
        if rest.len() < all.len() {
            self.loaded.shared.change(ProjectChange::Violations(rest));
        }
    }

    /// Begins to watch before a call runs that may do more than read, and keeps what is watched.
    pub(super) fn watch(&mut self, event: &Event, outcome: &Outcome) {
        let watching = self.watched.take();
        if let Some(watching) = self.with_call(event, outcome, watching) {
            self.save_watch(watching);
        }
    }

    fn with_call(&self, event: &Event, outcome: &Outcome, watching: Option<Watching>) -> Option<Watching> {
        let EventKind::ToolCall { id, background, analysis, .. } = &event.kind else { return watching };
        let passes = outcome.decision.as_ref().is_none_or(|decision| decision.effect < Effect::Deny);
        if !self.looks_at_effects() || !passes || event.labels().is_none_or(|labels| only_reads(&labels)) {
            return watching;
        }
        let state = outcome.state_after(&self.state);
        let globs = watched_paths(&self.loaded.own.policy, &state);
        let globs: Vec<String> = globs.into_iter().map(String::from).collect();
        let mut watching = match watching {
            Some(watching) if watching.manifest.globs == globs => watching,
            earlier => {
                let logs = self.audit_logs();
                let places = self.runtime.protected(Some(&self.project.root), &logs).watched(&self.start);
                let open = self.open_violations();
                let (earlier, copies) = earlier.map(|one| (one.manifest, one.copies)).unzip();
                let path = || copies_file(&self.project, &session_key(&self.session));
                let mut copies = copies.unwrap_or_else(|| Copies::new(path()));
                let manifest =
                    directory_snapshot::begin(globs, places, earlier.as_ref(), &self.ground(&open), &mut copies);
                Watching { manifest, copies }
            }
        };
        if *background || analysis.leaves_running {
            let since = event.time.unwrap_or_default();
            watching.manifest.background = Some(Background { since, id: id.clone() });
            watching.manifest.dirty = true;
        }
        Some(watching)
    }

    fn ground<'g>(&'g self, open: &'g [PathBuf]) -> Ground<'g> {
        Ground {
            root: &self.project.root,
            client_keys: &self.runtime.platforms.places().client_keys,
            client_files: &self.runtime.platforms.places().settings,
            now: (self.runtime.now)().saturating_mul(1_000_000),
            open,
        }
    }

    /// The files that are not as they were.
    fn open_violations(&self) -> Vec<PathBuf> {
        let all = &self.loaded.shared.snapshot.violations;
        all.iter().map(|violation| self.project.root.join(&violation.change.path)).collect()
    }

    fn tell_all(&mut self, mut texts: Vec<String>) {
        let more = texts.len().saturating_sub(MAX_NAMED);
        texts.truncate(MAX_NAMED);
        if let Some(last) = texts.last_mut().filter(|_| more > 0) {
            let _ = write!(last, "; and {more} more files");
        }
        texts.iter().for_each(|text| self.add_notice(&format!("phasegate: {text}.")));
    }
}

/// What cannot be kept is logged: the next look then compares with what was kept before.
fn kept(what: &str, written: io::Result<()>) {
    if let Err(error) = written {
        tracing::warn!("the {what} of watched files cannot be written: {error}");
    }
}

/// Whether a look is due before an event: a call that may do more than read begins or ended, or the agent's turn or session ends.
fn is_due(event: &Event) -> bool {
    match &event.kind {
        EventKind::ToolCall { .. } => event.labels().is_some_and(|labels| !only_reads(&labels)),
        EventKind::ToolResult { tool, .. } => tool.as_deref().is_none_or(|tool| !only_reads(&builtin_labels(tool))),
        EventKind::Stop { .. } | EventKind::SessionEnd {} => true,
        _ => false,
    }
}

/// What is told of a change that a call might not make.
fn accused(change: &ForbiddenChange) -> String {
    let (call, path) = (&change.call, &change.path);
    match &change.by {
        Some(by) => format!("{call} changed `{path}`, which the \"{}\" phase of {} forbids", by.phase, by.skill),
        None => format!("{call} changed `{path}`, which the guard depends on"),
    }
}
