//! Prometheus for tests: Debian's program on a free port, with recorded data, or with exporters scraped every
//! second.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::exporter::Exporter;
use crate::recording::Recording;

/// The timeout of its start.
const PATIENCE: Duration = Duration::from_secs(30);
/// The data folder, below its own.
const DATA: &str = "data";

#[derive(Clone, Copy)]
pub struct Target<'a> {
    pub exporter: &'a Exporter,
    /// Labels that Prometheus adds to each series.
    pub labels: &'a [(&'a str, &'a str)],
    /// Whether the exporter's labels take precedence over equal ones that Prometheus adds; otherwise they
    /// become `exported_...`.
    pub honor_labels: bool,
}

/// A running Prometheus, stopped on drop.
pub struct Prometheus {
    child: Child,
    port: u16,
}

impl Prometheus {
    /// Starts one with a recording, in an empty folder that the caller removes.
    ///
    /// # Panics
    /// If that fails; the message says what to do.
    #[must_use]
    pub fn over(folder: &Path, recording: &Recording) -> Self {
        let (text, data) = (folder.join("recorded"), folder.join(DATA));
        fs::write(&text, recording.openmetrics()).expect("the recording is written");
        let mut take_in = Command::new("promtool");
        take_in.args(["tsdb", "create-blocks-from", "openmetrics"]).arg(&text).arg(&data);
        let taken = take_in.output().expect("promtool starts: tools/setup test installs Debian's prometheus");
        assert!(taken.status.success(), "promtool: {}", String::from_utf8_lossy(&taken.stderr));
        Self::start(folder, "scrape_configs: []\n")
    }

    /// Starts one that scrapes exporters every second, in an empty folder that the caller removes.
    ///
    /// # Panics
    /// If that fails; the message says what to do.
    #[must_use]
    pub fn scraping(folder: &Path, targets: &[Target<'_>]) -> Self {
        let mut config = String::from("global: {scrape_interval: 1s, scrape_timeout: 1s}\nscrape_configs:\n");
        for (number, target) in targets.iter().enumerate() {
            let labels: Vec<String> =
                target.labels.iter().map(|(label, text)| format!("{label}: {text:?}")).collect();
            let (address, honor) = (target.exporter.target(), target.honor_labels);
            let _ = writeln!(config, "- job_name: exporter-{number}\n  honor_labels: {honor}");
            let _ = writeln!(
                config,
                "  static_configs: [{{targets: [{address:?}], labels: {{{}}}}}]",
                labels.join(", ")
            );
        }
        Self::start(folder, &config)
    }

    fn start(folder: &Path, configuration: &str) -> Self {
        let config = folder.join("prometheus.yml");
        fs::write(&config, configuration).expect("the configuration is written");
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|free| free.local_addr());
        let port = port.expect("a free port").port();
        let log = fs::File::create(folder.join("log")).expect("the log is made");
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.tsdb.path={}", folder.join(DATA).display()))
            .args(["--storage.tsdb.retention.time=10y", "--log.level=warn"])
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("prometheus starts: tools/setup test installs Debian's");
        let started = Self { child, port };
        let since = Instant::now();
        while !started.is_ready() {
            let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
            assert!(since.elapsed() < PATIENCE, "prometheus is not ready: {log}");
            std::thread::sleep(Duration::from_millis(50));
        }
        started
    }

    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn is_ready(&self) -> bool {
        let ask = || -> std::io::Result<String> {
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
            stream.set_read_timeout(Some(Duration::from_secs(2)))?;
            stream.write_all(b"GET /-/ready HTTP/1.0\r\n\r\n")?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            Ok(answer)
        };
        ask().is_ok_and(|answer| answer.lines().next().is_some_and(|line| line.contains(" 200")))
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
