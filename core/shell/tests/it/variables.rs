//! The variables that bash sets or evaluates by itself, against bash: no value of theirs is believed.

use std::process::Command;

use phasegate_core::calls::analysis::Verdict;
use phasegate_shell::{Table, Trust, judge};

/// Every variable that a bash without an environment has and that a line can give a value.
fn variables() -> Vec<String> {
    let mut bash = Command::new("bash");
    let script = "compgen -v | while read -r name; do (declare -- \"$name\"=0) 2>/dev/null && echo \"$name\"; done";
    bash.args(["--norc", "--noprofile", "-c", script]).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    let output = bash.output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn no_variable_of_bash_keeps_a_value_that_the_line_gives_it() {
    let names = variables();
    assert!(names.len() > 20, "{names:?}");
    let ways = [
        "NAME='a[$(touch f)]'; echo $((NAME))",
        "NAME=/dev/null; NAME='a[$(touch f)]'; echo $((NAME))",
        "unset NAME; NAME='a[$(touch f)]'; echo $((NAME))",
        "read -r NAME <<< 'a[$(touch f)]'; echo $((NAME))",
        "printf -v NAME %s 'a[$(touch f)]'; echo $((NAME))",
        "mapfile -t NAME <<< 'a[$(touch f)]'; echo $((NAME))",
        "declare NAME='a[$(touch f)]'; echo $((NAME))",
        "for NAME in 'a[$(touch f)]'; do echo $((NAME)); done",
        "NAME=x; eval 'NAME=-of'; sort $NAME in",
    ];
    let table = Table::shipped();
    for name in &names {
        for way in ways {
            let line = way.replace("NAME", name);
            assert_ne!(judge(&line, &table, Trust::default()).verdict, Verdict::Read, "{line}");
        }
    }
}
