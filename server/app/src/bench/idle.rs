//! What a server costs that has nothing to do.

use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context;

use super::Setting;
use super::figures::{Figure, status_mib};

/// Memory of `cubeloom serve` after three seconds.
pub async fn idle(setting: Setting) -> anyhow::Result<Vec<Figure>> {
    let mut server = Command::new(std::env::current_exe()?)
        .arg("--data")
        .arg(&setting.folder)
        .arg("serve")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("the server could not be started")?;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let memory = status_mib(server.id(), "VmRSS");
    server.kill()?;
    server.wait()?;
    anyhow::ensure!(memory > 0.0, "the server did not stay alive");
    Ok(vec![Figure::new("resident memory", memory, "MiB").goal("at most 60")])
}
