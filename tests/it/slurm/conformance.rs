//! Each case of the suite that a cluster can pass. Bindings are the same for all jobs here, a thousand workers are more than
//! the tests' nodes have cores, and a disk that is full would be this machine's.

/// One test a case.
macro_rules! cases {
    ($module:ident: $($case:ident),+) => {
        mod $module {
            use cubeloom_testkit::conformance::$module;

            use crate::slurm::executor::OnSlurm;

            $(
                #[ignore = "needs a Slurm: make test-slurm"]
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    $module::$case(&mut OnSlurm::new()).await;
                }
            )+
        }
    };
}

cases!(submit: ends_well, measures, twice, concurrently, exits, setup, outputs);
cases!(cancel: before, starting, running, ended, stubborn, causes);
cases!(crash: before, starting, running, ended, away, stopping, cancelled_after);
cases!(gang: first_cause, killed, orphans, master, elastic);
cases!(faults: unreadable_command, long_arguments, out_of_memory);
cases!(load: long_logs);
