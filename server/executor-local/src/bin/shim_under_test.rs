//! The shim for this crate's tests; the product has its own, next to `cubeloom`.

fn main() {
    cubeloom_executor_local::failpoint::install();
    std::process::exit(cubeloom_executor_local::shim_main());
}
