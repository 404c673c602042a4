//! The allowed dependencies between our crates, and which crate wraps each heavy dependency.
//!
//! docs/ARCHITECTURE.md gives the reasons. Add a new crate or arrow there and here together.

use std::process::Command;

use serde_json::Value;

/// Our crates that each crate may depend on. A crate's tests may also use `testkit`.
const ARROWS: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("files", &[]),
    ("admission", &["domain"]),
    ("alerts", &["domain"]),
    ("sizing", &["domain"]),
    ("monitoring", &["domain"]),
    ("compiler", &["domain"]),
    ("store", &["domain"]),
    ("storage", &["domain", "files"]),
    ("workers", &["domain", "files"]),
    ("executor-local", &["domain", "files", "workers"]),
    ("executor-kubernetes", &["domain", "files", "workers"]),
    ("executor-slurm", &["domain", "executor-local", "files", "workers"]),
    ("testkit", &["domain"]),
    ("engine", &["domain", "files", "admission", "compiler", "sizing", "store", "storage"]),
    (
        "web",
        &["domain", "files", "admission", "alerts", "compiler", "sizing", "store", "storage", "monitoring"],
    ),
    (
        "app",
        &[
            "domain",
            "admission",
            "sizing",
            "compiler",
            "store",
            "storage",
            "workers",
            "engine",
            "monitoring",
            "web",
            "executor-local",
            "executor-kubernetes",
            "executor-slurm",
            "testkit",
        ],
    ),
    (
        "tests",
        &[
            "domain",
            "admission",
            "compiler",
            "store",
            "storage",
            "workers",
            "engine",
            "web",
            "executor-local",
            "executor-kubernetes",
            "executor-slurm",
            "testkit",
            "app",
        ],
    ),
];

/// Dependencies wrapped by one crate's own types (a few, where two really need it).
const BEHIND: &[(&str, &[&str])] = &[
    ("sqlx", &["store"]),
    ("tower-http", &["web"]),
    ("opendal", &["storage"]),
    ("nvml-wrapper", &["executor-local"]),
    ("kube", &["executor-kubernetes", "tests"]),
    ("k8s-openapi", &["executor-kubernetes", "tests"]),
    ("minijinja", &["compiler"]),
    ("saphyr-parser", &["compiler", "storage"]),
    ("anyhow", &["app", "tests"]),
    ("prometheus-client", &["app"]),
    ("opentelemetry", &["app"]),
];

/// Crates without clock, network, database or environment, and the dependencies that would add one of these.
const PURE: &[&str] = &["domain", "admission", "alerts", "compiler", "sizing"];
const IMPURE: &[&str] = &["tokio", "rustix", "libc", "reqwest", "hyper", "axum"];

#[test]
fn only_the_allowed_arrows_exist() {
    let broken = violations(&metadata());
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

#[test]
fn forbidden_arrows_are_named() {
    let metadata = serde_json::json!({"packages": [
        package("cubeloom-store", &[("cubeloom-engine", None), ("cubeloom-testkit", Some("dev"))]),
        package("cubeloom-engine", &[("sqlx", Some("dev")), ("cubeloom-testkit", None)]),
        package("cubeloom-compiler", &[("tokio", None)]),
        package("cubeloom-unheard-of", &[]),
    ]});
    let broken = violations(&metadata);
    let expected = [
        "store -> engine",
        "engine -> sqlx",
        "engine -> testkit",
        "compiler -> tokio",
        "unheard-of has no arrows",
    ];
    assert_eq!(broken.len(), expected.len(), "{broken:#?}");
    for (line, expected) in broken.iter().zip(expected) {
        assert!(line.starts_with(expected), "{line:?} should start with {expected:?}");
    }
}

fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Value {
    let dependencies: Vec<Value> =
        dependencies.iter().map(|(name, kind)| serde_json::json!({"name": name, "kind": kind})).collect();
    serde_json::json!({"name": name, "dependencies": dependencies})
}

fn metadata() -> Value {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--no-deps", "--format-version", "1", "--manifest-path", manifest])
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON")
}

/// One sentence for each dependency that the tables above do not allow.
fn violations(metadata: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for package in metadata["packages"].as_array().expect("packages") {
        let from = short(package["name"].as_str().expect("a package's name"));
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == from) else {
            found.push(format!(
                "{from} has no arrows: say what it may depend on in docs/ARCHITECTURE.md and in ARROWS of {}",
                file!()
            ));
            continue;
        };
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let to = short(dependency["name"].as_str().expect("a dependency's name"));
            let for_tests = dependency["kind"] == "dev";
            found.extend(broken_arrow(from, to, for_tests, allowed));
            found.extend(broken_wall(from, to, for_tests));
        }
    }
    found
}

fn broken_arrow(from: &str, to: &str, for_tests: bool, allowed: &[&str]) -> Option<String> {
    let ours = ARROWS.iter().any(|(name, _)| *name == to);
    if !ours || allowed.contains(&to) || (for_tests && to == "testkit") {
        return None;
    }
    let may = if allowed.is_empty() { "none of our crates".to_owned() } else { allowed.join(", ") };
    Some(format!(
        "{from} -> {to}: {from} may depend on {may}. Move what is shared into domain, or hand it in through a \
         port that domain declares; remove {to} from server/{from}/Cargo.toml"
    ))
}

fn broken_wall(from: &str, to: &str, for_tests: bool) -> Option<String> {
    if let Some((_, owners)) = BEHIND.iter().find(|(name, owners)| *name == to && !owners.contains(&from)) {
        let owners = owners.join(" or ");
        return Some(format!("{from} -> {to}: only {owners} uses {to}; ask it through its own functions"));
    }
    (!for_tests && PURE.contains(&from) && IMPURE.contains(&to)).then(|| {
        format!("{from} -> {to}: {from} is pure; do this in the crate that calls it and hand in the values")
    })
}

/// The crate's name, as in its folder.
fn short(name: &str) -> &str {
    match name {
        "cubeloom" => "app",
        _ => name.strip_prefix("cubeloom-").unwrap_or(name),
    }
}
