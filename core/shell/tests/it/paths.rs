//! Which paths a line touches, as far as they are known.

use phasegate_core::calls::analysis::Access;
use phasegate_shell::{Piece, Table, Touch, Trust, judge};

fn shown(touch: &Touch) -> String {
    let pieces = touch.path.0.iter().map(|piece| match piece {
        Piece::Text(text) => text.as_str(),
        Piece::Any => "<any>",
        Piece::Glob => "<glob>",
        Piece::Tree => "<tree>",
        Piece::Home => "<home>",
    });
    format!("{:?} {}", touch.access, pieces.collect::<String>())
}

fn touches(line: &str) -> Vec<String> {
    judge(line, &Table::shipped(), Trust::default()).touches.iter().map(shown).collect()
}

#[test]
fn paths_are_followed_through_folders_and_variables() {
    for (line, wanted) in [
        ("rm .phasegate/x", "Remove .phasegate/x"),
        ("cd .phasegate && rm x", "Remove .phasegate/x"),
        ("cd a; cd b; rm x", "Remove a/b/x"),
        ("d=.phasegate; rm -r $d", "Remove .phasegate"),
        ("d=.phasegate; echo x > \"$d/config.yaml\"", "Write .phasegate/config.yaml"),
        ("echo x > $D/config.yaml", "Write <any>/config.yaml"),
        ("rm .phase*/x", "Remove .phase<glob>/x"),
        ("rm ~/.claude/settings.json", "Remove <home>/.claude/settings.json"),
        ("rm $'\\x2ephasegate'/x", "Remove .phasegate/x"),
        ("rm {a,.phasegate}/x", "Remove .phasegate/x"),
        ("bash -c 'rm .phasegate/x'", "Remove .phasegate/x"),
        ("eval 'rm .phasegate/x'", "Remove .phasegate/x"),
        ("timeout 5 env rm .phasegate/x", "Remove .phasegate/x"),
        ("cat a | tee .phasegate/x", "Write .phasegate/x"),
        ("sed -i s/a/b/ .phasegate/x", "Write .phasegate/x"),
        ("cp a .phasegate/x", "Write .phasegate/x"),
        ("cp a src/x.py -S .old", "Write src/x.py"),
        ("cp a src/x.py --sparse auto", "Write src/x.py"),
        ("install a src/x.py -m 644", "Write src/x.py"),
        ("rsync a src/x.py --exclude b", "Write src/x.py"),
        ("rsync --log-file=src/x.py a b", "Write src/x.py"),
        ("perl -pi -e s/a/b/ src/new", "Write src/new"),
        ("git archive -o src/x.tar HEAD", "Write src/x.tar"),
        ("sed 's/o/echo E > src\\/x/e' a", "Write <any>"),
        ("sed '1e touch src/x' a", "Write src/x"),
        ("sed '1s/.*/rm -rf .[p]hasegate/e' a", "Write <any>"),
        ("mv .phasegate/x b", "Remove .phasegate/x"),
        ("find .phasegate -delete", "Remove .phasegate"),
        ("find . -delete", "Remove ."),
        ("find -delete", "Remove ."),
        ("find a -name config.yaml -delete", "Remove a/<tree>/config.yaml"),
        ("find a -name 'c*.yaml' -type f -delete", "Remove a/<tree>/c<tree>.yaml"),
        ("find a -delete -name config.yaml", "Remove a"),
        ("find a ! -name config.yaml -delete", "Remove a"),
        ("find a -name b -o -delete", "Remove a"),
        ("find a \\( -name b -o -type f \\) -delete", "Remove a"),
        ("find a \\( -name b -o -name c \\) -delete", "Remove a/<tree>/c"),
        ("find a -path a/x -prune -o -name b -delete", "Remove a/<tree>/b"),
        ("find a ! \\( -name b \\) -delete", "Remove a"),
        ("find .phasegate -name '.ph*' -delete", "Remove .phasegate"),
        ("find a -name b -exec rm {} +", "Remove a/<tree>/b"),
        ("find a -exec rm -r {} \\;", "Remove a"),
        ("find a -name b -exec sed -i s/x/y/ {} +", "Write a/<tree>/b"),
        ("find a -name b -delete", "Remove a/b"),
        ("find a -exec sed -i s/x/y/ {} +", "Write a/<tree>"),
        ("chmod -R 000 a", "Write a/<tree>"),
        ("git clean -fdx", "Remove ."),
        ("git rm 'a/*.yaml'", "Remove a/<tree>.yaml"),
        ("git rm ':(glob)*.yaml'", "Remove <tree><tree>.yaml"),
        ("git checkout HEAD -- '*.yaml'", "Write <tree>.yaml"),
        ("echo x > .c*/x", "Write .c<glob>/x"),
        ("rm -r @(.a|b)", "Remove <tree>"),
        ("shopt -s dotglob; rm -r *", "Remove .<glob>"),
        ("GLOBIGNORE=a; rm -r b/*", "Remove b/.<glob>"),
        ("sed -n 'w a' b", "Write <any>"),
        ("sed 's/x/y/w a' b", "Write <any>"),
        ("awk '{ print > \"a\" }' b", "Write <any>"),
        ("sqlite3 a.db '.output b'", "Write <any>"),
        ("git clean -fd build/", "Remove build/"),
        ("git -C a clean -f", "Remove a/."),
        ("git rm -r a", "Remove a"),
        ("git mv a b", "Remove a"),
        ("git mv a b", "Write b"),
        ("rsync -a --delete b/ a/", "Remove a/"),
        ("cat a.txt", "Read a.txt"),
        // The shell's own commands behind words that run them in this shell.
        ("command cd .phasegate && rm x", "Remove .phasegate/x"),
        ("command -p cd .phasegate; rm x", "Remove .phasegate/x"),
        ("builtin cd .phasegate && rm x", "Remove .phasegate/x"),
        ("command command cd .phasegate; rm x", "Remove .phasegate/x"),
        ("command pushd .phasegate; rm x", "Remove .phasegate/x"),
        ("command eval 'cd .phasegate'; rm x", "Remove .phasegate/x"),
        ("builtin eval cd .phasegate; rm x", "Remove .phasegate/x"),
        ("time cd .phasegate; rm x", "Remove .phasegate/x"),
        ("bash -c 'command cd .phasegate; rm x'", "Remove .phasegate/x"),
        ("f() { command cd $1; }; f .phasegate; rm x", "Remove <any>x"),
        ("HOME=.phasegate; cd; rm x", "Remove .phasegate/x"),
        ("HOME=.phasegate; rm ~/x", "Remove .phasegate/x"),
        ("export HOME=.phasegate; cd ~; rm x", "Remove <any>x"),
        ("tar czf .phasegate/x src", "Write .phasegate/x"),
        ("zip -qr .phasegate/x src", "Write .phasegate/x.zip"),
        ("git clone https://h/o/r.git/", "Write r"),
        ("git -C sub clone git@h:o/.phasegate", "Write sub/.phasegate"),
        ("git clone ../r .phasegate", "Write .phasegate"),
        ("git clone \"$URL\"", "Write <any>"),
        ("git clone --shallow-since 2020 https://h/r .phasegate", "Write .phasegate"),
        ("git clone 'https://h/ .phasegate'", "Write <any>"),
        ("git clone ssh://.phasegate:22/", "Write <any>"),
        ("git clone https://.phasegate", "Write <any>"),
        ("git clone --mirror https://h/o/r", "Write r.git"),
        ("HOME=src rm ~/x", "Remove <home>/x"),
        ("HOME=src bash -c 'rm ~/x'", "Remove <any>/x"),
        ("CDPATH=/h; cd a && rm x", "Remove <any>x"),
        ("CDPATH=/h cd a && rm x", "Remove <any>x"),
        ("export CDPATH=/h; cd a; rm x", "Remove <any>x"),
        ("CDPATH=/h; cd ./a && rm x", "Remove a/x"),
        ("source <(echo cd); rm x", "Remove <any>x"),
        (". /dev/stdin <<< cd; rm x", "Remove <any>x"),
        ("source \"$F\"; rm x", "Remove <any>x"),
        ("eval \"$X\"; rm x", "Remove <any>x"),
        ("pushd a; pushd b; pushd +1; rm x", "Remove <any>x"),
        ("shopt -s autocd; rm x", "Remove <any>x"),
        // Code on the standard input, as far as the line says it.
        ("python3 - <<'E'\nopen('src/calc.py','w').write('x')\nE", "Write src/calc.py"),
        ("python3 <<'E'\nimport shutil; shutil.copy('a','src/calc.py')\nE", "Write src/calc.py"),
        ("python3 -X utf8 <<E\nopen('$D/../src/calc.py','w')\nE", "Write x/../src/calc.py"),
        ("python3 -c \"open('calc.py','w')\"", "Write calc.py"),
        ("python3 -c \"print(open('calc.py').read())\"", "Read calc.py"),
        ("python3 -c \"open('calc.py', mode=m)\"", "Write calc.py"),
        ("timeout 9 node <<'E'\nrequire('fs').writeFileSync('src/calc.js','x')\nE", "Write src/calc.js"),
        ("perl <<'E'\nopen(F,'>src/calc.py');print F 'x'\nE", "Write src/calc.py"),
        ("node - <<< \"require('fs').writeFileSync('src/calc.js','x')\"", "Write src/calc.js"),
        ("echo \"require('fs').writeFileSync('src/calc.js','x')\" | node", "Write src/calc.js"),
        ("printf 'H\\nw src/calc.py\\nq\\n' | ed -s a.py", "Write src/calc.py"),
        ("ed -s a.py <<'E'\nw src/calc.py\nE", "Write src/calc.py"),
        // Files beside those that a command is about.
        ("sqlite3 :memory: \"select writefile('src/calc.py','x')\"", "Write <any>"),
        ("sqlite3 a.db \".dump\" \".output src/calc.py\"", "Write <any>"),
        ("sqlite3 a.db \"attach 'src/calc.py' as x\"", "Write <any>"),
        ("sqlite3 -cmd '.output src/calc.py' a.db 'select 1'", "Write <any>"),
        ("sqlite3 a.db <<'E'\n.once src/calc.py\nselect 1;\nE", "Write <any>"),
        ("sqlite3 a.db < b.sql", "Write <any>"),
        ("sqlite3 a.db 'insert into t values (1)'", "Write a.db"),
        ("sqlite3 src/calc.py 'create table t (a)'", "Write src/calc.py"),
        ("git stash show -p --output=src/calc.py", "Write src/calc.py"),
        ("git diff --output=src/calc.py", "Write src/calc.py"),
        ("git log --output src/calc.py", "Write src/calc.py"),
        ("ruff check -o src/calc.py", "Write src/calc.py"),
        ("ruff check -o r.txt src", "Read src"),
        ("npx eslint -o src/x.js a.js", "Write src/x.js"),
        ("rubocop --out src/x.rb", "Write src/x.rb"),
        // What is unpacked takes the name without its ending.
        ("gunzip -kf src/calc.py.gz", "Write src/calc.py"),
        ("gunzip -kf src/calc.py.gz", "Remove src/calc.py.gz"),
        ("gzip -dkf src/calc.py.gz", "Write src/calc.py"),
        ("xz -d src/calc.py.xz", "Write src/calc.py"),
        ("bunzip2 src/calc.py.bz2", "Write src/calc.py"),
        ("zstd -d src/calc.py.zst", "Write src/calc.py"),
        ("unlzma src/*.py.lzma", "Write src/<glob>.py"),
        ("gunzip a.tgz", "Write a.tar"),
        ("gzip -dN src/x.gz", "Write src/<tree>"),
        ("gzip -d -S y src/calc.pyy", "Write <any>"),
        ("gunzip -r src", "Write src"),
        ("uncompress a.py.Z", "Write a.py"),
        ("lz4 -d a.py.lz4", "Write a.py"),
        ("brotli -d a.py.br", "Write a.py"),
    ] {
        let found = touches(line);
        assert!(found.iter().any(|found| found == wanted), "{line}: {found:?}");
    }
}

#[test]
fn what_only_looks_like_it_touches_no_more() {
    for (line, other) in [
        ("env cd .phasegate; rm x", "Remove .phasegate/x"),
        ("command -v cd; rm x", "Remove <any>x"),
        (". .venv/bin/activate && rm x", "Remove <any>x"),
        ("cd a && rm x", "Remove <any>x"),
        ("gunzip -c src/calc.py.gz", "Write src/calc.py"),
        ("zcat src/calc.py.gz", "Write src/calc.py"),
        ("gzip -l src/calc.py.gz", "Write src/calc.py"),
        ("sqlite3 a.db 'insert into t values (1)'", "Write <any>"),
        ("sqlite3 a.db <<'E'\ncreate table t (a);\n.tables\nE", "Write <any>"),
        ("sqlite3 :memory: 'create table t (a)'", "Write <any>"),
        ("ruff check -o r.txt src", "Write src"),
        ("npx eslint -o r.json src", "Write src"),
        ("cat <<'E'\nsrc/calc.py\nE", "Write src/calc.py"),
        ("python3 <<'E'\nprint(open('src/calc.py').read())\nE", "Write src/calc.py"),
        ("echo src/calc.js | node tool.js", "Write src/calc.js"),
        ("git commit -F - <<'E'\nchange src/calc.py\nE", "Write src/calc.py"),
    ] {
        let found = touches(line);
        assert!(!found.iter().any(|found| found == other), "{line}: {found:?}");
    }
}

#[test]
fn a_command_says_whether_it_changes_what_is_no_file() {
    let besides = |line: &str| {
        let judged = judge(line, &Table::shipped(), Trust::default());
        judged.parts.iter().any(|part| part.command.besides)
    };
    for line in [
        "git push > a.md",
        "git commit -m x > a.md",
        "git commit --allow-empty -m x",
        "git branch -D side > a.md",
        "git config user.name x > a.md",
        "git fetch > a.md",
        "git reset --soft HEAD~1 > a.md",
        "git remote add o u > a.md",
        "kill $! > a.md",
        "timeout 5 git push > a.md",
        "gh pr merge 1 > a.md",
        "docker rm x > a.md",
        "git tag v1 -F a.md",
        "git stash push a.md",
        "hostname -F a.md",
        "date -s a.md",
        "kubectl apply -f a.yaml",
        "ionice -p 1 > a.md",
    ] {
        assert!(besides(line), "{line}");
    }
    for line in [
        "git log > a.md",
        "git status > a.md",
        "git diff --stat > a.md",
        "echo x > a.md",
        "cp a.md b.md",
        "git checkout -- a.md",
        "tee a.md",
        "jq . a.json > b.json",
        "ionice -c 3 tee a.md",
        "git restore a.md",
    ] {
        assert!(!besides(line), "{line}");
    }
}

#[test]
fn a_pattern_says_what_it_could_be() {
    let judged = judge("rm $D/.phase*/x.yaml", &Table::shipped(), Trust::default());
    let touch = judged.touches.iter().find(|touch| touch.access == Access::Remove).unwrap();
    assert!(touch.path.could_be("a/b/.phasegate/x.yaml", None));
    assert!(!touch.path.could_be("a/b/.phasegate/c/x.yaml", None));
    assert!(!touch.path.could_be("a/b/.claude/x.yaml", None));
}

#[test]
fn what_a_line_writes_without_a_name_is_said() {
    for (line, unnamed) in [
        ("mktemp -d", false),
        ("TMPDIR=src; mktemp", true),
        ("cp -b -S .py /dev/null src/new", true),
        ("mv --backup --suffix=.py a src", true),
        ("rsync -b --suffix=.py a src/new", true),
        ("cp --parents a/b c", true),
        ("perl -i.py -pe s/a/b/ src/new", true),
        ("perl -pi'*.py' -e s/a/b/ src/new", true),
        ("perl -pi -e s/a/b/ src/new", false),
        ("mktemp --suffix=.py", true),
        ("mktemp -p src", true),
        ("mktemp src/a.py", false),
        ("tar czf a.tgz src", false),
        ("tar czf a.tgz src --remove-files", true),
        ("tar xzf a.tgz", true),
        ("tar -xf a.tgz -C out", true),
        ("tar cz src", true),
        ("zip -r a.zip src", false),
        ("zip -rm a.zip src", true),
        ("zip a.zip src -O b.zip", true),
    ] {
        let judged = judge(line, &Table::shipped(), Trust::default());
        assert_eq!(judged.parts.iter().any(|part| part.unnamed), unnamed, "{line}");
    }
}

#[test]
fn names_of_packages_and_objects_are_no_paths() {
    for line in [
        "cargo update -p serde",
        "cargo add serde --features derive",
        "npm install -D left-pad @a/b",
        "pnpm add left-pad",
        "pip install x",
        "uv add x",
        "go get github.com/a/b@v1",
        "gem install x",
        "kubectl scale deployment/web --replicas=3",
        "kubectl delete pod web",
        "kubectl rollout undo deployment/web",
        "docker restart web",
        "git merge main",
    ] {
        assert_eq!(touches(line), [""; 0], "{line}");
    }
    for (line, wanted) in [
        ("cargo add a --path ../a", "Write ../a"),
        ("npm install ./a", "Write a"),
        ("pip install --target src x", "Write src"),
        ("pip install -t src x", "Write src"),
        ("cargo new a", "Write a"),
    ] {
        assert!(touches(line).contains(&wanted.to_owned()), "{line}: {:?}", touches(line));
    }
}

#[test]
fn a_file_of_statements_is_read() {
    for line in [
        "psql -f a.sql",
        "psql -d b --file=a.sql",
        "psql -c '\\i a.sql'",
        "mysql -e 'source a.sql'",
        "mysql -e '\\. a.sql'",
        "sqlite3 b.db '.read a.sql'",
    ] {
        assert!(touches(line).contains(&"Read a.sql".to_owned()), "{line}: {:?}", touches(line));
    }
}
