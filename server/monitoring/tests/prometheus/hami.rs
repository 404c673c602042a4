//! HAMi's vGPUmonitor: series of GPUs and of shares, with current names and those before version 2.9.

use cubeloom_domain::monitoring::CardMeasure;
use cubeloom_domain::usage::Measure;
use cubeloom_monitoring::{cards_over_time, exporters, history, usage, workers};
use cubeloom_testkit::recording::Recording;

use crate::{Stage, about, card, of};

/// Series of `--legacy-metrics` and earlier versions.
fn before(recording: &mut Recording) {
    let card =
        [("deviceuuid", "GPU-h"), ("deviceidx", "4"), ("devicetype", "NVIDIA-NVIDIA H200"), ("nodeid", "n2")];
    recording.series("HostGPUMemoryUsage", &card, |_| Some(1e9));
    recording.series("HostCoreUtilization", &card, |_| Some(50.0));
    let held = [("deviceuuid", "GPU-h"), ("podname", "cl-a-0"), ("podnamespace", "cubeloom-jobs")];
    recording.series("vGPU_device_memory_usage_in_bytes", &held, |_| Some(1e9));
}

/// Current series, through a Prometheus that adds its own pod label.
fn now(recording: &mut Recording) {
    let card = [
        ("device_uuid", "GPU-h"),
        ("device_index", "4"),
        ("device_type", "NVIDIA-NVIDIA H200"),
        ("node", "n2"),
        ("pod", "hami-device-plugin-x7"),
        ("zone", "vGPU"),
    ];
    recording.series("hami_host_gpu_memory_used_bytes", &card, |_| Some(1e9));
    recording.series("hami_host_gpu_utilization_ratio", &card, |_| Some(50.0));
    recording.series("hami_host_gpu_temperature_celsius", &card, |_| Some(61.0));
    recording.series("hami_host_gpu_power_usage_watts", &card, |_| Some(350.5));
    let held = [
        ("device_uuid", "GPU-h"),
        ("exported_pod", "cl-a-0"),
        ("exported_namespace", "cubeloom-jobs"),
        ("pod", "hami-device-plugin-x7"),
        ("vdevice_index", "0"),
    ];
    recording.series("hami_vgpu_memory_used_bytes", &held, |_| Some(1e9));
}

#[tokio::test]
async fn cards_are_read_by_the_names_of_now_and_of_before() {
    for (record, is_now) in [
        (before as fn(&mut Recording), false),
        (now, true),
        (
            |both| {
                before(both);
                now(both)
            },
            true,
        ),
    ] {
        let stage = Stage::of(record);
        let reading = stage.look().await;
        assert_eq!((reading.problems.len(), reading.nodes.len(), reading.nodes["n2"].cards.len()), (0, 1, 1));
        let shared = of(&reading, "n2", "GPU-h");
        assert_eq!(
            (shared.present, shared.index, shared.pods.as_slice()),
            (true, Some(4), &["cl-a-0".into()][..])
        );
        assert_eq!((shared.usage, shared.memory_used), (Some(0.5), Some(1e9)));
        about(shared.recent_usage, 0.5);
        assert_eq!(shared.model, "NVIDIA H200");
        assert_eq!(shared.temperature.zip(shared.power), is_now.then_some((61.0, 350.5)));
        let counts = exporters(&stage.source).await.unwrap();
        let hami = counts.iter().find(|(exporter, _)| exporter.name.starts_with("HAMi")).unwrap();
        assert_eq!(hami.1, 1, "the GPU is one");
        let used = usage(&stage.source, &["GPU-h"]).await.unwrap();
        assert_eq!(used["GPU-h"].series[&CardMeasure::Usage][120], Some(0.5));
        let hour = history(&stage.source, "GPU-h", "n2", &[]).await.unwrap();
        assert_eq!(hour.series[&CardMeasure::MemoryUsed].last(), Some(&Some(1e9)));
        assert_eq!(hour.series.contains_key(&CardMeasure::Power), is_now);
    }
}

#[tokio::test]
async fn what_dcgm_exporter_tells_of_the_same_card_comes_first() {
    let stage = Stage::of(|recording| {
        recording.card(&card("n1", 0, Some("cl-b-0")), |_| Some(0.75));
        let labels = [
            ("device_uuid", "GPU-n1-0"),
            ("device_index", "0"),
            ("device_type", "NVIDIA-H100"),
            ("node", "n1"),
        ];
        recording.series("hami_host_gpu_memory_used_bytes", &labels, |_| Some(1e9));
        recording.series("hami_host_gpu_utilization_ratio", &labels, |_| Some(50.0));
        let held = [("device_uuid", "GPU-n1-0"), ("pod", "cl-a-0"), ("vdevice_index", "0")];
        recording.series("hami_vgpu_memory_used_bytes", &held, |_| Some(1e9));
    });
    let reading = stage.look().await;
    let both = of(&reading, "n1", "GPU-n1-0");
    assert_eq!((both.model.as_str(), both.usage), ("NVIDIA H100 80GB HBM3", Some(0.75)));
    assert_eq!(both.pods, ["cl-a-0", "cl-b-0"], "whoever tells of a holder is believed");
}

#[tokio::test]
async fn what_a_worker_does_with_its_share_of_a_card_is_read_of_hami() {
    const GIB: f64 = (1 << 30) as f64;
    let pod = |index: u32| format!("cl-share-0123456789-worker-{index}");
    let stage = Stage::of(|recording| {
        // Two workers and a foreign process on one GPU, as dcgm-exporter reports them, without pods.
        recording.card(&card("n1", 0, None), |_| Some(0.9));
        // Current series, through a Prometheus that adds the exporter's pod label.
        let first = pod(0);
        let labels = [
            ("exported_pod", first.as_str()),
            ("pod", "hami-device-plugin-x7"),
            ("container", "main"),
            ("device_uuid", "GPU-n1-0"),
        ];
        recording.series("hami_container_device_utilization_ratio", &labels, |_| Some(15.0));
        recording.series("hami_vgpu_core_allocated_ratio", &labels, |_| Some(30.0));
        recording.series("hami_vgpu_memory_used_bytes", &labels, |_| Some(6.0 * GIB));
        recording.series("hami_vgpu_memory_limit_bytes", &labels, |_| Some(24.0 * GIB));
        // Series of earlier versions: one with unlimited cores, which are not counted then, and one that uses
        // more than its share.
        for (index, used, cores) in [(1, 0.0, 0.0), (2, 75.0, 50.0)] {
            let own = pod(index);
            let labels = [("podname", own.as_str()), ("ctrname", "main"), ("deviceuuid", "GPU-n1-0")];
            recording.series("Device_utilization_desc_of_container", &labels, |_| Some(used));
            recording.series("vGPUCoreAllocated", &labels, |_| Some(cores));
            recording.series("vGPU_device_memory_usage_in_bytes", &labels, |_| Some(2.0 * GIB));
            recording.series("vGPU_device_memory_limit_in_bytes", &labels, |_| Some(8.0 * GIB));
        }
        let other = [("podname", "somebody-else"), ("deviceuuid", "GPU-n1-0")];
        recording.series("Device_utilization_desc_of_container", &other, |_| Some(35.0));
    });
    let (from, to) = (stage.at(-1200.0), stage.at(0.0));
    let told = workers(&stage.source, "cl-share-0123456789", from, to).await.unwrap();
    let last = |at: usize, measure: Measure| Some(told[at].lines.get(&measure)?.last().unwrap()[1]);
    let seen = |at: usize| {
        let memory = last(at, Measure::CardMemory).unwrap() / GIB;
        (
            told[at].worker.as_str(),
            last(at, Measure::CardUse),
            memory,
            told[at].card_memory.map(|all| all / GIB),
        )
    };
    assert_eq!(told.len(), 3, "{told:?}");
    assert_eq!(seen(0), ("worker-0", Some(50.0), 6.0, Some(24.0)), "of its share");
    assert_eq!(seen(1), ("worker-1", None, 2.0, Some(8.0)), "nobody counts it");
    assert_eq!(seen(2), ("worker-2", Some(100.0), 2.0, Some(8.0)), "all of it");
    let lines = cards_over_time(&stage.source, "cl-share-0123456789", from, to).await.unwrap();
    assert_eq!(lines.len(), 2, "it is seen where they fall idle, too");
}
