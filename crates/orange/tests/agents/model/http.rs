//! As much HTTP/1.1 as agents need: requests with a length or in chunks, answers at once or as a stream.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// What was sent, with the names of headers in lower case.
pub(super) struct HttpRequest {
    pub(super) method: String,
    /// Without what follows a question mark.
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

/// Reads the next request. None if the other side has no more, or not all of it.
pub(super) fn read(stream: &mut BufReader<TcpStream>) -> Option<HttpRequest> {
    let first = line(stream)?;
    let mut words = first.split(' ');
    let method = words.next()?.to_owned();
    let path = words.next()?.split('?').next()?.to_owned();
    let headers = headers(stream)?;
    let mut request = HttpRequest {
        method,
        path,
        headers,
        body: Vec::new(),
    };
    if request.says("expect", "100-continue") {
        let go_on = stream.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n");
        go_on.ok()?;
    }
    request.body = if request.says("transfer-encoding", "chunked") {
        chunks(stream)?
    } else {
        let length = request.header("content-length").unwrap_or("0");
        exactly(stream, length.parse().ok()?)?
    };
    Some(request)
}

impl HttpRequest {
    fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header == name);
        found.map(|(_, value)| value.as_str())
    }

    fn says(&self, header: &str, value: &str) -> bool {
        let found = self.header(header);
        found.is_some_and(|found| found.eq_ignore_ascii_case(value))
    }

    /// Whether this is the connection's last request.
    pub(super) fn is_last(&self) -> bool {
        self.says("connection", "close")
    }
}

fn line(stream: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    stream.read_line(&mut line).ok()?;
    line.ends_with('\n').then(|| line.trim_end().to_owned())
}

fn headers(stream: &mut impl BufRead) -> Option<Vec<(String, String)>> {
    let mut headers = Vec::new();
    loop {
        let line = line(stream)?;
        if line.is_empty() {
            return Some(headers);
        }
        let (name, value) = line.split_once(':')?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
}

fn exactly(stream: &mut impl Read, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

fn chunks(stream: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let length = line(stream)?;
        let length = usize::from_str_radix(length.split(';').next()?.trim(), 16).ok()?;
        if length == 0 {
            // Trailers may follow.
            headers(stream)?;
            return Some(body);
        }
        body.extend(exactly(stream, length)?);
        line(stream)?;
    }
}

/// Answers at once.
pub(super) fn answer(
    stream: &mut TcpStream,
    status: u16,
    headers: &[(String, String)],
    body: &[u8],
) -> io::Result<()> {
    let length = [("content-length".to_owned(), body.len().to_string())];
    let mut bytes = head(status, headers.iter().chain(&length));
    bytes.extend(body);
    stream.write_all(&bytes)
}

/// Begins an answer that comes in pieces. In chunks, so that one that was cut off does not look like a whole one.
pub(super) fn begin(stream: &mut TcpStream, content_type: &str) -> io::Result<()> {
    let headers = [
        ("content-type".to_owned(), content_type.to_owned()),
        ("cache-control".to_owned(), "no-cache".to_owned()),
        ("transfer-encoding".to_owned(), "chunked".to_owned()),
    ];
    stream.write_all(&head(200, headers.iter()))
}

pub(super) fn piece(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend(bytes);
    chunk.extend(b"\r\n");
    stream.write_all(&chunk)
}

pub(super) fn end(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(b"0\r\n\r\n")
}

fn head<'a>(status: u16, headers: impl Iterator<Item = &'a (String, String)>) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} Scripted\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += "\r\n";
    head.into_bytes()
}
