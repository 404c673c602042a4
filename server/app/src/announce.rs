//! `server.json` in the data folder: the URL of the running server, for scripts on this machine that start a
//! server and wait until it is ready.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rustix::process::{Pid, test_kill_process};
use serde_json::{Value, json};

use crate::web::RunningWeb;

/// The file, removed on drop. A killed server leaves it behind: its `pid` identifies the process.
pub struct Announcement(PathBuf);

impl Announcement {
    /// Writes `{"pid", "listen", "url"}` atomically.
    pub fn write(data: &Path, web: &RunningWeb) -> anyhow::Result<Self> {
        let path = data.join("server.json");
        let part = data.join("server.json.part");
        let text = json!({"pid": std::process::id(), "listen": web.address, "url": web.url}).to_string();
        fs::write(&part, text + "\n")
            .and_then(|()| fs::rename(&part, &path))
            .with_context(|| format!("{} cannot be written", path.display()))?;
        Ok(Self(path))
    }
}

/// The public URL of the running server.
pub fn url(data: &Path) -> Option<String> {
    let said: Value = serde_json::from_str(&fs::read_to_string(data.join("server.json")).ok()?).ok()?;
    let pid = i32::try_from(said["pid"].as_i64()?).ok().and_then(Pid::from_raw)?;
    test_kill_process(pid).ok()?;
    said["url"].as_str().map(Into::into)
}

impl Drop for Announcement {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
