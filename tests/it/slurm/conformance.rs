//! Each case of the conformance suite that a cluster can pass. All jobs share one CPU binding here, and a
//! thousand workers exceed the CPUs of the test nodes.

cases!(crate::slurm::executor::OnSlurm::new() => submit: ends_well, measures, twice, concurrently, exits, setup, outputs);
cases!(crate::slurm::executor::OnSlurm::new() => cancel: before, starting, running, ended, stubborn, causes);
cases!(crate::slurm::executor::OnSlurm::new() => crash: before, starting, running, ended, away, stopping, cancelled_after);
cases!(crate::slurm::executor::OnSlurm::new() => gang: first_cause, killed, orphans, master, elastic);
cases!(crate::slurm::executor::OnSlurm::new() => faults: unreadable_command, long_arguments, out_of_memory, full_disk);
cases!(crate::slurm::executor::OnSlurm::new() => load: long_logs);
