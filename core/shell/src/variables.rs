//! Environment variables: which are harmless to set, and which programs or the shell obey.

/// Names that may be given to one command (`LC_ALL=C sort`).
const HARMLESS: [&str; 51] = [
    "AWS_DEFAULT_OUTPUT",
    "AWS_DEFAULT_PROFILE",
    "AWS_DEFAULT_REGION",
    "AWS_PROFILE",
    "AWS_REGION",
    "BLOCKSIZE",
    "BLOCK_SIZE",
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "DEBIAN_FRONTEND",
    "DEBUG",
    "FORCE_COLOR",
    "GH_NO_UPDATE_NOTIFIER",
    "GIT_OPTIONAL_LOCKS",
    "GIT_TERMINAL_PROMPT",
    "GREP_COLOR",
    "GREP_COLORS",
    "HISTTIMEFORMAT",
    "IFS",
    "JQ_COLORS",
    "LANG",
    "LANGUAGE",
    "LINES",
    "LSCOLORS",
    "LS_COLORS",
    "MANWIDTH",
    "MYSQL_HOST",
    "NODE_ENV",
    "NO_COLOR",
    "PGAPPNAME",
    "PGCONNECT_TIMEOUT",
    "PGDATABASE",
    "PGHOST",
    "PGPASSWORD",
    "PGPORT",
    "PGUSER",
    "PS_FORMAT",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONIOENCODING",
    "PYTHONUNBUFFERED",
    "PYTHONUTF8",
    "QUOTING_STYLE",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TZ",
    "TIMEFORMAT",
    "TIME_STYLE",
    "VERBOSE",
];
/// Names that may be given to one command when the value turns paging off.
pub(crate) const PAGERS: [&str; 8] =
    ["PAGER", "GIT_PAGER", "GH_PAGER", "MANPAGER", "AWS_PAGER", "SYSTEMD_PAGER", "BAT_PAGER", "DELTA_PAGER"];
/// Names that programs or the shell obey: no command of the line may run with them changed.
const DANGEROUS: [&str; 40] = [
    "PATH",
    "HOME",
    "SHELL",
    "ENV",
    "BASH_ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "POSIXLY_CORRECT",
    "BASH",
    "PROMPT_COMMAND",
    "CDPATH",
    "PAGER",
    "EDITOR",
    "VISUAL",
    "BROWSER",
    "MANPAGER",
    "MANPATH",
    "TMPDIR",
    "PWD",
    "OLDPWD",
    "HISTFILE",
    "FPATH",
    "MAKEFLAGS",
    "KUBECONFIG",
    "KUBE_EDITOR",
    "SSH_ASKPASS",
    "SSH_AUTH_SOCK",
    "GREP_OPTIONS",
    "TAR_OPTIONS",
    "GZIP",
    "ZIPOPT",
    "UNZIP",
    "RSYNC_RSH",
    "TERMINFO",
    "EXECIGNORE",
];
/// Beginnings of further such names.
const DANGEROUS_FAMILIES: [&str; 32] = [
    "LD_",
    "DYLD_",
    "GIT_",
    "BASH_",
    "PYTHON",
    "PERL",
    "RUBY",
    "NODE_",
    "NPM_",
    "npm_",
    "LESS",
    "GCONV_",
    "LOCPATH",
    "NLSPATH",
    "XDG_",
    "DOCKER_",
    "AWS_",
    "GOOGLE_",
    "CLOUDSDK_",
    "AZURE_",
    "GH_",
    "GO",
    "CARGO",
    "RUST",
    "JAVA_",
    "_JAVA",
    "JDK_",
    "BAT_",
    "RIPGREP_",
    "FZF_",
    "MALLOC_",
    "SSL_",
];

/// Variables to which the shell gives values by itself, from the sections "Shell Variables" and "Special Parameters" of
/// bash's manual, apart from those that are only read.
const SPECIAL: [&str; 49] = [
    "_",
    "BASH",
    "BASHOPTS",
    "BASHPID",
    "BASH_ALIASES",
    "BASH_ARGC",
    "BASH_ARGV",
    "BASH_ARGV0",
    "BASH_CMDS",
    "BASH_COMMAND",
    "BASH_EXECUTION_STRING",
    "BASH_LINENO",
    "BASH_REMATCH",
    "BASH_SOURCE",
    "BASH_SUBSHELL",
    "BASH_VERSINFO",
    "BASH_VERSION",
    "COLUMNS",
    "COMP_CWORD",
    "COMP_KEY",
    "COMP_LINE",
    "COMP_POINT",
    "COMP_TYPE",
    "COMP_WORDBREAKS",
    "COMP_WORDS",
    "COPROC",
    "DIRSTACK",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "FUNCNAME",
    "GROUPS",
    "HISTCMD",
    "LINENO",
    "LINES",
    "MAPFILE",
    "OLDPWD",
    "OPTARG",
    "OPTERR",
    "OPTIND",
    "PIPESTATUS",
    "PWD",
    "RANDOM",
    "READLINE_LINE",
    "READLINE_POINT",
    "REPLY",
    "SECONDS",
    "SHELLOPTS",
    "SHLVL",
    "SRANDOM",
];
/// Special variables of the type integer: what is assigned to them is evaluated.
const EVALUATED: [&str; 8] = ["BASHPID", "EPOCHSECONDS", "HISTCMD", "LINENO", "OPTIND", "RANDOM", "SECONDS", "SRANDOM"];
/// Parameters and variables that are integers and that nothing can assign.
const READ_ONLY_NUMBERS: [&str; 6] = ["#", "?", "$", "UID", "EUID", "PPID"];

/// Whether the shell gives the variable values by itself.
pub(crate) fn is_special(name: &str) -> bool {
    SPECIAL.contains(&name)
}

/// Whether the shell evaluates what is assigned to the variable.
pub(crate) fn is_evaluated(name: &str) -> bool {
    EVALUATED.contains(&name)
}

/// Whether a parameter is always an integer.
pub(crate) fn is_read_only_number(name: &str) -> bool {
    READ_ONLY_NUMBERS.contains(&name)
}

/// Whether a name is one that programs or the shell obey.
pub(crate) fn is_dangerous(name: &str) -> bool {
    DANGEROUS.contains(&name)
        || DANGEROUS_FAMILIES.iter().any(|family| name.starts_with(family))
        || name.to_ascii_lowercase().ends_with("_proxy")
}

/// Whether a name may be given to a command.
pub fn is_harmless(name: &str, value: Option<&str>) -> bool {
    if PAGERS.contains(&name) {
        return matches!(value, Some("" | "cat"));
    }
    // No program reads a setting from a name of one letter.
    let one = name.len() == 1 && name.bytes().all(|byte| byte.is_ascii_alphabetic());
    one || HARMLESS.contains(&name) || name.starts_with("LC_")
}
