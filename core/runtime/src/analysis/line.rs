//! The line of a shell call, read into simple commands and judged.

pub(in crate::analysis) mod command_settings;
pub(in crate::analysis) mod folders;
pub(in crate::analysis) mod made_words;
pub(in crate::analysis) mod inner_lines;
pub(in crate::analysis) mod unread_lines;
pub(in crate::analysis) mod may_run;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::SystemTime;

use phasegate_adapter::patch;
use phasegate_core::calls::analysis::{Access, PathUse, SimpleCommand, TaskCommands, UNKNOWN, UNNAMED, Verdict, Word};
use phasegate_core::calls::tool::{BASH, Labels, NETWORK, shell_labels};
use phasegate_core::shell::classifier::Classifier;
use phasegate_core::{Event, EventKind, Policy};
use phasegate_shell::{Judgement, Part, Pattern, Piece, Readers, Table, Trust, judge};
use serde_json::Value;

use super::git::{embedded, no_index, pushed};
use super::paths::in_part;
use super::tests;
use crate::analysis::git::branch::current;
use crate::analysis::paths::arguments::makes_folders;
use crate::analysis::paths::descendants::Line;
use crate::analysis::tests::own_programs::Place;
use crate::analysis::tests::tasks::{self, TaskText};
use crate::policies::policy_store::KeptSettings;
use crate::project::paths::{resolve, shown};

/// The client's search for text.
pub(in crate::analysis) const GREP: &str = "Grep";

/// How a patch begins that a line hands to what applies it.
const PATCH_BEGINS: &str = "*** Begin Patch";

/// What prints the branch that a folder is on.
const SHOWS_BRANCH: &str = "git branch --show-current";

/// Whether the name of a branch is a word, and no option and no sign of a push that forces.
fn is_plain(name: &str) -> bool {
    name.starts_with(|sign: char| sign.is_ascii_alphanumeric())
        && name.chars().all(|sign| sign.is_ascii_alphanumeric() || "/._-".contains(sign))
}

/// What is known of programs, and how far the repository is trusted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shell {
    /// The table of programs; the shipped one costs nothing until a line names a program.
    pub(crate) table: Table,
    /// How far the repository's own configuration is trusted.
    pub(crate) trust: Trust,
    /// Whether paths are looked for that a line names in part: rules read them.
    pub(crate) in_part: bool,
    /// The home folder, where it is known.
    pub(crate) home: Option<String>,
}

impl Shell {
    /// What these settings say of programs and of the repository, without the trust that calls of the session have lost.
    pub(crate) fn of(settings: &KeptSettings, lost: &BTreeSet<Readers>) -> Self {
        let table =
            if settings.programs.is_empty() { Table::shipped() } else { Table::with(settings.programs.clone()) };
        let trust = Trust {
            repository: !settings.distrust_repository,
            lost: lost.clone(),
            zsh: runs_zsh(),
            ..Trust::default()
        };
        Self { table, trust, in_part: false, home: None }
    }
}

impl Shell {
    /// The same, for a policy.
    pub(crate) fn under(self, policy: &Policy) -> Self {
        Self { in_part: policy.rules.is_some(), ..self }
    }

    /// The same, with the folder that `~` stands for.
    pub(crate) fn with_home(self, home: &Path) -> Self {
        Self { home: home.to_str().filter(|home| home.starts_with('/')).map(str::to_owned), ..self }
    }

    /// The same, with what is registered of commands.
    pub(crate) fn with(self, classifier: Classifier) -> Self {
        if classifier.is_empty() { self } else { Self { table: self.table.registered(classifier), ..self } }
    }
}

/// Whether the client runs lines with zsh: it takes the user's shell, which the guard's environment names, too.
fn runs_zsh() -> bool {
    std::env::var_os("SHELL").is_some_and(|shell| Path::new(&shell).file_name().is_some_and(|name| name == "zsh"))
}

/// Reads the line of a shell call into its reading and labels, unless that was done; the judgement. `root` is the project's.
/// Of a server's tool, notes what it may run.
/// Of a search for text, notes which names of files it looks at.
pub(crate) fn read_line(
    event: &mut Event,
    shell: &Shell,
    root: &Path,
    began: &dyn Fn() -> Option<SystemTime>,
) -> Option<Judgement> {
    if shell.in_part {
        may_run::note(event, &shell.table, &shell.trust);
    }
    let base = event.cwd.as_deref().map_or_else(|| root.to_path_buf(), |cwd| root.join(cwd));
    if let EventKind::ToolCall { analysis, .. } = &mut event.kind
        && let Some(run) = &mut analysis.may_run
    {
        pushed::mark(&mut run.commands, &base);
    }
    let EventKind::ToolCall { tool, server: None, input, labels, analysis, .. } = &mut event.kind else { return None };
    if let Some(pattern) = input.get("glob").and_then(Value::as_str).filter(|_| shell.in_part && tool == GREP) {
        analysis.in_part = in_part::searched(pattern);
    }
    let line = input.get("command").and_then(Value::as_str).filter(|_| tool == BASH)?;
    let mut trust = shell.trust.clone().in_folder(&base.to_string_lossy());
    if line.contains(SHOWS_BRANCH) {
        trust.branch = current(&base).filter(|name| is_plain(name));
    }
    let mut judged = judge(line, &shell.table, trust.clone());
    trust.lost.extend(embedded::any(&judged, &base, root).then_some(Readers::Repository));
    if trust.lost != shell.trust.lost {
        judged = judge(line, &shell.table, trust);
    }
    if let Some(home) = &shell.home {
        judged.touches.iter_mut().for_each(|touch| expand_home(&mut touch.path, home));
    }
    analysis.leaves_running = judged.leaves_running;
    // A line may read a skill, besides what it does as a line.
    let invokes = analysis.invokes.take();
    if labels.is_none() && analysis.is_empty() {
        *labels = Some(labels_of(&judged));
        analysis.commands = judged.parts.iter().map(command).collect();
        analysis.reads_held =
            judged.verdict == Verdict::Read && !judged.network && !judged.outside && !reads_machine(&judged);
        if shell.in_part {
            let texts = judged.parts.iter().map(|part| made_words::texts(part, &base, shell.home.as_deref()));
            analysis.commands.iter_mut().zip(texts).for_each(|(command, texts)| command.beside = texts);
        }
        analysis.starts_in = folders::mark(&mut analysis.commands, &judged, root, &base);
        if shell.in_part {
            pushed::mark(&mut analysis.commands, &base);
        }
        let home = shell.home.as_deref().map(Path::new);
        tests::mark(&mut analysis.commands, &judged, root, &Place { folder: &base, table: &shell.table, home, began });
        // A program that the session itself wrote reports what it likes.
        let lost = [Readers::Programs, Readers::Commands].iter().any(|readers| shell.trust.lost.contains(readers));
        analysis.commands.iter_mut().filter_map(|command| command.tests.as_mut()).for_each(|run| run.unsure |= lost);
        analysis.paths = paths_of(&judged, &Line::new(&judged, &base, root));
        analysis.paths.retain(|path| !tests::is_of_packages(path, &analysis.commands));
        analysis.paths.extend(no_index::paths(&judged, &base));
        if line.contains(PATCH_BEGINS) {
            analysis.paths.extend(patch::paths(line));
        }
        let place = Place { folder: &base, table: &shell.table, home, began };
        analysis.tasks = of_tasks(&judged, root, &place, &shell.trust);
        analysis.in_part = if shell.in_part { in_part::paths(&judged, &base) } else { Vec::new() };
    }
    analysis.invokes = invokes;
    Some(judged)
}

/// Whether a line names files that are others where it is held: those of processes and of services.
fn reads_machine(judged: &Judgement) -> bool {
    const PLACES: [&str; 5] = ["/proc", "/run", "/var/run", "/dev", "/sys"];
    let named = judged.touches.iter().filter_map(|touch| touch.path.text());
    named.filter(|path| path != "/dev/null").any(|path| PLACES.iter().any(|place| Path::new(&path).starts_with(place)))
}

/// What the tasks run that a line starts.
fn of_tasks(judged: &Judgement, root: &Path, place: &Place<'_>, trust: &Trust) -> Option<Box<TaskCommands>> {
    let mut all = TaskCommands::default();
    for TaskText { folder, text } in tasks::texts(judged, root, place) {
        let own = judge(&text, place.table, trust.clone().in_folder(&folder.to_string_lossy()));
        let start = u32::try_from(all.commands.len()).unwrap_or(u32::MAX);
        let paths = paths_of(&own, &Line::new(&own, &folder, root)).into_iter();
        let is_known = |path: &PathUse| path.written != UNKNOWN || path.access != Access::Read;
        all.paths.extend(paths.map(|path| PathUse {
            command: Some(start.saturating_add(path.command.unwrap_or_default())),
            resolved: shown(root, resolve(&folder, Path::new(&path.written)).filter(|_| is_known(&path))),
            ..path
        }));
        all.commands.extend(own.parts.iter().map(command));
    }
    (!all.commands.is_empty()).then(|| Box::new(all))
}

/// A command, with the reason why it does more than read.
fn command(part: &Part) -> SimpleCommand {
    let because = (part.command.verdict != Verdict::Read).then(|| part.because.clone());
    SimpleCommand { because, ..part.command.clone() }
}

/// Puts the home folder in the place of a leading `~`.
fn expand_home(Pattern(pieces): &mut Pattern, home: &str) {
    if pieces.first() != Some(&Piece::Home) {
        return;
    }
    if let Some(Piece::Text(rest)) = pieces.get_mut(1) {
        rest.insert_str(0, home);
        pieces.remove(0);
    } else if let Some(first) = pieces.first_mut() {
        *first = Piece::Text(home.to_owned());
    }
}

/// The paths that a line names; for what it changes without saying all of its name, the folder that this is in.
pub(super) fn paths_of(judged: &Judgement, line: &Line<'_>) -> Vec<PathUse> {
    let named = judged.touches.iter().filter_map(|touch| {
        let changes = matches!(touch.access, Access::Write | Access::Remove);
        let folder = || touch.path.folder().unwrap_or_else(|| UNKNOWN.to_owned());
        let written = touch.path.text().or_else(|| changes.then(folder))?;
        let part = touch.part.and_then(|number| judged.parts.get(usize::try_from(number).ok()?));
        let named = || Word::Known(written.clone());
        let redirected = |part: &Part| part.command.redirections.iter().any(|(_, word)| *word == named());
        // A folder of which only a part of the name is known is no folder that is made.
        let folder = touch.path.text().is_some() && part.is_some_and(|part| makes_folders(part) && !redirected(part));
        let guess = touch.guess && (touch.path.text().is_none() || line.is_absent(&written));
        Some(line.spread(touch, PathUse { command: touch.part, folder, guess, ..PathUse::new(written, touch.access) }))
    });
    let unnamed = (0..).zip(&judged.parts).filter(|(_, part)| part.unnamed);
    let anywhere = unnamed.map(|(number, part)| {
        // A formatter names no file, and changes only those with its endings.
        let path = line.formatted(part).unwrap_or_else(|| PathUse::new(UNNAMED.to_owned(), Access::Write));
        PathUse { command: Some(number), ..path }
    });
    let computed = (0..).zip(&judged.parts).filter(|(_, part)| part.computed);
    let read =
        computed.map(|(number, _)| PathUse { command: Some(number), ..PathUse::new(UNKNOWN.to_owned(), Access::Read) });
    named.flatten().chain(anywhere).chain(read).collect()
}

/// What a line can do, as labels.
fn labels_of(judged: &Judgement) -> Labels {
    let mut labels = shell_labels(judged.verdict);
    labels.extend(judged.network.then(|| NETWORK.to_string()));
    labels
}
