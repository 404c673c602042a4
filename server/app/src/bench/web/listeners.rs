//! Clients of server-sent events.

use anyhow::ensure;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::load::Target;

/// Opens `count` streams, each after the first data of the previous one.
///
/// # Errors
/// When the server refuses a stream.
pub async fn open(target: &Target, count: usize) -> anyhow::Result<Vec<TcpStream>> {
    let request = target.request("text/event-stream");
    let mut all = Vec::with_capacity(count);
    for _ in 0..count {
        let mut stream = TcpStream::connect(target.address).await?;
        stream.write_all(&request).await?;
        let mut head = [0; 64];
        let read = stream.read(&mut head).await?;
        let text = String::from_utf8_lossy(&head[..read]);
        ensure!(
            text.starts_with("HTTP/1.1 200"),
            "the server answered {}",
            text.lines().next().unwrap_or_default()
        );
        all.push(stream);
    }
    Ok(all)
}
