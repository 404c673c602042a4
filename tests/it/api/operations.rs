//! Operations: metrics, readiness and spans, and the rules and dashboards in `deploy/` that use them.

mod boards;
mod collector;
mod prometheus;

use std::collections::BTreeSet;
use std::process::Command;

use super::runs::help::{document, start, task, until};
use super::support::{Client, Server, Who};
use crate::support::TestApp;
use collector::Collector;
use prometheus::Prometheus;

/// Runs a pipeline of one task that ends at once.
fn run_one(server: &Server) -> String {
    let editor = server.as_(Who::Editor);
    let run = start(&editor, &document("hello", &format!("tasks:\n{}", task("one", "true", ""))));
    until(&editor, &run, "succeeded");
    run
}

#[test]
fn metrics_are_read_by_prometheus_with_an_administrators_token_only() {
    let server = Server::start();
    run_one(&server);
    server.as_(Who::Anonymous).get("page:/metrics").expect(401);
    server.as_(Who::Owner).get("page:/metrics").expect(403);
    let token = server.as_(Who::Reader).token().expect("a token").to_owned();
    // An independent, strict OpenMetrics parser.
    let prometheus = Prometheus::of(&server.url(), &token);
    let target = prometheus.wait_for_target();
    assert_eq!(target["lastError"], "", "{target}");
    let value = |query: &str| prometheus.value(query);
    assert_eq!(value("cubeloom_build_info"), Some(1.0));
    assert_eq!(value(r#"cubeloom_attempts_ended_total{cluster="local",outcome="succeeded"}"#), Some(1.0));
    assert_eq!(value(r#"cubeloom_executor_call_duration_seconds_count{call="submit"}"#), Some(1.0));
    assert_eq!(value("cubeloom_cluster_connected"), Some(1.0));
    assert!(value(r#"cubeloom_engine_pass_duration_seconds_count{part="commit"}"#) >= Some(2.0));
    assert!(value("cubeloom_engine_idle_seconds") < Some(30.0));
    let started = r#"cubeloom_http_request_duration_seconds_count{route="/api/v1/projects/{project}/runs",method="POST",status="2xx"}"#;
    assert_eq!(value(started), Some(1.0));
    assert!(value("process_resident_memory_bytes") > Some(1e6));
}

#[test]
fn metrics_have_an_address_of_their_own_where_one_is_configured() {
    let mut app = TestApp::new();
    app.set("CUBELOOM_TELEMETRY_METRICS_LISTEN", "127.0.0.1:0");
    let server = Server::start_in(app);
    let log = server.log();
    let line = log.lines().find(|line| line.contains("metrics are served at /metrics")).expect("a line");
    let address = line.split("listen=").nth(1).and_then(|rest| rest.split_whitespace().next());
    let address = address.map(|text| text.trim_matches(|c: char| !c.is_ascii_digit()).to_owned());
    let there = format!("http://{}", address.expect("an address"));
    let nobody = Client::new(there, None);
    let answer = nobody.get("page:/metrics").expect(200);
    assert!(answer.header("content-type").starts_with("application/openmetrics-text"));
    assert!(answer.text().contains("\ncubeloom_leases_held 0\n") && answer.text().ends_with("# EOF\n"));
    nobody.get("/health").expect(404);
    server.as_(Who::Anonymous).get("page:/metrics").expect(401);
}

#[test]
fn a_server_says_whether_it_is_ready() {
    let server = Server::start();
    let nobody = server.as_(Who::Anonymous);
    let ready = nobody.get("/ready").expect(200).json();
    assert_eq!(ready["status"], "ready");
    assert!(ready["last_pass_seconds"].as_f64().expect("a number") < 60.0, "{ready}");
}

#[test]
fn spans_of_requests_passes_and_submissions_reach_a_collector() {
    let collector = Collector::start();
    let mut app = TestApp::new();
    app.set("CUBELOOM_TELEMETRY_OTLP_ENDPOINT", collector.url());
    let server = Server::start_in(app);
    let run = run_one(&server);
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let asked = server.as_(Who::Viewer).request(reqwest::Method::GET, &format!("/runs/{run}"));
    assert_eq!(asked.header("traceparent", parent).send().expect("an answer").status(), 200);
    // The remaining spans are sent at shutdown.
    server.stop();
    let spans = collector.spans();
    let named = |name: &str| spans.iter().filter(|span| span.name == name).collect::<Vec<_>>();
    let ours = |span: &&&collector::Span| span.trace == "0af7651916cd43dd8448eb211c80319c";
    let requests = named("GET /api/v1/runs/{run}");
    let request = requests.iter().find(ours).expect("the request continues the trace that it names");
    assert_eq!(request.parent, "b7ad6b7169203331");
    assert_eq!(request.attributes["http.response.status_code"], "200");
    assert_eq!(request.attributes["http.route"], "/api/v1/runs/{run}");
    assert!(!named("pass").is_empty());
    let submissions = named("submit");
    let submission = submissions.first().expect("the submission");
    assert_eq!(submission.attributes["cubeloom.run"], run);
    assert_eq!(submission.attributes["cubeloom.attempt"], format!("{run}.one.0.1"));
    assert_eq!(submission.attributes["cubeloom.cluster"], "local");
    assert!(spans.iter().all(|span| span.service == "cubeloom"));
}

#[test]
fn a_collector_that_does_not_answer_holds_nobody_up() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let mut app = TestApp::new();
    let address = silent.local_addr().expect("an address");
    app.set("CUBELOOM_TELEMETRY_OTLP_ENDPOINT", format!("http://{address}"));
    let server = Server::start_in(app);
    run_one(&server);
    // The collector never responds: a server that waited for it would be killed in the end.
    server.stop();
    drop(silent);
}

#[test]
fn the_rules_are_ones_that_prometheus_takes_and_tell_what_they_should() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    for words in [
        ["check", "rules", "deploy/chart/rules.yaml"],
        ["test", "rules", "deploy/monitoring/rules.test.yaml"],
    ] {
        let done = Command::new("promtool").args(words).current_dir(root).output().expect("promtool");
        let said = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
        assert!(done.status.success(), "{words:?}: {said}");
    }
}

#[test]
fn rules_and_boards_ask_for_metrics_that_there_are() {
    let known: BTreeSet<String> = boards::known();
    let asked = boards::asked();
    assert!(asked.len() > 20, "{asked:?}");
    let unknown: Vec<_> = asked.difference(&known).collect();
    assert!(unknown.is_empty(), "nobody exposes {unknown:?}");
    for (kind, exposed) in [("cubeloom_", "the server"), ("DCGM_", "dcgm-exporter")] {
        assert!(asked.iter().any(|name| name.starts_with(kind)), "no board shows {exposed}");
    }
}
