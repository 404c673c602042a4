//! The shim of this crate's tests; the product has its own, beside `cubeloom`.

fn main() {
    cubeloom_executor_local::failpoint::install();
    std::process::exit(cubeloom_executor_local::shim_main());
}
