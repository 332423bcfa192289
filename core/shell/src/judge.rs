//! The walk over a line's tree: what each command does, and what that makes of the line.

mod made_words;
pub(crate) mod code_paths;
pub(crate) mod made_lines;
mod assignments;
pub(crate) mod guard;
mod arithmetic;
mod assign;
mod builtin;
mod compound;
mod program;
mod redirect;
mod registered;
mod simple;
pub(crate) mod text;
mod unpacked;
mod value;
mod wrap;

use phasegate_core::calls::analysis::Verdict;

use crate::finding::Finding;
use crate::judgement::{Judgement, Problem, Trust};
use crate::parse;
use crate::table::Table;
use crate::walk::Walk;
use crate::zsh;

/// Reads a shell line and says what it can do at most.
///
/// It never panics; what it cannot read or does not know makes the verdict `unknown`.
pub fn judge(line: &str, table: &Table, trust: Trust) -> Judgement {
    let read = guard::check(line).and_then(|()| parse::parse(line));
    let (list, unread) = match read {
        Ok(list) => (list, None),
        Err(problem) => match parse::parse_begun(line) {
            Some(list) => (list, Some(problem)),
            None => return unreadable(problem),
        },
    };
    let otherwise = zsh::difference(line).filter(|_| trust.zsh);
    // Another command of the line may go to another branch before.
    let branch = trust.branch.clone().filter(|_| list.only().is_some());
    let mut walk = Walk::new(table, Trust { branch, ..trust }, assignments::names(&list));
    if let Some((because, span)) = otherwise {
        walk.note(Finding::new(Verdict::Unknown, because, span));
    }
    walk.lasting(&list);
    walk.hear();
    if let Some(Problem { what, span }) = unread {
        walk.stop(&what, span);
    }
    walk.finish()
}

fn unreadable(problem: Problem) -> Judgement {
    Judgement {
        verdict: Verdict::Unknown,
        because: problem.what.clone(),
        span: problem.span,
        parts: Vec::new(),
        touches: Vec::new(),
        network: false,
        outside: false,
        leaves_running: true,
        problem: Some(problem),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_on_after_a_line_is_told_by_its_commands() {
        let goes_on = |line: &str| judge(line, &Table::shipped(), Trust::default()).leaves_running;
        for line in [
            "make &",
            "(sleep 4; make) & make test",
            "coproc make",
            "make > >(tee log)",
            "true <(make)",
            "sudo -b make",
            "'setsid' make",
            "bash -c 'make &'",
            "echo make | at now",
            "tmux new -d make",
            "nohup make",
            "start-stop-daemon --start --exec /bin/make",
            "echo $(make &)",
            "if",
        ] {
            assert!(goes_on(line), "{line}");
        }
        for line in [
            "echo 'a & b' \"c & d\"",
            "echo \"look at it\"",
            "grep -n screen src/batch.rs",
            "make 2>&1 && make test &>log",
            "diff <(sort a) <(sort b)",
            "tmux ls",
            "sudo make",
            "git commit -m 'at last: tmux & screen'",
            "cat <<'END'\nx & y\nEND",
        ] {
            assert!(!goes_on(line), "{line}");
        }
    }

    #[test]
    fn what_git_prints_as_the_branch_is_known_in_a_line_of_one_command() {
        let words = |line: &str, branch: Option<&str>| -> Vec<Option<String>> {
            let trust = Trust { branch: branch.map(str::to_owned), ..Trust::default() };
            let judged = judge(line, &Table::shipped(), trust);
            judged.parts.iter().flat_map(|part| &part.words).map(crate::Pattern::text).collect()
        };
        let push = "git push -u origin \"$(git branch --show-current)\"";
        assert!(words(push, Some("main")).contains(&Some("main".to_owned())));
        assert!(words(push, None).contains(&None));
        assert!(words(&format!("git checkout x; {push}"), Some("main")).contains(&None));
    }
}
