//! Each case of the conformance suite that a cluster can pass. All jobs share one CPU binding here, a
//! thousand pods exceed one node, and a full disk would be this machine's.

/// One test per case, on a node from the given constructor.
macro_rules! cases {
    ($module:ident: $($case:ident),+) => {
        cases!($module on new: $($case),+);
    };
    ($module:ident on $place:ident: $($case:ident),+) => {
        cases!($module as $module on $place: $($case),+);
    };
    ($module:ident as $name:ident on $place:ident: $($case:ident),+) => {
        mod $name {
            use cubeloom_testkit::conformance::$module;

            use crate::cluster::harness::OnNode;

            $(
                #[ignore = "needs a cluster with a real node"]
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    $module::$case(&mut OnNode::$place()).await;
                }
            )+
        }
    };
}

cases!(submit: ends_well, measures, twice, concurrently, exits, setup, outputs);
cases!(cancel: before, starting, running, ended, stubborn, causes);
cases!(crash: before, starting, running, ended, away, stopping, cancelled_after);
// The same with a bare Pod as the attempt.
cases!(submit as pod_submit on bare: ends_well, measures, twice, concurrently, exits, setup, outputs);
cases!(cancel as pod_cancel on bare: before, starting, running, ended, stubborn, causes);
cases!(crash as pod_crash on bare: before, starting, running, ended, away, stopping, cancelled_after);
cases!(gang: first_cause, killed, orphans, master, elastic);
cases!(growth on measured: lives, crash_before);
cases!(faults: unreadable_command, long_arguments, out_of_memory);
cases!(load: long_logs);
