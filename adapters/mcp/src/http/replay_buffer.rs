//! One stream of messages to a client: recently sent messages, and waiting ones.
//!
//! The event stream that reads it, from a request or a resumption, is its reader. A new reader replaces the previous
//! one. Messages wait while there is no reader.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::message::Message;

/// How many messages wait for a reader at most.
const MAX_WAITING_MESSAGES: usize = 256;
/// How many bytes wait for a reader at most. One message may have more.
const MAX_WAITING_BYTES: usize = 4 << 20;
/// How many bytes of what was sent are kept, so that a reader who lost the connection can have them again.
const MAX_REPLAY_BYTES: usize = 64 << 10;
/// How long a reader may take no message while too many wait; then it is one no more.
const SLOW_READER_TIMEOUT: Duration = Duration::from_secs(60);

/// One stream of messages to a client.
#[derive(Debug, Default)]
pub(super) struct ReplayBuffer {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    sent: VecDeque<(u64, Message)>,
    waiting: VecDeque<(u64, Message)>,
    last: u64,
    bytes: usize,
    /// Whether what was sent is kept.
    keeps: bool,
    closed: bool,
    /// The present reader's number; 0 while there is none.
    reader: u64,
    readers: u64,
}

impl ReplayBuffer {
    /// A stream whose messages can be had again after they were sent.
    pub(super) fn resumable() -> Arc<Self> {
        let state = Mutex::new(State { keeps: true, ..State::default() });
        Arc::new(Self { state, changed: Notify::new() })
    }

    /// Adds a message when there is room. Without a reader, the oldest messages are dropped.
    pub(super) async fn push(&self, message: Message) {
        loop {
            let changed = self.changed.notified();
            {
                let mut state = self.lock();
                let full = !state.waiting.is_empty()
                    && (state.waiting.len() >= MAX_WAITING_MESSAGES
                        || state.bytes.saturating_add(message.bytes().len()) > MAX_WAITING_BYTES);
                if !full || state.reader == 0 || state.closed {
                    state.add(message, full);
                    break;
                }
            }
            if tokio::time::timeout(SLOW_READER_TIMEOUT, changed).await.is_err() {
                self.lock().reader = 0;
            }
        }
        self.changed.notify_waiters();
    }

    /// Adds a message at once.
    pub(super) fn push_now(&self, message: Message) {
        self.lock().add(message, false);
        self.changed.notify_waiters();
    }

    /// Ends the stream after what waits.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_waiters();
    }

    /// Whether there is a reader.
    pub(super) fn is_read(&self) -> bool {
        self.lock().reader != 0
    }

    /// Whether the stream has ended and everything was sent.
    pub(super) fn is_done(&self) -> bool {
        let state = self.lock();
        state.closed && state.waiting.is_empty()
    }

    /// Reads from here on, or from after a message that was sent before: the oldest one that is still kept.
    pub(super) fn read(self: &Arc<Self>, after: Option<u64>) -> Reader {
        let mut state = self.lock();
        if let Some(after) = after {
            while let Some((number, message)) = state.sent.pop_back() {
                if number <= after {
                    state.sent.push_back((number, message));
                    break;
                }
                state.bytes = state.bytes.saturating_add(message.bytes().len());
                state.waiting.push_front((number, message));
            }
        }
        state.readers = state.readers.saturating_add(1);
        state.reader = state.readers;
        let number = state.reader;
        drop(state);
        self.changed.notify_waiters();
        Reader { buffer: Arc::clone(self), number }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add(&mut self, message: Message, full: bool) {
        if self.closed {
            return;
        }
        if full && let Some((_, oldest)) = self.waiting.pop_front() {
            self.bytes = self.bytes.saturating_sub(oldest.bytes().len());
        }
        self.last = self.last.saturating_add(1);
        self.bytes = self.bytes.saturating_add(message.bytes().len());
        self.waiting.push_back((self.last, message));
    }

    fn take(&mut self) -> Option<(u64, Message)> {
        let (number, message) = self.waiting.pop_front()?;
        self.bytes = self.bytes.saturating_sub(message.bytes().len());
        if self.keeps {
            self.sent.push_back((number, message.clone()));
            let mut kept: usize = self.sent.iter().map(|(_, message)| message.bytes().len()).sum();
            while kept > MAX_REPLAY_BYTES {
                let Some((_, oldest)) = self.sent.pop_front() else { break };
                kept = kept.saturating_sub(oldest.bytes().len());
            }
        }
        Some((number, message))
    }
}

/// The current reader of a stream.
#[derive(Debug)]
pub(super) struct Reader {
    buffer: Arc<ReplayBuffer>,
    number: u64,
}

/// What a reader gets.
#[derive(Debug)]
pub(super) enum Next {
    /// A message with its number in the stream.
    Message(u64, Message),
    /// Nothing for a while.
    Silence,
    /// The stream has ended, or another reads it now.
    End,
}

impl Reader {
    /// The next message, when there is one; silence is told after this time.
    pub(super) async fn next(&self, silence: Duration) -> Next {
        let silent = tokio::time::sleep(silence);
        tokio::pin!(silent);
        loop {
            let changed = self.buffer.changed.notified();
            {
                let mut state = self.buffer.lock();
                if state.reader != self.number {
                    return Next::End;
                }
                if let Some((number, message)) = state.take() {
                    drop(state);
                    self.buffer.changed.notify_waiters();
                    return Next::Message(number, message);
                }
                if state.closed {
                    return Next::End;
                }
            }
            tokio::select! {
                () = changed => {}
                () = &mut silent => return Next::Silence,
            }
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.buffer.lock();
        if state.reader == self.number {
            state.reader = 0;
        }
        drop(state);
        self.buffer.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(number: usize) -> Message {
        Message::read(format!(r#"{{"jsonrpc":"2.0","method":"n/{number}"}}"#)).unwrap()
    }

    async fn text(reader: &Reader) -> String {
        match reader.next(Duration::from_millis(1)).await {
            Next::Message(number, message) => format!("{number} {}", message.method().unwrap()),
            Next::Silence => "silence".into(),
            Next::End => "end".into(),
        }
    }

    #[tokio::test]
    async fn messages_wait_for_a_reader_and_are_had_again() {
        let buffer = ReplayBuffer::resumable();
        for number in 1..=3 {
            buffer.push(message(number)).await;
        }
        let first = buffer.read(None);
        assert_eq!(text(&first).await, "1 n/1");
        assert_eq!(text(&first).await, "2 n/2");
        let second = buffer.read(Some(1));
        assert_eq!(text(&first).await, "end");
        assert_eq!(text(&second).await, "2 n/2");
        assert_eq!(text(&second).await, "3 n/3");
        assert_eq!(text(&second).await, "silence");
        drop(first);
        assert!(buffer.is_read());
        buffer.close();
        assert_eq!(text(&second).await, "end");
        assert!(buffer.is_done());
    }

    #[tokio::test]
    async fn nobody_reads_and_the_oldest_make_room() {
        let buffer = ReplayBuffer::resumable();
        for number in 0..MAX_WAITING_MESSAGES + 10 {
            buffer.push(message(number)).await;
        }
        let reader = buffer.read(None);
        assert_eq!(text(&reader).await, "11 n/10");
    }

    #[tokio::test]
    async fn a_slow_reader_is_waited_for() {
        let buffer = ReplayBuffer::resumable();
        let reader = buffer.read(None);
        let writer = {
            let buffer = Arc::clone(&buffer);
            tokio::spawn(async move {
                for number in 0..MAX_WAITING_MESSAGES + 10 {
                    buffer.push(message(number)).await;
                }
                buffer.close();
            })
        };
        let mut count = 0;
        while let Next::Message(number, _) = reader.next(Duration::from_secs(10)).await {
            count += 1;
            assert_eq!(number, count);
        }
        assert_eq!(count, 266);
        writer.await.unwrap();
    }
}
