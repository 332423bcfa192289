//! All configs of a project to one policy.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use phasegate_core::Code;
use phasegate_core::policy::{Approve, Mode, Policy, Skill};

use crate::build::builder::child;
use crate::combine::{self, Everywhere};
use crate::compiled::{Compiled, Settings};
use crate::diagnostic::Diagnostic;
use crate::files::shipped::{Shipped, find_shipped, shipped};
use crate::files::texts::Texts;
use crate::input::{Kind, Known, KnownServers, Level, SourceFile};
use crate::read::node::{Node, Span};
use crate::read::report::Finding;
use crate::read::suggestion::{did_you_mean, listed};
use crate::settings::groups::Groups;
use crate::settings::{budgets, mcp, safety, settings_check};
use crate::skills::Beside;
use crate::skills::children::{self, Named};
use crate::skills::unentered;
use crate::source::{Form, SettingsSource, UseSource};
use crate::{rules, skills, version};

/// Compiles all configs of a project.
///
/// The order of `files` does not matter. Skills are found in them, and taken from the shipped ones where a settings
/// file names them under `use`.
pub fn compile(files: &[SourceFile]) -> Compiled {
    compile_knowing(files, &Known::default())
}

/// As [`compile`], where something of the project is known: a name that none of a skill's servers has is reported, and a
/// path into a folder that is probably misspelt.
pub fn compile_knowing(files: &[SourceFile], known: &Known) -> Compiled {
    let mut files: Vec<&SourceFile> = files.iter().collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let mut work = Work { files: &files, findings: vec![Vec::new(); files.len()] };
    let mut found = Vec::new();
    let (settings, mut mode_unclear) = read_settings(&mut work);
    let groups = groups(&mut work, &settings);
    let named = Known { servers: with_named(&known.servers, &settings), ..known.clone() };
    for (number, file) in files.iter().enumerate() {
        let Some(findings) = work.findings.get_mut(number) else { continue };
        if matches!(file.kind, Kind::Skill | Kind::SkillMd) {
            let beside = Beside { known: &named, texts: Texts::of(&files, file.level), groups: groups.at(file.level) };
            let read = skills::read_skill(number, file, &beside, findings);
            mode_unclear |= read.is_none() && file.kind == Kind::Skill;
            found.extend(read);
        }
    }
    let runs: Vec<Named> = found.iter().flat_map(Named::of).collect();
    let mut skills = combine::by_name(found, &mut |file, finding| work.report(file, finding));
    uses(&mut work, &settings, &groups, &mut skills);
    let everywhere = everywhere(&mut work, &settings, &groups, &skills);
    skills.values_mut().for_each(|skill| everywhere.apply(skill));
    let parts = parts_beside(&work, &settings, &runs, &groups);
    run_others(&mut work, &mut skills, &runs, &everywhere, &parts);
    let (mcp, changed_tools) = mcp::combine(settings.iter().map(|(_, source, _)| &source.mcp));
    let approve = approve(settings.iter().filter_map(|(_, source, _)| source.approve));
    let safety = safety::combine(settings.iter().map(|(_, source, _)| &source.safety));
    let access = budgets::access(settings.iter().map(|(_, source, _)| source));
    let mut all = Vec::new();
    for (number, source, node) in &settings {
        let Some(findings) = work.findings.get_mut(*number) else { continue };
        let level = files.get(*number).map_or(Level::Project, |file| file.level);
        budgets::of_file(source, node, everywhere.mode, groups.at(level), &mut all, findings);
    }
    let of_level = |level: Level| groups.at(level).clone();
    let rules = rules::combine(&files, &settings, known, &of_level, &mut |file, finding| work.report(file, finding));
    let skills = skills.into_values().collect();
    let mut policy =
        Policy { skills, changed_tools, approve, safety, access, budgets: all, rules, ..Policy::default() };
    policy.mode = everywhere.mode.filter(|_| policy.modes().next().is_none());
    version::stamp(&mut policy);
    mode_unclear |= work.findings.iter().flatten().any(Finding::hides_a_mode);
    let settings = Settings {
        mode: everywhere.mode,
        mode_unclear,
        audit_log: settings.iter().find_map(|(_, source, _)| source.audit_log.clone()),
        redact: settings.iter().flat_map(|(_, source, _)| source.redact.iter().cloned()).collect(),
        programs: settings.iter().rev().flat_map(|(_, source, _)| source.programs.clone()).collect(),
        confine: settings.iter().filter_map(|(_, source, _)| source.confine).max().unwrap_or_default(),
        trust_repository: settings.iter().all(|(_, source, _)| source.trust_repository != Some(false)),
        mcp,
        found: files.iter().any(|file| file.kind == Kind::Settings),
        groups: groups.project,
    };
    Compiled { policy, settings, diagnostics: work.diagnostics() }
}

/// Which calls are approved: those that every level which says anything approves.
fn approve(mut said: impl Iterator<Item = Approve>) -> Approve {
    let Some(first) = said.next() else { return Approve::Never };
    if said.all(|other| other == first) { first } else { Approve::Never }
}

/// The policy of one shipped skill alone, at least as strict as `mode`; `None` if no skill is named so.
///
/// The name may say the form, as in [`find_shipped`].
pub fn shipped_policy(name: &str, mode: Option<Mode>) -> Option<Policy> {
    let (shipped, form) = find_shipped(name)?;
    let form = if form == Form::Compat { "compat" } else { "strict" };
    let text = format!("use: [{{skill: {}, form: {form}}}]", shipped.name);
    let settings = SourceFile { path: "config.yaml".into(), text, level: Level::Project, kind: Kind::Settings };
    let Compiled { mut policy, .. } = compile(&[settings]);
    for skill in &mut policy.skills {
        skill.mode = skill.mode.max(mode);
    }
    version::stamp(&mut policy);
    Some(policy)
}

/// The servers that are known, with those that settings name: such a server may guard itself, and stand in no list.
fn with_named(known: &KnownServers, settings: &[(usize, SettingsSource, Node)]) -> KnownServers {
    let mut known = known.clone();
    for (_, source, _) in settings {
        let described = source.rules.tools.keys().filter_map(|tool| tool.split_once('/')).map(|(server, _)| server);
        for server in source.mcp.servers.keys().map(String::as_str).chain(described) {
            if !known.has(server) {
                known.tools.insert(server.to_owned(), BTreeSet::new());
            }
        }
    }
    known
}

/// The settings files that can be read, those of the highest level first, and whether one cannot.
fn read_settings(work: &mut Work<'_>) -> (Vec<(usize, SettingsSource, Node)>, bool) {
    let (mut settings, mut unclear) = (Vec::new(), false);
    for (number, file) in work.files.iter().enumerate().filter(|(_, file)| file.kind == Kind::Settings) {
        let Some(findings) = work.findings.get_mut(number) else { continue };
        let read = skills::read_settings(file, findings);
        unclear |= read.is_none();
        if let Some((source, node)) = read {
            settings_check::check(&source, &node, file.level, findings);
            settings.push((number, source, node));
        }
    }
    settings.sort_by_key(|(number, ..)| std::cmp::Reverse((work.level(*number), std::cmp::Reverse(*number))));
    (settings, unclear)
}

struct Work<'a> {
    files: &'a [&'a SourceFile],
    findings: Vec<Vec<Finding>>,
}

impl Work<'_> {
    fn report(&mut self, file: usize, finding: Finding) {
        if let Some(findings) = self.findings.get_mut(file) {
            findings.push(finding);
        }
    }

    fn level(&self, file: usize) -> Level {
        self.files.get(file).map_or(Level::Project, |file| file.level)
    }

    fn diagnostics(self) -> Vec<Diagnostic> {
        let mut all: Vec<Diagnostic> = Vec::new();
        for (file, findings) in self.files.iter().zip(self.findings) {
            all.extend(findings.into_iter().map(|finding| finding.in_file(&file.path)));
        }
        all.sort_by(|a, b| {
            (&a.path, a.line, a.column, a.code, &a.message).cmp(&(&b.path, b.line, b.column, b.code, &b.message))
        });
        all.dedup();
        all
    }
}

/// The groups of files of each level: a level changes none of those above it.
struct AllGroups {
    machine: Groups,
    user: Groups,
    project: Groups,
}

impl AllGroups {
    fn at(&self, level: Level) -> &Groups {
        match level {
            Level::Machine => &self.machine,
            Level::User => &self.user,
            Level::Project => &self.project,
        }
    }
}

fn groups(work: &mut Work<'_>, settings: &[(usize, SettingsSource, Node)]) -> AllGroups {
    let mut with = |mut groups: Groups, level: Level| {
        for (number, source, node) in settings {
            if work.level(*number) == level
                && let Some(findings) = work.findings.get_mut(*number)
            {
                groups = groups.with(&source.groups, child(node, "groups"), true, findings);
            }
        }
        groups
    };
    let machine = with(Groups::default(), Level::Machine);
    let user = with(machine.clone(), Level::User);
    let project = with(user.clone(), Level::Project);
    AllGroups { machine, user, project }
}

fn everywhere(
    work: &mut Work<'_>,
    settings: &[(usize, SettingsSource, Node)],
    groups: &AllGroups,
    skills: &BTreeMap<String, Skill>,
) -> Everywhere {
    let mut everywhere = Everywhere::default();
    for (number, source, node) in settings {
        everywhere.mode = everywhere.mode.max(source.mode);
        everywhere.unlisted = everywhere.unlisted.max(source.unlisted);
        everywhere.locked |= source.locked;
        let groups = groups.at(work.level(*number));
        if let Some(findings) = work.findings.get_mut(*number) {
            everywhere.forbidden.extend(skills::forbidden_by(source, node, skills.values(), groups, findings));
        }
    }
    everywhere
}

/// One entry of `use`.
struct Use<'s> {
    name: &'s str,
    span: Span,
    form: Option<(Form, Span)>,
    mode: Option<Mode>,
}

/// Shipped skills are held against nothing of the project.
static NOTHING: LazyLock<Known> = LazyLock::new(Known::default);

/// What stands beside shipped skills that no file names and others run.
struct Parts<'a> {
    beside: Beside<'a>,
    /// Where they are named first.
    named: Option<(usize, Span)>,
}

/// The files of the highest level that names a skill stand in for shipped ones: no lower one changes what it asks for.
fn parts_beside<'a>(
    work: &Work<'a>,
    settings: &[(usize, SettingsSource, Node)],
    runs: &[Named],
    groups: &'a AllGroups,
) -> Parts<'a> {
    let uses = settings.iter().filter(|(_, source, _)| !source.uses.is_empty());
    let places = uses.map(|(file, _, node)| (*file, node.span)).chain(runs.iter().map(|run| (run.file, run.span)));
    let named = places.max_by_key(|(file, _)| (work.level(*file), std::cmp::Reverse(*file)));
    let level = named.map_or(Level::Project, |(file, _)| work.level(file));
    let texts = Texts::of(work.files, level);
    Parts { beside: Beside { known: &NOTHING, texts, groups: groups.at(Level::Project) }, named }
}

/// Gives each skill the skills that its phases run.
fn run_others(
    work: &mut Work<'_>,
    skills: &mut BTreeMap<String, Skill>,
    runs: &[Named],
    everywhere: &Everywhere,
    parts: &Parts<'_>,
) {
    let found = RefCell::new(Vec::new());
    let unnamed = |name: &str| {
        let mut skill = read_shipped(&find_shipped(name)?.0, Form::Strict, &parts.beside, &mut |path, finding| {
            found.borrow_mut().push((path, finding));
        })?;
        everywhere.apply(&mut skill);
        Some(skill)
    };
    children::embed(skills, runs, &unnamed, &mut |file, finding| work.report(file, finding));
    if let Some((file, span)) = parts.named {
        found.into_inner().into_iter().for_each(|(path, finding)| work.report(file, finding.named_at(&path, span)));
    }
    unentered::check(skills, runs, &mut |file, finding| work.report(file, finding));
}

/// Adds the shipped skills that settings name. A skill found in a file replaces the shipped one.
fn uses(
    work: &mut Work<'_>,
    settings: &[(usize, SettingsSource, Node)],
    groups: &AllGroups,
    skills: &mut BTreeMap<String, Skill>,
) {
    let own: Vec<String> = skills.keys().cloned().collect();
    // The highest level comes first, and its choice of form holds.
    for (number, source, node) in settings {
        let mut seen = BTreeSet::new();
        for used in source.uses.iter().zip(node.items_of("use")).map(|(used, node)| read_use(used, node)) {
            if !seen.insert(used.name) {
                work.report(*number, listed_twice(&used));
            }
            let stands_in = own.iter().any(|name| name == used.name);
            if let Some((_, span)) = used.form.filter(|_| stands_in) {
                work.report(*number, no_effect(used.name, span));
            }
            let Some(skill) = skills.get_mut(used.name) else {
                match shipped().iter().find(|shipped| shipped.name == used.name) {
                    Some(shipped) => {
                        let level = work.level(*number);
                        // A level's files stand in for shipped ones in the skills that it uses.
                        let beside =
                            Beside { known: &NOTHING, texts: Texts::of(work.files, level), groups: groups.at(level) };
                        let mut report =
                            |path: String, finding: Finding| work.report(*number, finding.named_at(&path, used.span));
                        match template(shipped, &used, &beside, &mut report) {
                            Some(skill) => skills.extend([(skill.name.clone(), skill)]),
                            None => work.report(*number, no_such_form(&used)),
                        }
                    }
                    None => work.report(*number, unknown(&used, &own)),
                }
                continue;
            };
            skill.mode = skill.mode.max(used.mode);
        }
    }
}

fn read_use<'s>(source: &'s UseSource, node: &Node) -> Use<'s> {
    match source {
        UseSource::Name(name) => Use { name, span: node.span, form: None, mode: None },
        UseSource::Object(object) => Use {
            name: &object.skill,
            span: node.span_at(&["skill"]),
            form: object.form.map(|form| (form, node.span_at(&["form"]))),
            mode: object.mode,
        },
    }
}

/// Takes a mistake in a shipped skill, with its path: a file that stands in for a shipped one has it.
type Report<'r> = dyn FnMut(String, Finding) + 'r;

fn template(shipped: &Shipped, used: &Use<'_>, beside: &Beside<'_>, report: &mut Report<'_>) -> Option<Skill> {
    let form = used.form.map_or(Form::Strict, |(form, _)| form);
    let mut skill = read_shipped(shipped, form, beside, report)?;
    skill.mode = skill.mode.max(used.mode);
    Some(skill)
}

fn read_shipped(shipped: &Shipped, form: Form, beside: &Beside<'_>, report: &mut Report<'_>) -> Option<Skill> {
    let mut findings = Vec::new();
    let skill = skills::read_skill(0, &shipped.source(form)?, beside, &mut findings)?.skill;
    findings.into_iter().for_each(|finding| report(shipped.path(form), finding));
    Some(skill)
}

fn listed_twice(used: &Use<'_>) -> Finding {
    Finding::warning(Code::ConfigKeyDuplicate, used.span, format!("`use` lists `{}` twice", used.name))
        .cause("the first entry chooses the form, and the strictest mode counts")
        .suggest("remove one of the two")
}

fn no_effect(name: &str, span: Span) -> Finding {
    Finding::warning(Code::ConfigValue, span, "`form` has no effect here")
        .cause(format!("a skill file named `{name}` replaces the shipped skill"))
        .suggest("remove the key, or the file")
}

fn no_such_form(used: &Use<'_>) -> Finding {
    let span = used.form.map_or(used.span, |(_, span)| span);
    Finding::error(Code::ConfigValue, span, format!("the skill `{}` has no compat form", used.name))
        .suggest("remove the key `form`")
}

fn unknown(used: &Use<'_>, own: &[String]) -> Finding {
    // A project's own skill can replace a shipped one.
    let known: BTreeSet<&str> =
        shipped().iter().map(|shipped| shipped.name).chain(own.iter().map(String::as_str)).collect();
    let known = || known.iter().copied();
    Finding::error(Code::SkillUnknownUse, used.span, format!("there is no skill `{}`", used.name))
        .suggest(did_you_mean(used.name, known()).unwrap_or_else(|| format!("the skills are {}", listed(known()))))
}
