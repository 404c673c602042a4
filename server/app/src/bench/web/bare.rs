//! The baseline: an axum handler that sends one body, in its own process like the server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use anyhow::Context;
use axum::http::header;
use axum::routing::get;
use tokio::net::TcpListener;

use crate::bench::Setting;
use crate::bench::figures::Figure;
use crate::show;

/// A running bare handler, killed on drop.
pub struct Bare {
    /// The address that it listens on.
    pub address: SocketAddr,
    child: Child,
}

impl Bare {
    /// Starts one that sends this body.
    pub fn start(body: &[u8]) -> anyhow::Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["bench", "--one", "bare"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("the bare handler could not be started")?;
        child.stdin.take().context("no input")?.write_all(body)?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
        let address = line.trim().parse().with_context(|| format!("the bare handler said `{line}`"))?;
        Ok(Self { address, child })
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The handler: sends standard input as the body of every path, until the process is killed.
pub async fn bare(_: Setting) -> anyhow::Result<Vec<Figure>> {
    let mut body = String::new();
    std::io::stdin().read_to_string(&mut body)?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    show::line(listener.local_addr()?.to_string());
    let answer = move || async move { ([(header::CONTENT_TYPE, "application/json")], body.clone()) };
    axum::serve(listener, axum::Router::new().route("/{*path}", get(answer))).await?;
    Ok(Vec::new())
}
