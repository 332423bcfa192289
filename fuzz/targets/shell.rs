//! The shell reader with arbitrary lines: never a panic, spans lie in the line, the same line means the same, what is
//! found grows with the line only, and what has a problem or a part that does more is never `read`.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use phasegate_core::calls::analysis::Verdict;
use phasegate_shell::{Judgement, MAX_LINE_BYTES, Table, Trust, judge};

/// How much may be said of a line of this length, as JSON: some parts hold words again that stand for others.
fn most(length: usize) -> usize {
    4_096 + length * 4_096
}

fn within(line: &str, start: u32, end: u32, whole: &Judgement) {
    let (start, end) = (start as usize, end as usize);
    assert!(line.get(start..end).is_some(), "{start}..{end} is no part of the line: {whole:?}");
}

fuzz_target!(|data: &[u8]| -> Corpus {
    let Ok(line) = std::str::from_utf8(data) else { return Corpus::Reject };
    let table = Table::shipped();
    for trust in [Trust::default(), Trust { repository: false, zsh: true, ..Trust::default() }] {
        let judgement = judge(line, &table, trust.clone());
        within(line, judgement.span.0, judgement.span.1, &judgement);
        for part in &judgement.parts {
            within(line, part.command.span.0, part.command.span.1, &judgement);
            within(line, part.decides.0, part.decides.1, &judgement);
            assert!(part.command.verdict <= judgement.verdict, "a part is worse than the whole: {judgement:?}");
        }
        if let Some(problem) = &judgement.problem {
            within(line, problem.span.0, problem.span.1, &judgement);
            assert_ne!(judgement.verdict, Verdict::Read, "{judgement:?}");
        }
        assert!(!judgement.because.is_empty(), "{judgement:?}");
        assert!(line.len() <= MAX_LINE_BYTES || judgement.verdict == Verdict::Unknown, "a line that is too long was judged");
        let said = serde_json::to_string(&judgement).expect("a judgement can be written").len();
        assert!(said <= most(line.len()), "{said} bytes are said of {}", line.len());
        assert_eq!(judge(line, &table, trust.clone()), judgement, "judging twice differs");
    }
    Corpus::Keep
});
