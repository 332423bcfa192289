//! The rules of all levels: files of rules, packs, and what settings say of them (rules 4.9).

#[cfg(not(feature = "rules"))]
mod too_new;

#[cfg(feature = "rules")]
mod cedar;
mod facts;
#[cfg(feature = "rules")]
mod problem;
mod read;
mod spans;
mod tools;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use phasegate_core::Code;
use phasegate_core::rules::rule_fact::RuleFact;
use phasegate_core::rules::{RuleLevel, Rules};
use phasegate_rules::{Default as ByDefault, Rule, Ruleset, ToolShape};

#[cfg(feature = "rules")]
use self::cedar as text;
use self::spans::span;
#[cfg(not(feature = "rules"))]
use self::too_new as text;
use crate::build::builder::child;
use crate::files::packs::{Pack, packs};
use crate::input::{Kind, Known, Level, SourceFile};
use crate::read::node::{Node, Span};
use crate::read::report::Finding;
use crate::read::suggestion::{did_you_mean, listed};
use crate::settings::groups::Groups;
use crate::skills;
use crate::source::SettingsSource;

/// The folder of rules, below a config folder.
pub const RULES_FOLDER: &str = "rules";
/// What the path of a pack begins with, before its name.
const PACK_PATH: &str = "pack ";
/// The file of the rules that the permissions of a client become. They mean calls that name no file too.
pub const IMPORTED_RULES: &str = ".phasegate/rules/imported.cedar";

/// The texts of a level, and what its settings say.
#[derive(Default)]
struct OfLevel<'a> {
    default: ByDefault,
    packs: Vec<&'static Pack>,
    tools: tools::Tools,
    /// The files of rules, with their numbers.
    files: Vec<(usize, &'a SourceFile)>,
    /// The files of facts, with their numbers.
    facts: Vec<(usize, &'a SourceFile)>,
    /// Where the settings say the default, with the number of their file.
    said: Option<(usize, Span)>,
    /// Whether the settings have a mistake about rules.
    broken: bool,
}

/// Something found in a file, by the file's number.
type Report<'r> = dyn FnMut(usize, Finding) + 'r;

/// The rules of all levels; `None` where there are none.
pub(crate) fn combine(
    files: &[&SourceFile],
    settings: &[(usize, SettingsSource, Node)],
    known: &Known,
    groups: &dyn Fn(Level) -> Groups,
    report: &mut Report<'_>,
) -> Option<Arc<Rules>> {
    let mut levels = Vec::new();
    for level in [Level::Machine, Level::User, Level::Project] {
        let mut own = OfLevel::default();
        for (number, source, node) in settings {
            if files.get(*number).is_some_and(|file| file.level == level) {
                own.read(*number, source, node, report);
            }
        }
        let of_kind = |kind: Kind| {
            let all = files.iter().enumerate().filter(move |(_, file)| file.kind == kind && file.level == level);
            all.map(|(at, file)| (at, *file)).collect()
        };
        (own.files, own.facts) = (of_kind(Kind::Rules), of_kind(Kind::Facts));
        let rules = own.compiled(known, &groups(level), report);
        levels.extend(rules.map(|rules| RuleLevel { machine: level == Level::Machine, ..rules }));
    }
    (!levels.is_empty()).then(|| Arc::new(Rules { levels }))
}

impl OfLevel<'_> {
    fn read(&mut self, number: usize, source: &SettingsSource, node: &Node, report: &mut Report<'_>) {
        let (rules, node) = (&source.rules, child(node, "rules"));
        if let Some(default) = rules.default {
            self.default = default;
            self.said = Some((number, child(node, "default").span));
        }
        for (name, item) in rules.packs.iter().zip(node.items_of("packs")) {
            match packs().iter().find(|pack| pack.name == name) {
                Some(pack) if self.packs.contains(&pack) => {
                    let message = format!("`packs` lists `{name}` twice");
                    report(number, Finding::warning(Code::ConfigKeyDuplicate, item.span, message));
                }
                Some(pack) => self.packs.push(pack),
                None => {
                    self.broken = true;
                    report(number, no_pack(name, item.span));
                }
            }
        }
        self.tools.read(&rules.tools, child(node, "tools"), &mut |finding| {
            self.broken = true;
            report(number, finding);
        });
    }

    /// The compiled rules of the level; `None`: it has none. Where a rule is not valid, everything is denied.
    fn compiled(self, known: &Known, groups: &Groups, report: &mut Report<'_>) -> Option<RuleLevel> {
        let is_read = |facts: &SourceFile| self.files.iter().any(|(_, file)| beside(file, facts));
        self.facts
            .iter()
            .filter(|(_, facts)| !is_read(facts))
            .for_each(|(number, facts)| report(*number, no_rules(facts)));
        if self.files.is_empty() && self.packs.is_empty() && self.default == ByDefault::Permit && !self.broken {
            return None;
        }
        let texts = self.files.iter().map(|(_, file)| file.text.as_str());
        let texts: Vec<&str> = texts.chain(self.packs.iter().map(|pack| pack.text)).collect();
        let mut broken = self.broken;
        let mut all = Texts::default();
        match text::Reader::new(&self.tools.shapes(&texts)) {
            Ok(reader) => broken |= self.read_texts(&reader, known, groups, &mut all, report),
            Err(why) => {
                broken = true;
                for (number, _) in &self.files {
                    report(
                        *number,
                        Finding::error(Code::RuleInvalid, Span { line: 1, column: 1, ..Span::default() }, &why),
                    );
                }
                if let (true, Some((number, at))) = (self.files.is_empty(), self.said) {
                    report(number, Finding::error(Code::RuleInvalid, at, &why));
                }
            }
        }
        if broken {
            // Not to be used; it says that the configs ask for denials.
            let rules = Ruleset::new(ByDefault::Deny, Vec::new());
            return Some(RuleLevel { rules, tools: BTreeMap::new(), machine: false, facts: Vec::new() });
        }
        let Texts { rules, mut facts } = all;
        if let (ByDefault::Deny, Some((number, at))) = (self.default, self.said)
            && rules.iter().all(|rule| rule.forbids.is_some())
        {
            report(number, nothing_passes(at));
        }
        // Facts of several files that mean the same are one.
        facts.sort_by(|one, other| one.key.cmp(&other.key));
        facts.dedup_by(|one, other| one.key == other.key);
        let (rules, tools) = (Ruleset::new(self.default, rules), self.tools.into_policy());
        Some(RuleLevel { rules, tools, machine: false, facts })
    }

    /// Reads the packs and the files. Whether one has a mistake.
    fn read_texts(
        &self,
        reader: &text::Reader,
        known: &Known,
        groups: &Groups,
        all: &mut Texts,
        report: &mut Report<'_>,
    ) -> bool {
        let mut broken = false;
        for pack in &self.packs {
            let own = facts_of_pack(pack, groups);
            all.rules.extend(reader.read(pack.text, &own).rules.into_iter().map(|(rule, _)| rule));
            all.facts.extend(own.into_values());
        }
        let mut seen: BTreeMap<String, String> =
            all.rules.iter().map(|rule| (rule.id.clone(), "a pack".to_string())).collect();
        for (number, file) in &self.files {
            let (own, is_broken) = facts_beside(file, &self.facts, groups, report);
            broken |= is_broken;
            let read = reader.read(&file.text, &own);
            let mut findings = read.findings;
            findings.extend(hints(file, &read.rules, known));
            all.facts.extend(own.into_values());
            for (rule, place) in read.rules {
                let place = span(&file.text, &place);
                if let Some(other) = seen.insert(rule.id.clone(), format!("`{}`", file.path)) {
                    findings.push((twice(&rule.id, place, &other), true));
                }
                all.rules.push(rule);
            }
            for (finding, is_error) in findings {
                broken |= is_error;
                report(*number, finding);
            }
        }
        broken
    }
}

/// What the texts of a level say.
#[derive(Default)]
struct Texts {
    rules: Vec<Rule>,
    facts: Vec<RuleFact>,
}

/// Whether a file of facts is the one beside a file of rules.
fn beside(rules: &SourceFile, facts: &SourceFile) -> bool {
    let stem = |file: &SourceFile| file.path.rsplit_once('.').map(|(stem, _)| stem.to_owned());
    stem(rules) == stem(facts)
}

/// The facts of the file beside a file of rules, and whether it has a mistake.
fn facts_beside(
    file: &SourceFile,
    all: &[(usize, &SourceFile)],
    groups: &Groups,
    report: &mut Report<'_>,
) -> (BTreeMap<String, RuleFact>, bool) {
    let Some((number, own)) = all.iter().find(|(_, facts)| beside(file, facts)) else { return Default::default() };
    let mut findings = Vec::new();
    let facts = facts::facts(&own.text, groups, &mut findings);
    let broken = findings.iter().any(Finding::is_error);
    findings.into_iter().for_each(|finding| report(*number, finding));
    (facts, broken)
}

fn facts_of_pack(pack: &Pack, groups: &Groups) -> BTreeMap<String, RuleFact> {
    pack.facts.map(|text| facts::facts(text, groups, &mut Vec::new())).unwrap_or_default()
}

fn no_rules(file: &SourceFile) -> Finding {
    let stem =
        file.path.rsplit(['/', '\\']).next().and_then(|name| name.rsplit_once('.')).map_or("NAME", |(stem, _)| stem);
    Finding::warning(Code::ConfigUnread, Span { line: 1, column: 1, ..Span::default() }, "no rules read these facts")
        .suggest(format!("name it as the file of the rules: `{stem}.cedar` reads `{stem}.yaml`"))
}

fn no_pack(name: &str, at: Span) -> Finding {
    let known = || packs().iter().map(|pack| pack.name);
    Finding::error(Code::ConfigValue, at, format!("there is no pack of rules `{name}`"))
        .suggest(did_you_mean(name, known()).unwrap_or_else(|| format!("the packs are {}", listed(known()))))
}

fn twice(id: &str, at: Span, other: &str) -> Finding {
    Finding::error(Code::RuleInvalid, at, format!("two rules have the name `{id}`"))
        .cause(format!("the other one stands in {other}; denials and records name rules"))
        .suggest("give one of them another `@id`")
}

/// What is probably not meant so in a file; none is an error.
fn hints(file: &SourceFile, rules: &[(Rule, Range<usize>)], known: &Known) -> Vec<(Finding, bool)> {
    let own = !file.path.ends_with(IMPORTED_RULES);
    let wide = rules.iter().filter(|_| own).filter_map(|(rule, place)| broad(rule, span(&file.text, place)));
    wide.chain(tools::unknown(&file.text, known)).map(|found| (found, false)).collect()
}

/// A rule over names of files that is also about calls that name none.
fn broad(rule: &Rule, at: Span) -> Option<Finding> {
    rule.is_about_unnamed().then(|| {
        Finding::warning(
            Code::RuleBroad,
            at,
            format!("`{}` is also about calls that do not say which files they access", rule.id),
        )
        .cause("`git switch`, `git pull` or `tar xf a.tar` may change the file, so the rule counts for them too")
        .suggest("write `context.path.named && ...` for calls that name it alone; or `!context.path.named || ...` to mean both")
    })
}

fn nothing_passes(at: Span) -> Finding {
    Finding::warning(Code::RulePointless, at, "every call is denied")
        .cause("the default is `deny`, and no rule of this level permits anything")
        .suggest("write a rule that permits something: `@id(\"look\") permit(principal, action in Action::\"@read\", resource);`")
}

/// A rule as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleText {
    /// Its name.
    pub id: String,
    /// What becomes of a call that it is about: `permit`, `warn`, `ask` or `deny`.
    pub effect: &'static str,
    /// Why; empty where it says nothing.
    pub reason: String,
    /// The file, or `pack NAME`.
    pub path: String,
    /// The line on which it begins, from 1.
    pub line: usize,
    /// Its text.
    pub text: String,
}

impl RuleText {
    /// Whether it is of a pack that ships with phasegate, and not of a file.
    pub fn is_of_a_pack(&self) -> bool {
        self.path.starts_with(PACK_PATH)
    }
}

/// Every rule that these files say or name and that can be read.
pub fn rule_texts(files: &[SourceFile]) -> Vec<RuleText> {
    let all = Gathered::of(files);
    let Ok(reader) = text::Reader::new(&all.shapes()) else { return Vec::new() };
    let mut found = Vec::new();
    let mut add = |path: &str, text: &str, read: read::Read| {
        found.extend(read.rules.into_iter().map(|(rule, place)| RuleText {
            effect: rule.forbids.map_or("permit", phasegate_rules::Effect::word),
            id: rule.id,
            reason: rule.reason,
            path: path.to_string(),
            line: span(text, &place).line,
            text: text.get(place).unwrap_or_default().to_string(),
        }));
    };
    for (path, text) in &all.texts {
        let file = files.iter().find(|file| file.path == *path);
        let own = files.iter().find(|facts| facts.kind == Kind::Facts && file.is_some_and(|file| beside(file, facts)));
        let own = own.map(|own| facts::facts(&own.text, &all.groups, &mut Vec::new())).unwrap_or_default();
        add(path, text, reader.read(text, &own));
    }
    for pack in &all.packs {
        add(&format!("{PACK_PATH}{}", pack.name), pack.text, reader.read(pack.text, &facts_of_pack(pack, &all.groups)));
    }
    found
}

/// What rules can read, in Cedar's language, with the tools of these settings and those that the texts of rules name, and
/// the facts of all files.
///
/// # Errors
///
/// This program cannot read rules, or the name of a tool is none in Cedar.
pub fn rule_schema(files: &[SourceFile]) -> Result<String, String> {
    let all = Gathered::of(files);
    let facts = files.iter().filter(|file| file.kind == Kind::Facts);
    let facts = facts.flat_map(|file| facts::facts(&file.text, &all.groups, &mut Vec::new())).collect();
    text::schema(&all.shapes(), &facts)
}

/// The texts of rules of all levels together, and what settings say of tools.
#[derive(Default)]
struct Gathered {
    tools: tools::Tools,
    /// Files, by their paths.
    texts: Vec<(String, String)>,
    packs: Vec<&'static Pack>,
    groups: Groups,
}

impl Gathered {
    fn of(files: &[SourceFile]) -> Self {
        let (mut all, mut groups) = (OfLevel::default(), Groups::default());
        for file in files.iter().filter(|file| file.kind == Kind::Settings) {
            if let Some((source, node)) = skills::read_settings(file, &mut Vec::new()) {
                groups = groups.with(&source.groups, child(&node, "groups"), true, &mut Vec::new());
                all.read(0, &source, &node, &mut |_, _| {});
            }
        }
        let own = files.iter().filter(|file| file.kind == Kind::Rules);
        let texts = own.map(|file| (file.path.clone(), file.text.clone())).collect();
        Self { texts, packs: all.packs, tools: all.tools, groups }
    }

    fn shapes(&self) -> Vec<ToolShape> {
        let texts = self.texts.iter().map(|(_, text)| text.as_str());
        self.tools.shapes(&texts.chain(self.packs.iter().map(|pack| pack.text)).collect::<Vec<_>>())
    }
}
