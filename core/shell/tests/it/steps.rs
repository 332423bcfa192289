//! Lines that need more work than their length: they are `unknown`, after a bounded number of steps.

use phasegate_core::calls::analysis::Verdict;
use phasegate_shell::{Judgement, MAX_LINE_BYTES, Table, Trust, judge};

const TOO_LONG: &str = "the line takes too long to judge";

fn judged(line: &str) -> Judgement {
    assert!(line.len() <= MAX_LINE_BYTES, "{}", line.len());
    judge(line, &Table::shipped(), Trust::default())
}

/// So many lines of a piece as are read at most, with text before and after them.
fn filled(before: &str, piece: &str, after: &str) -> String {
    format!("{before}{}{after}", piece.repeat((MAX_LINE_BYTES - before.len() - after.len()) / piece.len()))
}

#[test]
fn a_line_that_needs_too_many_steps_is_unknown_and_unread() {
    for line in [
        filled("echo ", "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b} ", "; ls"),
        filled("echo ", "{1..256} ", "; ls"),
        filled("echo ", &format!("{{1..256}}{} ", "z".repeat(1000)), "; ls"),
        filled("echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "z", "; ls"),
        filled("echo {1..256}", "z", "; ls"),
        filled("echo ", &format!("{} ", "{".repeat(60)), "; ls"),
        format!("echo {}{}; ls", "{".repeat(8000), "}".repeat(8000)),
        filled("echo ", "{", "; ls"),
        filled("echo ", "{a,", "; ls"),
        filled("", "(ls);", " ls"),
        filled("", "ls;", "ls"),
        filled("echo ", "$(ls) ", ""),
        (0..1300).map(|number| format!("v{number}=a; ")).collect::<String>() + "ls",
    ] {
        let judgement = judged(&line);
        let start: String = line.chars().take(40).collect();
        assert_eq!((judgement.verdict, judgement.because.as_str()), (Verdict::Unknown, TOO_LONG), "{start}");
        assert!(judgement.problem.is_some(), "{start}");
        assert!(judgement.parts.len() <= 512, "{start}: {}", judgement.parts.len());
    }
}

#[test]
fn programs_that_run_programs_without_end_are_unknown() {
    for piece in [
        "xargs ",
        "timeout 5 ",
        "nice ",
        "env ",
        "command ",
        "exec ",
        "builtin ",
        "eval ",
        "sudo ",
        "busybox ",
        "find . -exec ",
        "bash -c ",
        "git -c a=b ",
        "stdbuf -oL ",
        "watch ",
    ] {
        for count in [40, MAX_LINE_BYTES / piece.len() - 2] {
            let judgement = judged(&format!("{}ls", piece.repeat(count)));
            assert_ne!(judgement.verdict, Verdict::Read, "{piece} {count} times");
        }
    }
    for piece in ["time ", "! ", "trap ", "coproc ", "(", "{ ", "a=b ", "-exec ", "2>&1 "] {
        judged(&filled("", piece, "ls"));
    }
    assert_eq!(judged("timeout 5 nice env stdbuf -oL xargs ls").verdict, Verdict::Read);
}

#[test]
fn lines_of_a_usual_length_are_read_whole() {
    for line in [
        format!("cat {}", "a.txt ".repeat(1000)),
        "echo $(cat a.txt); ".repeat(100),
        "for i in {1..100}; do echo \"$i\"; done; ".repeat(20),
        format!("echo {}", "{a,b}{c,d} ".repeat(50)),
    ] {
        assert_eq!(judged(&line).verdict, Verdict::Read, "{:.40}", line);
    }
}
