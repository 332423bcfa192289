//! The deadline: an answer in time or a problem, and a panic is a problem like any other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use phasegate_adapter::Problem;
use phasegate_core::Code;

/// How long an answer may take if nothing else is said; well under any client's own limit.
pub const LIMIT: Duration = Duration::from_secs(5);
/// The longest limit that `PHASEGATE_DEADLINE_MS` can set.
const LONGEST: Duration = Duration::from_secs(60);

/// The limit that `PHASEGATE_DEADLINE_MS` sets, else [`LIMIT`].
#[must_use]
pub fn limit_from_environment() -> Duration {
    std::env::var("PHASEGATE_DEADLINE_MS")
        .ok()
        .and_then(|text| text.parse().ok())
        .map_or(LIMIT, |milliseconds| Duration::from_millis(milliseconds).min(LONGEST))
}

/// A moment by which the answer must be there.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    began: Instant,
    limit: Duration,
}

impl Deadline {
    /// A deadline that lies `limit` ahead.
    #[must_use]
    pub fn new(limit: Duration) -> Self {
        Self { began: Instant::now(), limit }
    }

    /// Whether half of the time is gone: nobody waits for a lock any longer.
    #[must_use]
    pub fn half_gone(&self) -> bool {
        self.began.elapsed() >= self.limit / 2
    }
}

/// Does the work in a thread of its own and waits for it.
///
/// # Errors
///
/// `deadline`: it took longer than `limit`; the thread goes on and its result is dropped. `internal`: it panicked,
/// or no thread could be started.
pub fn answer_within<T: Send + 'static>(limit: Duration, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
    let (sender, receiver) = sync_channel(1);
    let started = Builder::new().name("answer".to_string()).spawn(move || {
        let _ = sender.send(catch_unwind(AssertUnwindSafe(work)));
    });
    if let Err(error) = started {
        return Err(Problem::new(Code::Internal, format!("no thread could be started: {error}")));
    }
    match receiver.recv_timeout(limit) {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(panic)) => Err(Problem::new(Code::Internal, format!("the guard panicked: {}", words(panic.as_ref())))),
        Err(RecvTimeoutError::Timeout) => {
            Err(Problem::new(Code::Deadline, format!("no answer after {} ms", limit.as_millis())))
        }
        Err(RecvTimeoutError::Disconnected) => Err(Problem::new(Code::Internal, "the guard ended without an answer")),
    }
}

fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("without a message").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_work_is_a_deadline_problem_and_a_panic_an_internal_one() {
        assert_eq!(answer_within(LIMIT, || 7), Ok(7));
        let late = answer_within(Duration::from_millis(20), || std::thread::sleep(Duration::from_millis(500)));
        assert_eq!(late.unwrap_err().code, Code::Deadline);
        let broken = answer_within::<()>(LIMIT, || panic!("broken {}", "piece")).unwrap_err();
        assert_eq!((broken.code, broken.message.as_str()), (Code::Internal, "the guard panicked: broken piece"));
    }
}
