//! Metrics of a job's pods besides GPUs: the right containers, and the right nodes.

use cubeloom_domain::monitoring::CardMeasure;
use cubeloom_domain::usage::{Measure, WorkerLines};
use cubeloom_monitoring::{history, workers};
use cubeloom_testkit::recording::Recording;

use crate::{HOUR, Stage, about, card};

const JOB: &str = "cl-train-0123456789";
const MIB: f64 = (1 << 20) as f64;
/// When a program ended: ten minutes ago.
const ENDED: f64 = HOUR - 600.0;

fn pod(index: u32) -> String {
    format!("{JOB}-worker-{index}")
}

async fn told(stage: &Stage) -> Vec<WorkerLines> {
    workers(&stage.source, JOB, stage.at(-1200.0), stage.at(0.0)).await.expect("Prometheus answers")
}

/// The last value of a worker.
fn last(told: &[WorkerLines], worker: &str, measure: Measure) -> Option<f64> {
    let one = told.iter().find(|one| one.worker == worker)?;
    Some(one.lines.get(&measure)?.last()?[1])
}

/// Share of time in which anything on a node waited for storage, from the kernel's pressure counters.
fn pressure(recording: &mut Recording, node: &str, share: f64) {
    let instance = format!("{node}:9100");
    let labels = [("instance", instance.as_str())];
    recording.series("node_pressure_io_waiting_seconds_total", &labels, |at| Some(at * share));
}

#[tokio::test]
async fn where_a_pod_does_not_tell_of_waiting_for_storage_its_node_does() {
    let stage = Stage::of(|recording| {
        for node in ["n0", "n1", "n2", "n3"] {
            recording.node(node, 2, 16.0, 1, 0.5);
        }
        for (index, node) in [(0, "n0"), (1, "n1"), (2, "n2"), (3, "n9")] {
            recording.pod(&pod(index), node, 1.0, 1, 0.5);
        }
        // For the first one the kubelet has values, of its program and of its sidecar.
        let first = pod(0);
        for (container, share) in [("worker", 0.1), ("beside", 0.8), ("", 0.8)] {
            let labels = [("namespace", "cubeloom-jobs"), ("pod", first.as_str()), ("container", container)];
            recording.series("container_pressure_io_waiting_seconds_total", &labels, |at| Some(at * share));
        }
        pressure(recording, "n0", 0.9);
        pressure(recording, "n1", 0.4);
        // The kernel of the third one's node has no pressure counters.
        for core in ["0", "1"] {
            let labels = [("instance", "n2:9100"), ("cpu", core), ("mode", "iowait")];
            recording.series("node_cpu_seconds_total", &labels, |at| Some(at * 0.15));
        }
        // It has no pods of ours.
        pressure(recording, "n3", 1.0);
        // An ended pod is known until it is removed.
        let ended = pod(4);
        let labels = [("namespace", "cubeloom-jobs"), ("pod", ended.as_str())];
        recording.series("kube_pod_info", &[labels[0], labels[1], ("node", "n1")], |_| Some(1.0));
        recording
            .series("kube_pod_status_phase", &[labels[0], labels[1], ("phase", "Running")], |_| Some(0.0));
    });
    let told = told(&stage).await;
    assert_eq!(told.len(), 4, "{told:?}");
    about(last(&told, "worker-0", Measure::IoWait), 10.0);
    about(last(&told, "worker-1", Measure::IoWait), 40.0);
    about(last(&told, "worker-2", Measure::IoWait), 30.0);
    assert_eq!(last(&told, "worker-3", Measure::IoWait), None, "nobody tells of its node");
    about(last(&told, "worker-3", Measure::Cpu), 0.5);
}

#[tokio::test]
async fn what_is_beside_a_program_does_not_count_as_its_own() {
    let stage = Stage::of(|recording| {
        // A mesh proxy next to a program with a known name; and one with an unknown name, which counts with
        // all containers except the pod's own.
        let containers = [
            (0, "worker", 1.0),
            (0, "istio-proxy", 0.5),
            (1, "launcher", 1.0),
            (1, "istio-proxy", 0.5),
            (1, "POD", 4.0),
            (0, "", 1.5),
            (1, "", 5.5),
        ];
        for (index, container, much) in containers {
            let of = pod(index);
            let labels = [("namespace", "cubeloom-jobs"), ("pod", of.as_str()), ("container", container)];
            for counter in ["container_cpu_usage_seconds_total", "container_fs_writes_bytes_total"] {
                recording.series(counter, &labels, |at| Some(at * much));
            }
            recording.series("container_memory_working_set_bytes", &labels, |_| Some(much * 100.0 * MIB));
            // The program in the first one has no CPU limit.
            if container != "worker" {
                recording.series("container_cpu_cfs_throttled_seconds_total", &labels, |at| Some(at * much));
            }
        }
        // A program that has ended, and one that has not begun: their sidecars are still running, or already.
        for (index, known) in [(2, true), (3, false)] {
            let of = pod(index);
            let labels = |name: &'static str| {
                [("namespace", "cubeloom-jobs"), ("pod", of.as_str()), ("container", name)]
            };
            for (name, is_program) in [("worker", true), ("istio-proxy", false)] {
                let there = move |at: f64| !is_program || known && at < ENDED;
                let labels = labels(name);
                recording.series("container_cpu_usage_seconds_total", &labels, |at| there(at).then_some(at));
                recording
                    .series("container_memory_working_set_bytes", &labels, |at| there(at).then_some(MIB));
                recording.series("kube_pod_container_info", &labels, |_| (!known).then_some(1.0));
            }
        }
        recording.card(&card("n1", 0, Some(&pod(0))), |_| Some(0.5));
    });
    let told = told(&stage).await;
    for (worker, expected) in [("worker-0", 1.0), ("worker-1", 1.5)] {
        about(last(&told, worker, Measure::Cpu), expected);
        about(last(&told, worker, Measure::DiskWritten), expected);
        assert_eq!(last(&told, worker, Measure::Memory), Some(expected * 100.0 * MIB), "{worker}");
    }
    let ended = stage.at(ENDED - HOUR).0 as f64 / 1e6;
    let cpu =
        told.iter().find(|one| one.worker == "worker-2").expect("it was there").lines[&Measure::Cpu].last();
    assert!(cpu.expect("some")[0] < ended + 330.0, "a rate is told for five minutes more: {cpu:?}, {ended}");
    assert!(told.iter().all(|one| one.worker != "worker-3"), "{told:?}");
    assert_eq!(last(&told, "worker-0", Measure::Throttled), None, "it is its proxy that is held back");
    about(last(&told, "worker-1", Measure::Throttled), 1.5);
    let hour = history(&stage.source, "GPU-n1-0", "n1", &[pod(0)]).await.expect("Prometheus answers");
    about(*hour.series[&CardMeasure::HolderCpu].last().expect("some"), 1.0);
    // A project's pods use all of it.
    let pods = stage.look().await.pods;
    about(pods[&pod(0)].cpu, 1.5);
}
