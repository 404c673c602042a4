//! GPUs over time: what is returned of stored samples, to whom, and what is refused.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cubeloom_domain::Timestamp;
use cubeloom_domain::accounting::Day;
use cubeloom_domain::gpu_series::{GpuAllocation, GpuRow, GpuTotals, GpuUse, minute_of, moment_of};
use cubeloom_web::time::Time;
use serde_json::{Value, json};

use crate::api::identity::help::with_store;
use crate::api::support::{Client, Server, Who};

const MINUTES: i64 = 30;

/// The first of the samples' minutes: half an hour ago, but of this day, as prices are by day.
#[expect(clippy::disallowed_methods, reason = "the server has the real time")]
fn first_minute() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros();
    let now = Timestamp(i64::try_from(now).unwrap());
    let before = now.minus(Duration::from_secs(60 * MINUTES.unsigned_abs()));
    minute_of(before).max(minute_of(Day::of(now).start()))
}

fn of(project: &str, user: &str, task: &str) -> GpuAllocation {
    GpuAllocation {
        project: project.into(),
        user: user.into(),
        pipeline: "p".into(),
        task: task.into(),
        ..GpuAllocation::default()
    }
}

/// Eight GPUs: four of the project `default`, of which one is used, and two of another project without
/// metrics.
fn sample(minute: i64) -> GpuRow {
    let gpus = GpuUse { total: 8000, allocated: 6000, measured: 4000, used: 1000 };
    let tasks = [
        (of("default", "emil", "train"), GpuUse { total: 0, allocated: 3000, measured: 3000, used: 0 }),
        (of("default", "olga", "tune"), GpuUse { total: 0, allocated: 1000, measured: 1000, used: 1000 }),
        (of("theirs", "eve", "secret"), GpuUse { total: 0, allocated: 2000, measured: 0, used: 0 }),
    ];
    GpuRow {
        minute,
        totals: GpuTotals {
            minutes: 1,
            gpus,
            power: 2000,
            powered: 8000,
            queue_minutes: 1,
            pending: 3,
            requested: 16,
            oldest_wait: 90,
        },
        allocations: BTreeMap::from(tasks),
        models: BTreeMap::from([("H100".into(), gpus)]),
        nodes: BTreeMap::from([("n1".into(), gpus)]),
    }
}

/// A server with samples of its own machine, and the query of their range.
fn staged() -> (Server, i64, String) {
    let server = Server::start();
    let first = first_minute();
    with_store(&server, async |store| {
        for minute in first..first + MINUTES {
            store.add_gpu_sample("local", &sample(minute)).await.unwrap();
        }
    });
    let range = format!("from={}&until={}", Time(moment_of(first)), Time(moment_of(first + MINUTES)));
    (server, first, range)
}

fn names(view: &Value, of: &str) -> Vec<String> {
    let groups = view["groups"].as_array().unwrap().iter();
    groups.map(|group| group[of].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn the_history_has_the_callers_projects_and_the_sum_of_all_others() {
    let (server, first, range) = staged();
    let (viewer, admin) = (server.as_(Who::Viewer), server.as_(Who::Administrator));
    let path = format!("/clusters/local/gpu-history?{range}");
    let view = viewer.get(&path).expect(200).json();
    assert_eq!(
        (&view["step_seconds"], &view["from"], view["total"].as_array().unwrap().len()),
        (&json!(60), &json!(Time(moment_of(first)).to_string()), 30)
    );
    for (name, value) in [
        ("total", 8.0),
        ("allocated", 6.0),
        ("measured", 4.0),
        ("used", 1.0),
        ("power", 2000.0),
        ("pending_jobs", 3.0),
        ("pending_gpus", 16.0),
        ("oldest_wait_seconds", 90.0),
    ] {
        assert_eq!((view[name][0].as_f64(), view[name][29].as_f64()), (Some(value), Some(value)), "{name}");
    }
    assert_eq!((&view["energy_kwh"], &view["now"]["total"]), (&json!(1.0), &json!(0.0)));
    assert_eq!((&view["groups"], view.get("others")), (&json!([]), None));

    let by = |client: &Client, by: &str| client.get(&format!("{path}&by={by}")).expect(200).json();
    let seen = by(&viewer, "project");
    assert_eq!(names(&seen, "project"), ["default"]);
    assert_eq!(
        (&seen["groups"][0]["allocated"][0], &seen["groups"][0]["used"][0]),
        (&json!(4.0), &json!(1.0))
    );
    assert_eq!((&seen["others"]["allocated"][0], &seen["others"]["used"][0]), (&json!(2.0), &json!(null)));
    assert!(!seen.to_string().contains("theirs"), "{seen}");
    let seen = by(&viewer, "user");
    assert_eq!(names(&seen, "user"), ["emil", "olga"]);
    assert!(!seen.to_string().contains("eve"), "{seen}");
    assert_eq!(names(&by(&server.as_(Who::Stranger), "task"), "task"), [""; 0]);
    let all = by(&admin, "project");
    assert_eq!(names(&all, "project"), ["default", "theirs"]);
    assert_eq!(all.get("others"), None);
    // What GPUs do is no secret.
    for (grouping, field, name) in [("model", "model", "H100"), ("node", "node", "n1")] {
        let seen = by(&server.as_(Who::Stranger), grouping);
        assert_eq!(names(&seen, field), [name]);
        assert_eq!(
            (&seen["groups"][0]["total"][0], &seen["groups"][0]["used"][0]),
            (&json!(8.0), &json!(1.0))
        );
    }
    // The node is none of the machine's any more, so it has no group.
    let groups = by(&viewer, "node_group");
    assert_eq!(names(&groups, "node_group"), [""]);
    assert_eq!(groups["groups"][0].get("node"), None);
    for page in ["", "?range=7d&by=user"] {
        let page = viewer.get(&format!("page:/clusters/local/gpu-history{page}")).expect(200).text();
        assert!(page.contains("id=\"monitoring\""));
    }
}

#[test]
fn idle_hours_have_their_cost_and_what_is_unknown_is_not_idle() {
    let (server, first, range) = staged();
    let (viewer, admin) = (server.as_(Who::Viewer), server.as_(Who::Administrator));
    let path = |by: &str| format!("/idle-gpus?{range}&by={by}");
    let free = viewer.get(&path("project")).expect(200).json();
    assert_eq!(free["groups"][0].get("idle_cost"), None, "without a price there is no cost");
    let day = Day::of(moment_of(first)).to_string();
    let price = json!({"cluster": "local", "valid_from": day, "gpu_hour": "2"});
    admin.post("/prices", &price).expect(201);

    let seen = viewer.get(&path("project")).expect(200).json();
    let expected = json!([{
        "project": "default",
        "gpu_hours": 2.0,
        "measured_gpu_hours": 2.0,
        "idle_gpu_hours": 1.5,
        "idle_cost": "3.00",
    }]);
    assert_eq!(seen["groups"], expected);
    assert_eq!(seen["others"], json!({"gpu_hours": 1.0, "measured_gpu_hours": 0.0}), "it may be busy");
    let tasks = admin.get(&format!("{}&cluster=local", path("task"))).expect(200).json();
    assert_eq!(names(&tasks, "task"), ["train", "tune", "secret"], "most wasteful first, unknown last");
    assert_eq!(
        (&tasks["groups"][1]["idle_gpu_hours"], &tasks["groups"][1]["idle_cost"]),
        (&json!(0.0), &json!("0.00"))
    );
    assert_eq!(tasks.get("others"), None);
    let people = viewer.get(&path("user")).expect(200).json();
    assert_eq!(names(&people, "user"), ["emil", "olga"]);
    assert_eq!(people["groups"][0].get("project"), None);
}

#[test]
fn ranges_and_clusters_that_there_are_not_are_refused() {
    let server = Server::start();
    let viewer = server.as_(Who::Viewer);
    let empty = viewer.get("/clusters/local/gpu-history").expect(200).json();
    assert_eq!((&empty["step_seconds"], &empty["total"][0]), (&json!(300), &json!(null)));
    assert_eq!(viewer.get("/idle-gpus").expect(200).json()["groups"], json!([]));
    for (path, status, kind, told) in [
        ("/clusters/nowhere/gpu-history", 404, "not-found", "nowhere"),
        ("/idle-gpus?cluster=nowhere", 404, "not-found", "nowhere"),
        ("/clusters/local/gpu-history?by=colour", 422, "invalid", "/by"),
        ("/clusters/local/gpu-history?until=yesterday", 422, "invalid", "/until"),
        (
            "/clusters/local/gpu-history?from=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z",
            422,
            "invalid",
            "the start must be before the end",
        ),
        (
            "/idle-gpus?from=2026-01-01T00:00:00Z&until=2026-06-01T00:00:00Z",
            422,
            "invalid",
            "the range has 151 days: request at most 100",
        ),
    ] {
        let refused = viewer.get(path).expect(status).problem(kind);
        assert!(refused.to_string().contains(told), "{path}: {refused}");
    }
    viewer.get("page:/clusters/nowhere/gpu-history").expect(404);
}
