use super::*;

fn read(json: &str) -> Result<Message, Malformed> {
    Message::read(json.as_bytes().to_vec())
}

#[test]
fn the_envelope_is_read_and_the_rest_is_text() {
    for (json, kind, id, method, content) in [
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"tools\/call","params":{"x": 1}}"#,
            Kind::Request,
            Some(Id::Number(7)),
            Some("tools/call"),
            r#"{"x": 1}"#,
        ),
        (r#"{"method":"a","jsonrpc":"2.0"}"#, Kind::Notification, None, Some("a"), ""),
        (r#"{"result":[1],"jsonrpc":"2.0","id":"\u0031"}"#, Kind::Result, Some(Id::Text("1".into())), None, "[1]"),
        (r#"{"jsonrpc":"2.0","id":null,"error":{}}"#, Kind::Error, None, None, "{}"),
        (r#"{"jsonrpc":"2.0","error":{"code":1}}"#, Kind::Error, None, None, r#"{"code":1}"#),
    ] {
        let message = read(json).unwrap();
        assert_eq!((message.kind(), message.id(), message.method()), (kind, id.as_ref(), method), "{json}");
        assert_eq!(message.content(), content.as_bytes(), "{json}");
        assert_eq!(message.bytes(), json.as_bytes());
    }
}

#[test]
fn what_can_be_read_in_two_ways_is_no_message() {
    for (json, fault, id) in [
        ("", Fault::NoJson, None),
        ("{", Fault::NoJson, None),
        ("{}}", Fault::NoJson, None),
        ("7", Fault::NoMessage, None),
        (r#" [{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, Fault::Batch, None),
        (r#"{"id":1,"method":"ping"}"#, Fault::NoMessage, Some(1)),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, Fault::NoMessage, Some(1)),
        (r#"{"jsonrpc":"2.0","id":1}"#, Fault::NoMessage, Some(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#, Fault::NoMessage, Some(1)),
        (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#, Fault::NoMessage, Some(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}"#, Fault::NoMessage, Some(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","\u006dethod":"tools/call"}"#, Fault::NoMessage, Some(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","METHOD":"tools/call"}"#, Fault::NoMessage, Some(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","paramſ":{}}"#, Fault::NoMessage, Some(1)),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, Fault::NoMessage, None),
        (r#"{"jsonrpc":"2.0","id":1,"Id":2,"method":"ping"}"#, Fault::NoMessage, None),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, Fault::NoMessage, Some(1)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Fault::NoMessage, None),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, Fault::NoMessage, None),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, Fault::NoMessage, None),
        (r#"{"jsonrpc":"2.0","result":{}}"#, Fault::NoMessage, None),
    ] {
        let malformed = read(json).unwrap_err();
        assert_eq!((malformed.fault, malformed.id), (fault, id.map(Id::Number)), "{json}: {}", malformed.text);
    }
    assert_eq!(Message::read(&b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}"[..]).unwrap_err().fault, Fault::NoJson);
}

#[test]
fn a_line_break_is_never_sent() {
    let message =
        read("{\"jsonrpc\":\"2.0\",\n\"id\":1,\r\n\"method\":\"ping\",\"params\":{\"a\":\n{\"b\":1}}}\n").unwrap();
    assert!(!message.bytes().contains(&b'\n') && !message.bytes().contains(&b'\r'));
    assert_eq!(message.content(), b"{\"a\": {\"b\":1}}");
}

#[test]
fn ids_and_contents_are_exchanged_and_the_rest_stays() {
    let message = read(r#"{"jsonrpc": "2.0", "x":1, "id": 7, "method":"a"}"#).unwrap();
    let other = message.with_id(&Id::Text("a\"b".into()));
    assert_eq!(other.bytes(), &br#"{"jsonrpc": "2.0", "x":1, "id": "a\"b", "method":"a"}"#[..]);
    let filled = other.with_content(b"{\"y\":2}");
    assert_eq!(filled.bytes(), &br#"{"jsonrpc": "2.0", "x":1, "id": "a\"b", "method":"a","params":{"y":2}}"#[..]);
    assert_eq!(filled.with_content(b"{}").content(), b"{}");
    assert_eq!(filled.id(), Some(&Id::Text("a\"b".into())));
}

#[test]
fn depth_is_no_trouble() {
    let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}{}}}"#, "[".repeat(200_000), "]".repeat(200_000));
    assert_eq!(read(&deep).unwrap().content().len(), 400_000);
}
