//! The commands by which people steer plans and runs: for a person they work, and from a program that the agent's call
//! started they are refused and change nothing.

use serde_json::{Value, json};

use crate::support::{Reply, World, reply};

const SESSION: &str = "s";
const PLAN: &str = r#"{"title": "Reminders", "steps": ["They are overdue.",
    {"id": "note", "text": "Note it", "tool": "Edit", "writes": "notes.md"},
    {"id": "send", "text": "Send it", "command": "touch sent", "after": "note"}]}"#;

/// A session in plan mode that has proposed a plan.
fn proposed(world: World) -> World {
    world.write(
        ".phasegate/config.yaml",
        "mode: block\nuse: [plan-mode, develop-command]\nsafety: {programs: [gcloud]}\n",
    );
    world.write("notes.md", "x\n");
    world.start(SESSION);
    assert!(world.run(&["start", "plan-mode", "--session", SESSION], 0).contains("plan-mode"));
    let plan = json!({"file_path": world.root().join("plans/one.json"), "content": PLAN});
    assert!(passes(&world, "plan", "Write", plan.clone()));
    world.write("plans/one.json", PLAN);
    world.ok(SESSION, "plan", "Write", plan);
    world
}

fn passes(world: &World, id: &str, tool: &str, input: Value) -> bool {
    !matches!(reply(&world.call(SESSION, id, tool, input)), Reply::Denied(_))
}

fn bash(command: &str) -> Value {
    json!({"command": command, "description": "d"})
}

fn edit(path: &str) -> Value {
    json!({"file_path": path, "old_string": "x", "new_string": "y"})
}

#[test]
fn a_plan_is_rejected_then_approved_and_carried_out_step_by_step() {
    let world = proposed(World::unguarded());
    assert!(world.run(&["status", "plans"], 0).contains("proposed"));
    assert!(world.run(&["approve", "--reject", "plan"], 0).contains("rejected"));
    assert!(world.run(&["status", "plans"], 0).contains("rejected"));
    assert!(!passes(&world, "1", "Edit", edit("notes.md")), "a rejected plan permits nothing");
    world.run(&["approve", "plan"], 0);
    let shown = world.run(&["status", "plans", "one"], 0);
    for part in ["prose: permits nothing", "permits one call: Edit", "[open, after note]"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!passes(&world, "2", "Bash", bash("touch sent")), "the first step comes first");
    assert!(passes(&world, "3", "Edit", edit("notes.md")));
    world.ok(SESSION, "3", "Edit", edit("notes.md"));
    assert!(!passes(&world, "4", "Edit", edit("notes.md")), "a step permits one call");
    assert!(world.run(&["status", "plans"], 0).contains("executing"));
    let status: Value = serde_json::from_str(&world.run(&["status", "plans", "one", "--json"], 0)).unwrap();
    let states: Vec<&str> =
        status["steps"].as_array().unwrap().iter().map(|one| one["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["open", "done", "open"]);
    world.run(&["end", "plan-mode"], 0);
    assert!(passes(&world, "5", "Edit", edit("notes.md")));
}

/// What only a person may do, and what tells that it was not done: an exit status of 1 with the reason.
const OF_PEOPLE: [&[&str]; 16] = [
    &["access", "admin", "--for", "30m"],
    &["access", "normal"],
    &["start", "plan-mode"],
    &["end", "plan-mode"],
    &["end", "plan-mode", "--session", SESSION],
    &["approve", "plan"],
    &["approve", "--reject", "plan"],
    &["halt"],
    &["halt", "plan-mode"],
    &["resume"],
    &["safety", "approve", "terraform"],
    &["safety", "register", "gcloud", "READ=gcloud * list *"],
    &["safety", "import", "--yes"],
    &["approve", "plan"],
    &["skip", "research"],
    &["advance"],
];

#[test]
fn the_commands_of_people_are_refused_to_the_agents_programs() {
    let world = World::unguarded().with_client();
    let suggests = "---\nname: mail\ndescription: D\n---\n## Plan Mode Safety Patterns\n\n- `gcloud * list *` → READ\n";
    world.write(".claude/skills/mail/SKILL.md", suggests);
    let world = proposed(world);
    let before = (world.run(&["status", "plans"], 0), world.run(&["safety", "list"], 0));
    let reading = bash("git log");
    assert!(passes(&world, "open", "Bash", reading.clone()), "a call that runs a program is open");
    for command in OF_PEOPLE {
        let said = world.phasegate(command).output().unwrap();
        let text = String::from_utf8_lossy(&said.stderr);
        assert_eq!(said.status.code(), Some(1), "{command:?}: {text}");
        assert!(text.contains("agent's"), "{command:?}: {text}");
    }
    for command in [
        &["status", "plans"][..],
        &["status", "plans"],
        &["safety", "list"],
        &["status", "history"],
        &["skill", "list"],
    ] {
        assert_eq!(world.phasegate(command).output().unwrap().status.code(), Some(0), "{command:?} only tells");
    }
    world.ok(SESSION, "open", "Bash", reading);
    assert_eq!((world.run(&["status", "plans"], 0), world.run(&["safety", "list"], 0)), before);
    assert!(!passes(&world, "6", "Edit", edit("notes.md")));
    // The lines themselves are no reading.
    for command in OF_PEOPLE {
        assert!(!passes(&world, "line", "Bash", bash(&format!("phasegate {}", command.join(" ")))), "{command:?}");
    }
    for line in [
        "phasegate status plans",
        "phasegate status plans one",
        "phasegate why",
        "phasegate status history",
        "phasegate safety list",
    ] {
        assert!(passes(&world, "line", "Bash", bash(line)), "{line}");
        world.ok(SESSION, "line", "Bash", bash(line));
    }
}

fn status(world: &World) -> String {
    world.run(&["status", "history", "--json"], 0)
}

#[test]
fn a_run_is_started_halted_resumed_and_told_of_by_a_person() {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "mode: block\nuse: [develop-command]\n");
    world.start(SESSION);
    let told = world.run(&["start", "develop-command", "task_id=t-1", "--session", SESSION], 0);
    assert!(told.contains("clarification"), "{told}");
    assert!(world.run(&["status", "next"], 0).contains(".claude/memory/t-1-clarification-memory.md"));
    assert!(world.run(&["status", "runs"], 0).contains("orchestrate-clarification"));
    assert!(status(&world).contains("\"initialized\""), "{}", status(&world));
    // A part of the run is live too, but the whole is what a person begins and ends.
    let again = world.phasegate(&["start", "develop-command", "task_id=t-2", "--session", SESSION]).output().unwrap();
    let again = String::from_utf8_lossy(&again.stderr);
    assert!(
        again.contains("\"develop-command\" is already active") && again.contains("end develop-command"),
        "{again}"
    );
    let missing = world.phasegate(&["end", "--done"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(1));
    let prompt = "## Task context\n- all of it\n## Role extension\n- all of it\n## Task instructions\n- all of it\n## Related terms\n- all of it\n## Output\n- all of it\n";
    let starts = |kind: &str| json!({"subagent_type": kind, "prompt": prompt, "description": "d"});
    world.run(&["halt"], 0);
    let told = world.run(&["status", "history"], 0);
    assert!(told.starts_with("develop-command halted"), "{told}");
    assert!(told.contains("phasegate resume develop-command"), "{told}");
    assert!(!passes(&world, "1", "Agent", starts("clarification")), "a run that stands still starts nobody");
    assert!(!passes(&world, "2", "Write", json!({"file_path": "a.md", "content": "x"})));
    world.run(&["resume"], 0);
    assert!(passes(&world, "3", "Agent", starts("clarification")));
    assert!(!status(&world).contains("\"halted\""), "{}", status(&world));
}

#[test]
fn the_end_of_a_part_says_what_becomes_of_the_skill_that_runs_it() {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "mode: block\nuse: [develop-command]\n");
    world.start(SESSION);
    world.run(&["start", "develop-command", "task_id=t-1", "--session", SESSION], 0);
    let ended = world.run(&["end", "orchestrate-clarification"], 0);
    for part in
        ["it was a part of develop-command, which stands still", "waits for you:", "phasegate skip develop-command"]
    {
        assert!(ended.contains(part), "{part}: {ended}");
    }
    let told = world.run(&["status", "history"], 0);
    assert!(told.starts_with("develop-command stopped"), "{told}");
    assert!(told.contains("phasegate skip develop-command"), "{told}");
    let skipped = world.run(&["skip"], 0);
    assert!(skipped.contains("develop-command is in phase generate"), "{skipped}");
    let ended = world.run(&["end"], 0);
    assert!(ended.starts_with("develop-command is no longer active"), "{ended}");
    let told = world.run(&["status", "history"], 0);
    assert!(told.starts_with("develop-command ended"), "{told}");
    assert!(told.contains("`phasegate start develop-command task_id=t-1` begins another one"), "{told}");
    assert!(status(&world).contains("\"halted\""), "{}", status(&world));
}

#[test]
fn the_phases_of_a_run_are_told_in_their_order_and_as_they_are_now() {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "mode: block\n");
    let skill = "skill: steps\ndescription: Write, then check.\nmode: block\nphases:\n  \
                 write: {allowed: [Edit], done_when: {ok: Edit}, leave: on_done}\n  \
                 check: {allowed: [WebSearch], done_when: {ok: WebSearch}, back: [{to: write, limit: 3}]}\n  \
                 also: {allowed: [WebFetch], optional: true}\n";
    world.write(".phasegate/skills/steps.yaml", skill);
    world.start(SESSION);
    world.run(&["start", "steps", "--session", SESSION], 0);
    let call = |id: &str, tool: &str, input: Value| {
        assert!(passes(&world, id, tool, input.clone()), "{id}");
        world.ok(SESSION, id, tool, input);
    };
    let told = || {
        let status = world.run(&["status", "history"], 0);
        let lines = status.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        lines.collect::<Vec<_>>()
    };
    call("1", "Edit", edit("a.py"));
    assert_eq!(told(), ["completed write", "in_progress check", "pending also"]);
    call("2", "Edit", edit("a.py"));
    assert_eq!(told(), ["completed write", "in_progress check", "pending also"], "it went back, and came to it again");
    assert!(passes(&world, "3", "Edit", edit("a.py")));
    assert_eq!(told(), ["in_progress write", "pending check", "pending also"], "the check is to be done again");
    world.ok(SESSION, "3", "Edit", edit("a.py"));
    call("4", "WebSearch", json!({"query": "a"}));
    call("5", "Write", json!({"file_path": "b.py", "content": "x"}));
    assert_eq!(told(), ["completed write", "completed check", "skipped also"], "the run has ended");
}

#[test]
fn a_plan_is_of_the_run_that_was_there_before_it_in_a_session_that_goes_on() {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "mode: block\nuse: [plan-mode]\n");
    world.write("plans/old.json", PLAN);
    for session in ["before", SESSION] {
        world.start(session);
        world.run(&["start", "plan-mode", "--session", session], 0);
    }
    world.run(&["end", "before"], 0);
    assert!(world.run(&["status", "plans"], 0).contains("draft"), "it was there before");
    let writes = |id: &str, text: &str| {
        let input = json!({"file_path": "plans/one.json", "content": text});
        assert!(passes(&world, id, "Write", input.clone()));
        world.write("plans/one.json", text);
        world.ok(SESSION, id, "Write", input);
    };
    writes("1", "{\"steps\": [{\"comand\": \"touch sent\"}]}");
    assert!(world.run(&["status", "plans"], 0).contains("proposed, cannot be approved"), "the step means nothing");
    let refused = world.phasegate(&["approve", "plan"]).output().unwrap();
    let text = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{text}");
    assert!(text.contains("comand"), "{text}");
    writes("2", &PLAN.replace("Reminders", "Others"));
    let listed = world.run(&["status", "plans"], 0);
    assert!(listed.contains("draft") && listed.contains(&format!("proposed: session {SESSION}")), "{listed}");
    // A session that wrote no plan waits for nothing, also where it is the last one.
    world.start("after");
    world.run(&["start", "plan-mode", "--session", "after"], 0);
    assert_eq!(world.run(&["status", "plans"], 0), listed);
    let other = world.phasegate(&["approve", "plan", "--session", "after"]).output().unwrap();
    assert!(String::from_utf8_lossy(&other.stderr).contains("nothing waits"), "{other:?}");
    let approved = world.run(&["approve", "plan"], 0);
    for part in ["plans/one.json", "note. [open] permits one call: Edit", "send. [open, after note]"] {
        assert!(approved.contains(part), "{part}: {approved}");
    }
}

#[test]
fn a_plan_of_a_session_that_has_ended_is_a_draft() {
    let world = proposed(World::unguarded());
    world.start("after");
    world.run(&["start", "plan-mode", "--session", "after"], 0);
    world.run(&["end", SESSION], 0);
    assert!(world.run(&["status", "plans"], 0).contains(") draft"));
    let refused = world.phasegate(&["approve", "plan"]).output().unwrap();
    let text = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{text}");
    assert!(text.contains("no session that goes on waits"), "{text}");
}

#[test]
fn what_a_person_registers_of_a_program_is_listed_and_removed() {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "mode: block\n");
    world.run(&["safety", "register", "acme", "READ=acme * list *"], 0);
    let default = world.run(&["safety", "register", "acme", "--default", "WRITE"], 0);
    assert!(default.contains("Registered WRITE for the commands"), "{default}");
    let no_effect = world.phasegate(&["safety", "register", "git", "READ=git foo *"]).output().unwrap();
    assert!(String::from_utf8_lossy(&no_effect.stderr).contains("has no effect"), "{no_effect:?}");
    let listed = world.phasegate(&["safety", "list"]).output().unwrap();
    assert!(String::from_utf8_lossy(&listed.stderr).contains("`git foo *` has no effect"), "{listed:?}");
    let json: Value = serde_json::from_str(&world.run(&["safety", "list", "--json"], 0)).unwrap();
    assert!(json["registered"][1]["commands"][0]["no_effect"].is_string(), "{json}");
    assert!(json["registered"][0]["commands"][0].get("no_effect").is_none(), "{json}");
    let removed = world.run(&["safety", "register", "acme"], 0);
    assert!(removed.contains("READ acme * list *") && removed.contains("WRITE by default"), "{removed}");
    assert!(!world.run(&["safety", "list"], 0).contains("acme"));
    world.run(&["safety", "register", "acme"], 1);
}

/// A replay, a backtest and a look at the rules are told what the hook is told.
#[test]
fn what_a_person_registers_counts_where_sessions_are_played() {
    let world = World::unguarded();
    let skill = "skill: look\nunlisted: read_only\nstart: [session]\nphases:\n  look: {allowed: [Read]}\n";
    world.write(".phasegate/config.yaml", "mode: block\n");
    world.write(".phasegate/skills/look.yaml", skill);
    let lines = [
        json!({"event": "session_start", "session": "s", "source": "startup"}),
        json!({"event": "tool_call", "session": "s", "id": "1", "tool": "Bash", "input": bash("acme x list y")}),
    ];
    world.write("s.jsonl", &lines.map(|line| format!("{line}\n")).concat());
    let played = || {
        let replayed = world.run(&["replay", "s.jsonl"], 0);
        let last: Value = serde_json::from_str(replayed.lines().last().unwrap()).unwrap();
        let report: Value = serde_json::from_str(&world.run(&["--json", "backtest", "s.jsonl"], 0)).unwrap();
        (last["decision"].clone(), report["total"]["denied"].clone())
    };
    assert_eq!(played(), (json!("deny"), json!(1)));
    world.run(&["safety", "register", "acme", "READ=acme * list *"], 0);
    assert_eq!(played(), (json!("allow"), json!(0)));
}

#[test]
fn a_read_that_a_person_answers_for_is_approved_where_reads_are() {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "mode: block\napprove: reads\nsafety: {programs: [acme]}\n");
    let user = world.home().join(".config/phasegate");
    std::fs::create_dir_all(&user).unwrap();
    std::fs::write(user.join("config.yaml"), "safety: {programs: any}\n").unwrap();
    world.start(SESSION);
    let approved = |id: &str, command: &str| {
        let answer = world.call(SESSION, id, "Bash", bash(command));
        world.ok(SESSION, id, "Bash", bash(command));
        let answer: Value = serde_json::from_slice(&answer.stdout).unwrap_or_default();
        answer["hookSpecificOutput"]["permissionDecision"] == "allow"
    };
    assert!(approved("1", "ls") && !approved("2", "acme x list y"));
    world.run(&["safety", "register", "acme", "READ=acme * list *"], 0);
    world.run(&["safety", "register", "go-gmail", "READ=npx go-gmail * search *"], 0);
    assert!(approved("3", "acme x list y") && approved("4", "npx go-gmail me search x | head -3"));
    assert!(!approved("5", "acme x list /etc/passwd"), "a path outside of the project");
    assert!(!approved("6", "acme x frob y"));
    // What the person answered for is the pattern: no file of the project comes in by a pipe, a name or an option.
    for (number, line) in [
        "cat .env | acme x list -",
        "acme x list y < .env",
        "acme x list @notes.md",
        "acme x list ../y",
        "acme --config=evil list y",
        "acme x list y > out.txt",
        "acme x list y &",
        "acme x list \"$(cat .env)\"",
    ]
    .into_iter()
    .enumerate()
    {
        assert!(!approved(&format!("no{number}"), line), "{line}");
    }
    assert!(world.run(&["safety", "list"], 0).contains("agents may classify: any program"));
}

#[test]
fn what_is_used_of_a_budget_and_the_access_are_told() {
    let world = World::unguarded();
    let budgets =
        "budgets:\n  few: {count: edits, limit: 2}\n  all: {count: calls, limit: 9, per: project, within: 1h}\n";
    world.write(".phasegate/config.yaml", &format!("mode: block\n{budgets}"));
    world.start(SESSION);
    assert!(world.run(&["status"], 0).contains("budget few: 0 of 2 used"));
    for (id, is_left) in [("1", true), ("2", true), ("3", false)] {
        assert_eq!(passes(&world, id, "Edit", edit(&format!("{id}.md"))), is_left, "{id}");
    }
    let status = world.run(&["status"], 0);
    for part in ["budget few: 2 of 2 used", "budget all: 2 of 9 used, counted anew from 20"] {
        assert!(status.contains(part), "{part}: {status}");
    }
    let json: Value = serde_json::from_str(&world.run(&["status", "--json"], 0)).unwrap();
    assert_eq!((&json["budgets"][0]["used"], &json["sessions"][0]["budgets"][0]["used"]), (&json!(2), &json!(2)));
    let doctor = world.phasegate(&["doctor"]).output().unwrap();
    assert!(String::from_utf8_lossy(&doctor.stdout).contains("budgets all, few"), "{doctor:?}");
    assert_eq!(world.run(&["access"], 0).trim(), "the access of the project is normal");
    let refused = world.phasegate(&["access", "admin"]).output().unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("access admin --for 30m"), "{refused:?}");
    world.run(&["access", "readonly"], 0);
    assert!(world.run(&["access"], 0).contains("readonly, set by a person"));
}

/// A child that outlives its call: no client is above it, and no call is open. What the client set is still there.
#[cfg(target_os = "linux")]
#[test]
fn a_program_that_a_call_left_behind_counts_as_the_agents() {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "mode: block\nuse: [planned-feature]\n");
    world.write("f.json", r#"{"current_phase": "specify", "phase_artifacts": {}, "skipped_phases": ["brainstorm"]}"#);
    let program = world.phasegate(&[]).get_program().to_string_lossy().into_owned();
    let import = format!("'{program}' start planned-feature --import f.json");
    for (number, own) in ["", "env -u CLAUDE_CODE_SESSION_ID"].iter().enumerate() {
        let line = format!("(sleep 0.3; {own} {import} > {number}.out 2>&1; touch {number}.done) &");
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &line]).current_dir(world.root()).env_clear().envs(world.variables());
        shell.env("CLAUDE_CODE_SESSION_ID", SESSION).status().unwrap();
        let done = world.root().join(format!("{number}.done"));
        while !done.exists() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let told = std::fs::read_to_string(world.root().join(format!("{number}.out"))).unwrap();
        assert!(told.contains("only a person may give the command"), "{told}");
    }
    world.run(&["status", "runs"], 1);
}

#[test]
fn an_agent_starts_a_run_in_its_own_session_only() {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "mode: block\nuse: [develop-command]\n");
    world.start(SESSION);
    world.start("other");
    let start = |more: &[&str]| {
        let args = [&["start", "develop-command", "task_id=t"], more].concat();
        world.phasegate(&args).env("CLAUDE_CODE_SESSION_ID", SESSION).output().unwrap()
    };
    let refused = start(&["--session", "other"]);
    let text = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{text}");
    assert!(text.contains("is for session `other`"), "{text}");
    let begun = start(&["--session", SESSION]);
    assert!(String::from_utf8_lossy(&begun.stdout).contains(&format!("in session {SESSION}")), "{begun:?}");
}
