use std::collections::BTreeMap;
use std::sync::Arc;

use cubeloom_domain::Timestamp;
use cubeloom_domain::clusters::Standing as ClusterStanding;
use cubeloom_domain::measure::{Call, Measure, PassPart};
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome};
use cubeloom_engine::{Queue, Tally};

use super::counted::Counted;
use super::*;

const TOOK: Duration = Duration::from_millis(3);

/// A server with every counter at one, and every gauge at one.
fn full() -> String {
    let counted = Counted::new();
    let failed = Outcome::Failed(Failure::new(FailureKind::OutOfMemory, "it had 1 GiB"));
    for measure in [
        Measure::Request { method: "GET", route: "/runs/{run}", status: 200, took: TOOK },
        Measure::Request { method: "BREW", route: "", status: 404, took: TOOK },
        Measure::Pass { part: PassPart::Commit, took: TOOK },
        Measure::Call { cluster: "local", call: Call::Submit, took: TOOK },
        Measure::Ended { cluster: "local", outcome: &failed },
        Measure::Asked { cluster: "prod", method: "PATCH", status: None, took: TOOK },
        Measure::Transaction { kept: false, took: TOOK },
        Measure::Alert { sent: false },
    ] {
        counted.count(&measure);
    }
    let since = Timestamp(1_000_000);
    let tally = Tally {
        runs: BTreeMap::from([("running", 2)]),
        instances: BTreeMap::from([("waiting", 5)]),
        attempts: BTreeMap::from([(("local".into(), "running"), 1)]),
        waiting: BTreeMap::from([(("local".into(), "quota"), Queue { length: 5, since })]),
    };
    let standing = Standing {
        tally: Some(Arc::new(tally)),
        last_pass: Some(TOOK),
        connections: (3, 1),
        clusters: vec![("local".into(), ClusterStanding::Connected)],
        web: WebTally { streams: 4, archive_behind: 0 },
        process: Process::read(),
        now: Timestamp(61_000_000),
    };
    text(&counted.registry, &standing.registry()).unwrap()
}

#[test]
fn what_was_done_and_what_is_there_is_told() {
    let text = full();
    for line in [
        r#"cubeloom_http_request_duration_seconds_count{route="/runs/{run}",method="GET",status="2xx"} 1"#,
        r#"cubeloom_http_request_duration_seconds_count{route="none",method="other",status="4xx"} 1"#,
        r#"cubeloom_engine_pass_duration_seconds_bucket{le="0.005",part="commit"} 1"#,
        r#"cubeloom_attempts_ended_total{cluster="local",outcome="out_of_memory"} 1"#,
        r#"cubeloom_cluster_request_duration_seconds_count{cluster="prod",method="PATCH",status="none"} 1"#,
        r#"cubeloom_alert_tries_total{outcome="failed"} 1"#,
        "cubeloom_leases_held 2",
        r#"cubeloom_waiting{cluster="local",reason="quota"} 5.0"#,
        r#"cubeloom_waiting_age_seconds{cluster="local",reason="quota"} 60.0"#,
        r#"cubeloom_store_connections{state="used"} 2.0"#,
        r#"cubeloom_cluster_connected{cluster="local"} 1.0"#,
        "cubeloom_event_streams 4",
    ] {
        assert!(text.lines().any(|has| has == line), "{line}\n{text}");
    }
    assert!(text.ends_with("# EOF\n"));
}

/// The expected table of docs/operating.md.
fn table(text: &str) -> Vec<String> {
    let told = |kind: &str| -> BTreeMap<String, String> {
        let lines = text.lines().filter_map(|line| line.strip_prefix(kind)?.split_once(' '));
        lines.map(|(name, rest)| (name.to_owned(), rest.to_owned())).collect()
    };
    let (types, helps) = (told("# TYPE "), told("# HELP "));
    let labels = |name: &str| {
        let sample = text.lines().find(|line| line.starts_with(&format!("{name}_count{{")));
        let sample = sample.or_else(|| {
            let is_its = |line: &&str| {
                let rest = line.strip_prefix(name);
                rest.is_some_and(|rest| ["{", "_total{"].iter().any(|end| rest.starts_with(end)))
            };
            text.lines().find(is_its)
        });
        let inside = sample.and_then(|line| line.split_once('{')).map_or("", |(_, rest)| rest);
        let names: Vec<&str> =
            inside.split("\",").filter_map(|pair| pair.split_once("=\"")).map(|(name, _)| name).collect();
        names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    let row = |(name, kind): (&String, &String)| {
        let shown = match kind.as_str() {
            "counter" => format!("{name}_total"),
            "info" => format!("{name}_info"),
            _ => name.clone(),
        };
        format!("| `{shown}` | {kind} | {} | {} |", labels(name), helps[name])
    };
    types.iter().map(row).collect()
}

#[test]
fn the_documentation_lists_every_metric_and_no_other() {
    let documented = include_str!("../../../../docs/operating.md");
    let documented: Vec<&str> = documented
        .lines()
        .filter(|line| line.starts_with("| `cubeloom_") || line.starts_with("| `process_"))
        .collect();
    let expected = table(&full());
    assert_eq!(documented, expected, "docs/operating.md must have these rows:\n{}", expected.join("\n"));
}
