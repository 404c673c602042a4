//! Every case of the conformance suite, on this machine.

/// One test per case, each with its own folder.
macro_rules! cases {
    ($module:ident: $($case:ident),+) => {
        mod $module {
            use cubeloom_testkit::conformance::$module;

            use crate::harness::Local;

            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    $module::$case(&mut Local::new()).await;
                }
            )+
        }
    };
}

cases!(submit: ends_well, measures, twice, concurrently, bindings, exits, setup, outputs);
cases!(cancel: before, starting, running, ended, stubborn, causes);
cases!(crash: before, starting, running, ended, away, stopping, cancelled_after);
cases!(gang: first_cause, killed, orphans, master, elastic);
cases!(scaling: grows, gives_back, stubborn, comes_again, lost_ones_return, the_least, crash, crash_before_they_come, cancelled);
cases!(growth: lives, crash_before);
cases!(faults: unreadable_command, long_arguments, out_of_memory, full_disk);
cases!(load: thousand_workers, long_logs);
