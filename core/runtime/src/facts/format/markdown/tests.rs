//! Documents and what is wrong with them.

use phasegate_core::policy::matcher::ArgIs;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn rules() -> Markdown {
    let is = |text: &str| TextTest::Is(text.into());
    Markdown {
        title: Some(TextTest::Matches(".+ Agent Output: .+".into())),
        sections: vec![is("Section 0: Context"), is("Section 1: Findings")],
        min_words: None,
        lines: Vec::new(),
        last_line: Some(is("**RESEARCH_COMPLETE**")),
        front_matter: Vec::new(),
    }
}

const GOOD: &str = "# Research Agent Output: bees\n\n## Section 0: Context\n\nThe task.\n\n## Section 1: Findings\n\n\
                    ### Details\n\n- `one`\n\n---\n**RESEARCH_COMPLETE**\n";

fn found(text: &str) -> Option<String> {
    fault(&rules(), text.as_bytes())
}

#[test]
fn what_stands_in_a_document_counts_only_as_markdown() {
    assert_eq!(found(GOOD), None);
    assert_eq!(found(&GOOD.replace('\n', "\r\n")), None);
    assert_eq!(found(&format!("\u{feff}---\na: 1\n---\n{GOOD}\n\n")), None);
    for (from, to, wrong) in [
        ("# Research", "## Research", "the first heading, `Research Agent Output: bees` (line 1), is not the title"),
        ("Agent Output: bees", "Agent Output:", "the first heading, `Research Agent Output:` (line 1)"),
        ("The task.", "", "the section `Section 0: Context` is empty (line 3)"),
        ("The task.", "...", "the section `Section 0: Context` is empty (line 3)"),
        ("The task.", "<!-- The task. -->", "the section `Section 0: Context` is empty (line 3)"),
        ("The task.", "### The task", "the section `Section 0: Context` is empty (line 3)"),
        ("The task.", "[task]: https://example.com \"The task\"", "the section `Section 0: Context` is empty"),
        ("- `one`", "", "the section `Section 1: Findings` is empty (line 7)"),
        ("## Section 0: Context", "In ## Section 0: Context we see", "the section `Section 0: Context` is missing"),
        ("## Section 0: Context", "    ## Section 0: Context", "the section `Section 0: Context` is missing"),
        ("## Section 0: Context", "```\n## Section 0: Context\n```", "the section `Section 0: Context` is missing"),
        ("## Section 0: Context", "> ## Section 0: Context", "the section `Section 0: Context` is missing"),
        ("## Section 0: Context", "<!--\n## Section 0: Context\n-->", "the section `Section 0: Context` is missing"),
        ("## Section 0: Context", "## Section 0: Contexts", "the section `Section 0: Context` is missing"),
        ("**RESEARCH_COMPLETE**", "**RESEARCH_COMPLETE**\n\nMore.", "the last line (line 16) is not `**RESEARCH"),
        ("---\n**RESEARCH_COMPLETE**", "```\n**RESEARCH_COMPLETE**", "(line 14) stands in a block of code or HTML"),
        ("---\n**RESEARCH_COMPLETE**", "<!--\n**RESEARCH_COMPLETE**", "(line 14) stands in a block of code or HTML"),
        (
            "The task.",
            "The task.\n---",
            "is empty (line 3), because the text in line 5 has a line of `-` or `=` below it",
        ),
        ("\n---\n", "\n", ""),
    ] {
        let text = GOOD.replace(from, to);
        assert_ne!(text, GOOD, "{from}");
        let fault = found(&text).unwrap_or_default();
        assert!(fault.contains(wrong) && fault.is_empty() == wrong.is_empty(), "{to}: {fault}");
    }
    assert_eq!(found(&GOOD.replace("Section 0: Context", "Section 0: `Context` ##")), None, "as it is shown");
    let several = found("text").unwrap();
    assert_eq!(several.matches("; ").count(), 3, "{several}");
    assert!(several.starts_with("the title that matches `.+ Agent Output: .+` is missing; "), "{several}");
    assert_eq!(fault(&rules(), &[0xff]), Some("it is not UTF-8 text".into()));
}

#[test]
fn the_closing_line_is_text_of_no_section() {
    let text = GOOD.replace("### Details\n\n- `one`\n\n---\n", "");
    assert_eq!(found(&text).unwrap(), "the section `Section 1: Findings` is empty (line 7)");
}

#[test]
fn words_are_counted_in_a_section_with_all_below_it() {
    let of = |least, text: &str| fault(&Markdown { min_words: Some(least), ..rules() }, text.as_bytes());
    let text = GOOD.replace("- `one`", "- one\n- t*w*o\n\n#### Deeper\n\n> three\n\n    four");
    assert_eq!(of(2, &text), None);
    assert_eq!(of(3, &text).unwrap(), "the section `Section 0: Context` has 2 of 3 words (line 3)");
    let text = text.replace("The task.", "aa bb cc dd ee");
    assert_eq!(of(4, &text), None);
    assert_eq!(of(5, &text).unwrap(), "the section `Section 1: Findings` has 4 of 5 words (line 7)");
    let whole = Markdown { min_words: Some(3), ..Markdown::default() };
    assert_eq!(fault(&whole, b"# A title of five words\n\none two").unwrap(), "it has 2 of 3 words");
    assert_eq!(fault(&whole, b"one two three"), None);
    for (text, words) in [("todo todo todo", 0), ("TBD: one, one; ONE", 1), ("a b c 1 2", 1), ("Lorem ipsum two", 1)] {
        assert_eq!(fault(&whole, text.as_bytes()).unwrap(), format!("it has {words} of 3 words"), "{text}");
    }
    let long = Markdown { min_words: Some(16), ..Markdown::default() };
    assert_eq!(fault(&long, b"1a 2a 3a 4a 5a 6a 7a 8a the the the the the the the the"), None);
}

#[test]
fn fields_of_the_front_matter_are_compared() {
    let tests = [("status", json!({"one_of": ["draft", "ready"]})), ("owner.name", json!({"present": true}))];
    let field = |(path, is): (&str, Value)| ArgTest { path: path.into(), is: serde_json::from_value(is).unwrap() };
    let rules = Markdown { front_matter: tests.map(field).into(), ..Markdown::default() };
    let of = |text: &str| fault(&rules, text.as_bytes());
    assert_eq!(of("---\nstatus: ready\nowner: {name: Ada}\n---\n# A\n"), None);
    let wrong = "`status` in the front matter is not `draft` or `ready` (line 2)";
    assert_eq!(of("---\nstatus: secret\nowner: {name: Ada}\n---\n").unwrap(), wrong);
    let wrong = "`owner.name` in the front matter is not as it has to be (line 3)";
    assert_eq!(of("---\nstatus: draft\nowner: {name: }\n---\n").unwrap(), wrong);
    assert_eq!(of("# A\n---\nstatus: ready\n---\n").unwrap(), "the front matter is missing");
    assert_eq!(of("---\nstatus: ready\n").unwrap(), "the front matter is missing", "it has no end");
    assert!(of("---\nstatus: [\n---\n").unwrap().contains("is not YAML"));
    assert!(of("---\nstatus: ready\nstatus: draft\n---\n").unwrap().contains("is not YAML"), "it stands there twice");
    assert!(of("---\n- status\n---\n").unwrap().contains("`status`"));
    assert!(matches!(&rules.front_matter[0].is, ArgIs::OneOf(_)));
}

proptest! {
    #[test]
    fn any_text_has_an_answer_of_bounded_length(text in "[#>`*_~\\-\\[\\]<!\n\r \t.a-cé:]{0,400}") {
        let fault = found(&text);
        prop_assert!(fault.is_none_or(|fault| fault.len() < 1000));
    }

    /// Text before and after does not make a heading count that stands in a sentence or in code.
    #[test]
    fn a_heading_that_is_none_never_counts(before in "[a-z ,.]{1,20}", fence in prop::bool::ANY) {
        let heading = match fence {
            true => format!("```\n{before}\n## Section 1: Findings\n\ntext\n```"),
            false => format!("{before}x ## Section 1: Findings\ntext"),
        };
        let text = GOOD.replace("## Section 1: Findings", &heading);
        prop_assert!(found(&text).unwrap().contains("`Section 1: Findings` is missing"));
    }
}

#[test]
fn a_line_is_one_of_the_text_and_not_a_part_of_one() {
    let rules = Markdown { lines: vec![TextTest::Matches("Task ID: t1".into())], ..Markdown::default() };
    let wrong = Some("the line that matches `Task ID: t1` is missing".to_owned());
    for (text, fault) in [
        ("Task ID: t1\n", &None),
        ("a\n\n- **Task ID:** `t1`\r\n", &None),
        ("Task ID: t12\n", &wrong),
        ("The Task ID: t1\n", &wrong),
        ("```\nTask ID: t1\n```\n", &wrong),
        ("", &wrong),
    ] {
        assert_eq!(&super::fault(&rules, text.as_bytes()), fault, "{text}");
    }
}
