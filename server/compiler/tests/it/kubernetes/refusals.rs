//! Planning refuses requests that a cluster cannot satisfy, at their positions in the document.

use cubeloom_domain::Severity;

use super::{cluster, full, try_job};
use crate::support::repository;

/// The paths of the errors from planning.
fn refused(task: &str, facts: &str) -> Vec<String> {
    match try_job(task, &cluster(facts).0) {
        Ok(_) => Vec::new(),
        Err(problems) => {
            let errors = problems.into_iter().filter(|problem| problem.severity == Severity::Error);
            errors
                .map(|problem| {
                    assert!(problem.line.is_some(), "{problem}");
                    problem.path
                })
                .collect()
        }
    }
}

#[test]
fn what_is_not_there_is_refused_at_its_place() {
    let bare = "kubernetes: {}";
    let echo = "template: echo, arguments: {words: [a]}";
    for (settings, path) in [
        ("resources: {gpu: {memory: 8Gi}}", "/tasks/0/resources/gpu"),
        ("resources: {gpu: {count: 1, type: h100}}", "/tasks/0/resources/gpu"),
        ("resources: {rdma: 1}", "/tasks/0/resources/rdma"),
        ("placement: {host_network: true}", "/tasks/0/placement/host_network"),
    ] {
        let task = format!("{echo}, {settings}");
        assert_eq!(refused(&task, bare), [path], "{settings}");
        assert!(try_job(&task, &full().0).is_ok(), "{settings}");
    }
    assert!(refused(echo, bare).is_empty());
}

#[test]
fn pods_see_no_folder_of_a_machine() {
    let facts = "{cluster: c, volumes: {disk: {kind: folder, path: /mnt}, data: {kind: claim, cluster: c, claim: data}}}";
    let task = |volume: &str| format!("template: echo, arguments: {{words: [a]}}, volumes: [{volume}]");
    assert_eq!(refused(&task("disk"), facts), ["/tasks/0/volumes/0"]);
    assert!(refused(&task("data"), facts).is_empty());
}

#[test]
fn facts_that_cannot_be_read_are_told() {
    let read = |text| cubeloom_compiler::lower::kubernetes::read_facts(text).unwrap_err();
    assert!(read("kubernetes: {volcano: {}}").contains("queue"));
    assert!(read("kubernets: {}").contains("kubernets"));
    assert!(read("kubernetes: {uid: 0}").contains("root"));
    assert!(read("kubernetes: {\n").contains("2:1"), "{}", read("kubernetes: {\n"));
}

/// The facts in the documentation are valid, and set every key.
#[test]
fn the_documented_facts_are_read() {
    let text = std::fs::read_to_string(repository().join("docs/kubernetes.md")).unwrap();
    let section = text.split("## Facts\n").nth(1).unwrap();
    let lines = section.lines().skip_while(|line| !line.starts_with("    "));
    let shown: Vec<&str> = lines.map_while(|line| line.strip_prefix("    ")).collect();
    let (facts, kubernetes) = cluster(&shown.join("\n"));
    assert_eq!((facts.cluster.as_str(), facts.nodes.len(), facts.node_groups.len()), ("prod", 1, 1));
    for (key, value) in serde_json::to_value(&kubernetes).unwrap().as_object().unwrap() {
        assert!(section.contains(&format!("{key}:")), "{key} is not documented");
        assert!(!value.is_null(), "{key} is not shown");
    }
}
