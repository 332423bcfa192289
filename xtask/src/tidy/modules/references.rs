//! Every path in a file that may lead to another module of the crate, as written.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, Macro, Path, UseTree, VisRestricted};

/// A module's path from the root of its crate; empty is the root.
pub(super) type ModulePath = Vec<String>;

/// A path, and where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// The module in which the path is written.
    pub(crate) module: ModulePath,
    /// Its segments.
    pub(crate) path: Vec<String>,
    /// The line.
    pub(crate) line: usize,
    /// The name that a `use` gives it; `*` for a glob.
    pub(super) name: Option<String>,
}

/// All paths in these items of a module, also in its inline modules, in macros and in attributes. What is for tests only
/// is left out.
pub(super) fn references(module: &[String], items: &[Item]) -> Vec<Reference> {
    let mut collector = Collector { module: module.to_vec(), found: Vec::new() };
    for item in items {
        collector.visit_item(item);
    }
    collector.found
}

struct Collector {
    module: ModulePath,
    found: Vec<Reference>,
}

impl Collector {
    fn add(&mut self, path: Vec<String>, span: Span, name: Option<String>) {
        self.found.push(Reference { module: self.module.clone(), path, line: span.start().line, name });
    }

    fn import(&mut self, before: &[String], tree: &UseTree) {
        let with = |last: &syn::Ident| {
            let mut path = before.to_vec();
            path.push(last.to_string());
            path
        };
        match tree {
            UseTree::Path(path) => self.import(&with(&path.ident), &path.tree),
            UseTree::Name(name) if name.ident == "self" => {
                self.add(before.to_vec(), name.ident.span(), before.last().cloned());
            }
            UseTree::Name(name) => self.add(with(&name.ident), name.ident.span(), Some(name.ident.to_string())),
            UseTree::Rename(name) if name.ident == "self" => {
                self.add(before.to_vec(), name.ident.span(), Some(name.rename.to_string()));
            }
            UseTree::Rename(name) => self.add(with(&name.ident), name.ident.span(), Some(name.rename.to_string())),
            UseTree::Glob(glob) => self.add(before.to_vec(), glob.star_token.span, Some("*".into())),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(before, tree)),
        }
    }

    /// Paths of two or more segments among tokens that have no grammar.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut start = Span::call_site();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons < 2 {
                        self.finish(&mut path, start);
                        start = ident.span();
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                other => {
                    self.finish(&mut path, start);
                    colons = 0;
                    match other {
                        TokenTree::Group(group) => self.tokens(group.stream()),
                        TokenTree::Literal(literal) => self.literal(&literal),
                        _ => {}
                    }
                }
            }
        }
        self.finish(&mut path, start);
    }

    fn finish(&mut self, path: &mut Vec<String>, start: Span) {
        let path = std::mem::take(path);
        if path.len() > 1 {
            self.add(path, start, None);
        }
    }

    /// A path in quotes, as in `#[serde(with = "crate::bytes")]`.
    fn literal(&mut self, literal: &proc_macro2::Literal) {
        let text = literal.to_string();
        let path = text.trim_matches('"');
        if ["crate::", "super::", "self::"].iter().any(|root| path.starts_with(root)) {
            self.add(path.split("::").map(str::to_string).collect(), literal.span(), None);
        }
    }
}

impl Visit<'_> for Collector {
    fn visit_item(&mut self, item: &Item) {
        if !for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &ItemMod) {
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &ItemUse) {
        if item.leading_colon.is_none() {
            self.import(&[], &item.tree);
        }
    }

    fn visit_path(&mut self, path: &Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if let Some(first) = path.segments.first()
            && segments.len() > 1
            && path.leading_colon.is_none()
        {
            self.add(segments, first.ident.span(), None);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &Macro) {
        self.visit_path(&item.path);
        self.tokens(item.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            self.tokens(list.tokens.clone());
        }
    }

    /// `pub(in super::x)` says who may look, and refers to nothing.
    fn visit_vis_restricted(&mut self, _: &VisRestricted) {}
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether an item is compiled for tests only.
pub(super) fn for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let path = attribute.path();
        if path.is_ident("test") {
            return true;
        }
        path.is_ident("cfg") && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string() == "test")
    })
}
