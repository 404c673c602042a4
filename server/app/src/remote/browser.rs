//! Opens a page in the user's browser.

use std::process::{Command, Stdio};

/// Programs that open a URL, on Linux and macOS.
const PROGRAMS: [&str; 3] = ["xdg-open", "open", "wslview"];

/// Starts the browser in the background. Returns `false` if there is none, as on a server.
pub fn open(url: &str) -> bool {
    let has_screen =
        ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"].iter().any(|name| std::env::var_os(name).is_some());
    if !has_screen && !cfg!(target_os = "macos") {
        return false;
    }
    PROGRAMS.iter().any(|program| {
        let mut command = Command::new(program);
        command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().is_ok()
    })
}
