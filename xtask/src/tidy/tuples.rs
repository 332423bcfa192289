//! A tuple that bundles arguments hides their names: no parameter of a function, a method, a function pointer or an `Fn`
//! type is a tuple of two or more. Closures over iterators of tuples are free to take them apart.

use std::collections::BTreeSet;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{FnArg, ItemType, ParenthesizedGenericArguments, Pat, Signature, Type, TypeFnPtr};

use super::finding::Finding;
use super::tree::Tree;

const INSTEAD: &str = "pass the parts as arguments (up to seven), or name them in a struct";

/// No parameter is a tuple.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        // What cannot be parsed is found by the check of cycles.
        let Ok(parsed) = file.parsed() else { continue };
        let mut aliases = Aliases::default();
        aliases.visit_file(parsed);
        let mut collector = Collector { aliases: aliases.tuples, found: Vec::new() };
        collector.visit_file(parsed);
        findings.extend(collector.found.into_iter().map(|Found { line, what }| Finding {
            path: file.path.clone(),
            line,
            what,
            instead: INSTEAD,
        }));
    }
    findings
}

struct Found {
    line: usize,
    what: String,
}

/// The type aliases of a file that stand for a tuple.
#[derive(Default)]
struct Aliases {
    tuples: BTreeSet<String>,
}

impl Visit<'_> for Aliases {
    fn visit_item_type(&mut self, item: &ItemType) {
        if is_tuple(&item.ty, &BTreeSet::new()) {
            self.tuples.insert(item.ident.to_string());
        }
    }
}

struct Collector {
    aliases: BTreeSet<String>,
    found: Vec<Found>,
}

impl Visit<'_> for Collector {
    fn visit_signature(&mut self, signature: &Signature) {
        for input in &signature.inputs {
            let FnArg::Typed(argument) = input else { continue };
            if is_tuple(&argument.ty, &self.aliases) || is_tuple_pattern(&argument.pat) {
                let what = format!("a parameter of `{}` is a tuple", signature.ident);
                self.found.push(Found { line: argument.span().start().line, what });
            }
        }
        visit::visit_signature(self, signature);
    }

    fn visit_parenthesized_generic_arguments(&mut self, arguments: &ParenthesizedGenericArguments) {
        for input in &arguments.inputs {
            if is_tuple(&input.ty, &self.aliases) {
                let what = "a parameter of an `Fn` type is a tuple".to_string();
                self.found.push(Found { line: input.span().start().line, what });
            }
        }
        visit::visit_parenthesized_generic_arguments(self, arguments);
    }

    fn visit_type_fn_ptr(&mut self, pointer: &TypeFnPtr) {
        for input in &pointer.inputs {
            if is_tuple(&input.ty, &self.aliases) {
                let what = "a parameter of a function pointer is a tuple".to_string();
                self.found.push(Found { line: input.span().start().line, what });
            }
        }
        visit::visit_type_fn_ptr(self, pointer);
    }
}

fn is_tuple(of: &Type, aliases: &BTreeSet<String>) -> bool {
    match of {
        Type::Tuple(tuple) => tuple.elems.len() > 1,
        Type::Reference(reference) => is_tuple(&reference.elem, aliases),
        Type::Paren(inner) => is_tuple(&inner.elem, aliases),
        Type::Group(inner) => is_tuple(&inner.elem, aliases),
        Type::Path(path) => path.path.segments.last().is_some_and(|last| aliases.contains(&last.ident.to_string())),
        _ => false,
    }
}

fn is_tuple_pattern(pattern: &Pat) -> bool {
    match pattern {
        Pat::Tuple(tuple) => tuple.elems.len() > 1,
        Pat::Reference(reference) => is_tuple_pattern(&reference.pat),
        Pat::Paren(inner) => is_tuple_pattern(&inner.pat),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        check(&tree(&[("a/src/lib.rs", text)])).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_tuple_is_found_in_every_kind_of_parameter() {
        let text = "fn a((x, y): (u8, u8)) {}\nfn b(x: &(u8, u8)) {}\ntrait T {\n    fn c(&self, x: (u8, u8));\n}\n\
                    impl S {\n    fn d(&self, Pair: Pair) {}\n}\nfn e(f: impl Fn((u8, u8)) -> u8) {}\n\
                    struct S {\n    f: Box<dyn FnMut(u8, (u8, u8))>,\n    g: fn((u8, u8)),\n}\ntype Pair = (u8, u8);\n";
        assert_eq!(lines(text), [1, 2, 4, 7, 9, 11, 12]);
    }

    #[test]
    fn collections_of_tuples_results_and_closures_of_iterators_are_free() {
        let text = "fn a(x: &[(u8, u8)], unit: ()) -> (u8, u8) {\n    x.iter().map(|(a, b)| (*a, *b)).next().unwrap()\n}\n\
                    fn b(f: impl Fn(u8, u8) -> (u8, u8), one: (u8,)) {}\n";
        assert_eq!(lines(text), [0; 0]);
    }
}
