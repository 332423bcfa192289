//! Words that resemble each other and are both used in the names of tools: two of them are two tools.

use std::collections::BTreeSet;
use std::sync::LazyLock;

const WORDS: &str = "
    accept except access assess action auction adapt adopt adopts advice advise affect effect allow analysis
    application replication article particle assert assets attach attack await award
    batch patch path bath behavior behaviour binary board border broad branch brunch
    cancel center centre change charge channel check chunk client collect connect correct collection connection
    correction color colour command commend comment commit common compare compete compile complete compute commute
    conflict convict content context contest contact contract convert covert conversation conversion count court
    course source create crate creation relation custom customs
    decode derive drive deploy destroy detect defect device devise direct direction domain draft drift
    encode evaluation elevation exception execution expectation expansion extension extraction export expert expect
    favor favour feed field file filed filter finder folder form from format former frame freeze
    graph group guide header holder host hot image imagine import index insert invert infer
    instance instruction construction invite invoke item
    label launch lunch leader loader reader licence license link list listen live log long login logic
    mail map march match mention merge message massage meter metre migration mutation mode model monitor
    name node notation notification note object observation reservation preservation operation order organization
    page parent patent parse part past paste pause person phase phrase photo pin plan plain plane plant pointer
    printer point print port pose portion position post prefix process profile profit program project protect
    product produce prompt property provide public publish polish pull push quiet quite
    reaction region relay replay release relate reload reply report resort request require reserve resolve revolve
    remote remove rename render reset rest resolution restore resume return review role rule run ruin
    sample simple save scan schema scheme scope score script search section session select send sent serve server set
    setting sheet signal single site size sort space spec speech spot stage state static statistic stats
    status storage store stop step story stream string style subject submit subscription subscribe sync
    table tab tag target task team template tempt terminal test text theme thread tread tile title time topic
    trace track trade train trail trial transaction transition translation transform transport trigger type
    union unit unite unload upload update upgrade upsert usage user validate value version view visit
    wait watch window word work world write";

static SET: LazyLock<BTreeSet<&str>> = LazyLock::new(|| WORDS.split_whitespace().collect());

/// Whether names of tools have this word, or more than one of it.
pub(super) fn is_word(word: &str) -> bool {
    SET.contains(word) || word.strip_suffix('s').is_some_and(|one| SET.contains(one))
}
