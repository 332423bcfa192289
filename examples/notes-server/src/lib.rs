//! Notes on disk, as an MCP server: a folder of small text files.

use std::path::PathBuf;

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{ServerCapabilities, ServerConfig};
use rmcp::{ServerHandler, schemars, tool, tool_handler, tool_router};
use serde::Deserialize;

/// A folder of notes.
#[derive(Clone, Debug)]
pub struct Notes {
    folder: PathBuf,
}

/// Which note.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
pub struct Which {
    /// The note's title: letters, digits, blanks and hyphens.
    title: String,
}

/// A note.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
pub struct Note {
    /// The note's title: letters, digits, blanks and hyphens.
    title: String,
    /// Its whole text.
    text: String,
}

/// What is looked for.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
pub struct Search {
    /// The words to look for, as they stand in the notes.
    words: String,
}

impl Notes {
    /// The notes in this folder, which is made when the first one is written.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    fn path(&self, title: &str) -> Result<PathBuf, String> {
        let plain = |letter: char| letter.is_alphanumeric() || letter == ' ' || letter == '-';
        if title.is_empty() || !title.chars().all(plain) {
            return Err(format!("`{title}` is no title: use letters, digits, blanks and hyphens"));
        }
        Ok(self.folder.join(format!("{title}.txt")))
    }

    fn titles(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let titles = entries.filter_map(|entry| Some(entry.path().file_stem()?.to_string_lossy().into_owned()));
        let mut titles: Vec<String> = titles.collect();
        titles.sort();
        titles
    }
}

#[tool_router]
impl Notes {
    #[tool(description = "The titles of all notes, one a line", annotations(read_only_hint = true))]
    fn list_notes(&self) -> String {
        self.titles().join("\n")
    }

    #[tool(description = "The text of a note", annotations(read_only_hint = true))]
    fn read_note(&self, Parameters(Which { title }): Parameters<Which>) -> Result<String, String> {
        let path = self.path(&title)?;
        std::fs::read_to_string(path).map_err(|error| format!("`{title}` cannot be read: {error}"))
    }

    #[tool(
        description = "The titles of the notes that hold these words, one a line",
        annotations(read_only_hint = true)
    )]
    fn search_notes(&self, Parameters(Search { words }): Parameters<Search>) -> String {
        let holds = |title: &String| {
            let text = std::fs::read_to_string(self.folder.join(format!("{title}.txt"))).unwrap_or_default();
            text.contains(&words) || title.contains(&words)
        };
        self.titles().into_iter().filter(holds).collect::<Vec<_>>().join("\n")
    }

    #[tool(description = "Writes a note, in place of one with the same title")]
    fn write_note(&self, Parameters(Note { title, text }): Parameters<Note>) -> Result<String, String> {
        let path = self.path(&title)?;
        let written = std::fs::create_dir_all(&self.folder).and_then(|()| std::fs::write(path, text));
        written.map(|()| format!("wrote `{title}`")).map_err(|error| format!("`{title}` cannot be written: {error}"))
    }

    #[tool(description = "Deletes a note", annotations(destructive_hint = true))]
    fn delete_note(&self, Parameters(Which { title }): Parameters<Which>) -> Result<String, String> {
        let removed = std::fs::remove_file(self.path(&title)?);
        removed.map(|()| format!("deleted `{title}`")).map_err(|error| format!("`{title}` cannot be deleted: {error}"))
    }
}

#[tool_handler]
impl ServerHandler for Notes {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_instructions("Notes: small texts with titles.")
    }
}
