//! Variables that say where git works. What any place of the line gives them counts for every command of git in the line:
//! a wrapper, a shell, a function and a loop hand them on.

use phasegate_core::analysis::{Access, Verdict};

use crate::arguments::Given;
use crate::check::git;
use crate::field::Field;
use crate::finding::Finding;
use crate::git_places::{Place, Site};
use crate::scope::WORD_STEPS;
use crate::tree::Span;
use crate::walk::Walk;

/// The most values and commands that are kept.
const MOST: usize = 16;
/// The most operands that are kept of a command.
const MAX_OPERANDS: usize = 8;
/// Commands that leave the files of the working tree alone, whichever it is.
const LEAVES: &str = "add annotate blame branch bundle cat-file check-attr check-ignore check-mailmap check-ref-format \
    cherry commit commit-graph commit-tree config count-objects describe diff diff-files diff-index diff-tree fast-export \
    fetch fetch-pack fmt-merge-msg for-each-ref fsck gc get-tar-commit-id grep hash-object help interpret-trailers \
    last-modified log ls-files ls-remote ls-tree maintenance merge-base mktag mktree name-rev notes pack-refs patch-id \
    prune push range-diff reflog refs remote repack rev-list rev-parse shortlog show show-branch show-ref stage status \
    stripspace symbolic-ref tag update-index update-ref var verify-commit verify-pack verify-tag version whatchanged \
    write-tree";

impl Walk<'_> {
    /// Takes note of a value that the line gives to a variable, at any place and in any way.
    pub(crate) fn tell_git_place(&mut self, variable: &str, value: &Field, appends: bool) {
        let folder = Field { many: false, ..value.clone() };
        match variable {
            "GIT_DIR" => self.git_place(Place { folder: Field::text(".", value.span), here: true }),
            "GIT_WORK_TREE" if appends => {
                let open = Field { many: false, ..Field::any(value.span) };
                let trees = self.git.places.iter().filter(|place| !place.here).map(|place| place.folder.clone());
                for mut whole in std::iter::once(open).chain(trees).collect::<Vec<_>>() {
                    whole.push(&folder);
                    self.git_place(Place { folder: whole, here: false });
                }
            }
            "GIT_WORK_TREE" => self.git_place(Place { folder, here: false }),
            _ => {}
        }
    }

    fn git_place(&mut self, place: Place) {
        if self.git.places.contains(&place) {
            return;
        }
        let span = place.folder.span;
        if self.git.crowded || self.git.places.len() >= MOST {
            return self.stop("the line says too often where git works", span);
        }
        // A function, or the next turn of a loop, may run it later.
        for site in self.git.sites.clone() {
            self.touch_place(&place, &site, span);
        }
        self.git.places.push(place);
    }

    /// Takes note of a command of git, with the options before it.
    pub(super) fn git_site(
        &mut self,
        name: &str,
        options: &[Given],
        verdict: Verdict,
        command: &Field,
        rest: &[Field],
    ) {
        let span = command.span;
        let leaves = LEAVES.split_whitespace().any(|leaves| command.known() == Some(leaves));
        if name != "git" || verdict == Verdict::Read || leaves {
            return;
        }
        let operands = rest.iter().filter(|field| !field.start().starts_with('-')).take(MAX_OPERANDS);
        let site = Site {
            folder: git::in_folder(options, &Field::text(".", span)),
            folders: self.scope.folders.clone(),
            operands: operands.cloned().collect(),
        };
        let given = options.iter().filter_map(|given| match given.name.as_str() {
            "work-tree" => Some(Place { folder: given.value.clone()?, here: false }),
            "git-dir" => Some(Place { folder: Field::text(".", given.span), here: true }),
            _ => None,
        });
        let told: Vec<Place> = self.git.places.iter().cloned().chain(given).collect();
        told.iter().for_each(|place| self.touch_place(place, &site, span));
        if self.git.sites.len() < MOST {
            self.git.sites.push(site);
        } else {
            self.git.crowded = true;
        }
    }

    /// Takes note of a program that nobody can see into: it may run git.
    pub(super) fn opaque_site(&mut self, finding: &Finding, span: Span) {
        let trees = self.git.places.iter().filter(|place| !place.here).cloned().collect::<Vec<_>>();
        if matches!(finding.verdict, Verdict::Execute | Verdict::Unknown) {
            let site =
                Site { folder: Field::text(".", span), folders: self.scope.folders.clone(), operands: Vec::new() };
            trees.iter().for_each(|place| self.touch_place(place, &site, span));
        }
    }

    /// Takes note that a command may change anything in a folder. Of one that is not known, what its operands name.
    fn touch_place(&mut self, place: &Place, site: &Site, span: Span) {
        if place.here && site.is_at_start()
            || !self.spend(WORD_STEPS.saturating_mul(site.operands.len().saturating_add(1)), span)
        {
            return;
        }
        let outer = std::mem::replace(&mut self.scope.folders, site.folders.clone());
        let folder = place.folder.below(&site.folder);
        self.touch(&folder, Access::Remove);
        if folder.known().is_none() {
            let open: Vec<Field> = site.operands.iter().map(|operand| operand.below(&folder)).collect();
            open.iter().for_each(|path| self.touch(path, Access::Remove));
        }
        self.scope.folders = outer;
    }
}
