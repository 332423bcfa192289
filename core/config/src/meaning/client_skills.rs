//! Skills that no client has.

use phasegate_core::Code;
use phasegate_core::calls::analysis::Invocation;

use super::uses::{self, Place, Use};
use crate::build::builder::Built;
use crate::input::Known;
use crate::read::report::Finding;
use crate::read::suggestion::did_you_mean;

/// The skills that agent hosts have without a file.
const HOST_SKILLS: [&str; 8] =
    ["batch", "code-review", "debug", "init", "loop", "review", "security-review", "simplify"];

/// Reports them, as warnings, because a teammate's folder may have one: each that a condition asks for, and those of all
/// lists together. What `forbidden` and `unlisted` name need not be there.
pub(super) fn check(built: &Built, known: &Known, findings: &mut Vec<Finding>) {
    let Some(own) = &known.skills else { return };
    let missing = |used: &Use<'_>| match used.matcher.invokes.as_deref() {
        Some(Invocation::Skill(name)) => {
            let whole = !name.is_empty() && !name.contains(['*', '$', ':']);
            (whole && !own.contains(name) && !HOST_SKILLS.contains(&name.as_str())).then(|| name.clone())
        }
        _ => None,
    };
    let of_unlisted = |used: &Use<'_>| built.places.unlisted.contains(&used.span);
    let suggested = |name: &str| {
        did_you_mean(name, own.iter().map(String::as_str)).unwrap_or_else(|| {
            format!("write the `SKILL.md` of `{name}` into the client's folder of skills; a plugin's skill is `plugin:{name}`")
        })
    };
    let mut listed: Vec<(String, &Use<'_>)> = Vec::new();
    let all = uses::all(built);
    for used in &all {
        let Some(name) = missing(used) else { continue };
        match used.place {
            Place::Asked => {
                let message = format!("no client here has a skill `{name}`, so no call invokes it until one has");
                findings.push(
                    Finding::warning(Code::MatcherNeverMatches, used.span, message)
                        .cause("the client answers the call of a skill that it does not have with an error")
                        .suggest(suggested(&name)),
                );
            }
            Place::Allowed if !of_unlisted(used) && !listed.iter().any(|(known, _)| *known == name) => {
                listed.push((name, used));
            }
            Place::Allowed | Place::Everywhere | Place::Forbidden(_) | Place::Start | Place::Except => {}
        }
    }
    let asked = |name: &str| {
        all.iter().any(|used| matches!(used.place, Place::Asked) && missing(used).as_deref() == Some(name))
    };
    listed.retain(|(name, _)| !asked(name));
    if let [(first, used), rest @ ..] = listed.as_slice() {
        let names = listed.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let (what, lines) =
            if rest.is_empty() { ("the skill", "this line means") } else { ("the skills", "their lines mean") };
        let message = format!("no client here has {what} {names}, so {lines} no call until one has");
        findings.push(Finding::warning(Code::MatcherNeverMatches, used.span, message).suggest(suggested(first)));
    }
}
