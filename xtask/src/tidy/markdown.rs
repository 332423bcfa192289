//! The prose of a Markdown text, block by block: paragraphs, headings, list items, cells of tables. Code is left out.

/// Words that belong together.
pub(super) struct Block {
    /// The words in order.
    pub(super) words: Vec<Word>,
}

/// A word of prose.
pub(super) struct Word {
    /// The word; a code span is one word.
    pub(super) text: String,
    /// Its line, from 1.
    pub(super) line: usize,
}

/// The blocks of a text.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut reader = Reader::default();
    for (at, line) in text.lines().enumerate() {
        reader.line(at + 1, line);
    }
    reader.close();
    reader.blocks
}

#[derive(Default)]
struct Reader {
    blocks: Vec<Block>,
    open: Vec<Word>,
    fence: Option<&'static str>,
    after_blank: bool,
    in_list: bool,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) {
        let text = line.trim();
        let fence = ["```", "~~~"].into_iter().find(|fence| text.starts_with(fence));
        if self.fence.is_some() || fence.is_some() {
            self.close();
            match (self.fence, fence) {
                (None, found) => self.fence = found,
                (open, found) if open == found => self.fence = None,
                _ => {}
            }
            return;
        }
        let after_blank = std::mem::replace(&mut self.after_blank, text.is_empty());
        if text.is_empty() {
            self.close();
        } else if line.starts_with("    ") && after_blank && !self.in_list || text.starts_with("<!--") {
            // Code by indentation stays code over its lines.
            self.after_blank = true;
        } else if text.starts_with('|') {
            self.close();
            for cell in cells(text) {
                self.words(number, &cell);
                self.close();
            }
        } else if text.starts_with('#') {
            self.close();
            self.words(number, text);
            self.close();
        } else {
            if is_item(text) {
                self.close();
                self.in_list = true;
            } else if !line.starts_with(' ') && after_blank {
                self.in_list = false;
            }
            self.words(number, text);
        }
    }

    fn words(&mut self, line: usize, text: &str) {
        let mut word = String::new();
        let mut in_code = false;
        for letter in text.chars() {
            match letter {
                '`' => {
                    in_code = !in_code;
                    word.push(letter);
                }
                letter if letter.is_whitespace() && !in_code => self.word(line, &mut word),
                letter => word.push(letter),
            }
        }
        self.word(line, &mut word);
    }

    fn word(&mut self, line: usize, word: &mut String) {
        let text = std::mem::take(word);
        if !text.is_empty() {
            self.open.push(Word { text, line });
        }
    }

    fn close(&mut self) {
        let words = std::mem::take(&mut self.open);
        if !words.is_empty() {
            self.blocks.push(Block { words });
        }
    }
}

fn is_item(text: &str) -> bool {
    let numbered = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let bullet = ["* ", "- ", "+ ", "> "].iter().any(|mark| text.starts_with(mark));
    bullet || (numbered.len() < text.len() && (numbered.starts_with(". ") || numbered.starts_with(") ")))
}

/// The cells of a row of a table. A bar in a code span, or behind a backslash, divides nothing.
fn cells(row: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut in_code = false;
    let mut escaped = false;
    for letter in row.chars() {
        if letter == '|' && !in_code && !escaped {
            cells.push(String::new());
        } else if let Some(cell) = cells.last_mut() {
            cell.push(letter);
        }
        in_code ^= letter == '`';
        escaped = letter == '\\';
    }
    cells
}
