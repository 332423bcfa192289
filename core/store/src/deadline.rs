//! A moment by which an answer must be there.

use std::time::{Duration, Instant};

/// A moment by which the answer must be there.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    began: Instant,
    limit: Duration,
}

impl Deadline {
    /// A deadline that lies `limit` ahead.
    pub fn new(limit: Duration) -> Self {
        Self { began: Instant::now(), limit }
    }

    /// The time that is left.
    pub fn left(&self) -> Duration {
        self.limit.saturating_sub(self.began.elapsed())
    }

    /// The whole time from the beginning to the deadline.
    pub fn limit(&self) -> Duration {
        self.limit
    }

    /// Whether half of the time is gone. From then on a lock is not waited for.
    pub fn half_gone(&self) -> bool {
        self.began.elapsed() >= self.limit / 2
    }
}
