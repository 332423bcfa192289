//! The schema: what rules can read.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::string::{String, ToString as _};
use std::vec::Vec;

use crate::expr::Expr;
use crate::rule::is_group;
use crate::tools::{GUARD, Kind, OTHER_TOOL, ToolShape, is_own_action};

/// The types that all actions share.
const TYPES: &str = include_str!("types.cedarschema");

/// What rules can read: a schema in Cedar's language.
#[derive(Clone, Debug)]
pub struct Schema {
    text: String,
    cedar: cedar_policy::Schema,
    facts: BTreeMap<String, FactShape>,
}

/// A fact as rules know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactShape {
    /// What compiled rules know it by.
    pub key: String,
    /// Whether it is a whole number, and not true or false.
    pub is_number: bool,
}

/// The type of a text of rules without facts.
const NO_FACTS: &str = "type Facts = {};";

impl Schema {
    /// The schema of these tools. `SERVER/*` stands for a server of which no tool is known.
    ///
    /// # Errors
    ///
    /// The name of a tool or an argument is none in Cedar: the message says what is wrong.
    pub fn new(tools: &[ToolShape]) -> Result<Self, String> {
        Self::of_text(written(tools), BTreeMap::new())
    }

    /// The same with facts, by their names.
    ///
    /// # Errors
    ///
    /// The name of one is none in Cedar: the message says what is wrong.
    pub fn with_facts(&self, facts: BTreeMap<String, FactShape>) -> Result<Self, String> {
        let field = |(name, fact): (&String, &FactShape)| {
            std::format!("{name:?}: {}", if fact.is_number { "Long" } else { "Bool" })
        };
        let fields: Vec<String> = facts.iter().map(field).collect();
        if facts.is_empty() {
            return Ok(self.clone());
        }
        Self::of_text(self.text.replace(NO_FACTS, &std::format!("type Facts = {{ {} }};", fields.join(", "))), facts)
    }

    fn of_text(text: String, facts: BTreeMap<String, FactShape>) -> Result<Self, String> {
        let (cedar, _) = cedar_policy::Schema::from_cedarschema_str(&text).map_err(|error| error.to_string())?;
        Ok(Self { text, cedar, facts })
    }

    /// The keys of the facts that a condition reads, by their names.
    pub(super) fn keys_read_by(&self, condition: &Expr) -> BTreeMap<String, String> {
        let mut read = BTreeMap::new();
        condition.each(&mut |one| {
            if let Expr::Attr(of, name) | Expr::Has(of, name) = one
                && let Some(fact) = self.facts.get(name).filter(|_| of.is_facts())
            {
                read.insert(name.clone(), fact.key.clone());
            }
        });
        read
    }

    /// The schema in Cedar's language.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn cedar(&self) -> &cedar_policy::Schema {
        &self.cedar
    }
}

fn written(tools: &[ToolShape]) -> String {
    let mut labels: BTreeSet<&str> = tools.iter().flat_map(|tool| &tool.labels).map(String::as_str).collect();
    labels.extend(["read", "write", "execute", "network", "shell", "delegate"]);
    labels.remove(GUARD);
    let of_calls = tools.iter().filter(|tool| !is_own_action(&tool.action));
    let servers: BTreeSet<&str> =
        of_calls.filter_map(|tool| tool.action.split_once('/')).map(|(server, _)| server).collect();
    let mut text = TYPES.to_string();
    let _ = writeln!(text, "// What is known of earlier calls: the facts of the file beside the rules.\n{NO_FACTS}");
    let groups: Vec<String> = labels.iter().map(|label| std::format!("@{label}")).collect();
    let of_servers = servers.iter().map(|server| std::format!("{server}/*"));
    for group in groups.iter().cloned().chain(of_servers) {
        let _ = writeln!(text, "action {group:?} in [\"call\"];");
    }
    let _ = writeln!(text, "action \"@{GUARD}\";");
    for tool in tools.iter().filter(|tool| !is_group(&tool.action)) {
        let own: Vec<String> = tool.labels.iter().map(|label| std::format!("@{label}")).collect();
        // What a shell line can do, its words say.
        let any = own.is_empty() || tool.labels.iter().any(|label| label == "shell");
        let mut within = if any { groups.clone() } else { own };
        let server = tool.action.split_once('/').filter(|_| !is_own_action(&tool.action));
        within.extend(server.map(|(server, _)| std::format!("{server}/*")));
        let command = match tool.action.as_str() {
            "Bash" => "command: Command, ",
            _ if tool.labels.is_empty() => "command?: Command, ",
            _ => "",
        };
        let arguments = tool.arguments.iter().map(|(name, kind)| std::format!("{name:?}?: {}", kind.cedar()));
        action(&mut text, &tool.action, &within, command, &arguments.collect::<Vec<_>>().join(", "));
    }
    let other: Vec<String> =
        groups.iter().cloned().chain(servers.iter().map(|server| std::format!("{server}/*"))).collect();
    action(&mut text, OTHER_TOOL, &other, "command?: Command, ", "");
    text
}

fn action(text: &mut String, id: &str, groups: &[String], command: &str, arguments: &str) {
    let call = (!is_own_action(id)).then(|| "\"call\"".to_string());
    let groups = groups.iter().map(|group| std::format!("{group:?}"));
    let groups = call.into_iter().chain(groups).collect::<Vec<_>>().join(", ");
    let input = if arguments.is_empty() { "{}".to_string() } else { std::format!("{{ {arguments} }}") };
    let _ = writeln!(
        text,
        "action {id:?} in [{groups}] appliesTo {{\n  principal: [Agent], resource: [Tool],\n  context: {{ input: {input}, \
         {command}path?: Path,\n    facts: Facts, skills: Set<String>, phases: Set<String>, access: String, permission_mode?: String, time?: Long }}\n}};"
    );
}

impl Kind {
    fn cedar(self) -> &'static str {
        match self {
            Self::Text => "String",
            Self::Number => "Long",
            Self::Flag => "Bool",
            Self::Texts => "Set<String>",
        }
    }
}
