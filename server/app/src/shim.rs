//! The shim's own program. Each worker starts one, and `cubeloom` itself takes several times as long to
//! start.

use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    // A server checks the version before it starts this program instead of itself.
    #[allow(clippy::disallowed_methods, reason = "this program reads its command line itself")]
    let asked = std::env::args_os().nth(1).is_some_and(|word| word == "--version");
    if asked {
        let written = writeln!(std::io::stdout(), env!("CARGO_PKG_VERSION"));
        return if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    cubeloom_executor_local::failpoint::install();
    ExitCode::from(u8::try_from(cubeloom_executor_local::shim_main()).unwrap_or(u8::MAX))
}
