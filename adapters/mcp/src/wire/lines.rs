//! Messages as lines of a stream, in and out.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::task::JoinHandle;

use crate::message::batches::Batches;
use crate::message::{Malformed, Message};
use crate::wire::link::{Arrived, Routed, Wire};

/// The longest line. A longer one is dropped, and answered with an error.
pub(crate) const MAX_LINE_BYTES: usize = 256 * 1024 * 1024;
/// How many bytes of small messages are written at once.
const MAX_COALESCED_BYTES: usize = 64 * 1024;
/// The size of a read buffer. Every message that was read into one buffer keeps all of it alive.
const READ_BUFFER_BYTES: usize = 16 * 1024;
/// How much the buffer grows at once for a long line, at most.
const MAX_GROWTH_BYTES: usize = 1024 * 1024;
/// How much of a buffer must be free to read into it.
const MIN_FREE_BYTES: usize = 2 * 1024;

/// The tasks that carry messages between a wire and a stream of lines.
#[derive(Debug)]
pub(crate) struct Carried {
    /// Ends when the stream does; aborted, the stream counts as ended.
    pub(crate) reading: JoinHandle<()>,
    /// Ends when everything is written, or when the reader is gone.
    pub(crate) writing: JoinHandle<()>,
}

/// Carries messages between a wire and a stream of lines, in both directions. A client may send lists of them.
pub(crate) fn carry(
    wire: Wire,
    input: impl AsyncRead + Unpin + Send + 'static,
    output: impl AsyncWrite + Unpin + Send + 'static,
    lists: Option<Arc<Batches>>,
) -> Carried {
    Carried {
        reading: tokio::spawn(read(input, wire.to, lists.clone())),
        writing: tokio::spawn(write(wire.from, output, lists)),
    }
}

/// Reads lines until the stream or the link ends.
async fn read(mut input: impl AsyncRead + Unpin, to: Sender<Arrived>, lists: Option<Arc<Batches>>) {
    let mut lines = Lines::default();
    let mut going = true;
    while going {
        if lines.buffer.capacity() - lines.buffer.len() < MIN_FREE_BYTES {
            // A long line is read in ever larger pieces.
            let more = lines.buffer.len().clamp(READ_BUFFER_BYTES, MAX_GROWTH_BYTES);
            lines.buffer.reserve(more);
        }
        going = tokio::select! {
            read = input.read_buf(&mut lines.buffer) => matches!(read, Ok(1..)),
            () = to.closed() => return,
        };
        if !going {
            // A last line may lack its end.
            lines.buffer.extend_from_slice(b"\n");
        }
        while let Some(line) = lines.next(MAX_LINE_BYTES) {
            for arrived in received(line, lists.as_deref()) {
                if to.send(arrived).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// What a line says: a message, those of a list, or what is wrong with it.
fn received(line: Result<Bytes, Malformed>, lists: Option<&Batches>) -> Vec<Arrived> {
    match (line, lists) {
        (Ok(line), Some(lists)) => lists.arrived(line),
        (Ok(line), None) => vec![Message::read(line).map(Routed::from).map_err(Box::new)],
        (Err(malformed), _) => vec![Err(Box::new(malformed))],
    }
}

/// Writes messages until the link ends, or the reader is gone.
async fn write(mut from: Receiver<Routed>, mut output: impl AsyncWrite + Unpin, lists: Option<Arc<Batches>>) {
    let lists = lists.as_deref();
    let mut small = Vec::new();
    loop {
        let Some(bytes) = next(&mut from, lists).await else { break };
        let written = if bytes.len() < MAX_COALESCED_BYTES {
            // One write for a line, and for those that wait behind it.
            small.clear();
            small.extend_from_slice(&bytes);
            small.push(b'\n');
            while let Some(next) = (small.len() < MAX_COALESCED_BYTES).then(|| from.try_recv().ok()).flatten() {
                if let Some(bytes) = leaving(&next.message, lists) {
                    small.extend_from_slice(&bytes);
                    small.push(b'\n');
                }
            }
            output.write_all(&small).await
        } else {
            match output.write_all(&bytes).await {
                Ok(()) => output.write_all(b"\n").await,
                failed => failed,
            }
        };
        if written.is_err() || output.flush().await.is_err() {
            return;
        }
    }
    let _ = output.shutdown().await;
}

/// The next line that leaves; `None` at the end.
async fn next(from: &mut Receiver<Routed>, lists: Option<&Batches>) -> Option<Bytes> {
    loop {
        let routed = match lists {
            Some(lists) => tokio::select! {
                biased;
                list = lists.whole() => return Some(list),
                routed = from.recv() => routed,
            },
            None => from.recv().await,
        };
        match routed {
            Some(routed) => {
                if let Some(bytes) = leaving(&routed.message, lists) {
                    return Some(bytes);
                }
            }
            None => return lists?.cut_off(),
        }
    }
}

/// What is written of a message; `None` while it waits for the rest of its list.
fn leaving(message: &Message, lists: Option<&Batches>) -> Option<Bytes> {
    lists.map_or_else(|| Some(message.bytes().clone()), |lists| lists.leaving(message))
}

/// Lines that come in pieces.
#[derive(Default)]
struct Lines {
    buffer: BytesMut,
    /// How much of the buffer has no line break in it.
    searched: usize,
    /// Whether the line that goes on is too large to be kept.
    skipping: bool,
}

impl Lines {
    /// The next whole line, or that it is too large; empty lines are none.
    fn next(&mut self, largest: usize) -> Option<Result<Bytes, Malformed>> {
        loop {
            let fresh = self.buffer.get(self.searched..).unwrap_or_default();
            let Some(at) = fresh.iter().position(|byte| *byte == b'\n') else {
                self.searched = self.buffer.len();
                if self.searched > largest {
                    self.skipping = true;
                }
                if self.skipping {
                    self.buffer.clear();
                    self.searched = 0;
                }
                return None;
            };
            let mut line = self.buffer.split_to(self.searched + at + 1);
            self.searched = 0;
            if std::mem::take(&mut self.skipping) || line.len() > largest {
                return Some(Err(Malformed::too_large(largest)));
            }
            while line.last().is_some_and(u8::is_ascii_whitespace) {
                line.truncate(line.len() - 1);
            }
            if !line.is_empty() {
                return Some(Ok(line.freeze()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;
    use crate::message::{Fault, Message};

    #[test]
    fn lines_come_in_any_pieces() {
        let text = b"\n{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\r\n\n{}\n{\"jsonrpc\":\"2.0\",\"method\":\"bb\"}\n";
        for piece in [1, 2, 7, 1000] {
            let mut lines = Lines::default();
            let mut seen = Vec::new();
            for part in text.chunks(piece) {
                lines.buffer.extend_from_slice(part);
                while let Some(line) = lines.next(100) {
                    let message = line.and_then(Message::read);
                    seen.push(message.map(|message| message.method().unwrap_or_default().to_owned()));
                }
            }
            let methods: Vec<_> = seen.iter().map(|line| line.as_deref().map_err(|bad| bad.fault)).collect();
            assert_eq!(methods, [Ok("a"), Err(Fault::NoMessage), Ok("bb")], "{piece}");
        }
    }

    #[test]
    fn a_line_that_is_too_large_is_not_kept_and_the_next_is_read() {
        for piece in [3, 64, 1000] {
            let mut text = vec![b'x'; 300];
            text.extend_from_slice(b"\n{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n");
            let (mut lines, mut seen) = (Lines::default(), Vec::new());
            for part in text.chunks(piece) {
                lines.buffer.extend_from_slice(part);
                while let Some(arrived) = lines.next(100) {
                    seen.push(arrived.map(|_| ()).map_err(|bad| bad.fault));
                }
                assert!(lines.buffer.len() <= 100 + piece);
            }
            assert_eq!(seen, [Err(Fault::TooLarge), Ok(())], "{piece}");
        }
    }
}
