//! The node program that a job's script starts, as a separate binary for this crate's tests; the product's
//! binary includes it.

use std::process::exit;

fn main() {
    let mut args = std::env::args_os().skip(1);
    let word = args.next().unwrap_or_default();
    #[allow(clippy::disallowed_methods, reason = "this is a test's own program")]
    let variable = |name: &str| std::env::var(name).ok();
    exit(cubeloom_executor_slurm::enter(&word.to_string_lossy(), args, variable).unwrap_or(2));
}
