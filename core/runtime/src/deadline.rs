//! The deadline: an answer in time or a problem, and a panic is a problem like any other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use phasegate_adapter::Problem;
use phasegate_core::Code;
pub use phasegate_store::deadline::Deadline;

/// How long an answer may take if nothing else is said; well under any client's own limit.
pub const LIMIT: Duration = Duration::from_secs(5);
/// The longest limit that `PHASEGATE_DEADLINE_MS` can set: a hook that its client gives up on guards nothing.
const LONGEST: Duration = Duration::from_secs(9);

/// The limit that `PHASEGATE_DEADLINE_MS` sets, else [`LIMIT`].
pub fn limit_from_environment() -> Duration {
    limit_of(std::env::var("PHASEGATE_DEADLINE_MS").ok().as_deref())
}

fn limit_of(milliseconds: Option<&str>) -> Duration {
    let given = milliseconds.and_then(|text| text.parse().ok());
    given.map_or(LIMIT, |milliseconds| Duration::from_millis(milliseconds).min(LONGEST))
}

/// Does the work on this thread while another thread watches the deadline. Exactly one of the two calls `send`: with
/// the work's result in time, or else with what `late` makes of the problem.
///
/// The work stays on the calling thread because memory is slower to get on any other one. If the deadline passes,
/// `send` is called on the watching thread while the work goes on; it should end the process.
pub fn answer_within<T: Send>(
    limit: Duration,
    work: impl FnOnce() -> T,
    late: impl Fn(Problem) -> T + Send + Sync + 'static,
    send: impl FnOnce(T) + Send + 'static,
) {
    let once = Arc::new(Mutex::new(Some(send)));
    let late = Arc::new(late);
    let (done, finished) = sync_channel::<()>(1);
    let watch = {
        let (once, late) = (Arc::clone(&once), Arc::clone(&late));
        Builder::new().name("deadline".to_string()).spawn(move || {
            if finished.recv_timeout(limit) == Err(RecvTimeoutError::Timeout)
                && let Some(send) = take(&once)
            {
                send(late(Problem::new(Code::Deadline, format!("no answer after {} ms", limit.as_millis()))));
            }
        })
    };
    let answer = match &watch {
        Ok(_) => catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| late(broken(panic.as_ref()))),
        Err(error) => late(Problem::new(Code::Internal, format!("no thread could be started: {error}"))),
    };
    match take(&once) {
        Some(send) => {
            // The watching thread is not woken before: where `send` ends the process, never.
            send(answer);
            drop(done);
        }
        None => {
            let _ = watch.map(JoinHandle::join);
        }
    }
}

/// Does the work in a thread of its own and waits for it; `None` if it takes longer than `limit` or panics.
pub fn try_within<T: Send + 'static>(limit: Duration, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, receiver) = sync_channel(1);
    let started = Builder::new().spawn(move || {
        let _ = sender.send(work());
    });
    started.ok().and_then(|_| receiver.recv_timeout(limit).ok())
}

fn take<T>(once: &Mutex<Option<T>>) -> Option<T> {
    once.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// The problem that a panic is.
pub fn broken(panic: &(dyn std::any::Any + Send)) -> Problem {
    Problem::new(Code::Internal, format!("the guard panicked: {}", words(panic)))
}

/// What a panic said.
fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("without a message").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(limit: Duration, work: impl FnOnce() -> String) -> String {
        let (sender, receiver) = sync_channel(1);
        let late = |problem: Problem| format!("{}: {}", problem.code, problem.message);
        answer_within(limit, work, late, move |answer| sender.send(answer).unwrap());
        receiver.recv().unwrap()
    }

    #[test]
    fn a_limit_is_never_as_long_as_a_clients_own() {
        for (text, seconds) in [(None, 5), (Some("x"), 5), (Some("-1"), 5), (Some("3000"), 3), (Some("60000"), 9)] {
            assert_eq!(limit_of(text), Duration::from_secs(seconds), "{text:?}");
        }
        assert_eq!(limit_of(Some(&u64::MAX.to_string())), LONGEST);
    }

    #[test]
    fn late_work_is_a_deadline_problem_and_a_panic_an_internal_one() {
        assert_eq!(answer(LIMIT, || "done".to_string()), "done");
        let late = answer(Duration::from_millis(20), || {
            std::thread::sleep(Duration::from_millis(300));
            "too late".to_string()
        });
        assert_eq!(late, "deadline: no answer after 20 ms");
        assert_eq!(answer(LIMIT, || panic!("broken {}", "piece")), "internal: the guard panicked: broken piece");
    }

    #[test]
    fn work_that_is_tried_may_take_too_long_or_panic() {
        assert_eq!(try_within(LIMIT, || 7), Some(7));
        assert_eq!(try_within(Duration::from_millis(20), || std::thread::sleep(Duration::from_millis(300))), None);
        assert_eq!(try_within::<()>(LIMIT, || panic!("broken")), None);
    }
}
