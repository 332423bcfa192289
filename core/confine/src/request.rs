//! What to run, and how it is confined.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::level::Level;

/// A command, and what it may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The level to run it at: this one, never a lower one.
    pub level: Level,
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// The folders over which a layer lies at [`Level::Overlay`]: the home, the project. Parents come before children.
    pub overlaid: Vec<PathBuf>,
    /// The folders in which changes stay, whatever lies around them.
    pub writable: Vec<PathBuf>,
    /// The folders that must not change, at [`Level::Protect`].
    pub protected: Vec<PathBuf>,
    /// The folders that stay in their place, with whatever the command changes in them, at [`Level::Protect`].
    pub held: Vec<PathBuf>,
    /// Sockets, and folders of them, that the command cannot reach, at [`Level::Protect`].
    pub covered: Vec<PathBuf>,
    /// Folders in `/tmp` or `/run` that stay in sight, read-only. Everything else there is hidden.
    pub visible: Vec<PathBuf>,
    /// Files that are copied out when the command has ended, at most 64 KiB each: where a shell leaves its folder.
    pub returned: Vec<PathBuf>,
    /// Folders of caches with layers that outlive the command.
    pub caches: Vec<Cache>,
    /// Whether the network is as without. Otherwise there is only `localhost`, and none of its servers outside.
    pub network: bool,
    /// Whether the command ends when the process ends that started this one.
    pub with_parent: bool,
    /// The folder in which work folders are made and swept; see [`crate::work_base`].
    pub work: PathBuf,
    /// What the kernel is taken not to have, in tests.
    pub fakes: Vec<Fake>,
}

/// A folder whose changes go to a layer of its own, which the caller keeps for a session and never commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    /// The folder, such as `target`.
    pub path: PathBuf,
    /// Where its layer is.
    pub layer: PathBuf,
}

/// Something that a kernel may lack. Only code can say so: no variable and no argument of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fake {
    /// User namespaces are refused.
    NoUserNamespaces,
    /// The overlay is refused.
    NoOverlay,
    /// Landlock is missing.
    NoLandlock,
    /// A file system of processes cannot be mounted.
    NoProc,
}

impl Fake {
    const ALL: [(Self, &'static str); 4] = [
        (Self::NoUserNamespaces, "user-namespaces"),
        (Self::NoOverlay, "overlay"),
        (Self::NoLandlock, "landlock"),
        (Self::NoProc, "proc"),
    ];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(fake, _)| *fake == self).map_or("", |(_, name)| name)
    }
}

impl Request {
    /// A request that confines nothing to speak of: a level, a command and a folder for work.
    pub fn new(level: Level, command: Vec<OsString>, work: PathBuf) -> Self {
        Self {
            level,
            command,
            overlaid: Vec::new(),
            writable: Vec::new(),
            protected: Vec::new(),
            held: Vec::new(),
            covered: Vec::new(),
            visible: Vec::new(),
            returned: Vec::new(),
            caches: Vec::new(),
            network: false,
            with_parent: false,
            work,
            fakes: Vec::new(),
        }
    }

    /// Whether a test says that the kernel lacks something.
    #[cfg(target_os = "linux")]
    pub(crate) fn lacks(&self, fake: Fake) -> bool {
        self.fakes.contains(&fake)
    }

    /// The request as arguments of a program, from which [`Request::from_args`] makes it again.
    pub fn to_args(&self) -> Vec<OsString> {
        let mut args: Vec<OsString> =
            vec!["level".into(), self.level.name().into(), "work".into(), (&self.work).into()];
        let mut add = |name: &str, values: &mut dyn Iterator<Item = OsString>| {
            values.for_each(|value| args.extend([name.into(), value]));
        };
        let lists = [
            ("overlaid", &self.overlaid),
            ("writable", &self.writable),
            ("protected", &self.protected),
            ("held", &self.held),
            ("covered", &self.covered),
            ("visible", &self.visible),
            ("returned", &self.returned),
        ];
        for (name, paths) in lists {
            add(name, &mut paths.iter().map(OsString::from));
        }
        for cache in &self.caches {
            add("cache", &mut [(&cache.path).into()].into_iter());
            add("layer", &mut [(&cache.layer).into()].into_iter());
        }
        add("lacks", &mut self.fakes.iter().map(|fake| fake.name().into()));
        add("network", &mut self.network.then(OsString::new).into_iter());
        add("parent", &mut self.with_parent.then(OsString::new).into_iter());
        args.push("--".into());
        args.extend(self.command.iter().cloned());
        args
    }

    /// The request that these arguments were made from.
    pub fn from_args(mut args: impl Iterator<Item = OsString>) -> Option<Self> {
        let mut request = Self::new(Level::None, Vec::new(), PathBuf::new());
        loop {
            let name = args.next()?;
            if name == "--" {
                request.command = args.collect();
                return Some(request);
            }
            request.take(name.to_str()?, &args.next()?)?;
        }
    }

    fn take(&mut self, name: &str, value: &OsStr) -> Option<()> {
        let path = || PathBuf::from(value);
        match name {
            "level" => self.level = Level::find(value.to_str()?)?,
            "work" => self.work = path(),
            "overlaid" => self.overlaid.push(path()),
            "writable" => self.writable.push(path()),
            "protected" => self.protected.push(path()),
            "held" => self.held.push(path()),
            "covered" => self.covered.push(path()),
            "visible" => self.visible.push(path()),
            "returned" => self.returned.push(path()),
            "cache" => self.caches.push(Cache { path: path(), layer: PathBuf::new() }),
            "layer" => self.caches.last_mut()?.layer = path(),
            "lacks" => self.fakes.push(Fake::ALL.iter().find(|(_, name)| value == *name)?.0),
            "network" => self.network = true,
            "parent" => self.with_parent = true,
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_survives_its_way_to_another_process() {
        let request = Request {
            overlaid: vec!["/a b".into(), "/c".into()],
            writable: vec!["/--".into()],
            protected: vec!["/p".into()],
            held: vec!["/h".into()],
            visible: vec!["/v".into()],
            returned: vec!["/r".into()],
            caches: vec![Cache { path: "/x".into(), layer: "/y".into() }],
            network: true,
            with_parent: true,
            fakes: vec![Fake::NoProc, Fake::NoOverlay],
            ..Request::new(Level::Binds, vec!["a".into(), "--".into(), "".into()], "/w".into())
        };
        assert_eq!(Request::from_args(request.to_args().into_iter()), Some(request));
        assert_eq!(Request::from_args(["nonsense".into(), "".into(), "--".into()].into_iter()), None);
    }
}
