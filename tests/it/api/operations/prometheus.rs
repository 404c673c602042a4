//! A real Prometheus (Debian's package) that scrapes a server.

use std::cell::RefCell;
use std::fs;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::api::support::Client;
use crate::support::wait_for;

/// Dropping this ends it.
pub struct Prometheus {
    child: Child,
    http: Client,
    _folder: TempDir,
}

impl Prometheus {
    /// Scrapes `/metrics` of a server every second, with a token.
    pub fn of(server: &str, token: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let address = server.trim_start_matches("http://");
        let settings = format!(
            "scrape_configs:\n- job_name: cubeloom\n  scrape_interval: 1s\n  authorization: {{credentials: '{token}'}}\n  \
             static_configs: [{{targets: ['{address}']}}]\n"
        );
        let file = folder.path().join("prometheus.yml");
        fs::write(&file, settings).expect("a file");
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", file.display()))
            .arg(format!("--storage.tsdb.path={}", folder.path().join("data").display()))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("prometheus");
        let http = Client::new(format!("http://127.0.0.1:{port}"), None);
        Self { child, http, _folder: folder }
    }

    /// The server's target, once it has been scraped and its metrics can be queried.
    pub fn wait_for_target(&self) -> Value {
        let found = RefCell::new(Value::Null);
        wait_for("Prometheus to have read the metrics", || {
            let ready = self.http.request(reqwest::Method::GET, "page:/api/v1/targets").send();
            let targets: Value = match ready.and_then(reqwest::blocking::Response::json) {
                Ok(targets) => targets,
                Err(_) => return false,
            };
            *found.borrow_mut() = targets["data"]["activeTargets"][0].clone();
            // Prometheus reports a target before it has stored the samples.
            found.borrow()["health"] == "up" && self.value("up") == Some(1.0)
        });
        found.into_inner()
    }

    /// The first value of a query; `None` for an empty result.
    pub fn value(&self, query: &str) -> Option<f64> {
        let pairs = [("query", query)];
        let asked =
            reqwest::Url::parse_with_params("http://prometheus/api/v1/query", pairs).expect("an address");
        let path = format!("page:{}?{}", asked.path(), asked.query().unwrap_or_default());
        let asked = self.http.request(reqwest::Method::GET, &path);
        let answer: Value = asked.send().and_then(reqwest::blocking::Response::json).expect("an answer");
        answer["data"]["result"][0]["value"][1].as_str()?.parse().ok()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
