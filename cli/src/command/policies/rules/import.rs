//! `phasegate rules import`: rules of the permissions that clients have.

mod cedar;
mod kappa;

use std::fs;
use std::path::{Path, PathBuf};

use owo_colors::OwoColorize as _;
use phasegate_adapter::{Adapter, Permission, PermissionEffect};
use phasegate_config::front_matter;
use phasegate_config::{IMPORTED_RULES, Kind, Level, Severity, SourceFile, compile};
use phasegate_runtime::Project;
use phasegate_runtime::files::{Readers, replace};
use serde_json::{Value, json};

use self::cedar::Given;
use crate::command::runs::control::{accepting, for_a_person};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// Where the rules are written, in the project.
const FILE: &str = IMPORTED_RULES;
/// The first line of that file.
const HEADER: &str =
    "// Written by `phasegate rules import`, which writes it anew. Change the permissions, or copy a rule elsewhere.";
/// How that line begins.
const OURS: &str = "// Written by `phasegate rules import`";
/// The name of the file of a skill.
const SKILL: &str = "SKILL.md";

/// The arguments of `phasegate rules import`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Settings files and files `SKILL.md`; default: those of the project. Or rules of κ: `NAME.kappa`, `NAME.rules`
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// What stands for a variable of κ: a number, `true`, `false`, or Cedar as `context.input.amount`
    #[arg(long, value_name = "NAME=WHAT")]
    pub variable: Vec<String>,
    /// The tool that rules of κ are about; default: any call
    #[arg(long, value_name = "SERVER/TOOL")]
    pub tool: Option<String>,
    /// Write the rules that are shown to `.phasegate/rules/imported.cedar`
    #[arg(long)]
    pub yes: bool,
    /// Remove that file again
    #[arg(long, conflicts_with_all = ["files", "yes"])]
    pub undo: bool,
}

/// A permission, and what becomes of it.
struct Imported {
    permission: Permission,
    /// The file that it is in, as it is shown.
    file: String,
    /// The skill that gives it.
    skill: Option<String>,
    /// The rule's name and text, or why there is none.
    rule: Result<(String, String), String>,
}

/// Shows the rules, and writes them where a person says so.
///
/// # Errors
///
/// A file cannot be read as its client reads it, the rules cannot be written, or an agent is to write or remove them.
pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let target = project.root.join(FILE);
    if args.undo || args.yes {
        for_a_person("rules import", &runtime, &project)?;
    }
    if args.undo {
        ours(&target)?;
        let failed = |error| Failure::new(format!("{}: {error}", target.display()));
        accepting(&runtime, &project, || fs::remove_file(&target).map_err(failed))?;
        context.out.line(format_args!("removed {FILE}; `phasegate reload` takes it up in live sessions"));
        return Ok(Exit::Done);
    }
    let (of_kappa, settings): (Vec<PathBuf>, Vec<PathBuf>) =
        args.files.iter().cloned().partition(|file| kappa::is_one(file));
    if !of_kappa.is_empty() {
        if let Some(other) = settings.first() {
            let what = format!("`{}` gives permissions, and the others are rules", other.display());
            return Err(Failure::new(what).with_help("import the one or the other"));
        }
        let others = others(context)?;
        let given = kappa::Given {
            variables: &args.variable,
            tool: args.tool.as_deref(),
            root: &project.root,
            readable: &|text| readable(text, &others),
        };
        let found = kappa::converted(&given, &of_kappa)?;
        return finish_kappa(args, context, &project, &found);
    }
    let imported = imported(args, context, &project.root)?;
    let rules: Vec<&(String, String)> = imported.iter().filter_map(|one| one.rule.as_ref().ok()).collect();
    let text = rules.iter().fold(HEADER.to_owned() + "\n", |text, (_, rule)| text + "\n" + rule);
    report(context, &imported);
    if rules.is_empty() {
        let read: Vec<String> =
            files(args, context, &project.root)?.iter().map(|file| format!("`{}`", file.display())).collect();
        context.out.note(match read.is_empty() {
            true => format!("no settings of a client and no skill are in `{}`", project.root.display()),
            false => format!("nothing read gives a permission that a rule can be made of: {}", read.join(", ")),
        });
        return Ok(Exit::Done);
    }
    if !args.yes {
        if !context.out.json {
            context.out.line(format_args!("\n{text}"));
        }
        context.out.note(format_args!("nothing is written yet: `phasegate rules import --yes` writes {FILE}"));
        return Ok(Exit::Done);
    }
    write(context, &project, &text)?;
    Ok(Exit::Done)
}

/// Shows what rules of κ become, and writes it where a person says so and the original would load them.
fn finish_kappa(
    args: &Args,
    context: &Context,
    project: &Project,
    found: &[kappa::Converted],
) -> Result<Exit, Failure> {
    let rules: String = found.iter().map(kappa::Converted::text).collect();
    let text = format!("{OURS}, which writes it anew. Change what it was made of, or copy a rule elsewhere.\n{rules}");
    let loads = found.iter().all(kappa::Converted::loads);
    if context.out.json {
        let files: Vec<Value> = found.iter().map(kappa::Converted::as_json).collect();
        context.out.value(&json!({"loads": loads, "files": files, "text": loads.then_some(&text)}));
    } else {
        found.iter().for_each(|one| one.report(context));
    }
    if !loads {
        context.out.note("nothing is written: correct the errors first");
        return Ok(Exit::No);
    }
    context
        .out
        .note("they mean the same only with `rules: {default: deny}` in the config: what no rule admits is denied");
    if args.yes {
        write(context, project, &text)?;
        return Ok(Exit::Done);
    }
    if !context.out.json {
        context.out.line(format_args!("\n{text}"));
    }
    context.out.note(format_args!("nothing is written yet: with `--yes` the same command writes {FILE}"));
    Ok(Exit::Done)
}

/// Writes the file of imported rules, in place of one that was written so.
fn write(context: &Context, project: &Project, text: &str) -> Result<(), Failure> {
    let target = project.root.join(FILE);
    if target.exists() {
        ours(&target)?;
    }
    let failed = |error: std::io::Error| Failure::new(format!("{}: {error}", target.display()));
    fs::create_dir_all(target.parent().unwrap_or(&project.root)).map_err(failed)?;
    let runtime = context.runtime()?;
    accepting(&runtime, project, || replace(&target, text.as_bytes(), Readers::Default).map_err(failed))?;
    context.out.note(format_args!(
        "wrote {FILE}; `phasegate reload` takes it up in live sessions, `phasegate rules import --undo` removes it"
    ));
    Ok(())
}

/// The configs beside the imported rules.
fn others(context: &Context) -> Result<Vec<SourceFile>, Failure> {
    let runtime = context.runtime()?;
    let mut others = runtime.discover(&context.find_project(&runtime)?).files;
    others.retain(|file| !Path::new(&file.path).ends_with(FILE));
    Ok(others)
}

/// The permissions of all files, in their order; one that two files give is there once.
fn imported(args: &Args, context: &Context, root: &Path) -> Result<Vec<Imported>, Failure> {
    let (runtime, others) = (context.runtime()?, others(context)?);
    let home = &runtime.locations.home;
    let mut found: Vec<Imported> = Vec::new();
    for file in files(args, context, root)? {
        let shown = file.strip_prefix(root).unwrap_or(&file).display().to_string();
        let text = fs::read_to_string(&file).map_err(|error| Failure::new(format!("{shown}: {error}")))?;
        let skill = file.ends_with(SKILL).then(|| name_of(&file, &text));
        let permissions = match &skill {
            Some(_) => allowed_tools(&text),
            None => given(&file, &text)?,
        };
        for permission in permissions {
            let is_known = |one: &Imported| one.permission == permission && one.skill == skill;
            if found.iter().any(is_known) {
                continue;
            }
            let word = permission.effect.word();
            let number = found.iter().filter(|one| one.permission.effect == permission.effect).count() + 1;
            let id = format!("imported-{word}-{number}");
            let reason = format!("{shown} has {word} `{}`", permission.written);
            let given = Given { reason: &reason, skill: skill.as_deref(), root, home };
            let rule = cedar::rule(&id, &permission, &given);
            let rule = rule.and_then(|text| readable(&text, &others).map(|()| (id, text)));
            found.push(Imported { permission, file: shown.clone(), skill: skill.clone(), rule });
        }
    }
    Ok(found)
}

/// The files that are named, or the project's own settings and skills.
fn files(args: &Args, context: &Context, root: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !args.files.is_empty() {
        return Ok(args.files.clone());
    }
    let runtime = context.runtime()?;
    let settings = adapters().flat_map(|adapter| adapter.installer().places().own_settings_files(root));
    let skills = runtime.discover(&context.find_project(&runtime)?).files.into_iter();
    let skills = skills.filter(|file| file.kind == Kind::SkillMd && file.level == Level::Project);
    let all = settings.chain(skills.map(|file| root.join(file.path)));
    let mut files: Vec<PathBuf> = all.filter(|path| path.is_file()).collect();
    files.sort();
    files.dedup();
    Ok(files)
}

fn adapters() -> impl Iterator<Item = &'static dyn Adapter> {
    phasegate_adapters::all().into_iter()
}

/// What a settings file gives, as the client reads it whose file it is.
fn given(file: &Path, text: &str) -> Result<Vec<Permission>, Failure> {
    let mut given = Vec::new();
    let mut is_known = false;
    for adapter in adapters() {
        let is_own = |name: &String| file.ends_with(name.trim_start_matches("~/").trim_start_matches('/'));
        if adapter.installer().places().settings.iter().any(is_own) {
            is_known = true;
            given.extend(adapter.installer().permissions(file, text)?);
        }
    }
    if !is_known {
        return Err(Failure::new(format!(
            "`{}` is no settings file of a client, no `{SKILL}`, and no `NAME.kappa`",
            file.display()
        )));
    }
    Ok(given)
}

/// The name of a skill: the one that its file says, or its folder's.
fn name_of(file: &Path, text: &str) -> String {
    let said = front_matter(text).and_then(|front| Some(front.fields?.get("name")?.as_str()?.to_owned()));
    let folder = || file.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    said.unwrap_or_else(folder)
}

/// What `allowed-tools` of a skill permits: a list, or a text with commas or blanks between entries.
fn allowed_tools(text: &str) -> Vec<Permission> {
    let fields = front_matter(text).and_then(|front| front.fields).unwrap_or_default();
    let entries = match fields.get("allowed-tools") {
        Some(Value::Array(entries)) => entries.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect(),
        Some(Value::String(text)) => entries(text),
        _ => Vec::new(),
    };
    entries.iter().filter_map(|entry| adapters().find_map(|adapter| adapter.installer().allowed_tool(entry))).collect()
}

/// The entries of a text: commas and blanks within parentheses belong to an entry.
fn entries(text: &str) -> Vec<String> {
    let (mut entries, mut entry, mut depth) = (Vec::new(), String::new(), 0_usize);
    for letter in text.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' | ' ' | '\n' if depth == 0 => {
                entries.push(std::mem::take(&mut entry));
                continue;
            }
            _ => {}
        }
        entry.push(letter);
    }
    entries.push(entry);
    entries.retain(|entry| !entry.trim().is_empty());
    entries
}

/// Why a rule cannot be read beside the other configs: a tool that no client is known to have, for example.
fn readable(text: &str, others: &[SourceFile]) -> Result<(), String> {
    let (path, text) = (FILE.to_owned(), text.to_owned());
    let own = SourceFile { path, text, level: Level::Project, kind: Kind::Rules };
    let files: Vec<SourceFile> = others.iter().cloned().chain([own]).collect();
    let compiled = compile(&files);
    let wrong = compiled.diagnostics.iter().find(|found| found.path == FILE && found.severity == Severity::Error);
    wrong.map_or(Ok(()), |found| Err(found.message.clone()))
}

/// Whether the file there is one that `import` wrote.
fn ours(target: &Path) -> Result<(), Failure> {
    if !target.exists() {
        return Err(Failure::new(format!("there is no {FILE}")));
    }
    let text = fs::read_to_string(target).map_err(|error| Failure::new(format!("{}: {error}", target.display())))?;
    if text.starts_with(OURS) {
        return Ok(());
    }
    Err(Failure::new(format!("{FILE} was not written by `phasegate rules import`")).with_help("move the file away"))
}

fn report(context: &Context, imported: &[Imported]) {
    if context.out.json {
        let of = |one: &Imported| {
            let (rule, why_not) = (one.rule.as_ref().ok(), one.rule.as_ref().err());
            json!({
                "file": one.file, "effect": one.permission.effect.word(), "permission": one.permission.written,
                "skill": one.skill, "rule": rule.map(|(id, _)| id), "text": rule.map(|(_, text)| text),
                "why_not": why_not,
            })
        };
        let enforce: Vec<Value> =
            enforcers().into_iter().map(|(name, does)| json!({"platform": name, "enforces": does})).collect();
        context.out.value(&json!({"permissions": imported.iter().map(of).collect::<Vec<_>>(), "platforms": enforce}));
        return;
    }
    let mut last = "";
    for one in imported {
        if one.file != last {
            context.out.line(one.file.bold());
            last = &one.file;
        }
        let (effect, written) = (one.permission.effect.word(), &one.permission.written);
        let became = match &one.rule {
            Ok((id, _)) => format!("rule {id}"),
            Err(why) => format!("{}: {why}", "no rule".yellow()),
        };
        context.out.line(format_args!("  {effect:<5}  {written}  {became}"));
    }
    if imported.iter().any(|one| one.permission.effect == PermissionEffect::Allow && one.rule.is_ok()) {
        context.out.note("what permits has an effect only with `rules: {default: deny}`");
    }
    let (own, others): (Vec<_>, Vec<_>) = enforcers().into_iter().partition(|(_, does)| *does);
    let names = |all: Vec<(&str, bool)>| all.into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(", ");
    if !imported.is_empty() {
        let (own, others) = (names(own), names(others));
        context.out.note(format_args!(
            "{own} enforces the permissions itself, by its own patterns; {others}: only the rules do"
        ));
    }
}

/// The platforms by name, and whether each reads permissions of this form itself.
fn enforcers() -> Vec<(&'static str, bool)> {
    adapters().map(|adapter| (adapter.name(), adapter.installer().allowed_tool("Read").is_some())).collect()
}
