//! Readings from a real Prometheus with an hour of synthetic exporter data.

mod hami;
mod pods;
mod scraped;

use std::io::{Read, Write};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cubeloom_domain::hang::HangPolicy;
use cubeloom_domain::monitoring::{CardMeasure, CardReading, MonitoringSettings, Reading};
use cubeloom_domain::usage::Measure;
use cubeloom_domain::{Timestamp, idle};
use cubeloom_monitoring::{
    PATIENCE, Prometheus, SourceError, cards_over_time, cards_worked, exporters, history, look, pods_used,
    usage,
};
use cubeloom_testkit::prometheus::Prometheus as Server;
use cubeloom_testkit::recording::{Card, Recording};

const HOUR: f64 = 3600.0;

#[expect(clippy::disallowed_methods, reason = "a real Prometheus has the real time")]
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs_f64()
}

/// A Prometheus with a recording of the last hour, which continues for ten minutes while the test runs.
struct Stage {
    source: Prometheus,
    now: f64,
    folder: tempfile::TempDir,
    server: Server,
}

impl Stage {
    fn of(record: impl FnOnce(&mut Recording)) -> Self {
        let now = now();
        let mut recording = Recording::until(now + 600.0, HOUR + 600.0, 30.0);
        record(&mut recording);
        let folder = tempfile::tempdir().expect("a folder");
        let server = Server::over(folder.path(), &recording);
        let source = source(&server.url(), &[]).expect("its address is one");
        Self { source, now, folder, server }
    }

    fn at(&self, seconds: f64) -> Timestamp {
        Timestamp(((self.now + seconds) * 1e6) as i64)
    }

    async fn look(&self) -> Reading {
        look(&self.source, self.at(0.0), PATIENCE).await.expect("Prometheus answers")
    }
}

fn source(url: &str, labels: &[(&str, &str)]) -> Option<Prometheus> {
    let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let settings =
        MonitoringSettings { prometheus: Some(url.into()), labels, ..MonitoringSettings::default() };
    Prometheus::of(&settings, None).expect("an address")
}

fn card<'a>(node: &'a str, index: u32, pod: Option<&'a str>) -> Card<'a> {
    Card { node, index, pod, memory: if pod.is_some() { 0.9 } else { 0.0 }, xid: 0 }
}

fn of<'a>(reading: &'a Reading, node: &str, uuid: &str) -> &'a CardReading {
    &reading.nodes[node].cards[uuid]
}

fn about(value: Option<f64>, expected: f64) {
    assert!(
        value.is_some_and(|value| (value - expected).abs() <= 0.02 * expected.max(0.01)),
        "{value:?} is not {expected}"
    );
}

#[tokio::test]
async fn nodes_cards_and_pods_are_read_with_their_units() {
    let stage = Stage::of(|recording| {
        recording.node("n1", 4, 16.0, 2, 0.5);
        recording.pod("cl-train-0123456789-worker-0", "n1", 3.0, 1, 0.9);
        recording.card(&card("n1", 0, Some("cl-train-0123456789-worker-0")), |_| Some(0.75));
        recording.card(&Card { xid: 79, ..card("n1", 1, None) }, |_| Some(0.0));
    });
    let reading = stage.look().await;
    assert_eq!(reading.problems, [""; 0]);
    let node = &reading.nodes["n1"];
    assert_eq!((node.cpu.capacity, node.cpu.requested), (Some(4.0), Some(3.0)));
    about(node.cpu.used, 2.0);
    let gib = |amount: f64| amount * f64::from(1 << 30);
    assert_eq!((node.memory.capacity, node.memory.used), (Some(gib(16.0)), Some(gib(8.0))));
    assert_eq!(
        (node.memory.requested, node.gpus.capacity, node.gpus.requested),
        (Some(gib(1.0)), Some(2.0), Some(1.0))
    );
    about(node.gpus.used, 0.75);
    let held = of(&reading, "n1", "GPU-n1-0");
    assert_eq!(held.pods, ["cl-train-0123456789-worker-0"]);
    assert_eq!((held.present, held.index, held.usage, held.xid), (true, Some(0), Some(0.75), None));
    assert_eq!((held.memory_used, held.memory_total), (Some(gib(72.0)), Some(gib(80.0))));
    assert_eq!(
        (held.temperature, held.power, held.tensor, held.power_limit),
        (Some(62.0), Some(520.0), None, None)
    );
    about(held.recent_usage, 0.75);
    assert_eq!(of(&reading, "n1", "GPU-n1-1").xid, Some(79));
    let pod = reading.pods["cl-train-0123456789-worker-0"];
    about(pod.cpu, 2.7);
    assert_eq!(pod.memory, Some(gib(0.5)));
    let found: Vec<bool> =
        exporters(&stage.source).await.unwrap().iter().map(|(_, count)| *count > 0).collect();
    assert_eq!(found, [true, false, false, true, true, true]);
}

#[tokio::test]
async fn profiling_counters_are_read_where_they_are() {
    let stage = Stage::of(|recording| {
        recording.card(&card("n1", 0, None), |_| Some(1.0));
        let labels = [("UUID", "GPU-n1-0")];
        recording.series("DCGM_FI_PROF_GR_ENGINE_ACTIVE", &labels, |_| Some(0.25));
        recording.series("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", &labels, |_| Some(0.125));
        recording.series("DCGM_FI_DEV_POWER_MGMT_LIMIT", &labels, |_| Some(700.0));
    });
    let reading = stage.look().await;
    let profiled = of(&reading, "n1", "GPU-n1-0");
    assert_eq!(
        (profiled.usage, profiled.tensor, profiled.power_limit),
        (Some(0.25), Some(0.125), Some(700.0))
    );
}

#[tokio::test]
async fn a_prometheus_that_is_away_or_none_says_so() {
    let source = source("http://127.0.0.1:1", &[]).unwrap();
    let error = look(&source, Timestamp(0), PATIENCE).await.unwrap_err();
    assert!(matches!(error, SourceError::Away(_)), "{error}");
    let stage = Stage::of(|recording| recording.series("up", &[], |_| Some(1.0)));
    let reading = stage.look().await;
    assert_eq!((reading.nodes.len(), reading.problems.len()), (0, 0));
    let elsewhere = self::source(&format!("{}/nowhere", stage.server.url()), &[]).unwrap();
    let error = look(&elsewhere, stage.at(0.0), PATIENCE).await.unwrap_err();
    assert!(matches!(error, SourceError::Refused(_)), "{error}");
    let Stage { server, source, now, folder } = stage;
    drop(server);
    let gone = look(&source, Timestamp((now * 1e6) as i64), PATIENCE).await;
    assert!(matches!(gone, Err(SourceError::Away(_))), "{gone:?}");
    drop(folder);
}

#[tokio::test]
async fn the_use_of_some_cards_is_read_at_once() {
    let stage = Stage::of(|recording| {
        for (index, usage) in [(0, 0.0), (1, 0.5), (2, 0.75)] {
            recording.card(&card("n1", index, None), |_| Some(usage));
        }
        let hami = [("deviceuuid", "GPU-h"), ("deviceidx", "4"), ("node", "n2")];
        recording.series("HostCoreUtilization", &hami, |_| Some(25.0));
    });
    let found = usage(&stage.source, &["GPU-n1-0", "GPU-n1-2", "GPU-h", "GPU-none"]).await.unwrap();
    let late: Vec<_> = found
        .iter()
        .map(|(uuid, history)| (uuid.as_str(), history.series[&CardMeasure::Usage][120]))
        .collect();
    assert_eq!(late, [("GPU-h", Some(0.25)), ("GPU-n1-0", Some(0.0)), ("GPU-n1-2", Some(0.75))]);
}

#[tokio::test]
async fn a_look_ends_however_slow_prometheus_is() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    // It answers every query with an empty result, each after a tenth of a second.
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let _ = stream.read(&mut [0; 4096]);
                std::thread::sleep(Duration::from_millis(100));
                let body = r#"{"status":"success","data":{"resultType":"vector","result":[]}}"#;
                let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length:";
                let _ = write!(stream, "{head} {}\r\n\r\n{body}", body.len());
            });
        }
    });
    let source = source(&url, &[]).unwrap();
    let error = look(&source, Timestamp(0), Duration::from_millis(300)).await.unwrap_err();
    // A single query would time out after ten seconds.
    assert!(matches!(error, SourceError::Slow(0)), "{error}");
    assert!(look(&source, Timestamp(0), PATIENCE).await.is_ok(), "each answer comes in time");
}

#[tokio::test]
async fn gaps_and_counters_that_begin_anew_are_no_values() {
    let reset = HOUR - 120.0;
    let stage = Stage::of(|recording| {
        // Missing from the 20th to the 40th minute.
        recording.card(&card("n1", 0, None), |at| (!(1200.0..2400.0).contains(&at)).then_some(0.5));
        // 300 W all the time, counted in millijoules; the driver was reloaded two minutes ago.
        let labels = [("UUID", "GPU-n2-0"), ("gpu", "0"), ("Hostname", "n2")];
        recording.series("DCGM_FI_DEV_FB_USED", &labels, |_| Some(1.0));
        recording.series("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", &labels, |at| {
            Some(if at < reset { 1e9 + at * 3e5 } else { (at - reset) * 3e5 })
        });
    });
    let reading = stage.look().await;
    let power = of(&reading, "n2", "GPU-n2-0").power.expect("from the counter of energy");
    assert!((200.0..=310.0).contains(&power), "{power}");
    let found = history(&stage.source, "GPU-n1-0", "n1", &[]).await.unwrap();
    let usage = &found.series[&CardMeasure::Usage];
    assert_eq!(usage.len(), 121);
    assert!(usage.first().unwrap().is_some() && usage.last().unwrap().is_some(), "{usage:?}");
    // A value is valid for five minutes in Prometheus; the rest of the gap stays one.
    let gap = usage.iter().filter(|value| value.is_none()).count();
    assert!((25..=35).contains(&gap), "{gap}: {usage:?}");
    assert!(!found.series.contains_key(&CardMeasure::HolderCpu));
}

#[tokio::test]
async fn a_card_that_vanished_is_told_of() {
    let stage = Stage::of(|recording| {
        recording.card(&card("n1", 0, None), |_| Some(0.5));
        recording.card(&card("n1", 1, Some("cl-a-0")), |at| (at < 1800.0).then_some(0.5));
    });
    let reading = stage.look().await;
    let gone = of(&reading, "n1", "GPU-n1-1");
    assert_eq!((gone.present, gone.usage, gone.pods.len()), (false, None, 0));
    assert!(of(&reading, "n1", "GPU-n1-0").present);
    assert_eq!(reading.problems, ["GPUs that stopped reporting in the last hour: 1, on `n1` (1)"]);
}

#[tokio::test]
async fn clocks_that_are_apart_are_said_and_values_are_shown() {
    let stage = Stage::of(|recording| recording.card(&card("n1", 0, None), |_| Some(0.5)));
    let ahead = look(&stage.source, stage.at(-900.0), PATIENCE).await.unwrap();
    assert_eq!(of(&ahead, "n1", "GPU-n1-0").usage, Some(0.5));
    assert!(ahead.problems.iter().any(|problem| problem.contains("15 min ahead")), "{:?}", ahead.problems);
    // An exporter whose clock is three and a half minutes behind.
    let late =
        Stage::of(|recording| recording.card(&card("n1", 0, None), |at| (at < HOUR - 210.0).then_some(0.5)));
    let reading = late.look().await;
    assert_eq!(of(&reading, "n1", "GPU-n1-0").usage, Some(0.5));
    assert!(
        reading.problems.iter().any(|problem| problem.contains("is 4 min old")),
        "{:?}",
        reading.problems
    );
}

#[tokio::test]
async fn one_prometheus_may_hold_several_clusters() {
    let stage = Stage::of(|recording| {
        for (cluster, usage) in [("east", 10.0), ("west", 90.0)] {
            let uuid = format!("GPU-{cluster}");
            let labels = [("cluster", cluster), ("UUID", uuid.as_str()), ("Hostname", cluster)];
            recording.series("DCGM_FI_DEV_FB_USED", &labels, |_| Some(1.0));
            recording.series("DCGM_FI_DEV_GPU_UTIL", &labels, |_| Some(usage));
        }
    });
    let east = source(&stage.server.url(), &[("cluster", "east")]).unwrap();
    let reading = look(&east, stage.at(0.0), PATIENCE).await.unwrap();
    assert_eq!(reading.nodes.keys().collect::<Vec<_>>(), ["east"]);
    assert_eq!(of(&reading, "east", "GPU-east").usage, Some(0.1));
}

#[tokio::test]
async fn for_how_long_the_cards_of_a_job_worked_is_added_up() {
    let stage = Stage::of(|recording| {
        recording.node("n1", 2, 16.0, 2, 0.5);
        for (index, used) in [(0, 0.75), (1, 0.25)] {
            let pod = format!("cl-train-0123456789-worker-{index}");
            recording.card(&card("n1", index, Some(&pod)), |_| Some(used));
        }
        recording.card(&card("n1", 2, Some("cl-idle-0123456789-worker-0")), |_| Some(0.0));
        for exporter in ["ours", "the operator's"] {
            let labels = [
                ("UUID", "GPU-twice"),
                ("Hostname", "n1"),
                ("exporter", exporter),
                ("exported_pod", "cl-twice-0123456789-worker-0"),
            ];
            recording.series("DCGM_FI_DEV_GPU_UTIL", &labels, |_| Some(50.0));
        }
    });
    let worked = |object: &'static str| {
        let (source, from, to) = (&stage.source, stage.at(-1200.0), stage.at(0.0));
        async move { cards_worked(source, object, from, to).await.unwrap() }
    };
    // One GPU's use for twenty minutes, at steps of fifteen seconds.
    let time = worked("cl-train-0123456789").await.unwrap();
    let near = |micros: u64, seconds: f64| (micros as f64 / 1e6 - seconds).abs() <= 45.0;
    assert!(near(time.worked_us, 1200.0) && near(time.told_us, 2.0 * 1200.0), "{time:?}");
    let idle = worked("cl-idle-0123456789").await.unwrap();
    assert!(idle.worked_us == 0 && near(idle.told_us, 1200.0), "an idle GPU is measured: {idle:?}");
    let twice = worked("cl-twice-0123456789").await.unwrap();
    assert!(near(twice.worked_us, 600.0), "two exporters report one GPU: {twice:?}");
    assert_eq!(worked("cl-other-0123456789").await, None, "nobody told of it");
    let (from, to) = (stage.at(-1200.0), stage.at(0.0));
    let lines = cards_over_time(&stage.source, "cl-train-0123456789", from, to).await.unwrap();
    let used =
        |at: usize| lines[at].lines[&Measure::CardUse].iter().map(|point| point[1]).next_back().unwrap();
    assert_eq!((lines.len(), lines[0].worker.as_str()), (2, "worker-0"));
    assert!((used(0) - 75.0).abs() < 1.0 && (used(1) - 25.0).abs() < 1.0, "{lines:?}");
}

#[tokio::test]
async fn cards_that_rest_now_and_then_for_days_are_no_hang_and_cards_that_stop_are() {
    const DAYS: f64 = 5.0 * 86_400.0;
    const STOPS: f64 = DAYS - 3.0 * 3600.0;
    let now = now();
    let mut recording = Recording::until(now, DAYS, 60.0);
    for worker in ["worker-0", "worker-1"] {
        let pod = format!("cl-train-0123456789-{worker}");
        let labels = [("UUID", worker), ("Hostname", "n1"), ("exported_pod", pod.as_str())];
        // Four idle minutes a day, the last of them a quarter of an hour before it stops, three hours before
        // the end.
        let works = |at: f64| at < STOPS && !(74_460.0..74_700.0).contains(&(at % 86_400.0));
        recording.series("DCGM_FI_DEV_GPU_UTIL", &labels, |at| Some(if works(at) { 90.0 } else { 0.0 }));
        recording.series("DCGM_FI_DEV_POWER_USAGE", &labels, |at| Some(if works(at) { 600.0 } else { 70.0 }));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::over(folder.path(), &recording);
    let source = source(&server.url(), &[]).expect("its address is one");
    let moment = |after: f64| Timestamp(((now - DAYS + after) * 1e6) as i64);
    let seen = async |at: f64| {
        let lines = cards_over_time(&source, "cl-train-0123456789", moment(0.0), moment(at)).await.unwrap();
        let workers: Vec<_> = lines.into_iter().map(idle::told).collect();
        idle::look(&workers, 2, moment(at))
    };
    let hangs = async |at: f64| {
        let idle = seen(at).await?;
        idle::judge(&idle, None, &HangPolicy::default(), moment(at))
    };
    for minute in [1, 4, 8, 16] {
        let at = STOPS - f64::from(minute) * 60.0;
        assert_eq!(hangs(at).await, None, "{minute} minutes before it stops");
    }
    let hang = hangs(STOPS + 1500.0).await.expect("it has stopped");
    let (longest, since) = (hang.longest as f64 / 1e6, hang.since.since(moment(STOPS)).as_secs_f64());
    assert!((200.0..=300.0).contains(&longest) && since <= 60.0, "{longest} {since}");
    // Later the resolution of its stop is lower, with the same result.
    let later = seen(DAYS - 30.0).await.expect("it has stopped");
    assert!(!later.began_after(hang.since));
}

#[tokio::test]
async fn what_the_pods_of_a_job_used_is_told_of_those_of_which_both_are_known() {
    const MIB: f64 = (1 << 20) as f64;
    let stage = Stage::of(|recording| {
        let mut tell = |pod: &str, cores: Option<f64>, peak: Option<f64>| {
            for container in ["main", ""] {
                let labels = [("namespace", "team"), ("pod", pod), ("container", container)];
                recording
                    .series("container_cpu_usage_seconds_total", &labels, |at| cores.map(|cores| at * cores));
                // A minute with a higher value, twenty minutes before the end.
                let is_peak = |at: f64| (HOUR - 1200.0..HOUR - 1140.0).contains(&at);
                recording.series("container_memory_working_set_bytes", &labels, |at| {
                    peak.map(|peak| if is_peak(at) { peak } else { 64.0 * MIB })
                });
            }
        };
        tell("cl-train-0123456789-worker-0", Some(1.5), Some(512.0 * MIB));
        tell("cl-train-0123456789-worker-1", Some(0.5), None);
        tell("cl-train-0123456789-worker-2", None, Some(64.0 * MIB));
        tell("cl-train-0123456789-worker-3", Some(0.25), Some(64.0 * MIB));
        tell("cl-trainer-0123456789-worker-0", Some(64.0), Some(64.0 * MIB));
        let beside =
            [("namespace", "team"), ("pod", "cl-train-0123456789-worker-0"), ("container", "beside")];
        recording.series("container_cpu_usage_seconds_total", &beside, |at| Some(at * 0.25));
        recording.series("container_memory_working_set_bytes", &beside, |_| Some(32.0 * MIB));
        // There are no such series without a CPU limit.
        for (container, held_back) in [("main", 4.0), ("", 10.0)] {
            let pod = "cl-train-0123456789-worker-0";
            let labels = [("namespace", "team"), ("pod", pod), ("container", container)];
            recording.series("container_cpu_cfs_periods_total", &labels, |at| Some((at * 10.0).floor()));
            recording.series("container_cpu_cfs_throttled_periods_total", &labels, |at| {
                Some((at * held_back).floor())
            });
        }
    });
    let used = async |object: &str| {
        pods_used(&stage.source, object, stage.at(-1800.0), stage.at(0.0)).await.unwrap()
    };
    let told = used("cl-train-0123456789").await;
    let [beside, one, other] = &told[..] else { panic!("{told:?}") };
    assert_eq!([&beside.container, &one.container, &other.container], ["beside", "main", "main"]);
    assert_eq!((&beside.pod, beside.memory[0], beside.throttled), (&one.pod, 32.0 * MIB, None));
    let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    assert_eq!((one.pod.as_str(), most(&one.memory)), ("cl-train-0123456789-worker-0", 512.0 * MIB));
    let peaks = one.memory.iter().filter(|value| **value > 64.0 * MIB).count();
    assert!((2..=8).contains(&peaks), "it is a spike: {one:?}");
    about(Some(one.cores.iter().sum::<f64>() / one.cores.len() as f64), 1.5);
    assert!((most(&one.cores) - 1.5).abs() < 0.1, "{one:?}");
    assert!((118..=122).contains(&one.cores.len()), "every fifteen seconds: {one:?}");
    about(one.throttled, 0.4);
    assert_eq!((other.pod.as_str(), other.throttled), ("cl-train-0123456789-worker-3", None));
    assert!(used("cl-other-0123456789").await.is_empty());
}

/// Timeout of a single query.
const A_QUERY: Duration = Duration::from_secs(10);

#[tokio::test]
async fn what_pods_used_is_told_also_where_how_much_they_were_held_back_is_not() {
    // One is rejected at once, because it asks for too much; the other is not answered in time.
    for (status, pause) in [("422 Unprocessable Entity", 0), ("200 OK", 60)] {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                std::thread::spawn(move || {
                    let (mut asked, mut part) = (String::new(), [0; 4096]);
                    while !asked.contains("step=") {
                        let Ok(count @ 1..) = stream.read(&mut part) else { return };
                        asked.push_str(&String::from_utf8_lossy(&part[..count]));
                    }
                    let is_held_back = asked.contains("throttled");
                    std::thread::sleep(Duration::from_secs(if is_held_back { pause } else { 0 }));
                    let status = if is_held_back { status } else { "200 OK" };
                    let row = r#"{"metric":{"pod":"cl-a-worker-0","container":"main"},"values":[[0,"1"]]}"#;
                    let body = format!(
                        r#"{{"status":"success","data":{{"resultType":"matrix","result":[{row}]}}}}"#
                    );
                    let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length:");
                    let _ = write!(stream, "{head} {}\r\n\r\n{body}", body.len());
                });
            }
        });
        let source = source(&url, &[]).unwrap();
        let began = Instant::now();
        let used = pods_used(&source, "cl-a", Timestamp(0), Timestamp(60_000_000)).await.unwrap();
        assert!(began.elapsed() < A_QUERY, "{status}: it waited until the query itself was given up");
        let [one] = &used[..] else { panic!("{status}: {used:?}") };
        assert_eq!((one.cores.len(), one.memory.len(), one.throttled), (1, 1, None), "{status}");
    }
}
