//! The module tree of one crate: which file holds which module, and which file a path leads to.

pub(super) mod references;

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::{Item, ItemMod};

use super::tree::Tree;
use references::{ModulePath, Reference, for_tests, references};

/// Re-exports that lead to re-exports are followed this often.
const MAX_REEXPORTS: usize = 16;

/// The modules of one crate.
#[derive(Default)]
pub(super) struct Modules {
    modules: BTreeMap<ModulePath, Module>,
    /// What the files refer to, as written.
    pub(super) references: Vec<Reference>,
    /// Files that are not Rust as the parser knows it, with the line and the parser's message.
    pub(super) unreadable: Vec<Unreadable>,
}

/// A file that the parser refuses.
pub(super) struct Unreadable {
    /// The file.
    pub(super) path: String,
    /// The line.
    pub(super) line: usize,
    /// Why.
    pub(super) why: String,
}

/// One module, in a file of its own or inline.
struct Module {
    file: String,
    /// Whether the module is only a list of modules and imports, so that paths lead through it.
    facade: bool,
    /// Names that it defines.
    defines: BTreeSet<String>,
    /// What it imports, under the name that it gives it; a glob has the name `*`.
    imports: Vec<Import>,
}

/// A name that a `use` brings into a module.
struct Import {
    name: String,
    path: Vec<String>,
}

/// Where a module stands while the tree is read.
struct Place<'a> {
    file: &'a str,
    /// The folder of the files of its child modules.
    folder: String,
    path: ModulePath,
}

impl Modules {
    /// Reads the crate whose root is this file. Modules for tests are left out.
    pub(super) fn load(tree: &Tree, root: &str) -> Self {
        let mut modules = Self::default();
        let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
        modules.read(tree, &Place { file: root, folder: folder.to_string(), path: Vec::new() });
        modules
    }

    /// The file that a path in this module leads to; `None` for what is not of this crate.
    pub(super) fn target(&self, reference: &Reference) -> Option<&str> {
        self.resolve(&reference.module, &reference.path, 0)
    }

    /// The file of a module.
    pub(super) fn file(&self, module: &[String]) -> Option<&str> {
        self.modules.get(module).map(|module| module.file.as_str())
    }

    fn read(&mut self, tree: &Tree, place: &Place<'_>) {
        let Some(file) = tree.file(place.file) else { return };
        match file.parsed() {
            Ok(parsed) => self.add(tree, place, &parsed.items),
            Err(error) => {
                let line = error.span().start().line;
                self.unreadable.push(Unreadable { path: file.path.clone(), line, why: error.to_string() });
            }
        }
    }

    fn add(&mut self, tree: &Tree, place: &Place<'_>, items: &[Item]) {
        let facade = items.iter().all(|item| match item {
            Item::Mod(module) => module.content.is_none() || for_tests(&module.attrs),
            Item::Use(_) | Item::ExternCrate(_) => true,
            _ => false,
        });
        let found = references(&place.path, items);
        let imports = found
            .iter()
            .filter(|reference| reference.module == place.path)
            .filter_map(|reference| Some(Import { name: reference.name.clone()?, path: reference.path.clone() }))
            .collect();
        let defines = items.iter().filter_map(defined).collect();
        self.references.extend(found);
        self.modules.insert(place.path.clone(), Module { file: place.file.to_string(), facade, defines, imports });
        for module in items.iter().filter_map(as_module).filter(|module| !for_tests(&module.attrs)) {
            self.child(tree, place, module);
        }
        for name in items.iter().filter_map(invoked).flat_map(words) {
            // A macro may declare the files that it lists.
            let file = format!("{}/{name}.rs", place.folder);
            let mut path = place.path.clone();
            path.push(name.clone());
            if tree.file(&file).is_some() && !self.modules.contains_key(&path) {
                let folder = format!("{}/{name}", place.folder);
                self.read(tree, &Place { file: &file, folder, path });
            }
        }
    }

    fn child(&mut self, tree: &Tree, place: &Place<'_>, module: &ItemMod) {
        let name = module.ident.to_string();
        let mut path = place.path.clone();
        path.push(name.clone());
        let folder = format!("{}/{name}", place.folder);
        if let Some((_, items)) = &module.content {
            let inline = Place { file: place.file, folder, path };
            // The references of an inline module are already among those of its file.
            let known = self.references.len();
            self.add(tree, &inline, items);
            self.references.truncate(known);
            return;
        }
        let beside = format!("{}/{name}.rs", place.folder);
        let within = format!("{folder}/mod.rs");
        let file = if tree.file(&beside).is_some() { beside } else { within };
        self.read(tree, &Place { file: &file, folder, path });
    }

    fn resolve(&self, from: &[String], path: &[String], depth: usize) -> Option<&str> {
        let (at, rest) = self.start(from, path)?;
        let (at, rest) = self.descend(at, rest);
        let module = self.modules.get(&at)?;
        match rest.first() {
            Some(name) if module.facade && depth < MAX_REEXPORTS => {
                Some(self.reexported(&at, name, depth).unwrap_or(&module.file))
            }
            _ => Some(&module.file),
        }
    }

    /// The module in which a path starts, and the rest of the path.
    fn start<'a>(&self, from: &[String], path: &'a [String]) -> Option<(ModulePath, &'a [String])> {
        let (first, rest) = path.split_first()?;
        let mut at = from.to_vec();
        match first.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => {
                at.pop()?;
            }
            _ => {
                at.push(first.clone());
                self.modules.get(&at)?;
            }
        }
        let mut rest = rest;
        while let Some((first, after)) = rest.split_first()
            && first == "super"
        {
            at.pop()?;
            rest = after;
        }
        Some((at, rest))
    }

    /// The deepest module on a path, and what of the path is left.
    fn descend<'a>(&self, mut at: ModulePath, mut rest: &'a [String]) -> (ModulePath, &'a [String]) {
        while let Some((first, after)) = rest.split_first() {
            at.push(first.clone());
            if !self.modules.contains_key(&at) {
                at.pop();
                break;
            }
            rest = after;
        }
        (at, rest)
    }

    /// The file that defines a name which this facade re-exports.
    fn reexported(&self, at: &[String], name: &str, depth: usize) -> Option<&str> {
        let module = self.modules.get(at)?;
        if let Some(import) = module.imports.iter().find(|import| import.name == name) {
            return self.resolve(at, &import.path, depth + 1);
        }
        let globs = module.imports.iter().filter(|import| import.name == "*");
        globs.filter_map(|import| self.start(at, &import.path)).find_map(|(start, rest)| {
            let (behind, _) = self.descend(start, rest);
            let target = self.modules.get(&behind)?;
            if target.defines.contains(name) {
                return Some(target.file.as_str());
            }
            (depth < MAX_REEXPORTS).then(|| self.reexported(&behind, name, depth + 1)).flatten()
        })
    }
}

/// The tokens of a macro that an item calls.
fn invoked(item: &Item) -> Option<TokenStream> {
    match item {
        Item::Macro(item) if item.ident.is_none() => Some(item.mac.tokens.clone()),
        _ => None,
    }
}

/// The words among tokens, at any depth.
fn words(tokens: TokenStream) -> Vec<String> {
    let words = tokens.into_iter().flat_map(|token| match token {
        TokenTree::Ident(ident) => vec![ident.to_string()],
        TokenTree::Group(group) => words(group.stream()),
        _ => Vec::new(),
    });
    words.collect()
}

fn as_module(item: &Item) -> Option<&ItemMod> {
    match item {
        Item::Mod(module) => Some(module),
        _ => None,
    }
}

fn defined(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}
