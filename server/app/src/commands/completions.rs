//! `cubeloom completions SHELL`

use clap::CommandFactory;

use crate::cli::Cli;
use crate::exit::Exit;

pub fn completions(shell: clap_complete::Shell) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "cubeloom", &mut script);
    crate::show::line(String::from_utf8_lossy(&script).trim_end());
    Exit::Ok
}
