//! `cubeloom completions SHELL`

use clap_complete::Shell;
use clap_complete::env::Shells;

use crate::exit::Exit;

/// The variable with which the script calls this program back.
pub const VARIABLE: &str = "CUBELOOM_COMPLETE";

pub fn completions(shell: Shell) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    if let Some(shell) = Shells::builtins().completer(&shell.to_string()) {
        shell.write_registration(VARIABLE, "cubeloom", "cubeloom", "cubeloom", &mut script)?;
    }
    crate::show::line(String::from_utf8_lossy(&script).trim_end());
    Ok(Exit::Ok)
}
