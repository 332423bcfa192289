//! What commands obey that otherwise only read: a change of it changes what these commands run.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use phasegate_core::values::glob::{choices, path_fits};
use serde::{Deserialize, Serialize};

/// The commands that obey a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Readers {
    /// Programs that obey files of a repository: git, cargo.
    Repository,
    /// `npx` and other runners, which look for a program among the packages of the checkout.
    Packages,
    /// Every program.
    Programs,
    /// Every command, those of the shell itself included.
    Commands,
}

/// Which texts of a file change what is run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Text {
    /// Any.
    Any,
    /// A configuration of git with a key that is not known to be harmless.
    GitConfig,
    /// Attributes that name a driver.
    GitAttributes,
}

/// Files by their paths in lower case: below the home folder, at a fixed place, or at any depth.
struct Row {
    readers: Readers,
    text: Text,
    paths: &'static [&'static str],
}

const ROWS: [Row; 7] = [
    Row {
        readers: Readers::Repository,
        text: Text::GitConfig,
        paths: &["**/.git/config", "**/.git/config.worktree", "~/.gitconfig", "~/.config/git/config", "/etc/gitconfig"],
    },
    Row {
        readers: Readers::Repository,
        text: Text::GitAttributes,
        paths: &["**/.gitattributes", "**/.git/info/attributes", "~/.config/git/attributes", "/etc/gitattributes"],
    },
    Row {
        readers: Readers::Repository,
        text: Text::Any,
        // `HEAD` makes a folder a repository.
        paths: &[
            "**/.git",
            "**/head",
            "**/.git/{commondir,gitdir}",
            "**/.git/{hooks,modules,worktrees}{,/**}",
            "**/.cargo/config{,.toml}",
            "**/.yarnrc{,.yml}",
            "**/.hg/hgrc",
            "~/.hgrc",
            "**/rust-toolchain{,.toml}",
            "~/.config/go/env",
            "**/.mvn/{jvm.config,maven.config,extensions.xml}",
            // They name files of other repositories, which are fetched.
            "**/kustomization{,.yaml,.yml}",
            "**/{,docker-,podman-}compose{,.*,-*}.{yaml,yml}",
            "~/.mavenrc",
            "/etc/mavenrc",
        ],
    },
    Row {
        readers: Readers::Repository,
        text: Text::Any,
        // What programs written in python load when they start.
        paths: &["**/{sitecustomize,usercustomize}{.py,.pyc,/__init__.*}", "**/site-packages/*.pth"],
    },
    Row {
        readers: Readers::Packages,
        text: Text::Any,
        paths: &[
            "**/node_modules/**",
            "**/package.json",
            "**/{.npmrc,pnpm-workspace.yaml,.pnpmfile.cjs,bunfig.toml,.bunfig.toml,bun.lock,bun.lockb}",
            "~/.npmrc",
            "~/.config/pnpm/**",
            // Many lines change `pyproject.toml`, and few of its keys are about packages.
            "**/uv.toml",
            "~/.config/uv/**",
            "/etc/uv/uv.toml",
        ],
    },
    Row {
        readers: Readers::Programs,
        text: Text::Any,
        paths: &[
            "~/.{curlrc,wgetrc,sqliterc,psqlrc,my.cnf,ackrc,lessfilter,lesskey,less,manpath,colordiffrc,exiftool_config}",
            "~/.ssh/config",
            "~/.rustup/settings.toml",
            "~/.local/lib/python*/site-packages/*.pth",
            "**/.ackrc",
            "**/.exiftool_config",
            "**/.terraform/providers/**",
            "~/.kube/config",
            "~/.aws/config",
            "~/.docker/config.json",
            "~/.docker/cli-plugins/**",
            "~/.config/{bat,gh}/**",
            "/etc/ld.so.preload",
        ],
    },
    Row {
        readers: Readers::Commands,
        text: Text::Any,
        paths: &[
            "~/.{bashrc,bash_profile,bash_login,bash_aliases,profile,kshrc,mkshrc,pam_environment}",
            "~/.z{shrc,shenv,profile,login}",
            "~/.config/fish/**",
            "~/.config/environment.d/**",
            "/etc/{profile,bash.bashrc,environment}",
            "/etc/{profile.d,zsh}/**",
        ],
    },
];

/// A pattern without braces.
struct PathPattern {
    text: String,
    /// The number of its row.
    row: usize,
}

/// All patterns, by a name that is in every path that fits. Few paths hold any of these names.
#[derive(Default)]
struct Index {
    by_name: BTreeMap<String, Vec<PathPattern>>,
    /// Those that say no such name.
    others: Vec<PathPattern>,
}

fn index() -> &'static Index {
    static INDEX: OnceLock<Index> = OnceLock::new();
    INDEX.get_or_init(|| {
        let mut index = Index::default();
        let all = ROWS.iter().enumerate().flat_map(|(row, found)| found.paths.iter().map(move |path| (row, path)));
        for (row, path) in all {
            for text in choices(path) {
                let mut names = text.rsplit('/');
                let name = names.next().filter(|last| *last != "**").or_else(|| names.next());
                let list = match name.filter(|name| !name.contains(['*', '?'])) {
                    Some(name) => index.by_name.entry(name.to_owned()).or_default(),
                    None => &mut index.others,
                };
                list.push(PathPattern { row, text });
            }
        }
        index
    })
}

/// Sections of git's configuration of which no key names a program; a dot ends them.
const SECTIONS: [&str; 14] = [
    "advice.",
    "author.",
    "branch.",
    "color.",
    "column.",
    "committer.",
    "fetch.",
    "i18n.",
    "pull.",
    "push.",
    "rebase.",
    "rerere.",
    "status.",
    "user.",
];
/// Further keys of git's configuration that name no program.
const KEYS: [&str; 26] = [
    "core.abbrev",
    "core.autocrlf",
    "core.bare",
    "core.commentchar",
    "core.eol",
    "core.excludesfile",
    "core.filemode",
    "core.ignorecase",
    "core.logallrefupdates",
    "core.longpaths",
    "core.precomposeunicode",
    "core.quotepath",
    "core.repositoryformatversion",
    "core.safecrlf",
    "core.symlinks",
    "diff.algorithm",
    "diff.colormoved",
    "diff.context",
    "diff.mnemonicprefix",
    "diff.noprefix",
    "diff.renames",
    "init.defaultbranch",
    "log.date",
    "log.decorate",
    "merge.conflictstyle",
    "tag.sort",
];

/// Whether a file's name is an option, or a file of options, to a program that gets it from a pattern, or a word of it to one
/// that gets it from `xargs`.
fn may_be_option(name: &str) -> bool {
    let is_option =
        |word: &str| word.strip_prefix('-').is_some_and(|rest| rest.starts_with(|letter: char| letter != ' '));
    name.starts_with('@') || name.split(char::is_whitespace).any(is_option)
}

/// The commands that obey the file, where its new text, if that is known, may change what they run. `path` is absolute.
pub fn obeying(path: &str, home: &str, text: Option<&str>) -> Option<Readers> {
    if path.rsplit('/').next().is_some_and(may_be_option) {
        return Some(Readers::Programs);
    }
    let (path, home) = (path.to_lowercase(), home.to_lowercase());
    let fits = |pattern: &str| match pattern.strip_prefix("~/") {
        Some(below) => {
            path.strip_prefix(&home).and_then(|rest| rest.strip_prefix('/')).is_some_and(|rest| path_fits(below, rest))
        }
        None if pattern.starts_with('/') => path_fits(pattern, &path),
        None => path_fits(pattern, path.trim_start_matches('/')),
    };
    let index = index();
    let named = path.split('/').filter_map(|name| index.by_name.get(name)).flatten();
    let fitting = named.chain(&index.others).filter(|pattern| fits(&pattern.text));
    let row = ROWS.get(fitting.map(|pattern| pattern.row).min()?)?;
    let harmless = match row.text {
        Text::Any => false,
        Text::GitConfig => text.is_some_and(|text| names_programs(text).is_empty()),
        Text::GitAttributes => {
            let drivers = |text: &str| ["filter", "diff=", "merge="].iter().any(|driver| text.contains(driver));
            text.is_some_and(|text| !drivers(text))
        }
    };
    (!harmless).then_some(row.readers)
}

/// Whether a key of git's configuration names no program, whatever its value.
pub(crate) fn is_harmless_key(key: &str) -> bool {
    let key = key.to_lowercase();
    let remote = key.strip_prefix("remote.").and_then(|rest| rest.rsplit_once('.'));
    SECTIONS.iter().any(|section| key.starts_with(section))
        || KEYS.contains(&key.as_str())
        || remote.is_some_and(|(_, key)| matches!(key, "url" | "pushurl" | "fetch" | "prune" | "tagopt"))
}

/// The lines of a configuration of git that may name a program, each with its section: those that are not written in the plain
/// form, too.
pub fn names_programs(text: &str) -> Vec<String> {
    let mut section = String::new();
    let mut found = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';'])) {
        if let Some(header) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = header.replace(" \"", ".").trim_end_matches('"').to_owned();
            if header.contains(']') {
                found.push(line.to_owned());
            }
            continue;
        }
        let key = line.split('=').next().unwrap_or(line).trim();
        let plain = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !plain || line.ends_with('\\') || !is_harmless_key(&format!("{section}.{key}")) {
            found.push(format!("{section} {line}"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_what_commands_obey_is_known_by_its_path() {
        use Readers::{Commands, Packages, Programs, Repository};
        for (path, readers) in [
            ("/p/.git/config", Some(Repository)),
            ("/p/.GIT/Config", Some(Repository)),
            ("/p/.git", Some(Repository)),
            ("/p/plans/-e1e touch x;#.md", Some(Programs)),
            ("/p/plans/a -i b.md", Some(Programs)),
            ("/p/plans/--x", Some(Programs)),
            ("/p/plans/@x.md", Some(Programs)),
            ("/p/plans/notes - copy.md", None),
            ("/p/plans/a-b.md", None),
            ("/p/.git/hooks/post-index-change", Some(Repository)),
            ("/p/.git/modules/a/config", Some(Repository)),
            ("/p/a/.gitattributes", Some(Repository)),
            ("/h/.gitconfig", Some(Repository)),
            ("/p/x/HEAD", Some(Repository)),
            ("/p/email/a.py", None),
            ("/p/calendar.ts", None),
            ("/p/csv/a.csv", None),
            ("/p/.mvn/jvm.config", Some(Repository)),
            ("/h/.mavenrc", Some(Repository)),
            ("/h/.bashrc", Some(Commands)),
            ("/h/.zshenv", Some(Commands)),
            ("/h/.config/fish/functions/ls.fish", Some(Commands)),
            ("/h/.curlrc", Some(Programs)),
            ("/h/.config/gh/config.yml", Some(Programs)),
            ("/p/.venv/lib/python3.12/site-packages/a.pth", Some(Repository)),
            ("/p/node_modules/.bin/go-gmail", Some(Packages)),
            ("/p/pyproject.toml", None),
            ("/p/uv.toml", Some(Packages)),
            ("/h/.config/uv/uv.toml", Some(Packages)),
            ("/p/a/bunfig.toml", Some(Packages)),
            ("/p/pnpm-workspace.yaml", Some(Packages)),
            ("/p/a/package.json", Some(Packages)),
            ("/p/.bashrc", None),
            ("/p/.git/info/exclude", None),
            ("/p/data/json/a.txt", None),
            ("/p/data.json", None),
            ("/p/src/types.ts", None),
            ("/p/.mvn/wrapper/maven-wrapper.properties", None),
            ("/p/locale/de.po", None),
            ("/p/config", None),
        ] {
            assert_eq!(obeying(path, "/h", None), readers, "{path}");
        }
    }

    #[test]
    fn the_index_finds_what_the_rows_say() {
        let mut found = 0;
        for pattern in ROWS.iter().flat_map(|row| row.paths).flat_map(|path| choices(path)) {
            let path = pattern.replace("**", "a/b").replace('*', "c");
            for path in [path.clone(), path.replace("a/b", "a"), format!("{path}/d"), format!("{path}d")] {
                let path = path.strip_prefix("~/").map_or_else(|| format!("/{path}"), |below| format!("/h/{below}"));
                let path = path.replace("//", "/");
                let fits = |pattern: &&str| match pattern.strip_prefix("~/") {
                    Some(below) => path.strip_prefix("/h/").is_some_and(|rest| path_fits(below, rest)),
                    None => {
                        path_fits(pattern, if pattern.starts_with('/') { &path } else { path.trim_start_matches('/') })
                    }
                };
                let row = ROWS.iter().find(|row| row.paths.iter().any(fits));
                assert_eq!(obeying(&path, "/h", None), row.map(|row| row.readers), "{path}");
                found += u32::from(row.is_some());
            }
        }
        assert!(found > 100, "{found}");
    }

    #[test]
    fn a_configuration_that_names_no_program_changes_nothing() {
        let plain = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = u\n\tfetch = +r:r\n[user]\n\tname = x\n# a\n";
        assert!(names_programs(plain).is_empty());
        for text in [
            "[core]\nfsmonitor = x\n",
            "[core] fsmonitor = x\n",
            "[user]\nname = x \\\n",
            "fsmonitor = x\n",
            "[filter \"a\"]\nclean = x\n",
            "[alias]\ns = !x\n",
            "[include]\npath = x\n",
            "[remote \"o\"]\nuploadpack = x\n",
            "[user][core]\nfsmonitor = x\n",
        ] {
            assert!(!names_programs(text).is_empty(), "{text}");
        }
        assert_eq!(obeying("/p/.gitattributes", "/h", Some("*.png binary\n")), None);
        assert_eq!(obeying("/p/.gitattributes", "/h", Some("*.c filter=x\n")), Some(Readers::Repository));
    }
}
