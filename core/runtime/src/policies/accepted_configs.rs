//! What decides: the configs that a person accepted, by their content and not by where they lie (rules 4).
//!
//! The texts are kept in the state folder under their digest, and the project's journal names the digest. Other texts are an
//! offer: they wait until a person accepts them, but for those that only ask for more.

use std::path::{Path, PathBuf};

use phasegate_adapter::Problem;
use phasegate_config::SourceFile;
use phasegate_core::Code;
use phasegate_store::file_store::FileStore;
use phasegate_store::journal::read_last;

use crate::policies::difference::{difference, only_asks_for_more, way};
use crate::policies::policy_store::Current;
use crate::project::discover::Found;
use crate::project::texts::{self, Accepted, Part, Texts, part_of};
use crate::project::{Project, worktree_of};
use crate::runtime::Runtime;
use crate::sessions::snapshot::ProjectSnapshot;

/// Says in the environment of a client which configs of a project are accepted: `project`, or their digest.
pub const ACCEPT_VARIABLE: &str = "PHASEGATE_ACCEPT";

/// Configs that nobody accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// In what they differ from those that decide, each as a fragment.
    pub difference: Vec<String>,
    /// Whether they can decide: they are there, and have no mistakes.
    pub usable: bool,
    /// What a person does about them, as sentences.
    pub way: &'static str,
    /// The digest of the project's part.
    pub digest: String,
    /// Whether the user's part waits, which is that of every project.
    pub of_user: bool,
}

impl Offer {
    /// What a person is told of it when a session starts.
    pub fn notice(&self) -> String {
        format!(
            "phasegate: the configs of this project changed, and the accepted ones stay in force: {}. {}",
            self.difference.join("; "),
            self.way
        )
    }
}

/// What decides in a project, and what is offered beside it.
#[derive(Clone, Debug)]
pub struct Choice {
    /// What decides.
    pub current: Current,
    /// What the texts that decide are called, and the texts.
    pub texts: Texts,
    /// What waits for a person.
    pub offer: Option<Offer>,
    /// Whether the texts are those of another folder, which says what is accepted here too.
    pub inherited: bool,
}

impl Runtime {
    /// What decides for new sessions of this project.
    ///
    /// # Errors
    ///
    /// As for [`Runtime::choose`].
    pub fn current(&self, project: &Project) -> Result<Current, Problem> {
        Ok(self.chosen(project)?.current)
    }

    /// What decides for new sessions of this project, and what is offered beside it.
    ///
    /// # Errors
    ///
    /// As for [`Runtime::choose`]; and `state-unreadable`, `state-version`: the project's journal cannot be read.
    pub fn chosen(&self, project: &Project) -> Result<Choice, Problem> {
        let kept = read_last::<ProjectSnapshot>(&FileStore, &project.journal())?.map(|last| last.state);
        self.choose(project, &kept.unwrap_or_default())
    }

    /// What waits for a person in this project.
    ///
    /// # Errors
    ///
    /// As for [`Runtime::chosen`].
    pub fn offer(&self, project: &Project) -> Result<Option<Offer>, Problem> {
        Ok(self.chosen(project)?.offer)
    }

    /// What decides in this project, by what its journal keeps: the one place that says so.
    ///
    /// # Errors
    ///
    /// `policy-missing`: the texts that were accepted are gone or damaged. `state-not-saved`: a compiled policy cannot be
    /// written.
    pub fn choose(&self, project: &Project, kept: &ProjectSnapshot) -> Result<Choice, Problem> {
        let known = self.accepted_digests(project, kept)?;
        let mut choice = self.choose_by(&known, &self.discover(project))?;
        let inherits = kept.accepted.is_none();
        choice.inherited = inherits && known.project.as_ref() == Some(&choice.texts.accepted.project);
        Ok(choice)
    }

    fn choose_by(&self, known: &Known, found: &Found) -> Result<Choice, Problem> {
        let offered = Texts::of(found);
        let same = |known: &Option<String>, now: &String| known.as_ref().is_none_or(|known| known == now);
        let (own, users) = (same(&known.project, &offered.accepted.project), same(&known.user, &offered.accepted.user));
        let whole = |part| known.is_new(part) || !found.problems_of(part == Part::Project);
        if own && users && whole(Part::Project) && whole(Part::User) {
            return Ok(Choice {
                current: self.policies.current(found)?,
                texts: offered,
                offer: None,
                inherited: false,
            });
        }
        let base = self.base(found, known)?;
        let (before, now) = (self.policies.current(&base)?, self.policies.current(found)?);
        if only_asks_for_more(&now, &before) {
            return Ok(Choice { current: now, texts: offered, offer: None, inherited: false });
        }
        let difference = difference(&now, &before);
        let of_user = !users || !whole(Part::User);
        let usable = matches!(now, Current::Ready(_));
        let way = way(&now);
        let offer = Some(Offer { difference, usable, way, digest: offered.accepted.project, of_user });
        Ok(Choice { current: before, texts: Texts::of(&base), offer, inherited: false })
    }

    /// What the configs mean that are there, accepted or not.
    ///
    /// # Errors
    ///
    /// `state-not-saved`: a compiled policy cannot be written.
    pub fn offered(&self, project: &Project) -> Result<Choice, Problem> {
        let found = self.discover(project);
        Ok(Choice { current: self.policies.current(&found)?, texts: Texts::of(&found), offer: None, inherited: false })
    }

    /// The digests that were accepted. Where nobody accepted anything yet, those of the repository's main folder count in its
    /// worktree, and those of a project in the folders below: what comes there is no first sight.
    fn accepted_digests(&self, project: &Project, kept: &ProjectSnapshot) -> Result<Known, Problem> {
        let of = |root: PathBuf| -> Result<Option<Accepted>, Problem> {
            let journal = Project::at(&self.locations, &root).journal();
            let kept = read_last::<ProjectSnapshot>(&FileStore, &journal)?.and_then(|last| last.state.accepted);
            // What never had configs of its own says nothing of others.
            Ok(kept.filter(|kept| !texts::is_of_none(&kept.project)))
        };
        let above = project.root.ancestors().skip(1).map(Path::to_path_buf);
        let mut own = kept.accepted.clone();
        for root in worktree_of(&project.root).into_iter().chain(above) {
            own = match own {
                Some(own) => Some(own),
                None => of(root)?,
            };
        }
        let user = texts::of_user(&self.locations).or_else(|| own.as_ref().map(|own| own.user.clone()));
        Ok(Known { project: own.map(|own| own.project), user })
    }

    /// The texts that were accepted, with those that are new and those that nobody has to accept.
    fn base(&self, found: &Found, known: &Known) -> Result<Found, Problem> {
        let mut base = found.clone();
        base.files.clear();
        for (part, digest) in [(Part::Project, &known.project), (Part::User, &known.user)] {
            match digest {
                Some(digest) => {
                    base.files.extend(self.stored(digest)?);
                    base.forget_problems(part == Part::Project);
                }
                None => base.files.extend(found.files.iter().filter(|file| part_of(file) == part).cloned()),
            }
        }
        base.files.extend(found.files.iter().filter(|file| part_of(file) == Part::Administrator).cloned());
        Ok(base)
    }

    fn stored(&self, digest: &str) -> Result<Vec<SourceFile>, Problem> {
        texts::read(&self.locations, digest).ok_or_else(|| {
            let text = "the configs changed, and the ones that were accepted are gone from the state, or damaged there";
            let way = "ask the user to run `phasegate reload` in a terminal, after a look at the configs";
            Problem::new(Code::PolicyMissing, text.to_string()).with_remedy(way.to_string())
        })
    }
}

/// What was accepted, where anything was.
struct Known {
    project: Option<String>,
    user: Option<String>,
}

impl Known {
    fn is_new(&self, part: Part) -> bool {
        match part {
            Part::Project => self.project.is_none(),
            Part::User | Part::Administrator => self.user.is_none(),
        }
    }
}
