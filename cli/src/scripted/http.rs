//! A small HTTP/1.1 server on loopback: a thread a connection, a request a connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

/// What a client asks.
#[derive(Debug)]
pub struct Request {
    /// The method, such as `POST`.
    pub method: String,
    /// The path without the query.
    pub path: String,
    /// The body.
    pub body: Vec<u8>,
}

/// The body of the answer, always with status 200.
#[derive(Debug)]
pub struct Response {
    /// The media type.
    pub media_type: &'static str,
    /// The body.
    pub body: String,
}

/// Serves until the process ends; returns the port.
///
/// # Errors
///
/// The loopback gives no port.
pub fn serve(answer: impl Fn(&Request) -> Response + Send + Sync + 'static) -> std::io::Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let port = listener.local_addr()?.port();
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            // A client that hangs up early is its own business: it asks again or it ends.
            std::thread::spawn(move || drop(connection(stream, answer.as_ref())));
        }
    });
    Ok(port)
}

fn connection(stream: TcpStream, answer: &impl Fn(&Request) -> Response) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let Some(request) = read(&mut reader)? else { return Ok(()) };
    let response = answer(&request);
    let body = if request.method == "HEAD" { "" } else { response.body.as_str() };
    let mut writer = stream;
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        response.media_type,
        response.body.len()
    );
    writer.write_all(format!("{head}{body}").as_bytes())?;
    writer.flush()
}

/// Reads one request; `None` when the connection closes before one is there.
fn read(reader: &mut impl BufRead) -> std::io::Result<Option<Request>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let method = words.next().unwrap_or_default().to_string();
    let target = words.next().unwrap_or_default();
    let path = target.split('?').next().unwrap_or_default().to_string();
    let mut length = 0;
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    Ok(Some(Request { method, path, body }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_with_its_body_and_nothing_more() {
        let text = "POST /v1/messages?beta=true HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbodyNEXT";
        let request = read(&mut text.as_bytes()).unwrap().unwrap();
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/messages"));
        assert_eq!(request.body, b"body");
        assert!(read(&mut "".as_bytes()).unwrap().is_none());
    }

    #[test]
    fn an_answer_reaches_the_other_side() {
        let port =
            serve(|request| Response { media_type: "text/plain", body: format!("saw {}", request.path) }).unwrap();
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.write_all(b"GET /a HTTP/1.1\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert!(text.ends_with("\r\n\r\nsaw /a"), "{text}");
    }
}
