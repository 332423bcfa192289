//! Groups of files: those that ship, what configs add to them and take from them, and those that configs and skills name.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use phasegate_core::Code;
use phasegate_core::values::glob::{FileSet, Files, Group};

use crate::files::paths;
use crate::read;
use crate::read::node::{Node, Span};
use crate::read::report::Finding;
use crate::read::suggestion::{did_you_mean, listed};
use crate::read::text::Text;
use crate::source::{FileSource, FilesSource, GroupSource, PathSource};

const SHIPPED: &str = include_str!("../../groups.yaml");
/// The shipped groups whose files have their role besides.
const ACROSS: [&str; 1] = ["secrets"];

/// The groups that a place may name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// What configs add to shipped groups and take from them, by their names.
    changes: BTreeMap<String, Change>,
    /// The groups of configs and skills, by their names.
    own: BTreeMap<String, Group>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Change {
    add: Vec<Files>,
    take: Vec<Files>,
}

/// A shipped group as it is written: its name, what it says, its files.
struct Role {
    name: String,
    say: String,
    files: FileSet,
}

/// The shipped groups, the first of a file's first.
fn roles() -> &'static [Role] {
    static ROLES: OnceLock<Vec<Role>> = OnceLock::new();
    ROLES.get_or_init(|| {
        let mut findings = Vec::new();
        let root = read::read(&Text::whole(SHIPPED), &mut findings);
        let role = |(name, node): (&str, &Node)| {
            let source: GroupSource = serde_json::from_value(node.to_value()).ok()?;
            let files =
                Groups::default().set(source.files.as_ref()?, source.except.as_ref(), node.span, &mut Vec::new());
            Some(Role { name: name.to_owned(), say: source.say?, files })
        };
        let entries = root.iter().flat_map(|root| root.entries());
        entries.filter_map(|entry| role((entry.key.as_str(), &entry.node))).collect()
    })
}

/// The shipped groups whose files are not those of a group.
fn before(of: &Role) -> impl Iterator<Item = &'static Role> {
    let is_role = !ACROSS.contains(&of.name.as_str());
    roles().iter().take_while(move |role| is_role && role.name != of.name)
}

impl Groups {
    /// The names of the groups.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        roles().iter().map(|role| role.name.as_str()).chain(self.own.keys().map(String::as_str))
    }

    /// The group of this name. A file belongs to a shipped one that a config adds it to, else to the first that selects it.
    pub fn find(&self, name: &str) -> Option<Group> {
        if let Some(own) = self.own.get(name) {
            return Some(own.clone());
        }
        let role = roles().iter().find(|role| role.name == name)?;
        let change = self.changes.get(name);
        let before = before(role).map(|role| Files::Set(self.table(role)));
        let is_role = |other: &str| other != name && ![other, name].iter().any(|name| ACROSS.contains(name));
        let elsewhere =
            self.changes.iter().filter(|(other, _)| is_role(other)).flat_map(|(_, other)| other.add.clone());
        let mut table = self.table(role);
        table.except.extend(before.chain(elsewhere));
        let added = change.map(|change| change.add.clone()).unwrap_or_default();
        let mut say = role.say.clone();
        if let Some(Files::Pattern(first)) = added.first() {
            say = match say.split_once(" (") {
                Some((noun, rest)) => format!("{noun} ({first}, {rest}"),
                None => format!("{say} ({first})"),
            };
        }
        let any = added.into_iter().chain([Files::Set(table)]).collect();
        Some(Group { name: name.to_owned(), say, files: FileSet { any, except: Vec::new() } })
    }

    /// What the table and the configs say of a group alone, and the groups whose files are not among them, by name.
    pub fn written(&self, name: &str) -> Option<(FileSet, Vec<&str>)> {
        if let Some(own) = self.own.get(name) {
            return Some((own.files.clone(), Vec::new()));
        }
        let role = roles().iter().find(|role| role.name == name)?;
        let mut files = self.table(role);
        files.any.extend(self.changes.get(name).into_iter().flat_map(|change| change.add.clone()));
        Some((files, before(role).map(|role| role.name.as_str()).collect()))
    }

    /// The files of the table, less those that configs take.
    fn table(&self, role: &Role) -> FileSet {
        let taken = self.changes.get(&role.name).into_iter().flat_map(|change| change.take.clone());
        FileSet { any: vec![Files::Set(role.files.clone())], except: taken.collect() }
    }

    /// Them, with those of a config or a skill. Only a config may change a shipped one.
    pub(crate) fn with(
        &self,
        source: &BTreeMap<String, GroupSource>,
        node: &Node,
        is_config: bool,
        findings: &mut Vec<Finding>,
    ) -> Self {
        let mut all = self.clone();
        // A group may name those before and behind it.
        let mut left: Vec<&String> = source.keys().collect();
        while !left.is_empty() {
            let names = |name: &String| source.get(name).into_iter().flat_map(named).collect::<Vec<_>>();
            let is_ready = |name: &&String| !names(name).iter().any(|used| left.contains(&used));
            let Some(at) = left.iter().position(is_ready) else {
                let span = left.first().map_or(node.span, |name| node.span_at(&[name]));
                let finding = Finding::error(
                    Code::ConfigValue,
                    span,
                    format!("the groups {} name one another", listed(left.iter().map(|name| name.as_str()))),
                );
                findings.push(finding.suggest("write the paths themselves in one of them"));
                return all;
            };
            let name = left.remove(at);
            let span = node.span_at(&[name]);
            let Some(source) = source.get(name) else { continue };
            all.take(name, source, span, is_config, findings);
        }
        all
    }

    fn take(&mut self, name: &str, source: &GroupSource, span: Span, is_config: bool, findings: &mut Vec<Finding>) {
        let shipped = roles().iter().any(|role| role.name == name);
        let own = source.files.is_some() || source.except.is_some() || source.say.is_some();
        let change = source.add.is_some() || source.take.is_some();
        let fault = match (shipped, own, change) {
            (true, true, _) => {
                Some((format!("`{name}` is a shipped group"), "`add` and `take` change it, in a config".to_owned()))
            }
            (true, false, _) if !is_config => Some((
                format!("only a config changes the shipped group `{name}`"),
                "write it there, or name a group of your own".to_owned(),
            )),
            (false, _, true) => {
                let all = did_you_mean(name, roles().iter().map(|role| role.name.as_str()));
                Some((
                    format!("`{name}` is no shipped group, which `add` and `take` change"),
                    all.unwrap_or_else(|| "write its `files`".into()),
                ))
            }
            (false, ..) if source.files.is_none() => {
                Some((format!("the group `{name}` has no files"), "add `files`".to_owned()))
            }
            _ if !paths::is_name(name) => Some((
                format!("`{name}` is no name of a group"),
                "use small letters, digits and `_`, a letter first".to_owned(),
            )),
            _ => None,
        };
        if let Some((message, suggestion)) = fault {
            findings.push(Finding::error(Code::ConfigValue, span, message).suggest(suggestion));
            return;
        }
        if let Some(files) = &source.files {
            let files = self.set(files, source.except.as_ref(), span, findings);
            let say = source.say.clone().unwrap_or_else(|| format!("a file of @{name}"));
            self.own.insert(name.to_owned(), Group { name: name.to_owned(), say, files });
            return;
        }
        let mut each = |files: &Option<FilesSource>| {
            files.as_ref().map(|files| self.set(files, None, span, findings).any).unwrap_or_default()
        };
        let (add, take) = (each(&source.add), each(&source.take));
        let change = self.changes.entry(name.to_owned()).or_default();
        change.add.extend(add);
        change.take.extend(take);
    }

    fn set(
        &self,
        files: &FilesSource,
        except: Option<&FilesSource>,
        span: Span,
        findings: &mut Vec<Finding>,
    ) -> FileSet {
        let mut each =
            |files: &FilesSource| files.each().iter().filter_map(|one| self.files(one, span, findings)).collect();
        FileSet { any: each(files), except: except.map(each).unwrap_or_default() }
    }

    fn files(&self, source: &FileSource, span: Span, findings: &mut Vec<Finding>) -> Option<Files> {
        match source {
            FileSource::Set(set) => Some(Files::Set(self.set(&set.files, set.except.as_ref(), span, findings))),
            FileSource::Path(path) => match self.one(path, span) {
                Ok(files) => Some(files),
                Err(finding) => {
                    findings.push(finding);
                    None
                }
            },
        }
    }

    fn one(&self, written: &str, span: Span) -> Result<Files, Finding> {
        match self.named(written, span)? {
            Some(group) => Ok(Files::Set(group.files)),
            None => paths::pattern(written, span).map(Files::Pattern),
        }
    }

    /// The group that a text in the place of a path names; `None`: it is a path.
    fn named(&self, written: &str, span: Span) -> Result<Option<Group>, Finding> {
        let Some(name) = written.strip_prefix('@').filter(|name| paths::is_name(name)) else { return Ok(None) };
        self.find(name).map(Some).ok_or_else(|| {
            let meant = did_you_mean(name, self.names());
            Finding::error(Code::ConfigValue, span, format!("there is no group `@{name}`"))
                .suggest(meant.unwrap_or_else(|| format!("the groups are {}", listed(self.names()))))
        })
    }

    /// What is written in the place of a path, as it is stored: a pattern, or a group.
    pub(crate) fn pattern(&self, written: &PathSource, span: Span) -> Result<String, Finding> {
        let each = written.each();
        if let [one] = each {
            return match self.named(one, span)? {
                Some(group) => Ok(group.text()),
                None => paths::pattern(one, span),
            };
        }
        let any = each.iter().map(|one| self.one(one, span)).collect::<Result<_, _>>()?;
        let say = |one: &String| Ok(self.named(one, span)?.map_or_else(|| one.clone(), |group| group.say));
        let say = each.iter().map(say).collect::<Result<Vec<_>, Finding>>()?.join(" or ");
        let name = each.iter().map(|one| one.trim_start_matches('@')).collect::<Vec<_>>().join("|");
        Ok(Group { name, say, files: FileSet { any, except: Vec::new() } }.text())
    }
}

/// The names of groups that a group names.
fn named(source: &GroupSource) -> Vec<String> {
    fn of(files: &FilesSource) -> Vec<String> {
        let of_one = |one: &FileSource| match one {
            FileSource::Path(path) => path.strip_prefix('@').map(str::to_owned).into_iter().collect(),
            FileSource::Set(set) => {
                of(&set.files).into_iter().chain(set.except.iter().flat_map(of)).collect::<Vec<_>>()
            }
        };
        files.each().iter().flat_map(of_one).collect()
    }
    [&source.files, &source.except, &source.add, &source.take].into_iter().flatten().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use phasegate_core::values::glob::Glob;

    use super::*;

    /// The one role of a file: the shipped group that selects it.
    fn role(groups: &Groups, path: &str) -> String {
        let fits = |name: &&str| Glob::from(groups.find(name).unwrap().text()).fits(path);
        let roles = roles().iter().map(|role| role.name.as_str()).filter(|name| !ACROSS.contains(name));
        roles.filter(fits).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn files_with_secrets_are_those_that_rules_take_for_such() {
        let secrets = Glob::from(Groups::default().find("secrets").unwrap().text());
        for name in [
            ".env",
            "config/.env",
            "prod.env",
            ".env.local",
            ".env.example",
            ".env.ts",
            "certs/server.pem",
            "ca.pem",
            "my-ca.pem",
            "public.pem",
            "pub.pem",
            "fullchain.pem",
            "x.key",
            "ca-x.key",
            "id_rsa",
            "id_rsa.pub",
            ".npmrc",
            "/srv/u/.npmrc",
            "/srv/u/.netrc",
            "/srv/u/.aws/credentials",
            ".aws/credentials",
            "credentials",
            "a.tfstate.backup",
            "src/a.rs",
            "/etc/ssl/private.key",
            ".environment",
            "env",
        ] {
            assert_eq!(secrets.fits(name), phasegate_core::is_secret_path(name), "{name}");
        }
    }

    #[test]
    fn each_file_has_one_role() {
        for row in include_str!("../../tests/roles.txt").lines().filter(|row| !row.is_empty()) {
            let (path, wanted) = row.split_once(' ').unwrap_or((row, ""));
            assert_eq!(role(&Groups::default(), path), wanted, "{path}");
        }
    }

    #[test]
    fn what_a_config_adds_leaves_the_other_roles() {
        let source: BTreeMap<String, GroupSource> = serde_json::from_str(
            r#"{"tests": {"add": "e2e/**", "take": "src/testing/**"}, "schema": {"files": "db/**/*.sql", "except": "db/seed/**"},
                "both": {"files": ["@schema", "@migrations"]}}"#,
        )
        .unwrap();
        let node = read::read(&Text::whole("{}"), &mut Vec::new()).unwrap();
        let mut findings = Vec::new();
        let groups = Groups::default().with(&source, &node, true, &mut findings);
        assert!(findings.is_empty());
        assert_eq!(role(&groups, "e2e/a.ts"), "tests");
        assert_eq!(role(&groups, "src/testing/a_test.rs"), "source");
        assert!(groups.find("tests").unwrap().say.starts_with("a test file (e2e/**, "));
        let both = Glob::from(groups.find("both").unwrap().text());
        assert!(both.fits("db/a.sql") && both.fits("x/migrations/1.sql") && !both.fits("db/seed/a.sql"));
        let schema = Glob::from(groups.find("schema").unwrap().text());
        let may_hold = |folder: &str| schema.may_select_below(folder, &[".sql".into()]);
        assert!(may_hold("db") && may_hold(".") && !may_hold("db/seed") && !may_hold("docs"));
    }

    #[test]
    fn a_mistake_in_a_group_is_found() {
        let said = |text: &str, is_config: bool| {
            let source = serde_json::from_str(text).unwrap();
            let node = read::read(&Text::whole("{}"), &mut Vec::new()).unwrap();
            let mut findings = Vec::new();
            let _ = Groups::default().with(&source, &node, is_config, &mut findings);
            findings.iter().map(|finding| finding.clone().in_file("").message).collect::<Vec<_>>().join("; ")
        };
        assert_eq!(said(r#"{"tests": {"files": "a"}}"#, true), "`tests` is a shipped group");
        assert_eq!(said(r#"{"tests": {"add": "a"}}"#, false), "only a config changes the shipped group `tests`");
        assert_eq!(
            said(r#"{"test": {"add": "a"}}"#, true),
            "`test` is no shipped group, which `add` and `take` change"
        );
        assert_eq!(
            said(r#"{"a": {"files": "@b"}, "b": {"files": "@a"}}"#, true),
            "the groups `a`, `b` name one another"
        );
        assert_eq!(said(r#"{"a": {"files": "@tets"}}"#, true), "there is no group `@tets`");
        assert_eq!(said(r#"{"A": {"files": "a"}}"#, true), "`A` is no name of a group");
        assert_eq!(said(r#"{"a": {"say": "an a"}}"#, true), "the group `a` has no files");
    }
}
