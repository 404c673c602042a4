//! A loopback web server with one file, served whole or in ranges.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A server that ends with the test process.
pub struct Web {
    address: String,
    ranges: Arc<AtomicUsize>,
}

impl Web {
    /// Serves this content under every path.
    pub fn new(content: Vec<u8>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let (content, ranges) = (Arc::new(content), Arc::new(AtomicUsize::new(0)));
        let counter = ranges.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (content, counter) = (content.clone(), counter.clone());
                // A client may disconnect at any time.
                thread::spawn(move || while answer(&stream, &content, &counter).is_some() {});
            }
        });
        Self { address, ranges }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    /// The number of range requests.
    pub fn ranges(&self) -> usize {
        self.ranges.load(Ordering::SeqCst)
    }
}

/// Answers one request; `None` when the client has disconnected.
fn answer(stream: &TcpStream, content: &[u8], counter: &AtomicUsize) -> Option<()> {
    let (mut lines, mut stream) = (BufReader::new(stream).lines(), stream);
    let first = lines.next()?.ok()?;
    let head: Vec<String> = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    let range =
        head.iter().find_map(|line| line.to_lowercase().strip_prefix("range: bytes=").map(str::to_owned));
    let (from, to) = match &range {
        Some(range) => {
            counter.fetch_add(1, Ordering::SeqCst);
            let (from, to) = range.split_once('-')?;
            (
                from.parse().ok()?,
                to.parse::<usize>().map_or(content.len(), |last| last + 1).min(content.len()),
            )
        }
        None => (0, content.len()),
    };
    let status = if range.is_some() { "206 Partial Content" } else { "200 OK" };
    let said = format!(
        "HTTP/1.1 {status}\r\nAccept-Ranges: bytes\r\nETag: \"1\"\r\nContent-Length: {}\r\n",
        to - from
    );
    let place = format!("Content-Range: bytes {from}-{}/{}\r\n\r\n", to.wrapping_sub(1), content.len());
    stream.write_all(said.as_bytes()).ok()?;
    stream.write_all(if range.is_some() { place.as_bytes() } else { b"\r\n" }).ok()?;
    if !first.starts_with("HEAD") {
        stream.write_all(&content[from..to]).ok()?;
    }
    Some(())
}
