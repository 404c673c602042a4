//! Jobs on a real Slurm of four nodes, which `make test-slurm` starts and describes. The tests are ignored
//! because they need it.

#![allow(clippy::unwrap_used, reason = "helpers of tests, too")]

/// One test for each case of the suite of all executors, on a cluster from the given constructor.
macro_rules! cases {
    ($cluster:expr => $module:ident: $($case:ident),+) => {
        mod $module {
            use cubeloom_testkit::conformance::$module;

            $(
                #[ignore = "needs a Slurm: make test-slurm"]
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    $module::$case(&mut $cluster).await;
                }
            )+
        }
    };
}

mod alone;
mod conformance;
mod containers;
mod example;
mod executor;
mod gangs;
mod harness;
mod hostile;
mod limits;
mod mirror;
mod outside;
mod preview;
mod product;
mod rest;
mod scripts;
mod server;
mod single;
mod sudo;
