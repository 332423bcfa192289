//! The state of the walk over a line's tree: what it has found so far.

mod path;

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use phasegate_core::calls::analysis::{Access, Registered, SimpleCommand, Status, Verdict, Word};

use crate::arguments::Given;
use crate::expand::field::{Bit, Field};
use crate::expand::sources::Sources;
use crate::finding::Finding;
use crate::judgement::{Judgement, Part, Pattern, Problem, Touch, Trust, engine_command};
use crate::parse::Dialect;
use crate::scope::{Names, Scope};
use crate::table::{Rule, Table};
use crate::tree::Span;
use path::{dotted, paths};

/// A line with more parts than this is `unknown`.
const MAX_PARTS: usize = 2048;

/// The steps of a rule that is read the first time.
const RULE_STEPS: usize = 128;
/// How the names of programs end on Windows.
const PROGRAM_ENDS: [&str; 4] = [".exe", ".com", ".cmd", ".bat"];

/// What a judgement that is taken back has noted.
pub(crate) struct Mark {
    parts: usize,
    touches: usize,
    worst: Finding,
    unnamed: bool,
    besides: bool,
    computed: bool,
    asking: bool,
}

/// The state of a walk.
pub(crate) struct Walk<'t> {
    pub(crate) table: &'t Table,
    /// The rules that were looked up.
    rules: RefCell<BTreeMap<String, Option<Rc<Rule>>>>,
    pub(crate) trust: Trust,
    pub(crate) scope: Scope,
    parts: Vec<Part>,
    touches: Vec<Touch>,
    /// Where the values come from that the line makes.
    pub(crate) sources: Sources,
    worst: Finding,
    pub(crate) problem: Option<Problem>,
    /// How many conditions and loops the walk is inside of.
    pub(crate) conditional: usize,
    /// How many loops, conditions, functions, texts and programs that may run something again the walk is inside of.
    pub(crate) repeats: usize,
    /// Whether a function of the line changes the working folder.
    pub(crate) moving: bool,
    /// The functions whose bodies the walk is inside of.
    pub(crate) defining: Vec<String>,
    /// Whether a program changes files of which it names none.
    pub(crate) unnamed: bool,
    /// Whether the current command changes something that is no file that it names.
    pub(crate) besides: bool,
    /// Whether the command only looks into a database.
    pub(crate) looks: bool,
    /// Whether nothing is known of the current command's program.
    pub(crate) unheard: bool,
    /// Whether a program reads files whose names it makes while it runs.
    pub(crate) computed: bool,
    /// Whether a program asks a service on the network.
    pub(crate) network: bool,
    /// Whether a program shows what runs on the machine, or asks a service there.
    pub(crate) outside: bool,
    /// Whether another program may run what the configuration of a repository names.
    pub(crate) trusts: bool,
    /// The options before the command of a program that dispatches.
    pub(crate) globals: Vec<Given>,
    /// The text that the current simple command gets on its standard input, if the line contains it.
    pub(crate) stdin: Option<Field>,
    /// The same, whether or not something has run it.
    pub(crate) input: Option<Field>,
    /// What programs of the line print, and the texts that they get.
    pub(crate) said: Vec<Vec<Field>>,
    /// Whether a shell of the line runs something that nobody can see.
    pub(crate) listens: bool,
    /// Whether the current command may get local data on its standard input.
    pub(crate) fed: bool,
    /// Names that were given a value, and functions (with `()`) that were defined, where the walk did not expect it.
    hidden: BTreeSet<String>,
    /// What the exit status of the line says about the command that the walk is in.
    pub(crate) status: Status,
    /// Whether something in the line can change what the names of programs mean, or how the line ends.
    pub(crate) unproven: bool,
    /// The descriptors from 3 on that the line opened for output.
    pub(crate) outputs: BTreeSet<u32>,
    /// How many words before the subcommand are options, of the command that the walk is in.
    pub(crate) global_options: u32,
    /// Whether one of them may take the next word for its value.
    pub(crate) unplaced: bool,
    /// Whether these options are known, and change nothing about what it does.
    pub(crate) led_plainly: bool,
    /// Whether the command that the walk is in only runs another one.
    pub(crate) transparent: bool,
    /// Whether another command of the line runs the one that the walk is in.
    pub(crate) launched: bool,
    /// Whether the command of the program that is read may be an alias.
    pub(crate) alias: bool,
    /// Whether the current command talks to another machine.
    pub(crate) asking: bool,
    /// Whether something of the line goes on after it.
    pub(crate) leaves_running: bool,
    /// What is registered of the current command, where that decided.
    pub(crate) registered: Option<Registered>,
    /// Whether the program that the walk is in runs the command that it is given once.
    pub(crate) once: bool,
    /// How many programs that run the current command the walk is inside of.
    pub(crate) wraps: usize,
    /// Whether programs are forms of their own of those that the table knows (`busybox`).
    pub(crate) own_forms: bool,
    /// Whether the line gives programs names of its own: an alias, `hash -p`.
    pub(crate) renames: bool,
    /// Whether the command runs with the rights of another user.
    pub(crate) raised: bool,
    /// How many texts the walk is inside of.
    pub(crate) texts: usize,
    /// The shell that the text is for.
    pub(crate) dialect: Dialect,
    /// The span of everything in the text the walk is in, where that is not the line.
    pub(crate) base: Option<Span>,
}

impl<'t> Walk<'t> {
    pub(crate) fn new(table: &'t Table, trust: Trust, names: Names) -> Self {
        Self {
            table,
            rules: RefCell::default(),
            scope: Scope::new(names, &trust),
            trust,
            parts: Vec::new(),
            touches: Vec::new(),
            sources: Sources::default(),
            worst: Finding::new(Verdict::Read, "every part only reads", (0, 0)),
            problem: None,
            conditional: 0,
            repeats: 0,
            moving: false,
            defining: Vec::new(),
            unnamed: false,
            besides: false,
            looks: false,
            unheard: false,
            computed: false,
            network: false,
            outside: false,
            trusts: false,
            globals: Vec::new(),
            stdin: None,
            input: None,
            said: Vec::new(),
            listens: false,
            fed: false,
            hidden: BTreeSet::new(),
            status: Status::Own,
            unproven: false,
            outputs: BTreeSet::new(),
            global_options: 0,
            unplaced: false,
            led_plainly: false,
            transparent: false,
            launched: false,
            alias: false,
            asking: false,
            leaves_running: false,
            registered: None,
            once: false,
            wraps: 0,
            own_forms: false,
            renames: false,
            raised: false,
            texts: 0,
            dialect: Dialect::Bash,
            base: None,
        }
    }

    /// What the walk found.
    pub(crate) fn finish(mut self) -> Judgement {
        if let Some(name) = self.hidden.iter().find(|name| self.scope.was_believed(name)) {
            let because = format!("`{name}` may be another one than it looks when the line runs again");
            self.note(Finding::new(Verdict::Unknown, because, (0, 0)));
        }
        if let Some(problem) = self.problem.clone() {
            self.unread(problem.span);
        }
        let mut order: Vec<usize> = (0..self.parts.len()).collect();
        // A command that runs another one stands before it.
        let place = |part: &Part| (part.command.span.0, Reverse(part.command.span.1));
        order.sort_by_key(|at| self.parts.get(*at).map(place));
        for touch in &mut self.touches {
            let at = touch.part.and_then(|part| order.iter().position(|at| u32::try_from(*at) == Ok(part)));
            touch.part = at.and_then(|at| u32::try_from(at).ok());
        }
        self.parts.sort_by_key(place);
        if self.unproven {
            self.parts.iter_mut().for_each(|part| part.command.status = Status::Lost);
        }
        Judgement {
            verdict: self.worst.verdict,
            because: self.worst.because,
            span: self.worst.span,
            parts: self.parts,
            touches: self.touches,
            network: self.network,
            outside: self.outside && !self.trusts,
            leaves_running: self.leaves_running || self.problem.is_some(),
            problem: self.problem,
        }
    }

    /// Takes note of something worse than reading; the first of the worst is kept.
    pub(crate) fn note(&mut self, finding: Finding) {
        if finding.verdict > self.worst.verdict {
            self.worst = finding;
        }
    }

    /// The worst so far.
    pub(crate) fn worst_so_far(&self) -> Finding {
        self.worst.clone()
    }

    /// Forgets what was found since.
    pub(crate) fn back_to(&mut self, worst: Finding) {
        self.worst = worst;
    }

    /// Takes note that a name is given a value at a time that the walk does not follow.
    pub(crate) fn hide(&mut self, name: &str) {
        if !self.scope.is_unsure(name) {
            self.hidden.insert(name.to_owned());
            self.scope.forget(name);
        }
    }

    /// What is known of a program, or of a program's command.
    pub(crate) fn rule(&self, name: &str) -> Option<Rc<Rule>> {
        if let Some(rule) = self.rules.borrow().get(name) {
            return rule.clone();
        }
        self.scope.spend(RULE_STEPS);
        let rule = self.table.rule(name).map(Rc::new);
        self.rules.borrow_mut().insert(name.to_owned(), rule.clone());
        rule
    }

    /// Counts work. A line that needs too much is not read further.
    pub(crate) fn spend(&mut self, steps: usize, span: Span) -> bool {
        let goes_on = self.scope.spend(steps);
        if !goes_on {
            self.stop("the line takes too long to judge", span);
        }
        goes_on
    }

    /// Whether the line needs more work than it may, which is noted.
    pub(crate) fn is_stopped(&mut self) -> bool {
        let stopped = self.scope.is_exhausted();
        if stopped {
            self.stop("the line takes too long to judge", (0, 0));
        }
        stopped
    }

    /// Takes note that a part of the line is not read, so that nothing is known of what it touches.
    pub(crate) fn stop(&mut self, what: &str, span: Span) {
        self.note(Finding::new(Verdict::Unknown, what, span));
        self.problem.get_or_insert_with(|| Problem { what: what.to_owned(), span });
    }

    /// The worst so far, for a caller that wants to know what something inside it did.
    pub(crate) fn isolate<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> (T, Finding) {
        let before = std::mem::replace(&mut self.worst, Finding::new(Verdict::Read, "it only reads", (0, 0)));
        let result = inner(self);
        let found = std::mem::replace(&mut self.worst, before);
        self.note(found.clone());
        (result, found)
    }

    /// Takes note of a simple command and of the worst thing it does.
    pub(crate) fn part(&mut self, mut command: SimpleCommand, fields: &[Field], finding: Finding) {
        if self.parts.len() >= MAX_PARTS {
            return self.stop(&format!("the line has more than {MAX_PARTS} commands"), command.span);
        }
        if command.words.len() == fields.len() {
            command.starts = starts(fields);
        }
        if self.renames && self.unheard {
            command.words.splice(..1, [Word::Unknown, Word::Unknown]);
            command.starts.clear();
        } else if self.unheard && self.is_other_spelling(fields) {
            command.words.splice(..1, [Word::Unknown]);
        }
        command.verdict = finding.verdict;
        command.status = self.status;
        command.global_options = std::mem::take(&mut self.global_options);
        command.unplaced = std::mem::take(&mut self.unplaced);
        command.led_plainly = std::mem::take(&mut self.led_plainly);
        command.repeats = self.repeats > 0;
        command.transparent = std::mem::take(&mut self.transparent);
        command.launched = self.launched;
        command.alias = std::mem::take(&mut self.alias);
        command.network = std::mem::take(&mut self.asking);
        // What talks to another machine and changes something does more than write a file.
        let elsewhere = command.network && matches!(command.verdict, Verdict::Write | Verdict::Send) && !self.unnamed;
        command.besides = std::mem::take(&mut self.besides) || elsewhere;
        command.looks = std::mem::take(&mut self.looks);
        command.unheard = std::mem::take(&mut self.unheard);
        command.registered = self.registered.take();
        let number = u32::try_from(self.parts.len()).ok();
        self.touches.iter_mut().filter(|touch| touch.part.is_none()).for_each(|touch| touch.part = number);
        let words: Vec<Pattern> = fields.iter().map(Field::to_pattern).collect();
        let unnamed = std::mem::take(&mut self.unnamed);
        let computed = std::mem::take(&mut self.computed);
        let (because, decides) = (finding.because.clone(), finding.span);
        let folder = |bits: &Vec<Bit>| Field { bits: bits.clone(), many: false, span: (0, 0) }.to_pattern();
        let folders = self.scope.folders.iter().filter(|bits| !bits.is_empty()).map(folder).collect();
        let beside = self.sources.own.texts();
        self.parts.push(Part { command, words, because, decides, unnamed, computed, folders, beside });
        self.note(finding);
    }

    /// Whether the program is a known one where names of files have no case, or where programs end with `.exe`.
    fn is_other_spelling(&self, fields: &[Field]) -> bool {
        let Some(name) = fields.first().and_then(Field::known) else { return false };
        let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
        // Both ways: some letters have a lower case only by way of their upper one.
        let folded = file.to_uppercase().to_lowercase();
        let bare = PROGRAM_ENDS.iter().find_map(|end| folded.strip_suffix(end)).unwrap_or(&folded);
        bare != name && self.table.knows(bare)
    }

    /// A part that stands for what the walk did not read: any command.
    fn unread(&mut self, span: Span) {
        let fields = [Field::any(span)];
        let words = vec![Word::Unknown, Word::Unknown];
        let mut command = engine_command(words, Vec::new(), Vec::new(), span);
        command.status = Status::Lost;
        let finding = Finding::new(Verdict::Unknown, "a part of the line is not read", span);
        let (because, decides) = (finding.because.clone(), finding.span);
        let words = fields.iter().map(Field::to_pattern).collect();
        let (folders, beside) = (Vec::new(), Vec::new());
        self.parts.push(Part { command, words, because, decides, unnamed: true, computed: false, folders, beside });
        self.note(finding);
    }

    /// Takes note of a path of the part that comes next.
    pub(crate) fn touch(&mut self, field: &Field, access: Access) {
        self.touch_by(field, access, None);
    }

    /// Takes note of a path of a part.
    pub(crate) fn touch_by(&mut self, field: &Field, access: Access, part: Option<u32>) {
        self.touch_as(field, access, part, false);
    }

    /// Takes note of a word of the part that comes next, which may be a path.
    pub(crate) fn touch_guess(&mut self, field: &Field, access: Access) {
        // What is made when the line runs may be any text.
        let bare = field.known().is_none_or(|word| !word.contains(['/', '.', '~', '=', ':', '@', ',']));
        self.touch_as(field, access, None, bare);
    }

    fn touch_as(&mut self, field: &Field, access: Access, part: Option<u32>, guess: bool) {
        let mut all = paths(&self.scope, field);
        if self.scope.dots {
            let dotted: Vec<_> = all.iter().filter_map(dotted).collect();
            all.extend(dotted);
        }
        for path in all {
            let touch = Touch { path, access, part, guess };
            if self.touches.last() != Some(&touch) {
                self.touches.push(touch);
            }
        }
    }

    /// Where the walk stands, for a judgement that may be taken back.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            parts: self.parts.len(),
            touches: self.touches.len(),
            worst: self.worst.clone(),
            unnamed: self.unnamed,
            besides: self.besides,
            computed: self.computed,
            asking: self.asking,
        }
    }

    /// Whether commands were judged since.
    pub(crate) fn has_parts_since(&self, mark: &Mark) -> bool {
        self.parts.len() > mark.parts
    }

    /// Takes back what was noted since.
    pub(crate) fn back_to_mark(&mut self, mark: &Mark) {
        self.parts.truncate(mark.parts);
        self.touches.truncate(mark.touches);
        self.worst = mark.worst.clone();
        (self.unnamed, self.besides) = (mark.unnamed, mark.besides);
        (self.computed, self.asking) = (mark.computed, mark.asking);
        self.looks = false;
    }

    /// The commands noted so far.
    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The commands noted so far, to be changed.
    pub(crate) fn parts_mut(&mut self) -> &mut [Part] {
        &mut self.parts
    }

    /// The paths noted so far.
    pub(crate) fn touches(&self) -> &[Touch] {
        &self.touches
    }
}

/// How words begin that are known in part, each of which is one word, or several names that all begin so.
fn starts(fields: &[Field]) -> Vec<(u32, String)> {
    let names = |field: &Field| field.bits.iter().all(|bit| matches!(bit, Bit::Text(_) | Bit::Glob));
    let known_in_part = |field: &Field| field.known().is_none() && (!field.many || names(field));
    let begun = (0..).zip(fields).filter(|(_, field)| known_in_part(field) && !field.start().is_empty());
    begun.map(|(number, field)| (number, field.start().to_owned())).collect()
}
