//! Readings of exporters that Prometheus really scrapes.

use std::time::{Duration, Instant};

use cubeloom_domain::monitoring::Reading;
use cubeloom_monitoring::{PATIENCE, look};
use cubeloom_testkit::exporter::{DCGM, Exporter};
use cubeloom_testkit::prometheus::{Prometheus as Server, Target};

use crate::{now, of, source};

const HELD: &str = "GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e52";
const FREE: &str = "GPU-604ac76c-0000-fef3-62e9-d92044ab6e53";
/// Timeout until an exporter's value is visible; it is scraped each second.
const LONG: Duration = Duration::from_secs(30);

/// A Prometheus that scrapes an exporter of a node. Its pod label is the target's, as with pod discovery.
struct Scraped {
    exporter: Exporter,
    server: Server,
    _folder: tempfile::TempDir,
}

impl Scraped {
    fn of(honor_labels: bool) -> Self {
        let exporter = Exporter::of(DCGM);
        let folder = tempfile::tempdir().expect("a folder");
        let labels = [
            ("node", "n1"),
            ("namespace", "gpu-operator"),
            ("pod", "nvidia-dcgm-exporter-x7k2p"),
            ("container", "nvidia-dcgm-exporter"),
        ];
        let server =
            Server::scraping(folder.path(), &[Target { exporter: &exporter, labels: &labels, honor_labels }]);
        Self { exporter, server, _folder: folder }
    }

    async fn look(&self) -> Reading {
        let source = source(&self.server.url(), &[]).expect("its address is one");
        let at = cubeloom_domain::Timestamp((now() * 1e6) as i64);
        look(&source, at, PATIENCE).await.expect("Prometheus answers")
    }

    /// Waits for a reading that satisfies the condition.
    async fn until(&self, is_so: impl Fn(&Reading) -> bool) -> Reading {
        let since = Instant::now();
        loop {
            let reading = self.look().await;
            if is_so(&reading) {
                // Its queries ran at several times, possibly with a scrape in between: the next reading is
                // consistent.
                return self.look().await;
            }
            assert!(since.elapsed() < LONG, "{reading:?}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

fn are_there(reading: &Reading) -> bool {
    reading.nodes.get("n1").is_some_and(|node| node.cards.values().filter(|card| card.present).count() == 2)
}

#[tokio::test]
async fn what_a_scraped_dcgm_exporter_tells_is_read_whoever_may_name_the_pod() {
    for honor_labels in [true, false] {
        let scraped = Scraped::of(honor_labels);
        let reading = scraped.until(are_there).await;
        assert_eq!(reading.problems, [""; 0]);
        let held = of(&reading, "n1", HELD);
        assert_eq!(held.pods, ["cl-train-0123456789-worker-0"], "honor_labels: {honor_labels}");
        assert_eq!((held.index, held.model.as_str()), (Some(0), "NVIDIA A100-SXM4-40GB"));
        assert_eq!((held.usage, held.recent_usage, held.xid), (Some(0.75), Some(0.75), None));
        let gib = f64::from(1 << 30);
        assert_eq!((held.memory_used, held.memory_total), (Some(30.0 * gib), Some(40.0 * gib)));
        assert_eq!((held.temperature, held.power), (Some(61.0), Some(312.5)));
        let free = of(&reading, "n1", FREE);
        assert_eq!(free.pods, [""; 0], "the exporter's own pod holds no GPU");
        assert_eq!((free.usage, free.temperature, free.power), (Some(0.0), Some(31.0), None));
    }
}

#[tokio::test]
async fn an_exporter_that_goes_is_missed_and_tells_anew_when_it_comes_back() {
    let scraped = Scraped::of(false);
    scraped.until(are_there).await;
    // One GPU falls off the bus, and the driver reports it for the other: missing series disappear at once.
    scraped.exporter.play(|line| match (line.gpu, line.name) {
        ("1", _) => None,
        (_, "DCGM_FI_DEV_XID_ERRORS") => Some(79.0),
        (_, "DCGM_FI_DEV_GPU_UTIL") => Some(0.0),
        _ => Some(line.value),
    });
    let reading = scraped.until(|reading| !of(reading, "n1", FREE).present).await;
    assert_eq!((of(&reading, "n1", HELD).xid, of(&reading, "n1", HELD).usage), (Some(79), Some(0.0)));
    scraped.exporter.be_away(true);
    let reading = scraped.until(|reading| !of(reading, "n1", HELD).present).await;
    let (gone, other) = (of(&reading, "n1", HELD), of(&reading, "n1", FREE));
    assert_eq!((gone.usage, gone.xid, gone.pods.len(), other.present), (None, None, 0, false));
    assert_eq!(reading.problems, ["GPUs that stopped reporting in the last hour: 2, on `n1` (2)"]);
    scraped.exporter.tell(DCGM.replace("cl-train-0123456789-worker-0", "cl-other-0123456789-worker-3"));
    scraped.exporter.play(|line| Some(line.value));
    scraped.exporter.be_away(false);
    let reading = scraped.until(are_there).await;
    let back = of(&reading, "n1", HELD);
    assert_eq!((back.xid, back.usage), (None, Some(0.75)));
    assert_eq!(back.pods, ["cl-other-0123456789-worker-3"], "the task of before holds it no more");
    assert_eq!(reading.problems, [""; 0]);
}
