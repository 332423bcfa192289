//! Levels: a higher one hides a lower one's skill of the same name; strictness combines (rules 4).

use std::collections::BTreeMap;

use phasegate_core::Code;
use phasegate_core::policy::matcher::Matcher;
use phasegate_core::policy::{LeaveSkill, Mode, OnViolation, Skill, Unlisted};

use crate::input::Kind;
use crate::read::report::Finding;
use crate::skills::Found;
use crate::version;

/// What holds for every skill.
#[derive(Clone, Debug, Default)]
pub(crate) struct Everywhere {
    pub(crate) mode: Option<Mode>,
    pub(crate) unlisted: Option<Unlisted>,
    pub(crate) locked: bool,
    /// Whether violations are denied: in block mode, and not asked about.
    pub(crate) denies: bool,
    pub(crate) forbidden: Vec<Matcher>,
}

impl Everywhere {
    /// Makes a skill as strict as this, never less strict.
    pub(crate) fn apply(&self, skill: &mut Skill) {
        skill.mode = skill.mode.max(self.mode);
        skill.unlisted = self.unlisted.map_or(skill.unlisted, |unlisted| unlisted.max(skill.unlisted));
        let rules = skill.phases.iter_mut().filter_map(|phase| phase.unlisted.as_mut());
        rules.for_each(|rule| rule.otherwise = self.unlisted.map_or(rule.otherwise, |own| own.max(rule.otherwise)));
        if self.denies {
            skill.on_violation = OnViolation::Deny;
        }
        if self.locked {
            skill.leave_skill = LeaveSkill::Human;
        }
        for matcher in &self.forbidden {
            if !skill.global_forbidden.contains(matcher) {
                skill.global_forbidden.push(matcher.clone());
            }
        }
    }

    fn of(found: &Found) -> Self {
        Self {
            mode: found.mode,
            unlisted: found.unlisted,
            locked: found.locked,
            denies: found.mode == Some(Mode::Block) && found.skill.on_violation == OnViolation::Deny,
            forbidden: found.skill.global_forbidden.clone(),
        }
    }
}

/// One skill for each name: the one that hides the others, made as strict as they are.
pub(crate) fn by_name(mut found: Vec<Found>, report: &mut dyn FnMut(usize, Finding)) -> BTreeMap<String, Skill> {
    // Highest level first; at one level a config of its own stands before a SKILL.md.
    found.sort_by(|a, b| (b.level, rank(b.kind), a.file).cmp(&(a.level, rank(a.kind), b.file)));
    let mut first: BTreeMap<String, Found> = BTreeMap::new();
    for lower in found {
        let Some(winner) = first.get_mut(&lower.skill.name) else {
            first.insert(lower.skill.name.clone(), lower);
            continue;
        };
        same_level(winner, &lower, report);
        Everywhere::of(&lower).apply(&mut winner.skill);
    }
    first.into_iter().map(|(name, found)| (name, found.skill)).collect()
}

fn rank(kind: Kind) -> u8 {
    u8::from(kind == Kind::Skill)
}

fn same_level(winner: &Found, lower: &Found, report: &mut dyn FnMut(usize, Finding)) {
    if winner.level != lower.level {
        return;
    }
    if version::of_skill(&winner.skill) == version::of_skill(&lower.skill) {
        // A SKILL.md may stand in the folder of each platform.
        if winner.kind == Kind::Skill && lower.kind == Kind::Skill {
            let message = format!("skill `{}` is given twice, in the same words", lower.skill.name);
            let finding = Finding::warning(Code::ConfigKeyDuplicate, lower.name, message);
            report(lower.file, finding.suggest("remove one of the two files: a change of one would be an error"));
        }
        return;
    }
    let message = format!("skill `{}` is given twice", lower.skill.name);
    let finding = if winner.kind == lower.kind {
        Finding::error(Code::ConfigKeyDuplicate, lower.name, message)
            .cause("two files of one level give different skills this name")
            .suggest("keep one of the two, or give one another name")
    } else {
        Finding::warning(Code::ConfigKeyDuplicate, lower.name, message)
            .cause("a config of its own hides it; of this one only what is stricter counts")
            .suggest("remove one of the two")
    };
    report(lower.file, finding);
}
