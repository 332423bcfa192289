//! Just enough of HTTP to send what no library would.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

/// How long anything may take before it counts as never.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A request that was sent, and what came back so far.
#[derive(Clone)]
pub(crate) struct Exchange {
    stream: Arc<TcpStream>,
    shared: Arc<Shared>,
}

/// What came back so far, and who waits for more.
#[derive(Default)]
struct Shared {
    seen: Mutex<Seen>,
    changed: Condvar,
}

/// What came back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) status: Option<u16>,
    pub(crate) headers: BTreeMap<String, String>,
    /// The messages: the one of the body, or those of the events.
    pub(crate) messages: Vec<Value>,
    /// The ids of the events, those without a message too.
    pub(crate) ids: Vec<String>,
    /// A body that holds no message.
    pub(crate) text: String,
    pub(crate) over: bool,
}

impl Exchange {
    /// Sends a request and reads what comes back by the side.
    pub(crate) fn send(address: &str, request: &[u8]) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        // The other end may refuse before it has read all.
        let _ = stream.write_all(request);
        let shared = Arc::new(Shared::default());
        let (reading, reader) = (stream.try_clone().unwrap(), Arc::clone(&shared));
        std::thread::spawn(move || {
            let _ = read(BufReader::new(reading), &reader);
            reader.seen.lock().unwrap().over = true;
            reader.changed.notify_all();
        });
        Self { stream: Arc::new(stream), shared }
    }

    /// Breaks the connection off.
    pub(crate) fn close(&self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// What came back by the time that this holds of it, or by the end.
    pub(crate) fn wait(&self, enough: impl Fn(&Seen) -> bool) -> Seen {
        let until = Instant::now() + PATIENCE;
        let mut seen = self.shared.seen.lock().unwrap();
        while !seen.over && !enough(&seen) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            seen = self.shared.changed.wait_timeout(seen, left).unwrap().0;
        }
        seen.clone()
    }
}

fn read(mut from: BufReader<TcpStream>, shared: &Shared) -> std::io::Result<()> {
    let mut line = String::new();
    from.read_line(&mut line)?;
    let headers = headers(&mut from)?;
    {
        let mut seen = shared.seen.lock().unwrap();
        seen.status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        seen.headers.clone_from(&headers);
    }
    shared.changed.notify_all();
    let is = |name: &str, value: &str| headers.get(name).is_some_and(|found| found.starts_with(value));
    if is("content-type", "text/event-stream") {
        let mut text = String::new();
        while let Some(chunk) = chunk(&mut from)? {
            text.push_str(&chunk);
            while let Some((event, rest)) = text.split_once("\n\n") {
                take(event, &mut shared.seen.lock().unwrap());
                text = rest.to_owned();
                shared.changed.notify_all();
            }
        }
        return Ok(());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    from.read_exact(&mut body)?;
    let mut seen = shared.seen.lock().unwrap();
    match serde_json::from_slice(&body) {
        Ok(message) => seen.messages.push(message),
        Err(_) => seen.text = String::from_utf8_lossy(&body).into_owned(),
    }
    Ok(())
}

fn take(event: &str, seen: &mut Seen) {
    for line in event.lines() {
        if let Some(id) = line.strip_prefix("id: ") {
            seen.ids.push(id.to_owned());
        }
        if let Some(message) = line.strip_prefix("data: ").filter(|data| !data.is_empty()) {
            seen.messages.push(serde_json::from_str(message).unwrap());
        }
    }
}

fn chunk(from: &mut impl BufRead) -> std::io::Result<Option<String>> {
    let mut line = String::new();
    if from.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let length = usize::from_str_radix(line.trim(), 16).unwrap();
    let mut chunk = vec![0; length + 2];
    from.read_exact(&mut chunk)?;
    chunk.truncate(length);
    Ok((length > 0).then(|| String::from_utf8(chunk).unwrap()))
}

/// The headers of a request or an answer, by name in lower case.
pub(crate) fn headers(from: &mut impl BufRead) -> std::io::Result<BTreeMap<String, String>> {
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        from.read_line(&mut line)?;
        let Some((name, value)) = line.split_once(':') else { return Ok(headers) };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
}
