//! Databases: which statements only select.

use phasegate_core::calls::analysis::{Access, Verdict};

use super::command::Command;
use crate::expand::field::Field;
use crate::finding::Finding;
use crate::walk::Walk;

/// What a statement that only selects starts with.
const STARTS: &str = "select show describe desc explain values table with pragma";
/// Words that no statement that only selects has outside of texts, apart from functions.
const WORDS: &str = "insert update delete replace drop alter create truncate attach detach vacuum reindex grant revoke merge copy into \
    outfile dumpfile call execute exec do load lock set reset begin commit savepoint refresh analyze notify listen prepare comment \
    rename handler kill flush purge shutdown install uninstall use share output save backup restore import";
/// Functions that only compute or look, and words that a bracket may follow.
const FUNCTIONS: &str = "select from where and or not in exists as on using over filter values any all some case when then else between like \
    having by join union intersect except distinct with recursive materialized within group order partition is limit offset interval \
    count sum avg min max total coalesce ifnull nullif iif lower upper length char_length octet_length substr substring trim ltrim rtrim instr \
    hex quote printf format round abs floor ceil ceiling power sqrt mod sign cast convert date time datetime julianday strftime unixepoch now \
    current_date current_time current_timestamp extract date_trunc date_part date_format date_add date_sub datediff timestampdiff to_char to_date to_timestamp \
    to_number age concat concat_ws group_concat string_agg array_agg json_agg jsonb_agg json_group_array json_group_object json_object \
    json_array json_extract json_array_length json_type json_valid json_each json_tree jsonb_array_elements json_array_elements \
    jsonb_pretty row_to_json to_json to_jsonb row_number rank dense_rank ntile lag lead first_value last_value unnest array array_length \
    generate_series greatest least left right lpad rpad reverse repeat split_part strpos position regexp_matches regexp_split_to_table \
    starts_with md5 sha256 typeof pg_typeof version database current_database current_schema current_schemas current_user user \
    pg_size_pretty pg_total_relation_size pg_relation_size pg_database_size pg_table_size pg_indexes_size pg_get_viewdef \
    pg_get_indexdef pg_get_constraintdef pg_get_functiondef pg_get_expr obj_description col_description to_regclass \
    has_table_privilege pg_backend_pid pg_postmaster_start_time pg_is_in_recovery pg_blocking_pids found_rows if exp ln log random rand \
    table_info index_list index_info foreign_key_list foreign_keys table_list table_xinfo integrity_check quick_check analyze verbose \
    format text int integer varchar char numeric decimal real float double timestamp nocase";
/// What a statement that reports on the database may name after `pragma`.
const PRAGMAS: &str = "table_info table_xinfo table_list index_list index_info index_xinfo foreign_key_list foreign_key_check database_list \
    compile_options user_version schema_version page_count page_size encoding journal_mode freelist_count integrity_check quick_check \
    collation_list function_list module_list pragma_list application_id";
/// Commands of the programs themselves that only show.
const SHOWS: &str = ".tables .schema .indexes .indices .databases .fullschema .headers .header .mode .show .help .stats .timer .width \
    .dbinfo .dump .nullvalue .separator \\d \\d+ \\dt \\dt+ \\di \\dv \\df \\df+ \\du \\du+ \\dn \\dn+ \\l \\l+ \\conninfo \\ds \\dx \\dp \\z \\x";

/// `sqlite3`, `psql`, `mysql`
pub(super) fn check(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    if command.has(&["version", "V", "help"]) {
        return None;
    }
    let local = command.name == "sqlite3";
    let statements: Vec<&Field> = match command.name {
        "sqlite3" => command.scan.operands.iter().skip(1).copied().collect(),
        "psql" => command.values(&["c", "command"]).collect(),
        _ => command.values(&["e", "execute"]).collect(),
    };
    read_from(walk, command, &statements);
    // A further parameter could set another mode.
    let parameters = ["mode=ro&immutable=1", "immutable=1&mode=ro"];
    let unchanging = |name: &str| name.split_once('?').is_some_and(|(_, rest)| parameters.contains(&rest));
    let stays = |name: &str| name == ":memory:" || (name.starts_with("file:") && unchanging(name));
    if local && !command.scan.operands.first().and_then(|field| field.known()).is_some_and(stays) {
        let because =
            "`sqlite3` makes files beside the database, unless it is named as `file:NAME?mode=ro&immutable=1`";
        touch_sqlite(walk, command, &statements);
        return Some(Finding::new(Verdict::Write, because, command.span));
    }
    // What a view or a trigger of the database calls may run a program.
    if local
        && command.scan.operands.first().is_some_and(|field| field.known() != Some(":memory:"))
        && !command.has(&["safe"])
    {
        let because = "a view of the database can run a program, unless `-safe` is given";
        touch_sqlite(walk, command, &statements);
        return Some(Finding::new(Verdict::Write, because, command.span));
    }
    if statements.is_empty() && !(command.name == "psql" && command.has(&["l"])) {
        return Some(Finding::new(
            Verdict::Unknown,
            format!("`{}` reads its statements elsewhere", command.name),
            command.span,
        ));
    }
    for field in &statements {
        let Some(text) = field.known() else { return command.doubt(field, "a statement") };
        if !only_selects(text, local) {
            if local {
                touch_sqlite(walk, command, &statements);
            } else if !changes_a_database(text) {
                // A statement can name a file.
                walk.touch(&Field { many: false, ..Field::any(field.span) }, Access::Write);
            }
            // A command of the program itself, or a text that it has a shell run.
            let runs = text.contains(['\\', '`']) || text.trim_start().starts_with('.');
            let does = if runs { Verdict::Execute } else { Verdict::Write };
            return Some(Finding::new(does, "the statement is not known to only select", field.span));
        }
    }
    None
}

/// Commands of the programs themselves that read statements from a file.
const INCLUDES: [&str; 5] = [".read ", "\\. ", "\\i ", "\\ir ", "source "];

/// Notes the files that statements are read from.
fn read_from(walk: &mut Walk<'_>, command: &Command<'_>, statements: &[&Field]) {
    let files: Vec<&Field> = command.values(&["f", "file"]).filter(|_| command.name == "psql").collect();
    files.into_iter().for_each(|file| walk.touch(file, Access::Read));
    for statement in statements {
        let lines = statement.known().unwrap_or_default().split(['\n', ';']).map(str::trim);
        let included = lines.filter_map(|line| INCLUDES.iter().find_map(|word| line.strip_prefix(word)));
        included.for_each(|path| walk.touch(&Field::text(path.trim(), statement.span), Access::Read));
    }
}

/// What statements of SQLite change: the database, and any file where one of them may name it.
fn touch_sqlite(walk: &mut Walk<'_>, command: &Command<'_>, statements: &[&Field]) {
    let given = walk.input.clone().filter(|_| statements.is_empty());
    let texts: Option<Vec<String>> = match given {
        Some(text) => text.known().map(|text| vec![text.to_owned()]),
        None => statements.iter().map(|field| field.known().map(str::to_owned)).collect(),
    };
    let texts = texts.filter(|texts| !texts.is_empty());
    let all = |fits: &dyn Fn(&str) -> bool| texts.as_ref().is_some_and(|texts| texts.iter().all(|text| fits(text)));
    let (plain, looks) = (all(&|text| !names_files(text)), all(&|text| only_selects(text, true)));
    if !plain || command.has(&SQLITE_OPTIONS) {
        walk.touch(&Field { many: false, ..Field::any(command.span) }, Access::Write);
    }
    if let Some(database) = command.scan.operands.first() {
        let path = database.known().map(|name| name.split('?').next().unwrap_or_default().trim_start_matches("file:"));
        match path.filter(|_| plain && looks && !command.has(&SQLITE_OPTIONS)) {
            // What only selects makes files beside the database, and leaves what it says.
            Some(path) => {
                walk.looks = true;
                for beside in ["-journal", "-wal", "-shm"] {
                    walk.touch(&Field::text(&format!("{path}{beside}"), database.span), Access::Write);
                }
            }
            None => {
                // A trigger of the database can run a program.
                walk.besides |= !command.has(&["safe"]);
                walk.touch(
                    &path.map_or_else(|| (*database).clone(), |path| Field::text(path, database.span)),
                    Access::Write,
                );
            }
        }
    }
}

/// What a statement starts with that changes what a database holds.
const CHANGES: &str =
    "insert update delete replace merge alter create drop truncate grant revoke begin commit rollback";
/// Parts of words with which a statement may make a file where the database is, or run something.
const BY_FILES: [&str; 12] = [
    "file",
    "export",
    "copy",
    "load",
    "lo_",
    "program",
    "function",
    "procedure",
    "extension",
    "language",
    "trigger",
    "server",
];

/// Whether statements change nothing but what a database holds, each of them or what it only selects.
fn changes_a_database(text: &str) -> bool {
    let Some(bare) = without_texts(text, false).map(|bare| bare.to_ascii_lowercase()) else { return false };
    let starts = |statement: &str| {
        let first = statement.split(|character: char| !character.is_ascii_alphabetic()).next().unwrap_or("");
        selects(statement) || contains(CHANGES, first)
    };
    !bare.contains('\\')
        && !BY_FILES.iter().any(|word| bare.contains(word))
        && bare.split(';').map(str::trim).all(starts)
}

/// Whether statements of SQLite may name another file than the database.
fn names_files(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let commands = text.lines().any(|line| line.trim_start().starts_with('.') && !shows(line));
    commands || text.contains('$') || SQLITE_FILES.iter().any(|word| text.contains(word))
}

/// Options with which `sqlite3` runs further statements, or works on another file.
const SQLITE_OPTIONS: [&str; 9] = ["init", "cmd", "interactive", "A", "archive", "vfs", "zip", "append", "deserialize"];
/// Words of statements with which SQLite writes another file, or runs what it loads.
const SQLITE_FILES: [&str; 7] =
    ["writefile", "attach", "vacuum", "load_extension", "edit(", "virtual", "fts3_tokenizer"];

/// Whether statements only select.
fn only_selects(text: &str, brackets: bool) -> bool {
    // `psql` runs what is in backquotes in a command of its own.
    if text.contains('`') && text.contains('\\') {
        return false;
    }
    let Some(bare) = without_texts(text, brackets) else { return false };
    bare.split([';', '\n']).all(|statement| !statement.trim_start().starts_with(['.', '\\']) || shows(statement))
        && bare.split(';').all(|statement| {
            let statement = statement.trim();
            statement.starts_with(['.', '\\']) || selects(&statement.to_ascii_lowercase())
        })
}

/// A command of the program itself.
fn shows(statement: &str) -> bool {
    let statement = statement.trim();
    let first = statement.split_whitespace().next().unwrap_or("");
    !statement.contains(['|', '>', '`', '!', '\'']) && contains(SHOWS, first)
}

/// Statements with every quoted text as `''`; `None` where programs read quotes or comments differently.
fn without_texts(text: &str, brackets: bool) -> Option<String> {
    let mut bare = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\'' | '"' | '`' => {
                loop {
                    match characters.next()? {
                        '\\' => return None,
                        next if next == character => break,
                        _ => {}
                    }
                }
                bare.push_str(if character == '\'' { "''" } else { " x " });
            }
            '#' | '$' => return None,
            // A name in SQLite.
            '[' if brackets => return None,
            '-' if characters.peek() == Some(&'-') => return None,
            '/' if characters.peek() == Some(&'*') => return None,
            other => bare.push(other),
        }
    }
    Some(bare)
}

fn contains(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

/// Whether one statement without texts, in small letters, only selects.
fn selects(statement: &str) -> bool {
    let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let first = statement.split(|character| !is_name(character)).next().unwrap_or("");
    if statement.is_empty() {
        return true;
    }
    if !contains(STARTS, first) || statement.contains('\\') {
        return false;
    }
    if first == "pragma" {
        let rest = statement.trim_start_matches("pragma").trim();
        let name = rest.split(|character| !is_name(character)).next().unwrap_or("");
        let plain = rest == name || name.contains("_info") || name.contains("_list");
        return contains(PRAGMAS, name) && plain && !rest.contains('=');
    }
    let mut rest = statement.strip_prefix("show create ").unwrap_or(statement);
    while let Some(at) = rest.find(is_name) {
        let from = rest.get(at..).unwrap_or("");
        let end = from.find(|character| !is_name(character)).unwrap_or(from.len());
        let (word, after) = from.split_at_checked(end).unwrap_or((from, ""));
        rest = after;
        let calls = after.trim_start().starts_with('(');
        if contains(WORDS, word) && !(word == "replace" && calls) {
            return false;
        }
        if calls && word != "replace" && !contains(FUNCTIONS, word) {
            return false;
        }
    }
    true
}
