//! Posts to a server on loopback (`#[cfg(test)]`).

use super::*;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

const QUICK: Pace = Pace {
    timeout: Duration::from_secs(30),
    waits: &[Duration::ZERO, Duration::ZERO],
};

/// A request as it came: its head, and its body.
type Request = (String, String);

/// Answers each connection with the next of these; with nothing, it stays open and silent until the end.
fn serve(answers: &'static [&'static str]) -> (String, JoinHandle<Vec<Request>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook?key=1", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let mut silent = Vec::new();
        let mut requests = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            requests.push(request(&mut stream));
            if answer.is_empty() {
                silent.push(stream);
            } else {
                stream.write_all(answer.as_bytes()).unwrap();
            }
        }
        requests
    });
    (url, server)
}

fn request(stream: &mut TcpStream) -> Request {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line == "\r\n" {
            break;
        }
        let line = line.to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (head, String::from_utf8(body).unwrap())
}

const OK: &str = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
const BROKEN: &str = "HTTP/1.1 500 Broken\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

fn about() -> BTreeMap<String, String> {
    let about = [
        ("ORANGE_NOTIFY_PROJECT", "shop"),
        ("ORANGE_NOTIFY_TASK", "TASK-001"),
        ("ORANGE_NOTIFY_REASON", "\"red\" or \\blue\\? ü\u{fffd}"),
        ("ORANGE_NOTIFY_ANSWER", "orange answer shop:TASK-001"),
    ];
    about
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = head.lines();
    lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

#[test]
fn a_post_is_json_with_what_needs_the_person() {
    let (url, server) = serve(&[OK]);
    post(&url, None, &about(), &QUICK).unwrap();
    let (head, body) = server.join().unwrap().remove(0);
    assert!(head.starts_with("post /hook?key=1 http/1.1"), "{head}");
    assert_eq!(header(&head, "content-type"), Some("application/json"));
    assert_eq!(header(&head, "x-orange-signature"), None);
    let body: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["project"], "shop");
    assert_eq!(body["key"], "TASK-001");
    assert_eq!(body["reason"], about()["ORANGE_NOTIFY_REASON"]);
    assert_eq!(body["answer"], "orange answer shop:TASK-001");
    assert_eq!(body["summary"], serde_json::Value::Null);
    assert_eq!(
        body["delivery"],
        header(&head, "x-orange-delivery").unwrap()
    );
}

#[test]
fn a_server_that_fails_or_keeps_silent_is_tried_again_with_the_same() {
    let (url, server) = serve(&[BROKEN, "", OK]);
    let pace = Pace {
        timeout: Duration::from_millis(300),
        ..QUICK
    };
    post(&url, Some("secret"), &about(), &pace).unwrap();
    let requests = server.join().unwrap();
    assert_eq!(requests.len(), 3);
    assert!(requests.iter().all(|request| *request == requests[0]));
}

#[test]
fn what_never_works_is_given_up_and_told_without_the_url() {
    let (url, server) = serve(&[BROKEN, BROKEN, BROKEN]);
    let told = post(&url, None, &about(), &QUICK).unwrap_err();
    assert_eq!(told, "it answered 500 (3 attempts)");
    assert_eq!(server.join().unwrap().len(), 3);
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = format!("http://{}/secret", free.local_addr().unwrap());
    drop(free);
    let told = post(&nobody, None, &about(), &QUICK).unwrap_err();
    assert!(told.ends_with("(3 attempts)"), "{told}");
    assert!(!told.contains("secret"), "{told}");
    assert_eq!(
        origin("https://example.org:1/secret?x"),
        "https://example.org:1"
    );
    assert_eq!(origin("http://example.org"), "http://example.org");
}

#[test]
fn a_refusal_and_a_redirect_are_not_tried_again() {
    let (url, server) = serve(&["HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"]);
    let told = post(&url, None, &about(), &QUICK).unwrap_err();
    assert_eq!(told, "it answered 403 (1 attempt)");
    server.join().unwrap();
    let moved = "HTTP/1.1 307 Moved\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n";
    let (url, server) = serve(Vec::leak(vec![moved]));
    let told = post(&url, None, &about(), &QUICK).unwrap_err();
    assert_eq!(
        told,
        "it answered 307, and redirects are not followed (1 attempt)"
    );
    assert_eq!(server.join().unwrap().len(), 1);
}

#[test]
fn the_signature_is_hmac_sha256_of_the_body() {
    // Test case 2 of RFC 4231.
    let wanted = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
    assert_eq!(
        signature("Jefe", "what do ya want for nothing?"),
        Some(format!("sha256={wanted}"))
    );
    let (url, server) = serve(&[OK]);
    post(&url, Some("secret"), &about(), &QUICK).unwrap();
    let (head, body) = server.join().unwrap().remove(0);
    let signed = signature("secret", &body).unwrap();
    assert_eq!(header(&head, "x-orange-signature"), Some(signed.as_str()));
}

#[test]
fn nobody_is_trusted_whom_this_machine_does_not_know() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut hello = [0; 1];
        stream.read_exact(&mut hello).unwrap();
        stream.write_all(OK.as_bytes()).unwrap();
        hello[0]
    });
    let pace = Pace {
        waits: &[],
        ..QUICK
    };
    post(&url, None, &about(), &pace).unwrap_err();
    assert_eq!(server.join().unwrap(), 22, "a TLS handshake");
}
