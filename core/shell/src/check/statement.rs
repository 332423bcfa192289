//! Databases: which statements only select.

use phasegate_core::analysis::Verdict;

use super::command::Command;
use crate::field::Field;
use crate::finding::Finding;

/// Words that no statement that only selects has.
const WORDS: &str = "insert update delete replace drop alter create truncate attach detach vacuum reindex grant revoke merge copy into \
    outfile dumpfile call execute exec do load lock writefile edit load_extension readfile pg_terminate_backend pg_cancel_backend \
    pg_reload_conf lo_export lo_import dblink dblink_exec nextval setval set_config pg_rotate_logfile pg_switch_wal sleep benchmark \
    wal_checkpoint optimize incremental_vacuum fts3_tokenizer \
    pg_file_write pg_file_unlink pg_file_rename pg_create_restore_point pg_advisory_lock pg_logical_emit_message pg_promote \
    lo_put lo_unlink lo_from_bytea lo_create lo_creat get_lock release_lock sys_exec sys_eval xp_cmdshell shell system import output once save backup restore set reset begin commit savepoint refresh analyze \
    notify listen prepare comment rename handler kill flush purge shutdown install uninstall use";
/// What a statement that only selects starts with.
const STARTS: &str = "select show describe desc explain values table with pragma";
/// Commands of the programs themselves that only show.
const SHOWS: &str = ".tables .schema .indexes .indices .databases .fullschema .headers .header .mode .show .help .stats .timer .width \
    .dbinfo .dump .nullvalue .separator \\d \\d+ \\dt \\dt+ \\di \\dv \\df \\df+ \\du \\du+ \\dn \\dn+ \\l \\l+ \\conninfo \\ds \\dx \\dp \\z \\x";

/// `sqlite3`, `psql`, `mysql`
pub(super) fn check(command: &Command<'_>) -> Option<Finding> {
    if command.has(&["version", "V", "help"]) {
        return None;
    }
    let statements: Vec<&Field> = match command.name {
        "sqlite3" => command.scan.operands.iter().skip(1).copied().collect(),
        "psql" => command.values(&["c", "command"]).collect(),
        _ => command.values(&["e", "execute"]).collect(),
    };
    if statements.is_empty() && !(command.name == "psql" && command.has(&["l"])) {
        return Some(Finding::new(
            Verdict::Unknown,
            format!("`{}` reads its statements elsewhere", command.name),
            command.span,
        ));
    }
    for field in statements {
        let Some(text) = field.known() else { return command.doubt(field, "a statement") };
        if !text.split([';', '\n']).all(selects) {
            return Some(Finding::new(Verdict::Write, "the statement does more than select", field.span));
        }
    }
    None
}

fn selects(statement: &str) -> bool {
    let lower = statement.trim().to_ascii_lowercase();
    let first = lower.split(|character: char| character.is_whitespace() || character == '(').next().unwrap_or("");
    if first.is_empty() {
        return lower.is_empty();
    }
    if first.starts_with(['.', '\\']) {
        let plain = !lower.contains(['|', '>', '`', '!']);
        return plain && SHOWS.split_ascii_whitespace().any(|known| known == first);
    }
    let mut words = lower.split(|character: char| !(character.is_ascii_alphanumeric() || character == '_'));
    let writes = words.any(|word| WORDS.split_ascii_whitespace().any(|known| known == word));
    let sets = first == "pragma" && lower.contains(['=', '(']);
    STARTS.split_ascii_whitespace().any(|known| known == first) && !writes && !sets && !lower.contains("\\")
}

/// Commands of redis that read.
const REDIS: &str = "get mget keys info ttl pttl type exists scan sscan hscan zscan hget hgetall hkeys hvals hlen hmget hexists llen lrange \
    lindex smembers scard sismember zrange zcard zscore zcount zrank strlen getrange dbsize ping time lastsave memory object role echo \
    xlen xrange xinfo bitcount getbit";

/// `redis-cli`
pub(super) fn redis(command: &Command<'_>) -> Option<Finding> {
    if command.has(&["version", "help"]) {
        return None;
    }
    let verb = command.scan.operands.first();
    let known = verb.and_then(|field| field.known()).map(str::to_ascii_lowercase);
    let purges = command
        .scan
        .operands
        .get(1)
        .is_some_and(|word| word.known().is_none_or(|word| word.eq_ignore_ascii_case("purge")));
    let purges = purges && known.as_deref() == Some("memory");
    let reads = !purges && known.is_some_and(|known| REDIS.split_ascii_whitespace().any(|verb| verb == known));
    let span = verb.map_or(command.span, |field| field.span);
    (!reads).then(|| Finding::new(Verdict::Unknown, "the command of redis is not known to read", span))
}
