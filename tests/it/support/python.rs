//! Programs of the Python environments that `tools/venv` creates.

use std::process::{Command, Stdio};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// A program from the environment of a requirements file, isolated from this machine's configuration.
pub fn command(requirements: &str, program: &str) -> Command {
    let tools = Command::new(format!("{ROOT}/tools/venv")).arg(requirements).output().expect("it starts");
    assert!(tools.status.success(), "{}", String::from_utf8_lossy(&tools.stderr));
    let folder = String::from_utf8(tools.stdout).expect("UTF-8");
    let mut command = Command::new(format!("{}/bin/{program}", folder.trim()));
    command
        .env_clear()
        .env("PATH", format!("{}/bin:/usr/bin:/bin", folder.trim()))
        .env("HOME", "/nonexistent");
    command.env("PYTHONDONTWRITEBYTECODE", "1").env("LANG", "C.UTF-8").stdin(Stdio::null());
    command
}
