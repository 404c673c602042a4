//! Security headers of every response.

use serde_json::json;

use crate::api::support::{Answer, PASSWORD, Server, Who};
use crate::support::TestApp;

/// The directives of a policy, by name.
fn policy(answer: &Answer) -> Vec<(String, String)> {
    let text = answer.header("content-security-policy");
    assert!(!text.is_empty(), "{}: {:?}", answer.asked, answer.headers);
    text.split(';')
        .map(|one| one.trim().split_once(' ').unwrap_or((one.trim(), "")))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn directive(answer: &Answer, name: &str) -> String {
    let found = policy(answer).into_iter().find(|(other, _)| other == name);
    found.unwrap_or_else(|| panic!("{}: no {name} in {:?}", answer.asked, policy(answer))).1
}

#[test]
fn every_answer_has_the_usual_headers() {
    let server = Server::start();
    let (ada, nobody) = (server.as_(Who::Administrator), server.as_(Who::Anonymous));
    let answers = [
        ada.get("page:/").expect(200),
        ada.get("page:/audit").expect(200),
        nobody.get("page:/sign-in").expect(200),
        nobody.get("page:/no/such/page").expect(404),
        ada.get("/projects").expect(200),
        nobody.get("/projects").expect(401),
        ada.get("/projects/none").expect(404),
        ada.post("/projects", &json!({})).expect(422),
    ];
    for answer in &answers {
        let has = |name: &str, value: &str| assert_eq!(answer.header(name), value, "{} {name}", answer.asked);
        has("x-content-type-options", "nosniff");
        has("x-frame-options", "DENY");
        has("referrer-policy", "same-origin");
        has("cross-origin-opener-policy", "same-origin");
        has("cross-origin-resource-policy", "same-origin");
        has("cache-control", "no-store");
        has("strict-transport-security", "");
        assert!(answer.header("x-request-id").len() >= 20, "{}", answer.asked);
        assert_eq!(directive(answer, "default-src"), "'none'");
        assert_eq!(directive(answer, "script-src"), "'self'");
        assert_eq!(directive(answer, "frame-ancestors"), "'none'");
        assert_eq!(directive(answer, "base-uri"), "'none'");
        assert_eq!(directive(answer, "form-action"), "'self'");
        let text = answer.header("content-security-policy");
        assert!(!text.contains("unsafe") && !text.contains('*'), "{text}");
        assert!(answer.headers.get("server").is_none(), "nothing tells what the server is made of");
        assert!(answer.headers.get("access-control-allow-origin").is_none());
    }
    let nonce = |answer: &Answer| directive(answer, "style-src");
    assert_ne!(nonce(&answers[0]), nonce(&answers[1]), "a nonce is used once");
}

#[test]
fn no_script_and_no_style_stands_in_a_page() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    let pages = [
        "/",
        "/projects",
        "/projects/default",
        "/projects/default/pipelines",
        "/projects/default/runs",
        "/projects/default/secrets",
        "/projects/default/storage",
        "/templates",
        "/templates/command",
        "/clusters",
        "/clusters/local/gpu-history",
        "/holders",
        "/quotas",
        "/usage",
        "/users",
        "/audit",
        "/me",
        "/docs/api",
        "/docs/api/health",
        "/projects/default/new-pipeline",
    ];
    for path in pages {
        let text = ada.get(&format!("page:{path}")).expect(200).text().to_lowercase();
        for script in text.split("<script").skip(1) {
            let tag = script.split('>').next().unwrap();
            let data = tag.contains("type=\"application/json\"");
            assert!(data || tag.contains(" src=\"/assets/"), "{path}: <script{tag}>");
        }
        for forbidden in [" style=", "<style", " onclick=", " onload=", " onerror=", "javascript:"] {
            assert!(!text.contains(forbidden), "{path} has {forbidden}");
        }
    }
}

#[test]
fn over_tls_browsers_are_to_come_over_tls_only() {
    let mut app = TestApp::new();
    app.set("CUBELOOM_SERVER_URL", "https://cubeloom.example.org/");
    let server = Server::start_in(app);
    server.user("eve", &[]);
    // As behind a proxy that terminates TLS: the server itself speaks plain HTTP.
    let nobody = server.as_(Who::Anonymous);
    let page = nobody.get("page:/sign-in").expect(200);
    assert_eq!(page.header("strict-transport-security"), "max-age=31536000");
    let cookie = nobody.post("/session", &json!({"name": "eve", "password": PASSWORD})).expect(201);
    let cookie = cookie.header("set-cookie");
    assert!(cookie.starts_with("__Host-session=") && cookie.ends_with("; Secure"), "{cookie}");
}
