//! How long a guard in a long-lived process is waited for. After it hung, the next events fail almost at once for a while,
//! so that not each of them costs the whole deadline.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use phasegate_adapter::Problem;
use phasegate_core::Code;

/// How long a hang is remembered, unless the guard answers in between.
const REMEMBERED: Duration = Duration::from_secs(30);
/// How long a guard that hung is waited for.
const SHORT: Duration = Duration::from_millis(250);

/// What is remembered of hangs.
#[derive(Debug, Default)]
pub(crate) struct Patience(Mutex<Option<Instant>>);

impl Patience {
    /// How long to wait, of this limit at most.
    pub(crate) fn limit(&self, limit: Duration) -> Duration {
        let hung = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if hung.is_some_and(|at| at.elapsed() < REMEMBERED) { limit.min(SHORT) } else { limit }
    }

    /// Learns from what came of waiting so long, of this limit at most. A problem says so where it was shorter.
    pub(crate) fn learn<T>(&self, waited: Duration, limit: Duration, came: Result<T, Problem>) -> Result<T, Problem> {
        let hung = came.as_ref().err().is_some_and(|problem| matches!(problem.code, Code::Deadline | Code::StateBusy));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = hung.then(Instant::now);
        came.map_err(|mut problem| {
            if hung && waited < limit {
                problem.message = format!("{}; it hung before, so it is not waited for longer", problem.message);
            }
            problem
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hang_shortens_the_next_wait_until_an_answer_comes() {
        let (patience, limit) = (Patience::default(), Duration::from_secs(5));
        let hang = || Err::<(), _>(Problem::new(Code::Deadline, "no answer"));
        assert_eq!(patience.limit(limit), limit);
        assert_eq!(patience.learn(limit, limit, hang()).unwrap_err().message, "no answer");
        assert_eq!(patience.limit(limit), SHORT);
        assert!(patience.learn(SHORT, limit, hang()).unwrap_err().message.contains("hung before"));
        assert_eq!(patience.limit(limit), SHORT);
        let other = patience.learn(SHORT, limit, Err::<(), _>(Problem::new(Code::PolicyMissing, "gone")));
        assert_eq!((other.unwrap_err().message.as_str(), patience.limit(limit)), ("gone", limit));
    }
}
