//! The client's shell: whether it can hold a line, what it is told of the lines that were let through, and what came of them.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use phasegate_adapter::{ClientShell, Problem};
use phasegate_config::Confine;
use phasegate_core::calls::analysis::{CallAnalysis, SimpleCommand, Word};
use phasegate_core::calls::tool::{BASH, SHELL, only_reads};
use phasegate_core::events::event::{Outcome as End, PermissionOutcome};
use phasegate_core::holding;
use phasegate_core::{Code, Confined, Effect, Event, EventKind, Outcome, requires_hold};
use serde_json::Value;

use super::Driver;
use crate::analysis::on_path;
use crate::bounds;
use crate::clients::alarm::{Alarm, Past};
use crate::clients::client_shell::{LineEnd, Mark, Meeting, Standing, Ticket, is_own};
use crate::processes::ancestors::own_process;
use crate::protected::protected_path::expanded;
use crate::sessions::snapshot::{NotKept, SessionChange};

/// The level at which a held line sees everything in its place.
const LAYERED: &str = "overlay";
/// The name of this program, as an agent types it.
const GUARD: &str = "phasegate";
/// The client's own mode in which nothing is changed.
const PLAN_MODE: &str = "plan";
/// The most entries of a folder in which links are looked for.
const MAX_ENTRIES: usize = 4096;
/// Programs that run another with the rights of another user, which no program gets that is kept from the guard's files.
const RAISING: [&str; 4] = ["doas", "pkexec", "su", "sudo"];

impl Driver<'_> {
    /// Notes whether the client of this frame says that this program is its shell, and whether it reads other settings.
    pub(crate) fn note_shell(&mut self, of: Option<&dyn ClientShell>, environment: &BTreeMap<String, String>) {
        let shell = of.and_then(|of| environment.get(of.variable()));
        self.is_shell = shell.is_some_and(|shell| is_own(shell, &self.runtime.platforms.shell_variables()));
        self.is_elsewhere = of.is_some_and(|of| environment.contains_key(of.folder_variable()));
    }

    /// Where the guard meets the shell of this client, if that can be.
    fn meeting(&self) -> Option<(Meeting, Mark)> {
        if !self.store.is_on_disk() {
            return None;
        }
        // Below another client's process its mark may be found too, and its shell be another.
        let client = self.loaded.own.snapshot.clients.last().copied()?;
        let locations = &self.runtime.locations;
        let meeting = Meeting::of(&locations.state, client);
        let mark = meeting.mark();
        if self.loaded.own.snapshot.settings.confine == Confine::Off {
            let off = Some("the config says `confine: off`".to_owned());
            return mark.map(|mark| (meeting, Mark { level: None, unprotected: off, ..mark }));
        }
        if mark.is_some() || !self.is_shell {
            return Some((meeting, mark?));
        }
        let found = if self.is_sandboxed() {
            let why = || "the client runs lines in a sandbox of its own".to_owned();
            Mark { level: None, refused: why(), unprotected: Some(why()) }
        } else {
            // One that never ends is not tried again.
            let never = || "it was tried, and that did not end".to_owned();
            let trying = Mark { level: None, refused: never(), unprotected: Some(never()) };
            noted(meeting.write_mark(&trying))?;
            self.runtime.shell_probe?(locations, &self.project.root)
        };
        noted(meeting.write_mark(&found))?;
        Some((meeting, found))
    }

    /// Whether the client's settings have it run lines in a sandbox of its own.
    fn is_sandboxed(&self) -> bool {
        self.some_settings(|shell, text| shell.is_sandboxed(text))
    }

    /// Whether the client starts lines in another shell than the settings name, which is this program's.
    fn ignores_shell(&self) -> bool {
        let variables = self.runtime.platforms.shell_variables();
        let home = self.runtime.locations.home.to_string_lossy();
        let names_own = |shell: &dyn ClientShell, text: &str| {
            shell.named(text).is_some_and(|named| is_own(&named.replace("$HOME", &home), &variables))
        };
        self.is_elsewhere && !self.is_shell && self.some_settings(names_own)
    }

    /// Whether this holds for some settings of the client that a person accepted. What an agent may have written takes no
    /// line from the kernel.
    fn some_settings(&self, holds: impl Fn(&dyn ClientShell, &str) -> bool) -> bool {
        let clients = &self.runtime.platforms.places().clients;
        let client = clients.iter().find(|client| Some(client.adapter.id()) == self.client.as_deref());
        let Some((adapter, shell)) = client.and_then(|client| Some((client.adapter, client.adapter.shell()?))) else {
            return false;
        };
        let mut files = adapter.installer().places().settings_files(&self.project.root, &self.runtime.locations.home);
        files.retain(|file| self.is_accepted(file));
        files.iter().filter_map(|file| bounds::settings(file).ok()).any(|text| holds(shell, &text))
    }

    /// Hears of the shell what came of a line, and whether the line of a call can be held. Why the call is refused, where the
    /// config requires that lines are held.
    pub(super) fn meet_shell(&mut self, event: &mut Event) -> Option<Problem> {
        self.hear_of_shell(event);
        self.mark_confinable(event);
        self.must_be_held(event)
    }

    /// Why a line that does more than read is refused where it has to be held and cannot be.
    fn must_be_held(&self, event: &Event) -> Option<Problem> {
        let asked = self.loaded.own.snapshot.settings.confine == Confine::Required
            || requires_hold(&self.loaded.own.policy, &self.state);
        if !asked
            || !self.store.is_on_disk()
            || !is_shell_line(event)
            || event.labels().is_some_and(|labels| only_reads(&labels))
        {
            return None;
        }
        let refused = match self.meeting() {
            None => "`phasegate init` has not made it the shell of this client".to_owned(),
            Some((_, Mark { level: None, refused, .. })) => refused,
            Some((_, Mark { unprotected, .. })) => unprotected?,
        };
        Some(Problem::new(Code::NotConfined, format!("the kernel does not hold shell lines here: {refused}")))
    }

    /// Notes in a shell call whether its line can be held.
    fn mark_confinable(&mut self, event: &mut Event) {
        if !self.store.is_on_disk() {
            return;
        }
        let holds = is_shell_line(event) && self.meeting().is_some_and(|(_, mark)| mark.level.is_some());
        if let EventKind::ToolCall { analysis, .. } = &mut event.kind {
            analysis.confinable = holds;
        }
    }

    /// Tells the shell where the session stands after an event, and what was decided of its line, if the call is let through.
    ///
    /// # Errors
    ///
    /// Lines must be held, and the shell cannot be told so.
    pub(super) fn tell_shell(&mut self, event: &Event, outcome: &Outcome) -> Result<(), Problem> {
        let Some((meeting, mark)) = self.meeting() else {
            self.tell_of_other_shell(event);
            return Ok(());
        };
        self.tell_of_protection(&meeting, &mark, event);
        let mut after = self.state.clone();
        outcome.apply_to(&mut after);
        let holds = mark.level.is_some() && !matches!(event.kind, EventKind::SessionEnd {});
        let confined = if holds { holding(&self.loaded.own.policy, &after) } else { None };
        let namespace = own_process().map_or(0, |own| own.2);
        let protected = self.protected_from(&meeting, &mark, event);
        let (mut held, mut writable) = (Vec::new(), Vec::new());
        if !protected.is_empty() {
            (held, writable) = (self.text_folders(), self.writable_in(&protected));
        }
        let stands = confined.is_some() || !protected.is_empty();
        let root = self.project.root.clone();
        let standing = stands.then_some(Standing { root, namespace, confined, protected, held, writable });
        // At other levels a held line has a temporary folder of its own, and would not read the same.
        let reading = standing.as_ref().filter(|_| mark.level.as_deref() == Some(LAYERED));
        let reading = reading.and_then(|standing| standing.confined.clone());
        let told = meeting
            .stand(&self.session, standing.as_ref())
            .and_then(|()| self.leave_ticket(&meeting, event, outcome, reading));
        let Err(error) = told else { return Ok(()) };
        let why = format!("the client's shell cannot be told which lines keep no change: {error}");
        Err(self.note_problem(event.to_value(), Problem::new(Code::StateUnreadable, why)))
    }

    /// Tells the person at the start of a session that the client reads no settings which name the guard's shell.
    fn tell_of_other_shell(&mut self, event: &Event) {
        let starts = matches!(event.kind, EventKind::SessionStart { .. });
        let asked = starts && self.is_closed() && self.loaded.own.snapshot.settings.confine != Confine::Off;
        if asked && self.store.is_on_disk() && self.ignores_shell() {
            self.add_notice(
                "phasegate: the client does not start lines in the guard's shell, although your settings name it, so the \
                 kernel holds none: a variable has it read settings of another folder, which need that shell, too.",
            );
        }
    }

    /// Tells the person at the start of a session that lines may change the guard's files, where the kernel once kept them.
    fn tell_of_protection(&mut self, meeting: &Meeting, mark: &Mark, event: &Event) {
        let asked = self.loaded.own.snapshot.settings.confine != Confine::Off && !self.is_sandboxed();
        if !matches!(event.kind, EventKind::SessionStart { .. }) || !self.is_closed() || !asked {
            return;
        }
        if let Some(why) = meeting.lost_protection(mark) {
            self.add_notice(&format!(
                "phasegate: the kernel kept the guard's own files from shell lines here before, and does not now: {why}. \
                 `phasegate doctor` says more; `confine: required` has no line run then."
            ));
        }
    }

    /// What the shell keeps as it is while a line runs, whatever runs it: the guard's files outside of the project. Those in
    /// it, which a checkout may change, are in force by their content.
    fn protected_from(&self, meeting: &Meeting, mark: &Mark, event: &Event) -> Vec<PathBuf> {
        let over = matches!(event.kind, EventKind::SessionEnd {});
        if over || mark.unprotected.is_some() || !self.is_closed() {
            return Vec::new();
        }
        // Only a line that is about to run needs them as they are now.
        let looks = is_shell_line(event) || matches!(event.kind, EventKind::SessionStart { .. });
        let before = if looks { None } else { meeting.standing_of(&self.session) };
        before.map_or_else(
            || {
                let mut outside = self.runtime.protected(Some(&self.project.root), &[]).kept_from_lines();
                // A client follows links in its own folders, and writes what the agent says where they lead.
                let (home, root) = (&self.runtime.locations.home, &self.project.root);
                let own = self.runtime.platforms.places().own_folders_in(home);
                // What a person works on is linked there to be tried.
                let linked = |folder: &Path| linked_from(folder).into_iter().filter(|path| !path.starts_with(root));
                let own = own.flat_map(|folder| linked(&folder).chain([folder]).collect::<Vec<_>>());
                let own: Vec<PathBuf> = own.filter(|folder| is_another(folder, root)).collect();
                let record = self.loaded.own.snapshot.record.iter();
                outside.extend(record.map(|record| record.place(home, root).to_path_buf()));
                outside.retain(|path| !own.iter().any(|folder| path.starts_with(folder)));
                outside.extend(own);
                outside
            },
            |before| before.protected,
        )
    }

    /// The folders in what is protected that lines may write to: the project, and what the client has its agents write for
    /// themselves. Some of it may be protected again.
    fn writable_in(&self, protected: &[PathBuf]) -> Vec<PathBuf> {
        let home = &self.runtime.locations.home;
        let notes = self.runtime.platforms.places().agent_notes.iter();
        let notes = notes.filter_map(|name| Some(home.join(name.strip_prefix("~/")?))).flat_map(|name| expanded(&name));
        let is_within = |path: &PathBuf| protected.iter().any(|folder| path.starts_with(folder) && path != folder);
        // A link in its place leads elsewhere.
        let is_real = |path: &PathBuf| path.symlink_metadata().is_ok_and(|data| data.is_dir());
        notes.filter(is_real).chain([self.project.root.clone()]).filter(is_within).collect()
    }

    /// Whether a line runs as without a guard: each of its commands needs what no line has that is kept from the guard's
    /// files, the rights of another user or the guard's state, and is surely the program for that.
    fn may_run_bare(&self, line: &str, analysis: &CallAnalysis) -> bool {
        let is_named = |command: &SimpleCommand, named: &dyn Fn(&str) -> bool| {
            matches!(command.words.first(), Some(Word::Known(name)) if named(name)) && command.assignments.is_empty()
        };
        let own = |name: &str| {
            let Ok(program) = std::env::current_exe() else { return false };
            // Both are kept from lines; another name may lead elsewhere by then.
            let is_kept =
                |path: &Path| path == program || self.runtime.locations.program().is_some_and(|link| path == link);
            let is_named = name == GUARD || is_kept(Path::new(name));
            is_named && analysis.commands.len() == 1 && found(name) == program.canonicalize().ok()
        };
        let raises = |name: &str| RAISING.contains(&name) && found(name).is_some_and(|file| has_owners_rights(&file));
        if !is_plain_line(line) {
            return false;
        }
        let commands = &analysis.commands;
        let raised = || commands.iter().filter(|command| is_named(command, &raises));
        let seen = |command: &SimpleCommand| {
            is_named(command, &|name| own(name) && commands_guard(command))
                || raised().any(|outer| outer.span.0 <= command.span.0 && command.span.1 <= outer.span.1)
        };
        !commands.is_empty() && commands.iter().all(seen)
    }

    /// Leaves a ticket for a line that is let through. In a phase that holds lines, those are held too that only read, where
    /// they read the same so: what answers to the name of a program, and what it obeys, an earlier line may have written.
    fn leave_ticket(
        &self,
        meeting: &Meeting,
        event: &Event,
        outcome: &Outcome,
        reading: Option<Confined>,
    ) -> io::Result<()> {
        let decision = outcome.decision.as_ref();
        let EventKind::ToolCall { id, input, analysis, .. } = &event.kind else { return Ok(()) };
        let confined = decision.and_then(|decision| decision.confined.as_deref().cloned());
        let confined = confined.or_else(|| reading.filter(|_| analysis.reads_held));
        // A call that is asked about may run, once a person says so.
        let denied = decision.is_some_and(|decision| decision.effect == Effect::Deny);
        if denied || !is_shell_line(event) {
            return Ok(());
        }
        let line = line_of(input).to_owned();
        let bare = confined.is_none() && self.may_run_bare(&line, analysis);
        let holds = || meeting.standing().is_some_and(|standing| standing.confined.is_some() || bare);
        if confined.is_none() && !holds() {
            return Ok(());
        }
        let (session, root) = (self.session.clone(), self.project.root.clone());
        meeting.leave(&Ticket { line, session, call: id.clone(), root, confined, bare })
    }

    /// Whether the client asks its user, in its own plan mode, about a line of which nothing will stay: then nobody is asked.
    pub(super) fn asks_for_nothing(&self, event: &Event) -> bool {
        let EventKind::Permission { id: Some(id), outcome: PermissionOutcome::Asked } = &event.kind else {
            return false;
        };
        let plans = event.permission_mode.as_deref() == Some(PLAN_MODE);
        plans && self.meeting().is_some_and(|(meeting, _)| meeting.will_hold(&self.session, id))
    }

    /// Takes up what came of a line, and finds one that should have been held and ran elsewhere.
    fn hear_of_shell(&mut self, event: &Event) {
        let EventKind::ToolResult { id: Some(id), outcome, exit_code, .. } = &event.kind else { return };
        if *outcome == Some(End::Launched) {
            return;
        }
        let Some((meeting, _)) = self.meeting() else { return };
        if let Some(end) = meeting.take_report::<LineEnd>(id).filter(|end| !end.changes.is_empty()) {
            self.loaded.own.change(SessionChange::NotKept(NotKept { call: id.clone(), end }));
        }
        let ran = matches!(outcome, Some(End::Ok | End::Failed)) && exit_code.is_some();
        if meeting.withdraw(&self.session, id) && ran && !meeting.take_other() {
            self.keep(vec![Alarm::new(&self.session, Past::NotHeld, id)]);
        }
    }
}

/// The folders that links in a folder, and in its folders, lead to. What an entry is, its folder says: each line looks.
fn linked_from(folder: &Path) -> Vec<PathBuf> {
    let entries = |folder: &Path| {
        let inside = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_ENTRIES);
        inside.filter_map(|entry| Some((entry.path(), entry.file_type().ok()?))).collect::<Vec<_>>()
    };
    let own = entries(folder);
    let below = own.iter().filter(|(_, kind)| kind.is_dir()).flat_map(|(path, _)| entries(path));
    let links: Vec<PathBuf> =
        own.iter().cloned().chain(below).filter(|(_, kind)| kind.is_symlink()).map(|(path, _)| path).collect();
    links.iter().filter_map(|path| path.canonicalize().ok()).filter(|path| path.is_dir()).collect()
}

/// Whether a line is nothing but commands with plain words: a shell runs nothing besides, and where a file's name leads may
/// change before the line runs.
fn is_plain_line(line: &str) -> bool {
    let rest = ["2>&1", "2>/dev/null", ">/dev/null", "> /dev/null"]
        .iter()
        .fold(line.to_owned(), |rest, open| rest.replace(open, " "));
    !rest.contains(|sign: char| sign.is_control() || "<>()$`{}[]*?~\\#!".contains(sign))
}

/// Whether a line of this program writes the guard's state, and starts nothing.
fn commands_guard(command: &SimpleCommand) -> bool {
    const WRITING: [&str; 11] =
        ["restore", "start", "advance", "retry", "halt", "resume", "end", "skip", "approve", "allow", "mode"];
    matches!(command.words.get(1), Some(Word::Known(word)) if WRITING.contains(&word.as_str()))
}

/// The line of a shell call.
fn line_of(input: &Value) -> &str {
    input.get("command").and_then(Value::as_str).unwrap_or_default()
}

/// Whether a folder is there, and neither it nor where it leads to is the project.
fn is_another(folder: &Path, root: &Path) -> bool {
    folder != root && folder.canonicalize().is_ok_and(|real| real.is_dir() && real != root)
}

/// The file that `PATH` finds by a name, without links.
fn found(name: &str) -> Option<PathBuf> {
    on_path(name)?.canonicalize().ok()
}

/// Whether a program runs with the rights of root, whoever starts it. Nobody else can make such a file.
#[cfg(unix)]
fn has_owners_rights(file: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    const SET_USER_ID: u32 = 0o4000;
    let own = std::fs::metadata("/proc/self").map(|data| data.uid()).unwrap_or_default();
    own != 0 && file.metadata().is_ok_and(|data| data.uid() == 0 && data.mode() & SET_USER_ID != 0)
}

#[cfg(not(unix))]
fn has_owners_rights(_: &Path) -> bool {
    false
}

/// What cannot be noted is logged: then no line is let through to be held.
fn noted(written: io::Result<()>) -> Option<()> {
    written.map_err(|error| tracing::warn!("what the client's shell can do cannot be noted: {error}")).ok()
}

/// Whether the call runs a line in the client's own shell.
fn is_shell_line(event: &Event) -> bool {
    let of_client = matches!(&event.kind, EventKind::ToolCall { tool, server: None, .. } if tool == BASH);
    of_client && event.labels().is_some_and(|labels| labels.contains(SHELL))
}
