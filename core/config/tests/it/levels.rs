//! Several files and levels: what hides what, what combines, and which version comes out.

use phasegate_config::shipped;
use phasegate_config::{Compiled, Kind, Level, Severity, SourceFile, compile, find_shipped, shipped_policy};
use phasegate_core::policy::{LeaveSkill, Mode, Unlisted};

/// The skills that are shipped, by name.
const SKILLS: [&str; 24] = [
    "careful-feature",
    "develop-command",
    "develop-learnings",
    "develop-skill",
    "lsp-refactor",
    "lsp-rename",
    "lsp-safe-edit",
    "lsp-verify",
    "migration",
    "orchestrate-analysis",
    "orchestrate-clarification",
    "orchestrate-generation",
    "orchestrate-memory",
    "orchestrate-research",
    "orchestrate-synthesis",
    "orchestrate-validation",
    "plan-mode",
    "planned-feature",
    "planned-task",
    "release",
    "review",
    "review-only",
    "test-first",
    "test-first-beside",
];

fn file(path: &str, level: Level, kind: Kind, text: &str) -> SourceFile {
    SourceFile { path: path.into(), text: text.into(), level, kind }
}

fn skill(path: &str, level: Level, text: &str) -> SourceFile {
    file(path, level, Kind::Skill, text)
}

fn settings(path: &str, level: Level, text: &str) -> SourceFile {
    file(path, level, Kind::Settings, text)
}

fn without_mistakes(files: &[SourceFile]) -> Compiled {
    let compiled = compile(files);
    assert_eq!(compiled.diagnostics, []);
    compiled
}

fn mistakes(compiled: &Compiled) -> Vec<(&str, Severity, &str)> {
    compiled.diagnostics.iter().map(|mistake| (mistake.path.as_str(), mistake.severity, mistake.code.id())).collect()
}

#[test]
fn a_higher_level_hides_a_lower_one_and_the_stricter_of_both_counts() {
    let low = "{skill: a, mode: block, unlisted: deny, forbidden: [Write], phases: {low: {allowed: [Read]}}}";
    let high = "{skill: a, mode: warn, unlisted: allow, phases: {high: {allowed: [Read]}}}";
    let compiled = without_mistakes(&[skill("p.yaml", Level::Project, low), skill("u.yaml", Level::User, high)]);
    let [skill] = compiled.policy.skills.as_slice() else { panic!("one skill") };
    assert_eq!(skill.phases[0].name, "high");
    assert_eq!((skill.mode, skill.unlisted), (Some(Mode::Block), Unlisted::Deny));
    assert_eq!(skill.global_forbidden[0].text, "Write");
    assert_eq!(skill.leave_skill, LeaveSkill::Finished);
}

#[test]
fn a_hidden_skill_that_is_locked_stays_locked() {
    let low = "{skill: a, finish: person, phases: {low: {allowed: [Read]}}}";
    let high = "{skill: a, finish: agent, phases: {high: {allowed: [Read]}}}";
    let compiled = without_mistakes(&[skill("p.yaml", Level::Project, low), skill("m.yaml", Level::Machine, high)]);
    assert_eq!(compiled.policy.skills[0].leave_skill, LeaveSkill::Human);
}

#[test]
fn a_person_lets_agents_classify_any_program_and_a_project_does_not() {
    let any = "{safety: {programs: any}}";
    let compiled = without_mistakes(&[settings("u", Level::User, any)]);
    assert!(compiled.policy.safety.any && compiled.policy.safety.programs.is_empty());
    assert_eq!(compiled.policy.safety.told(&[]).as_deref(), Some("a program"));
    let of_project = compile(&[settings("p", Level::Project, any)]);
    assert_eq!(
        mistakes(&of_project),
        [("p", Severity::Error, "config-value")],
        "an agent can write the files of its project"
    );
}

#[test]
fn settings_of_all_levels_combine_strictest_wins() {
    let compiled = without_mistakes(&[
        settings(
            "p",
            Level::Project,
            "{mode: warn, unlisted: allow, global_forbidden: [Write], audit_log: p.jsonl, redact: [content]}",
        ),
        settings("u", Level::User, "{mode: block, locked: true}"),
        settings(
            "m",
            Level::Machine,
            "{unlisted: read_only, global_forbidden: [WebFetch, Write], audit_log: m.jsonl, redact: [output, content]}",
        ),
        skill("s", Level::Project, "{skill: a, form: compat, phases: {one: {allowed: [Read]}}}"),
    ]);
    let skill = &compiled.policy.skills[0];
    assert_eq!((skill.mode, skill.unlisted), (Some(Mode::Block), Unlisted::ReadOnly));
    assert_eq!(skill.leave_skill, LeaveSkill::Human);
    let forbidden: Vec<&str> = skill.global_forbidden.iter().map(|matcher| matcher.text.as_str()).collect();
    assert_eq!(forbidden, ["WebFetch", "Write"]);
    assert_eq!(compiled.settings.mode, Some(Mode::Block));
    assert_eq!(compiled.settings.audit_log.as_deref(), Some("m.jsonl"));
    assert_eq!(compiled.settings.redact, ["content", "output"].map(str::to_string).into());
    assert!(compiled.settings.found);
}

#[test]
fn a_shipped_skill_applies_where_a_config_names_it() {
    assert_eq!(without_mistakes(&[]).policy.skills, []);
    let compiled = without_mistakes(&[settings(
        "p",
        Level::Project,
        "use: [lsp-rename, {skill: lsp-verify, form: compat, mode: block}]",
    )]);
    let names: Vec<(&str, bool, Option<Mode>)> =
        compiled.policy.skills.iter().map(|skill| (skill.name.as_str(), skill.compat, skill.mode)).collect();
    assert_eq!(names, [("lsp-rename", false, None), ("lsp-verify", true, Some(Mode::Block))]);
    assert_eq!(compiled.policy.skills[0], shipped_policy("lsp-rename", None).unwrap().skills[0]);
}

#[test]
fn a_config_of_the_same_name_stands_in_for_a_shipped_skill() {
    let own = "{skill: lsp-rename, phases: {mine: {allowed: [Read]}}}";
    let compiled = compile(&[
        settings("p", Level::Project, "use: [{skill: lsp-rename, form: compat, mode: block}]"),
        skill("own", Level::Project, own),
    ]);
    assert_eq!(mistakes(&compiled), [("p", Severity::Warning, "config-value")]);
    assert_eq!(compiled.policy.skills[0].phases[0].name, "mine");
    assert_eq!(compiled.policy.skills[0].mode, Some(Mode::Block));
}

#[test]
fn a_text_that_stands_in_for_a_shipped_one_is_held_against_the_skill() {
    for uses in ["use: [develop-command]", "use: [orchestrate-clarification]"] {
        let own = |text: &str| file(".phasegate/prompts/clarification.md", Level::Project, Kind::Prompt, text);
        let files = |text: &str| [settings(".phasegate/config.yaml", Level::Project, uses), own(text)];
        let compiled = compile(&files("## Task context\nthe task in words\n"));
        let told: Vec<_> = mistakes(&compiled);
        assert!(matches!(told[..], [(_, Severity::Warning, "config-value")]), "{uses}: {told:?}");
        let message = &compiled.diagnostics[0].message;
        assert!(message.contains("prompts/clarification.md") && !message.contains("## Task context"), "{message}");
        without_mistakes(&[settings(".phasegate/config.yaml", Level::Project, uses)]);
    }
}

#[test]
fn a_name_that_stands_for_two_skills_is_listed_once() {
    let compiled = compile(&[
        settings("p", Level::Project, "use: [something-else]"),
        skill("own", Level::Project, "{skill: lsp-rename, phases: {mine: {allowed: [Read]}}}"),
    ]);
    let told = compiled.diagnostics[0].suggestion.as_deref().unwrap();
    assert_eq!(told, format!("the skills are `{}`", SKILLS.join("`, `")));
}

#[test]
fn settings_know_the_labels_and_the_tools_of_every_skill() {
    let forbids = "global_forbidden: ['@deploy', ship_it, apply_edti]";
    let own = "{skill: a, tools: {ship_it: {labels: [deploy]}, ship_iit: {}}, phases: {one: {allowed: [Read]}}}";
    let uses = "use: [lsp-rename]";
    let compiled = compile(&[
        settings("m", Level::Machine, forbids),
        settings("p", Level::Project, uses),
        skill("s", Level::Project, own),
    ]);
    assert_eq!(mistakes(&compiled), [("m", Severity::Error, "matcher-never-matches")]);
    assert!(compiled.diagnostics[0].message.contains("apply_edti"), "{:?}", compiled.diagnostics);
    // Another project has other skills: what the machine's settings name for these is no error there.
    let alone = compile(&[settings("m", Level::Machine, forbids)]);
    assert_eq!(mistakes(&alone), [("m", Severity::Warning, "matcher-never-matches")]);
}

#[test]
fn the_higher_level_chooses_the_form_of_a_shipped_skill() {
    let compiled = without_mistakes(&[
        settings("p", Level::Project, "use: [{skill: lsp-rename, form: compat, mode: block}]"),
        settings("u", Level::User, "use: [lsp-rename]"),
    ]);
    assert!(!compiled.policy.skills[0].compat);
    assert_eq!(compiled.policy.skills[0].mode, Some(Mode::Block));
}

#[test]
fn two_files_of_one_level_may_not_give_one_name_to_different_skills() {
    let one = "{skill: a, phases: {one: {allowed: [Read]}}}";
    let two = "{skill: a, phases: {two: {allowed: [Read]}}}";
    let markdown = "---\nname: a\ntool_permissions: {phases: {three: {allowed: [Read]}}}\n---\n";
    let twice = [skill("1", Level::User, one), skill("2", Level::User, two)];
    assert_eq!(mistakes(&compile(&twice)), [("2", Severity::Error, "config-key-duplicate")]);
    let same = compile(&[skill("1", Level::User, one), skill("2", Level::User, one)]);
    assert_eq!(mistakes(&same), [("2", Severity::Warning, "config-key-duplicate")]);
    let compiled = compile(&[file("0", Level::User, Kind::SkillMd, markdown), skill("1", Level::User, one)]);
    assert_eq!(mistakes(&compiled), [("0", Severity::Warning, "config-key-duplicate")]);
    assert_eq!(compiled.policy.skills[0].phases[0].name, "one");
}

#[test]
fn the_version_is_that_of_the_meaning() {
    let plain = "skill: a\nservers: [x, y]\nphases:\n  one:\n    allowed: [Read, Grep]\n    done_when: {ok: Read, not: {failed: Grep}}\n";
    let other = "# a comment\n{\"phases\": {\"one\": {\"done_when\": {\"not\": {\"failed\": \"Grep\"}, \"ok\": [\"Read\"]}, \"allowed\": [\"Grep\", \"Read\"]}}, \"servers\": [\"y\", \"x\"], \"skill\": \"a\"}";
    let version = |text: &str| without_mistakes(&[skill("a", Level::Project, text)]).policy.version;
    assert_eq!(version(plain), version(other));
    assert_ne!(version(plain), version(&plain.replace("Grep]", "Glob]")));
    assert_ne!(version(plain), version(&plain.replace("one:", "two:")));
    let files = [skill("b", Level::User, "{skill: b, phases: {one: {}}}"), skill("a", Level::Project, plain)];
    let reversed = [files[1].clone(), files[0].clone()];
    assert_eq!(compile(&files), compile(&reversed));
}

#[test]
fn lists_only_in_a_skill_md_mean_the_compat_form_and_anything_more_does_not() {
    let compiled =
        |text: &str| without_mistakes(&[file("x/SKILL.md", Level::Project, Kind::SkillMd, text)]).policy.skills;
    let lists = compiled(
        "---\nmetadata:\n  tool_permissions:\n    phases:\n      b: {allowed: [mcp__lsp__apply_edit]}\n      a: {allowed: [Edit]}\n---\n",
    );
    assert_eq!((lists[0].name.as_str(), lists[0].compat, lists[0].unlisted), ("x", true, Unlisted::Allow));
    assert_eq!((lists[0].leave_skill, lists[0].mode), (LeaveSkill::Agent, None));
    let order: Vec<&str> = lists[0].phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(order, ["b", "a"]);
    let more = compiled(
        "---\nname: y\ndescription: D\ntool_permissions:\n  phases:\n    b: {allowed: [Read], done_when: {ok: Read}}\n---\n",
    );
    assert_eq!((more[0].name.as_str(), more[0].compat, more[0].unlisted), ("y", false, Unlisted::ReadOnly));
    assert_eq!(more[0].description, "D");
    let said = compiled("---\nname: z\ntool_permissions:\n  form: compat\n  phases:\n    b: {allowed: [Read]}\n---\n");
    assert!(said[0].compat);
    assert_eq!(compiled("no front matter\n---\ntool_permissions: {}\n---\n"), []);
}

#[test]
fn shipped_skills_are_found_by_name_and_form() {
    let names: Vec<&str> = shipped().iter().map(|shipped| shipped.name).collect();
    assert_eq!(names, SKILLS);
    for shipped in shipped() {
        for text in [Some(shipped.strict), shipped.compat].into_iter().flatten() {
            let compiled = compile(&[skill("shipped", Level::Project, text)]);
            assert!(!compiled.has_errors(), "{:?}", compiled.diagnostics);
            assert_eq!(compiled.policy.skills[0].name, shipped.name);
        }
        without_mistakes(&[skill("shipped", Level::Project, shipped.strict)]);
        let compat = shipped_policy(&format!("{}@compat", shipped.name), None);
        assert_eq!(compat.map(|policy| policy.skills[0].compat), shipped.compat.map(|_| true));
    }
    assert!(find_shipped("lsp-rename@strict").is_some());
    assert!(find_shipped("lsp-rename@loose").is_none() && find_shipped("other").is_none());
    assert_eq!(shipped_policy("lsp-rename", Some(Mode::Block)).unwrap().skills[0].mode, Some(Mode::Block));
}

#[test]
fn broken_texts_give_mistakes_at_places_inside_the_text_and_never_a_panic() {
    let whole =
        include_str!("../cases/valid/exhaustive.yaml").replace("Look first", "Zuerst schauen, größer: \u{1f50d}");
    let ends = whole.char_indices().map(|(at, _)| at).step_by(13);
    for end in ends {
        for kind in [Kind::Skill, Kind::Settings] {
            let text = whole[..end].to_string();
            let compiled = compile(&[file("cut", Level::Project, kind, &text)]);
            for mistake in compiled.diagnostics {
                let (start, length) = mistake.span;
                assert!(text.get(start..start + length).is_some(), "{end} {mistake:?}");
            }
        }
    }
    let control = "skill: \"\\u0000\"\nphases: {\"\": {allowed: [\"\u{7f}\"]}}\n";
    let large = format!("skill: {}", "x".repeat(1024 * 1024));
    let flow = "[".repeat(200_000);
    for text in [control, &large, &flow, "\t", "%YAML 9.9\n---\n", "--- ---", "\u{feff}\u{feff}"] {
        let _ = compile(&[skill("odd", Level::Project, text)]);
        let _ =
            compile(&[file("odd", Level::Project, Kind::SkillMd, &format!("---\n{text}\ntool_permissions:\n---\n"))]);
    }
}

#[test]
fn files_with_another_name_than_their_skill_are_reported() {
    let skill = |path: &str, name: &str, kind: Kind| {
        let text = format!("skill: {name}\nphases:\n  look:\n    allowed: [Read]\n");
        let text = if kind == Kind::SkillMd {
            format!(
                "---\nname: {name}\ntool_permissions:\n  skill: {name}\n  phases:\n    look:\n      allowed: [Read]\n---\n"
            )
        } else {
            text
        };
        SourceFile { path: path.into(), text, level: Level::Project, kind }
    };
    let messages = |files: &[SourceFile]| {
        let all = compile(files).diagnostics.into_iter();
        all.map(|found| format!("{}:{} {}", found.path, found.line, found.message)).collect::<Vec<_>>()
    };
    for (path, kind, expected) in [
        (".phasegate/skills/look.yaml", Kind::Skill, None),
        ("look-first.yaml", Kind::Skill, None),
        (
            ".phasegate/skills/look-first.yaml",
            Kind::Skill,
            Some(":1 the skill is called `look`, and its file `look-first`"),
        ),
        (".claude/skills/look/SKILL.md", Kind::SkillMd, None),
        (".claude/skills/first/SKILL.md", Kind::SkillMd, Some(":4 the skill is called `look`, and its folder `first`")),
    ] {
        let expected: Vec<String> = expected.map(|text| format!("{path}{text}")).into_iter().collect();
        assert_eq!(messages(&[skill(path, "look", kind)]), expected);
    }
    let twice = [skill("a/look.yaml", "look", Kind::Skill), skill("b/look.yaml", "look", Kind::Skill)];
    assert_eq!(messages(&twice), ["b/look.yaml:1 skill `look` is given twice, in the same words"]);
    let copies = [".claude/skills/look/SKILL.md", ".opencode/skills/look/SKILL.md"];
    assert_eq!(messages(&copies.map(|path| skill(path, "look", Kind::SkillMd))), [""; 0]);
}
