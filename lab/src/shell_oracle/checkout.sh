# Makes the folder that lines run in: an ordinary checkout in an ordinary home. $1: the root to make it in.
set -eu
umask 022
cd "$1"
mkdir -p usr etc var opt dev/shm dev/pts proc sys run mnt media srv root tmp home/user/project
chmod 1777 tmp dev/shm
for name in null zero full random urandom tty; do : > "dev/$name"; done
ln -s /proc/self/fd dev/fd
ln -s /proc/self/fd/0 dev/stdin
ln -s /proc/self/fd/1 dev/stdout
ln -s /proc/self/fd/2 dev/stderr
cd home/user
export HOME="$PWD" GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_DATE=2024-01-01T00:00:00Z GIT_COMMITTER_DATE=2024-01-01T00:00:00Z
printf '[user]\n\tname = A\n\temail = a@example.org\n[init]\n\tdefaultBranch = main\n' > .gitconfig
printf 'export EDITOR=vi\n' > .bashrc
mkdir .ssh && printf 'key\n' > .ssh/id_ed25519
cd project
mkdir -p src/test docs folder1 folder2 build logs data
printf 'hello\nfoo&&bar\nfoo bar\nx;y\nhello\n' > a.txt
printf 'b\nfoo\n' > b.txt
for name in file file1 file2 file.txt file1.txt file2.txt filename input.txt test.txt c.txt; do printf 'one 1\ntwo 2\none 1\n' > "$name"; done
printf '# Title\n\nSome science, some code.\n' > README.md
printf 'name,count\na,1\nb,2\n' > data.csv
printf '{"name": "x", "list": [1, 2]}\n' > data.json
printf '{"name": "x", "version": "1.0.0", "scripts": {"test": "touch tested", "build": "touch built"}}\n' > package.json
printf 'all:\n\ttouch built\n' > Makefile
printf 'fn main() {\n    println!("TODO");\n}\n' > src/main.rs
printf 'print("x")\n' > src/app.py
printf 'x\n' > src/test/one.c
printf 'ERROR one\nINFO two\n' > logs/app.log
printf 'a\n' > folder1/same; printf 'b\n' > folder2/same
# What a repository may bring along to be run by mistake.
for name in ls cat git grep evil; do printf '#!/bin/sh\n: > /home/user/project/pwned-by-%s\n' "$name" > "$name"; chmod 755 "$name"; done
tar -cf archive.tar a.txt b.txt
gzip -kn a.txt
for pack in xz bzip2 zstd lz4 lzop; do
    if command -v "$pack" > /dev/null; then "$pack" -q -k c.txt; fi
done
find . -exec touch -h -d 2024-01-01T00:00:00Z {} +
git init --quiet .
git add . && git commit --quiet -m first
git branch topic && git tag v1
printf 'c\n' >> b.txt && touch -d 2024-01-02T00:00:00Z b.txt && git commit --quiet -a -m second
printf 'd\n' >> b.txt && touch -d 2024-01-03T00:00:00Z b.txt && git stash --quiet
git remote add origin https://example.org/x.git
printf 'untracked\n' > notes.txt && touch -d 2024-01-03T00:00:00Z notes.txt b.txt
git ls-files --stage > /dev/null
