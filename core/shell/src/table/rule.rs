//! The form of an entry.

use std::collections::BTreeMap;
use std::mem;

use phasegate_core::calls::analysis::Verdict;
use serde::{Deserialize, Serialize};

/// What is known of one program, and of its commands (`git log`, `docker ps`).
///
/// Options are separated by blanks and written without dashes: one letter is a short option, more are a long
/// one; `x:` takes a value, `x?` takes one only when it is attached. `#` stands for `-5` and its like.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    /// What it does where nothing below says otherwise.
    #[serde(skip_serializing_if = "is_read")]
    pub does: Verdict,
    /// Why, as a lower-case fragment.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub because: String,
    /// How options are distinguished from operands.
    #[serde(skip_serializing_if = "phasegate_core::values::is_default")]
    pub style: Style,
    /// Options that change nothing about `does`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub options: String,
    /// Options that make it do worse, by what they make it do.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub hurts: BTreeMap<Verdict, String>,
    /// Options whose value is a line that it runs, as `hurts` or `options` lists them too.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub runs: String,
    /// Unlisted options and unknown words are harmless.
    #[serde(skip_serializing_if = "phasegate_core::values::is_default")]
    pub any_option: bool,
    /// Options of which one must be given, or else it does what `otherwise` says.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub only_with: String,
    /// Options of which the last one given counts, as if the others were not given.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub modes: String,
    /// What it does without any of `only_with`, or with a command that is not listed.
    #[serde(skip_serializing_if = "phasegate_core::values::is_default")]
    pub otherwise: Option<Verdict>,
    /// How many operands it may have, and what more of them would do.
    #[serde(skip_serializing_if = "phasegate_core::values::is_default")]
    pub operands: Option<u32>,
    /// What one operand too many makes it do; `write` if absent.
    #[serde(skip_serializing_if = "phasegate_core::values::is_default")]
    pub beyond: Option<Verdict>,
    /// What its operands are.
    #[serde(skip_serializing_if = "phasegate_core::values::is_default")]
    pub touches: Operands,
    /// What it changes is no file that it works on: the repository's own data, a service, the system.
    #[serde(skip_serializing_if = "phasegate_core::values::is_default")]
    pub elsewhere: bool,
    /// Its first operand is a file that it runs, unless an option that is not listed stands before it.
    #[serde(skip_serializing_if = "phasegate_core::values::is_default")]
    pub script: bool,
    /// Options with which something of it goes on after it, separated by blanks; `*`: always, unless it only reads.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub goes_on: String,
    /// It runs the command that its operands are.
    #[serde(skip_serializing_if = "phasegate_core::values::is_default")]
    pub wraps: Option<Wraps>,
    /// Its first operand is a command with an entry of its own.
    #[serde(skip_serializing_if = "phasegate_core::values::is_default")]
    pub dispatches: bool,
    /// Its commands, where other words may be a user's own names for any of them, as an alias of git, or do what others do.
    #[serde(skip_serializing_if = "phasegate_core::values::is_default")]
    pub own: String,
    /// Its first word, an option, or its first two may be a command with an entry of its own (`python -m json.tool`).
    #[serde(skip_serializing_if = "phasegate_core::values::is_default")]
    pub pairs: bool,
    /// A reading of its arguments that options alone cannot express.
    #[serde(skip_serializing_if = "phasegate_core::values::is_default")]
    pub check: Option<Check>,
    /// It obeys files of the repository, which may name programs to run, unless all of these are given; `-` where no
    /// option helps, and nothing for a command that obeys none although its program does.
    #[serde(skip_serializing_if = "phasegate_core::values::is_default")]
    pub hardened_with: Option<String>,
    /// What its commands do (`git log`, `docker ps`), by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub commands: BTreeMap<String, Rule>,
    /// Commands that read with any option, separated by blanks.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub readers: String,
    /// The only options that those commands may have, and those of `asks`; any if empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reader_options: String,
    /// Commands that ask a service on the network and change nothing, separated by blanks.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub asks: String,
    /// Commands that talk to another machine and do more than ask, separated by blanks; `-` is the program without a command,
    /// and of a program that has no commands of its own, any operand counts, `*` for whatever it is.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub sends: String,
    /// Commands without an entry whose operands are names of packages, of commits or of a service's objects, and no paths,
    /// separated by blanks; `*` for all. A word that begins as a path does is one all the same.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub names_only: String,
    /// It asks a service on the network.
    #[serde(skip_serializing_if = "phasegate_core::values::is_default")]
    pub network: bool,
    /// It shows what runs on the machine, or asks a service there: held, it would show nothing.
    #[serde(skip_serializing_if = "phasegate_core::values::is_default")]
    pub outside: bool,
    /// Options that make the program and every one of its commands do worse.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub everywhere: BTreeMap<Verdict, String>,
    /// Further names of the same program, separated by blanks.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub names: String,
}

impl Default for Rule {
    fn default() -> Self {
        Self {
            does: Verdict::Read,
            because: String::new(),
            style: Style::default(),
            options: String::new(),
            hurts: BTreeMap::new(),
            runs: String::new(),
            any_option: false,
            only_with: String::new(),
            modes: String::new(),
            otherwise: None,
            operands: None,
            beyond: None,
            touches: Operands::default(),
            elsewhere: false,
            script: false,
            goes_on: String::new(),
            wraps: None,
            dispatches: false,
            own: String::new(),
            pairs: false,
            check: None,
            hardened_with: None,
            commands: BTreeMap::new(),
            readers: String::new(),
            reader_options: String::new(),
            asks: String::new(),
            sends: String::new(),
            names_only: String::new(),
            network: false,
            outside: false,
            everywhere: BTreeMap::new(),
            names: String::new(),
        }
    }
}

/// How options are distinguished from operands.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// Clusters of short options, long options with two dashes, which may be abbreviated and may follow operands.
    #[default]
    Gnu,
    /// The same, but the first operand ends the options.
    Posix,
    /// Long options with one dash or two, no clusters: Go programs, `openssl`, `java`.
    Single,
    /// The same, but the first operand ends the options.
    Leading,
    /// No word is an option.
    None,
}

/// The meaning of a program's operands.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operands {
    /// Paths that it reads.
    #[default]
    Read,
    /// Paths that it changes.
    Write,
    /// Paths that it reads, except for the last, which it changes.
    LastWrite,
    /// Paths that it removes (`rm`).
    Remove,
    /// Paths that it removes, except for the last, which it changes (`mv`).
    Move,
    /// Paths that it reads, unless it changes anything; then paths that it removes (`gzip`).
    Replace,
    /// Paths that it reads, or changes: with an option of `hurts.write`, or without `only_with` where no such option is listed
    /// (`gofmt -w`, `black`); the folder that it runs in, where it has none.
    Rewrite,
    /// Something and then paths that it reads (`grep`).
    FirstNone,
    /// Something and then paths that it changes (`chmod`).
    FirstNoneWrite,
    /// No paths.
    None,
}

/// A program that runs another one.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Wraps {
    /// How many operands stand before the command (`timeout 5 ls`).
    pub skip: u32,
    /// Whether assignments stand before the command (`env A=b ls`).
    pub assignments: bool,
    /// Whether unknown words follow the command (`xargs`).
    pub appends: bool,
    /// Whether the command is a form of its own of a program (`busybox`), whose options may differ.
    pub own: bool,
    /// What it does without a command.
    pub alone: Option<Verdict>,
}

/// A reading of arguments that is code and not data.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// `find` and its actions.
    Find,
    /// `fd`, whose `-x` runs a command.
    Fd,
    /// A `sed` script.
    Sed,
    /// An `awk` program.
    Awk,
    /// `perl` and `ruby`, whose `-i` replaces files.
    InPlace,
    /// `less` and `more`, whose operands after `+` are commands.
    Plus,
    /// A shell and its script, or a program that gives its operands to a shell.
    Shell,
    /// `at`, `source`: what it runs may be its standard input.
    Fed,
    /// `eval`.
    Eval,
    /// `exec` and `command`.
    Exec,
    /// `cd`.
    Folder,
    /// `export` and its like.
    Declare,
    /// `read`, `unset`, `printf -v`: names that are given a value.
    Names,
    /// `test` and `[`.
    Test,
    /// `set` and `shopt`.
    Set,
    /// `trap`.
    Trap,
    /// `alias`.
    Alias,
    /// `tar`, whose first word may be options without a dash.
    Tar,
    /// `cpio`, whose archive may be on another machine.
    Archive,
    /// `tee`, whose operands are written.
    Tee,
    /// `rustc`, whose `--print` may name a file.
    Rustc,
    /// `dd`, which prints without `of=`.
    Dd,
    /// `date`.
    Date,
    /// `git` itself, whose `-c` sets configuration.
    Git,
    /// `git branch`, `git tag`: names create unless an option lists.
    Listing,
    /// `git config`.
    GitConfig,
    /// `git init`, `git clone`, which can bring a configuration along.
    GitTemplate,
    /// `zip`, whose first operand is the archive.
    Zip,
    /// `mktemp`, which names its file by itself.
    Temporary,
    /// `git reflog`, whose first operand may be a command.
    GitFirst,
    /// `patch`, which changes the files that the patch names.
    Patch,
    /// `nm` and its like, which take options from a file that an operand names.
    ResponseFile,
    /// `git remote show`, whose operand may be an address.
    RemoteName,
    /// `git ls-remote`, whose operand may name a program.
    GitUrl,
    /// `git log` and its like, whose format can ask for signatures.
    GitFormat,
    /// `git clean`, `git rm`, `git mv`: which paths they remove.
    GitPaths,
    /// `git checkout`, `git restore`, `git reset` and their like: which files of the working tree they change.
    GitWorktree,
    /// `chmod` and its like, which with `-R` also change what lies below their operands.
    Recursive,
    /// `rsync`, which can remove what the source lacks.
    Mirror,
    /// `gh api`.
    GhApi,
    /// `ssh`, whose `-o` may name a command.
    Ssh,
    /// `curl`.
    Curl,
    /// `wget`.
    Wget,
    /// `http`.
    Httpie,
    /// A program that sends what its operands are, so they must be known.
    KnownOperands,
    /// A program that fetches operands that are addresses.
    LocalOperands,
    /// A program that takes a file of code in place of a name.
    NamesOnly,
    /// `rpm`, whose packages can have scripts, and `pandoc`, which has commands of its own.
    Package,
    /// A program that sends what it reads from its standard input, so that must be known.
    KnownInput,
    /// `gcloud`, `aws`: the verb is somewhere among the operands.
    Verb,
    /// `sysctl`, `ip`: assignments and verbs among the operands.
    Setting,
    /// `sqlite3`, `psql`, `mysql`: a statement.
    Statement,
    /// A program that runs another one of the table as a part of itself (`npx prettier`).
    Tool,
    /// A program that runs a command in a folder, below a root or for values that its other words name.
    OtherFolder,
    /// `cp`, whose `-l` and `-s` make second names of files.
    Links,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_read(verdict: &Verdict) -> bool {
    *verdict == Verdict::Read
}

impl Rule {
    /// Writes the program and its commands as single rules, under `name`, `name command` and so on.
    pub fn flatten(mut self, name: &str, into: &mut BTreeMap<String, Self>) {
        let everywhere = mem::take(&mut self.everywhere);
        add(&mut self.hurts, &everywhere);
        let mut commands = mem::take(&mut self.commands);
        let options = mem::take(&mut self.reader_options);
        for (names, network) in [(mem::take(&mut self.readers), false), (mem::take(&mut self.asks), true)] {
            for command in names.split_whitespace() {
                let style = if self.style == Style::Single { Style::Single } else { Style::Gnu };
                let any_option = options.is_empty();
                let check = self.check.filter(|check| matches!(check, Check::LocalOperands | Check::NamesOnly));
                let rule = Self {
                    any_option,
                    check,
                    options: options.clone(),
                    style,
                    touches: Operands::None,
                    network,
                    ..Self::default()
                };
                commands.entry(command.to_owned()).or_insert(rule);
            }
        }
        self.dispatches |= commands.keys().any(|command| !command.starts_with('-'));
        self.pairs |= commands.keys().any(|command| command.starts_with('-'));
        let names = mem::take(&mut self.names);
        for (command, mut rule) in commands {
            add(&mut rule.everywhere, &everywhere);
            rule.hardened_with = rule.hardened_with.or_else(|| self.hardened_with.clone());
            if rule.reader_options.is_empty() {
                rule.reader_options.clone_from(&options);
            }
            rule.network |= self.network;
            rule.outside |= self.outside;
            rule.elsewhere |= self.elsewhere;
            for outer in names.split_whitespace().chain([name]) {
                rule.clone().flatten(&format!("{outer} {command}"), into);
            }
        }
        for other in names.split_whitespace() {
            // A further name of a command stands beside it, not below it.
            let full = name.rsplit_once(' ').map_or_else(|| other.to_owned(), |(outer, _)| format!("{outer} {other}"));
            into.insert(full, self.clone());
        }
        into.insert(name.to_owned(), self);
    }
}

fn add(to: &mut BTreeMap<Verdict, String>, from: &BTreeMap<Verdict, String>) {
    for (verdict, options) in from {
        let own = to.entry(*verdict).or_default();
        own.push(' ');
        own.push_str(options);
    }
}
