//! Where everything of a picture lies: phases below each other, ways forward past others on the right, ways back on the
//! left. All measures are in pixels.

use super::children::Row;
use super::model::{Graph, Node, Way};

/// The sizes of letters: of names, of notes.
pub(super) const NAME: i32 = 14;
pub(super) const NOTE: i32 = 11;
/// The height of a line of notes.
pub(super) const LINE: i32 = 15;
/// The space between the edge of a box and its text.
pub(super) const PAD: i32 = 12;
/// The space between boxes beside each other.
const GAP: i32 = 12;
/// The space for an arrow between boxes beside each other.
pub(super) const ARROW: i32 = 28;
const MARGIN: i32 = 28;
const MIN_WIDTH: i32 = 220;
const MAX_NOTE: i32 = 300;
const MAX_PART_NOTE: i32 = 150;
const MAX_ROW: i32 = 620;
/// The space between two ways that end at a side of a box, and between two that run beside each other.
const STEP: i32 = 18;

/// A box.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Area {
    pub(super) x: i32,
    pub(super) y: i32,
    pub(super) w: i32,
    pub(super) h: i32,
}

impl Area {
    pub(super) fn right(&self) -> i32 {
        self.x + self.w
    }

    pub(super) fn bottom(&self) -> i32 {
        self.y + self.h
    }
}

/// A phase with its place.
pub(super) struct PlacedNode {
    pub(super) area: Area,
    pub(super) notes: Vec<String>,
    /// The rows of its parts.
    pub(super) rows: Vec<PlacedRow>,
    /// What is said of the gate, and the baseline of its first line.
    pub(super) gate: Vec<String>,
    pub(super) gate_at: i32,
}

/// A row of parts.
#[derive(Default)]
pub(super) struct PlacedRow {
    /// The baseline of its label.
    pub(super) label: Option<i32>,
    pub(super) parts: Vec<PlacedPart>,
}

/// A part with its place.
pub(super) struct PlacedPart {
    pub(super) area: Area,
    pub(super) notes: Vec<String>,
}

/// A way with its place.
pub(super) enum PlacedWay {
    /// Down to the next phase.
    Down { x: i32, from: i32, to: i32, label: Vec<String> },
    /// Past others: from one box, along a lane, to another box.
    Past { from: Point, lane: i32, to: Point },
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Point {
    pub(super) x: i32,
    pub(super) y: i32,
}

/// The whole picture.
pub(super) struct Picture {
    pub(super) width: i32,
    pub(super) height: i32,
    pub(super) heading: Vec<String>,
    pub(super) nodes: Vec<PlacedNode>,
    /// In the order of the graph.
    pub(super) ways: Vec<PlacedWay>,
}

/// The width of a text, a little more than most fonts need.
pub(super) fn width_of(text: &str, size: i32) -> i32 {
    let each = text.chars().map(|letter| match letter {
        'i' | 'j' | 'l' | '\'' | '|' | 'I' => 300,
        ' ' | '.' | ',' | ':' | ';' | '!' | '-' | 'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '`' | '/' | '"' => 400,
        'm' | 'M' | 'W' | '@' | '%' | '\u{2026}' => 1000,
        'w' | '\u{2192}' | '+' | '=' | '<' | '>' => 850,
        'A'..='Z' => 720,
        letter if letter.is_ascii() => 630,
        _ => 1000,
    });
    each.sum::<i32>() * size / 1000
}

/// A text in lines that are no wider than this, except for single words.
pub(super) fn wrapped(text: &str, size: i32, most: i32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width_of(&format!("{line} {word}"), size) <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

fn widest(lines: &[String], size: i32) -> i32 {
    lines.iter().map(|line| width_of(line, size)).max().unwrap_or_default()
}

/// How many lines of text; a drawing has few.
fn count<T>(items: &[T]) -> i32 {
    i32::try_from(items.len()).unwrap_or(i32::MAX)
}

/// Lays the graph out.
pub(super) fn laid_out(graph: &Graph) -> Picture {
    let mut nodes: Vec<PlacedNode> = graph.phases.iter().map(node).collect();
    let width = nodes.iter().map(|node| node.area.w).max().unwrap_or(MIN_WIDTH).max(MIN_WIDTH);
    let sides = [Side::of(graph, &nodes, false), Side::of(graph, &nodes, true)];
    let [right, left] = &sides;
    let x = MARGIN + left.width();
    let total = x + width + right.width() + MARGIN;
    let heading = wrapped(&heading(graph), NOTE + 1, total - 2 * MARGIN);
    let mut y = MARGIN + 32 + count(&heading) * LINE;
    let mut down: Vec<Option<PlacedWay>> = graph.ways.iter().map(|_| None).collect();
    for (at, node) in nodes.iter_mut().enumerate() {
        let sides_ask = right.ends(at).max(left.ends(at));
        node.area.h = node.area.h.max(count(&vec![(); sides_ask]) * STEP + PAD);
        (node.area.w, node.area.x, node.area.y) = (width, x, y);
        centre(node);
        let bottom = node.area.bottom();
        let next = graph.ways.iter().enumerate().find(|(_, way)| is_down(way) && way.from == at);
        let label = next.map(|(_, way)| wrapped(&way.label, NOTE, width / 2 - PAD)).unwrap_or_default();
        y = bottom + 28 + count(&label) * LINE;
        if let Some((index, _)) = next
            && let Some(place) = down.get_mut(index)
        {
            *place = Some(PlacedWay::Down { x: x + width / 2, from: bottom, to: y, label });
        }
    }
    let past = |(index, way): (usize, &Way)| {
        let side = if way.back { left } else { right };
        side.placed(index, way, &nodes)
    };
    let ways = down.into_iter().zip(graph.ways.iter().enumerate());
    let ways = ways.map(|(down, way)| down.unwrap_or_else(|| past(way))).collect();
    let height = nodes.last().map_or(y, |node| node.area.bottom()) + MARGIN;
    Picture { width: total.max(MARGIN * 2 + width_of(&graph.name, 20)), height, heading, nodes, ways }
}

fn heading(graph: &Graph) -> String {
    let parts = [graph.run.as_deref().unwrap_or_default(), &graph.description];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ")
}

/// Whether a way leads straight to the next phase.
fn is_down(way: &Way) -> bool {
    !way.back && way.to == way.from + 1
}

/// The size of a phase, and of what is in it, at the origin.
fn node(node: &Node) -> PlacedNode {
    let notes: Vec<String> = node.notes.iter().flat_map(|note| wrapped(note, NOTE, MAX_NOTE)).collect();
    let title = width_of(&node.name, NAME) * 11 / 10 + 48;
    let mut area = Area { w: widest(&notes, NOTE).max(title) + 2 * PAD, ..Area::default() };
    area.h = PAD + NAME + 4 + count(&notes) * LINE + PAD / 2;
    let mut rows = Vec::new();
    let (mut gate, mut gate_at) = (Vec::new(), 0);
    if let Some(group) = &node.group {
        for row in &group.rows {
            let placed = place_row(row, area.h);
            let parts = placed.parts.iter();
            area.w = parts.clone().map(|part| part.area.right()).max().unwrap_or_default().max(area.w - PAD) + PAD;
            area.h = parts.map(|part| part.area.bottom()).max().unwrap_or(area.h) + PAD;
            rows.push(placed);
        }
        if !group.gate.is_empty() {
            gate = wrapped(&format!("gate: {}", group.gate), NOTE, MAX_NOTE.max(area.w - 2 * PAD));
            area.w = area.w.max(widest(&gate, NOTE) + 2 * PAD);
            gate_at = area.h + 4;
            area.h += count(&gate) * LINE;
        }
    }
    PlacedNode { area, notes, rows, gate, gate_at }
}

/// The parts of a row, beside each other as far as they go.
fn place_row(row: &Row, top: i32) -> PlacedRow {
    let mut placed = PlacedRow::default();
    let mut at = Point { x: PAD, y: top };
    if !row.label.is_empty() {
        placed.label = Some(top + NOTE);
        at.y += LINE + 4;
    }
    let gap = if row.in_order { ARROW } else { GAP };
    let mut bottom = at.y;
    for part in &row.parts {
        let notes: Vec<String> = part.notes.iter().flat_map(|note| wrapped(note, NOTE, MAX_PART_NOTE)).collect();
        let w = widest(&notes, NOTE).max(width_of(&part.name, NAME) * 11 / 10).max(56) + 2 * PAD;
        let h = PAD + NAME + count(&notes) * LINE + PAD / 2;
        if at.x > PAD && at.x + w > MAX_ROW {
            at = Point { x: PAD, y: bottom + GAP };
        }
        placed.parts.push(PlacedPart { area: Area { x: at.x, y: at.y, w, h }, notes });
        bottom = bottom.max(at.y + h);
        at.x += w + gap;
    }
    placed
}

/// Moves what is in a phase to where the phase is.
fn centre(node: &mut PlacedNode) {
    let (x, y) = (node.area.x, node.area.y);
    node.gate_at += y;
    for row in &mut node.rows {
        row.label = row.label.map(|label| label + y);
        for part in &mut row.parts {
            part.area.x += x;
            part.area.y += y;
        }
    }
}

/// The ways on one side of the phases.
struct Side {
    left: bool,
    /// The width of the widest label.
    labels: i32,
    lanes: Vec<Lane>,
    count: usize,
}

/// A way on a side.
#[derive(Clone, Copy)]
struct Lane {
    /// Its index in the graph.
    way: usize,
    from: usize,
    to: usize,
    /// How far out it is.
    lane: usize,
}

impl Lane {
    fn span(&self) -> usize {
        self.from.abs_diff(self.to)
    }

    fn crosses(&self, other: &Self) -> bool {
        let ends = |lane: &Self| [lane.from.min(lane.to), lane.from.max(lane.to)];
        let ([a, b], [c, d]) = (ends(self), ends(other));
        a <= d && c <= b
    }
}

impl Side {
    fn of(graph: &Graph, nodes: &[PlacedNode], left: bool) -> Self {
        let own = graph.ways.iter().enumerate().filter(|(_, way)| way.back == left && !is_down(way));
        let own = own.filter(|(_, way)| way.from < nodes.len() && way.to < nodes.len());
        let labels = own.clone().map(|(_, way)| width_of(&way.label, NOTE)).max().unwrap_or_default();
        let mut all: Vec<Lane> =
            own.map(|(index, way)| Lane { way: index, from: way.from, to: way.to, lane: 0 }).collect();
        all.sort_by_key(Lane::span);
        let mut lanes: Vec<Lane> = Vec::new();
        for one in all {
            let taken = |lane: usize| lanes.iter().any(|other| other.lane == lane && other.crosses(&one));
            let lane = (0..).find(|lane| !taken(*lane)).unwrap_or_default();
            lanes.push(Lane { lane, ..one });
        }
        let count = lanes.iter().map(|lane| lane.lane + 1).max().unwrap_or_default();
        Self { left, labels, lanes, count }
    }

    fn width(&self) -> i32 {
        if self.lanes.is_empty() { 0 } else { self.lane(self.count) }
    }

    /// How far a lane is from the boxes.
    fn lane(&self, lane: usize) -> i32 {
        self.labels.max(12) + 16 + i32::try_from(lane).unwrap_or_default() * STEP
    }

    /// How many ways end at this side of a phase.
    fn ends(&self, phase: usize) -> usize {
        self.lanes.iter().map(|lane| usize::from(lane.from == phase) + usize::from(lane.to == phase)).sum()
    }

    /// Where a way touches a phase: ways that come from above lie above those that go below, and none crosses another.
    fn touches(&self, phase: usize, area: &Area, wanted: &End) -> Point {
        let mut ends: Vec<End> = Vec::new();
        for lane in &self.lanes {
            ends.extend((lane.to == phase).then_some(End { way: lane.way, leaves: false, span: lane.span() }));
            ends.extend((lane.from == phase).then_some(End { way: lane.way, leaves: true, span: lane.span() }));
        }
        ends.sort_by_key(|end| {
            let down = end.leaves != self.left;
            let span = i32::try_from(end.span).unwrap_or_default();
            (down, if down { -span } else { span })
        });
        let at = ends.iter().position(|end| end.way == wanted.way && end.leaves == wanted.leaves).unwrap_or_default();
        let (at, all) = (i32::try_from(at).unwrap_or_default(), count(&ends));
        let y = area.y + (area.h - (all - 1) * STEP) / 2 + at * STEP;
        Point { x: if self.left { area.x } else { area.right() }, y }
    }

    fn placed(&self, index: usize, way: &Way, nodes: &[PlacedNode]) -> PlacedWay {
        let lane = self.lanes.iter().find(|lane| lane.way == index);
        let end = |phase: usize, leaves: bool| {
            let area = nodes.get(phase).map(|node| node.area).unwrap_or_default();
            self.touches(phase, &area, &End { way: index, leaves, span: 0 })
        };
        let (from, to) = (end(way.from, true), end(way.to, false));
        let out = self.lane(lane.map_or(0, |lane| lane.lane));
        PlacedWay::Past { from, lane: if self.left { from.x - out } else { from.x + out }, to }
    }
}

/// An end of a way at a phase.
struct End {
    way: usize,
    /// Whether the way begins here.
    leaves: bool,
    span: usize,
}
