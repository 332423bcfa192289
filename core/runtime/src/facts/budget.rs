//! How much a source of facts looks at before it says that it does not know.

use std::time::{Duration, Instant};

/// The most files and folders that are looked at.
pub(super) const MAX_ENTRIES: usize = 20_000;
/// The longest time that the processor works on it: what else the machine does changes no answer.
const MAX_WORK: Duration = Duration::from_millis(100);
/// The longest time that it may take, with the time that a disk or a network takes.
const MAX_TIME: Duration = Duration::from_secs(1);
/// After how many entries the clocks are read again.
const EVERY: usize = 64;

/// What is left to look at.
pub(crate) struct Budget {
    began: Instant,
    work: Duration,
    time: Duration,
    worked: Duration,
    entries: usize,
}

impl Budget {
    /// Begins to look.
    pub(super) fn begin() -> Self {
        Self::of(MAX_WORK, MAX_TIME)
    }

    /// Begins to work for so long at most: the processor, and in all.
    pub(crate) fn of(work: Duration, time: Duration) -> Self {
        Self { began: Instant::now(), work, time, worked: worked(), entries: 0 }
    }

    /// Counts an entry; `None` if it is one too many, or if the time is over.
    pub(super) fn entry(&mut self) -> Option<()> {
        self.entries = self.entries.saturating_add(1);
        let over = self.entries > MAX_ENTRIES || (self.entries.is_multiple_of(EVERY) && self.is_late());
        (!over).then_some(())
    }

    /// Whether the time is over.
    pub(crate) fn is_late(&self) -> bool {
        self.began.elapsed() > self.time || worked().saturating_sub(self.worked) > self.work
    }
}

/// How long the processor has worked for this thread.
#[cfg(unix)]
fn worked() -> Duration {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = Duration::from_secs(u64::try_from(spent.tv_sec).unwrap_or_default());
    seconds + Duration::from_nanos(u64::try_from(spent.tv_nsec).unwrap_or_default())
}

/// How long the processor has worked for this thread: not known here.
#[cfg(not(unix))]
fn worked() -> Duration {
    Duration::ZERO
}
