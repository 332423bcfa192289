//! `phasegate skill show`.

use std::fs;

use phasegate_config::{find_shipped, shipped_file};
use phasegate_runtime::locations::CONFIG_FOLDER;

use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate skill show`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The skill (`NAME@compat`: its compat form), or a file that one names (`formats/NAME.yaml`, `prompts/NAME.md`)
    name: String,
    /// Print the shipped file, also where the project has one of its own
    #[arg(long)]
    shipped: bool,
}

/// Prints the file, as it may be copied to `.phasegate`.
///
/// # Errors
///
/// There is none of this name.
pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let runtime = context.runtime()?;
    let folder = context.find_project(&runtime)?.root.join(CONFIG_FOLDER);
    let name = args.name.as_str();
    let plain = !name.contains("..") && !name.starts_with('/');
    let own = || {
        let files =
            [folder.join(name), folder.join(format!("skills/{name}.yaml")), folder.join(format!("skills/{name}.json"))];
        let asked = files.iter().filter(|_| plain && !args.shipped);
        let (empty, full): (Vec<_>, Vec<_>) = asked
            .filter_map(|file| Some((file, fs::read_to_string(file).ok()?)))
            .partition(|(_, text)| text.trim().is_empty());
        // The shell empties the file that it writes to before it starts this.
        for (file, _) in empty {
            context.out.note(format_args!("`{}` is empty; this is the shipped file", file.display()));
        }
        full.into_iter().next().map(|(_, text)| text)
    };
    let shipped = || {
        let skill = find_shipped(name).and_then(|(shipped, form)| shipped.text(form));
        skill.or_else(|| shipped_file(name)).map(str::to_owned)
    };
    let Some(text) = own().or_else(shipped) else {
        return Err(Failure::new(format!("there is no file of a skill `{name}`"))
            .with_help("`phasegate skill list` lists the skills"));
    };
    context.out.line(text.trim_end());
    Ok(Exit::Done)
}
