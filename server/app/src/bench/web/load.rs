//! Requests at a constant rate, whatever their latency: a late response does not delay the next requests. It
//! is a minimal client, because a full HTTP client costs as much as the measured server.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

pub struct Target {
    pub address: SocketAddr,
    pub path: String,
    pub token: Option<String>,
}

impl Target {
    /// The request as bytes.
    pub fn request(&self, accept: &str) -> Vec<u8> {
        let token = self.token.as_ref().map(|token| format!("authorization: Bearer {token}\r\n"));
        let (path, address, token) = (&self.path, self.address, token.unwrap_or_default());
        format!("GET {path} HTTP/1.1\r\nhost: {address}\r\naccept: {accept}\r\n{token}\r\n").into_bytes()
    }
}

/// The latencies in milliseconds, at `rate` requests per second.
///
/// # Errors
/// When the server refuses a request.
pub async fn constant(target: &Target, rate: u32, long: Duration) -> anyhow::Result<Vec<f64>> {
    let request: Arc<[u8]> = target.request("application/json").into();
    let idle: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
    let address = target.address;
    let mut tick = interval(Duration::from_secs(1) / rate);
    tick.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut under_way = JoinSet::new();
    let count = (f64::from(rate) * long.as_secs_f64()) as usize;
    for _ in 0..count {
        tick.tick().await;
        let (request, idle) = (Arc::clone(&request), Arc::clone(&idle));
        under_way.spawn(async move {
            let start = Instant::now();
            let kept = idle.lock().ok().and_then(|mut idle| idle.pop());
            let mut stream = match kept {
                Some(stream) => stream,
                None => connect(address).await?,
            };
            ask(&mut stream, &request).await?;
            let took = start.elapsed().as_secs_f64() * 1000.0;
            if let Ok(mut idle) = idle.lock() {
                idle.push(stream);
            }
            anyhow::Ok(took)
        });
    }
    let mut all = Vec::with_capacity(count);
    while let Some(took) = under_way.join_next().await {
        all.push(took??);
    }
    // The first ones connect, and warm caches.
    Ok(all.split_off(count / 10))
}

/// The body of one response.
pub async fn body(target: &Target) -> anyhow::Result<Vec<u8>> {
    ask(&mut connect(target.address).await?, &target.request("application/json")).await
}

async fn connect(address: SocketAddr) -> anyhow::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

async fn ask(stream: &mut TcpStream, request: &[u8]) -> anyhow::Result<Vec<u8>> {
    stream.write_all(request).await?;
    let mut bytes = Vec::with_capacity(16 << 10);
    let (head, length) = loop {
        if stream.read_buf(&mut bytes).await? == 0 {
            bail!("the server closed the connection");
        }
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break (end + 4, length(&bytes[..end])?);
        }
    };
    while bytes.len() < head + length {
        if stream.read_buf(&mut bytes).await? == 0 {
            bail!("the server closed the connection during a response");
        }
    }
    Ok(bytes.split_off(head))
}

/// The body's length, of a successful response.
fn length(head: &[u8]) -> anyhow::Result<usize> {
    let head = std::str::from_utf8(head)?;
    if !head.starts_with("HTTP/1.1 200") {
        bail!("the server answered {}", head.lines().next().unwrap_or_default());
    }
    let mut fields = head.lines().filter_map(|line| line.split_once(':'));
    let field = fields.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let (_, length) = field.context("the response has no length")?;
    Ok(length.trim().parse()?)
}
