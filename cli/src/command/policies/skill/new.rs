//! `phasegate skill new`: a skill that passes `check`, with comments that explain it.

mod quoted;
mod registry;
mod steps;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use owo_colors::OwoColorize as _;
use phasegate_config::{Kind, Level, Severity, SourceFile, compile};
use phasegate_runtime::locations::CONFIG_FOLDER;

use self::quoted::plain;
use self::steps::Steps;
use crate::command::runs::control::{accepting, for_a_person};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate skill new`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The name of the skill; default: the one in the `SKILL.md`
    #[arg(required_unless_present = "from")]
    name: Option<String>,
    /// What it is made of
    #[arg(long, value_enum, default_value = "phases", conflicts_with = "from")]
    kind: Made,
    /// Make a phase of each step of this `SKILL.md`: of its numbered list, or else of its headings
    #[arg(long, value_name = "SKILL.MD")]
    from: Option<PathBuf>,
    /// Make a composite skill of this table of phases: JSON, as `docs/skills/composite-skills.md` shows it
    #[arg(long, value_name = "JSON", conflicts_with_all = ["from", "kind"], requires = "name")]
    registry: Option<PathBuf>,
    /// What it is for, in a sentence
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Print the file, and write nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Made {
    /// Phases with calls, evidence and a way back
    Phases,
    /// A run of the project, with files and an approval
    Workflow,
    /// Phases that run other skills, each with a subagent
    Composite,
    /// One phase that a subagent does, for composite skills to run
    Atomic,
}

impl Made {
    fn template(self) -> &'static str {
        match self {
            Self::Phases => include_str!("new/phases.yaml"),
            Self::Workflow => include_str!("new/workflow.yaml"),
            Self::Composite => include_str!("new/composite.yaml"),
            Self::Atomic => include_str!("new/atomic.yaml"),
        }
    }
}

/// Writes the skill to `.phasegate/skills/NAME.yaml`, where there is none.
///
/// # Errors
///
/// There is one, the `SKILL.md` has no steps, the name is none, or an agent gives the command in a guarded project.
pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let (name, text) = match (&args.from, &args.registry) {
        (_, Some(file)) => {
            let name = args.name.clone().unwrap_or_default();
            let described = args.description.clone().unwrap_or_else(|| format!("The phases of {name}"));
            let made = of_registry(file, &name, &described)?;
            made.warnings
                .iter()
                .for_each(|warning| context.out.note(format_args!("{} {warning}", "deprecated:".yellow())));
            (name, made.text)
        }
        (Some(file), None) => {
            let text = fs::read_to_string(file)
                .map_err(|error| Failure::new(format!("`{}` cannot be read: {error}", file.display())))?;
            let steps = Steps::of(&text).ok_or_else(|| {
                Failure::new(format!("`{}` has no steps", file.display()))
                    .with_help("it needs a front matter with a name, and a numbered list or headings of level 2")
            })?;
            let name = args.name.clone().unwrap_or_else(|| steps.name.clone());
            let text = from_steps(&name, args.description.as_ref().unwrap_or(&steps.description), &steps);
            (name, text)
        }
        (None, None) => {
            let name = args.name.clone().unwrap_or_default();
            let described = args.description.clone().unwrap_or_else(|| format!("What {name} is for, in a sentence"));
            (name.clone(), filled(args.kind.template(), &name, &described))
        }
    };
    let is_name = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    if name.is_empty() || !name.chars().all(is_name) {
        return Err(
            Failure::new(format!("`{name}` is no name of a skill")).with_help("use small letters, digits and `-`")
        );
    }
    checked(&name, &text)?;
    if args.dry_run {
        context.out.line(text.trim_end());
        return Ok(Exit::Done);
    }
    write(context, &name, &text)
}

fn of_registry(file: &Path, name: &str, description: &str) -> Result<registry::Made, Failure> {
    let wrong = |why: String| Failure::new(format!("`{}` is no table of phases: {why}", file.display()));
    let text = fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    let table = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    registry::skill(name, description, &table).map_err(wrong)
}

fn write(context: &Context, name: &str, text: &str) -> Result<Exit, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    for_a_person("skill new", &runtime, &project)?;
    let folder = project.root.join(CONFIG_FOLDER).join("skills");
    let path = folder.join(format!("{name}.yaml"));
    if path.exists() {
        return Err(Failure::new(format!("there is a skill `{}`", path.display())).with_help("choose another name"));
    }
    let failed = |error: std::io::Error| Failure::new(format!("`{}` cannot be written: {error}", path.display()));
    let write = || fs::create_dir_all(&folder).and_then(|()| fs::write(&path, text)).map_err(failed);
    accepting(&runtime, &project, write)?;
    context.out.line(format_args!("wrote {}", path.strip_prefix(&project.root).unwrap_or(&path).display().bold()));
    context.out.line("  change it, then run `phasegate check`; `phasegate init`, once, has a client guarded by it");
    context.out.line("  `phasegate check --tests` plays transcripts in `.phasegate/tests` that say what they expect");
    Ok(Exit::Done)
}

fn filled(template: &str, name: &str, description: &str) -> String {
    template.replace("@NAME@", name).replace("@DESCRIPTION@", &plain(description))
}

/// A skill with a phase for each step.
fn from_steps(name: &str, description: &str, steps: &Steps) -> String {
    let mut text = format!(
        "# Made from a SKILL.md: each step is a phase, which is done when its report is written. That shows that the step was taken,\n\
         # not how well: put better evidence in its place, for example `done_when: {{tests: passed}}` or\n\
         # `done_when: {{ok: {{command: \"git commit *\"}}}}`, with the calls that supply it under `allowed`.\n\
         skill: {name}\ndescription: \"{}\"\n# The agent cannot end its turn before the last phase is done.\nfinish: required\n\
         # The file that each phase makes. Only that phase may write it.\nartifacts:\n",
        plain(description)
    );
    for (phase, _) in &steps.phases {
        let _ = writeln!(text, "  {phase}: {{path: [\"reports/{name}/{phase}.md\"]}}");
    }
    text.push_str("phases:\n");
    for (phase, step) in &steps.phases {
        let step = plain(step).trim_end_matches(['.', ':']).to_owned();
        let _ = write!(
            text,
            "  {phase}:\n    do: \"{step}; then write reports/{name}/{phase}.md\"\n    produces: [{phase}]\n"
        );
    }
    text
}

/// Compiles the text, so that nothing is written that `check` refuses.
fn checked(name: &str, text: &str) -> Result<(), Failure> {
    let path = format!(".phasegate/skills/{name}.yaml");
    let file = SourceFile { path, text: text.to_owned(), level: Level::Project, kind: Kind::Skill };
    let found = compile(&[file]).diagnostics;
    let error = found.iter().find(|found| found.severity == Severity::Error);
    error.map_or(Ok(()), |error| Err(Failure::new(format!("{}:{}: {}", error.path, error.line, error.message))))
}
