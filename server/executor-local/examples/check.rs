//! Prints what this machine offers: `check <data folder>`.

#![allow(clippy::print_stdout)]

use cubeloom_executor_local::{LocalConfig, check};

fn main() {
    let data = std::env::args().nth(1).unwrap_or_else(|| "/var/lib/cubeloom".into());
    for line in check(&LocalConfig::new(data, "cubeloom")).lines {
        let sign = if line.ok { "+" } else { "-" };
        println!(
            "{sign} {}: {}{}",
            line.name,
            line.detail,
            line.hint.map_or(String::new(), |hint| format!(" ({hint})"))
        );
    }
}
