//! Cross-site requests change nothing.

use reqwest::Method;
use serde_json::json;

use super::help::{Browser, set_cookie};
use crate::api::support::client::send;
use crate::api::support::{PASSWORD, Server, Who};

/// Headers that a browser adds to a request from another site's page.
const EVIL: [&[(&str, &str)]; 4] = [
    &[("origin", "https://evil.example")],
    &[("origin", "null")],
    &[("sec-fetch-site", "cross-site")],
    &[("sec-fetch-site", "same-site"), ("origin", "https://sub.evil.example")],
];

#[test]
fn what_another_site_sends_with_a_cookie_is_refused() {
    let server = Server::start();
    server.user("eve", &["--admin"]);
    let browser = Browser::new(&server, "eve");
    let changes = [
        (Method::POST, "/projects", json!({"name": "stolen"})),
        (Method::POST, "/tokens", json!({"name": "stolen", "scope": "admin"})),
        (Method::PUT, "/me/password", json!({"current": PASSWORD, "password": "a password of the thief"})),
        (Method::PATCH, "/me", json!({"email": "thief@example.org"})),
        (Method::DELETE, "/session", json!(null)),
    ];
    for (method, path, body) in changes {
        for said in EVIL {
            let request = browser.bare(method.clone(), path).header("if-match", "*").json(&body);
            let request = said.iter().fold(request, |request, (name, value)| request.header(*name, *value));
            let refused = send(request).expect(403).problem("forbidden");
            assert!(refused["detail"].as_str().unwrap().contains("another site"), "{refused}");
        }
    }
    assert_eq!(browser.get("/projects").expect(200).json()["items"].as_array().unwrap().len(), 1);
    assert_eq!(browser.get("/tokens").expect(200).json()["items"], json!([]));
    // The server's own pages are allowed.
    let own = [("origin", server.url()), ("sec-fetch-site", "same-origin".into())];
    for (at, (name, value)) in own.into_iter().enumerate() {
        let body = json!({"name": format!("mine-{at}")});
        browser.send(browser.bare(Method::POST, "/projects").header(name, value).json(&body)).expect(201);
    }
}

#[test]
fn a_token_is_nothing_that_another_site_can_make_a_browser_send() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    for (at, said) in EVIL.iter().enumerate() {
        let request = ada.request(Method::POST, "/projects").json(&json!({"name": format!("by-token-{at}")}));
        send(said.iter().fold(request, |request, (name, value)| request.header(*name, *value))).expect(201);
    }
    // The cookie is no fallback for an invalid token.
    server.user("eve", &[]);
    let browser = Browser::new(&server, "eve");
    let mixed = browser.bare(Method::DELETE, "/session").header("origin", "https://evil.example");
    send(mixed.header("authorization", "Bearer nonsense")).expect(401).problem("not-signed-in");
    browser.get("/me").expect(200);
}

#[test]
fn nobody_is_signed_in_by_another_site() {
    let server = Server::start();
    server.user("eve", &[]);
    let nobody = server.as_(Who::Anonymous);
    for said in EVIL {
        let with = |request: reqwest::blocking::RequestBuilder| {
            said.iter().fold(request, |request, (name, value)| request.header(*name, *value))
        };
        let body = json!({"name": "eve", "password": PASSWORD});
        let refused = send(with(nobody.request(Method::POST, "/session").json(&body))).expect(403);
        assert_eq!(set_cookie(&refused), None);
        let form = "name=eve&password=correct+horse+battery&next=%2F";
        let request = nobody.request(Method::POST, "page:/sign-in");
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(form);
        let refused = send(with(request)).expect(403);
        assert_eq!(set_cookie(&refused), None);
    }
}

#[test]
fn the_cookie_is_out_of_reach_of_scripts_and_other_sites() {
    let server = Server::start();
    server.user("eve", &[]);
    let answer = server.as_(Who::Anonymous).post("/session", &json!({"name": "eve", "password": PASSWORD}));
    let cookie = answer.expect(201).header("set-cookie").to_owned();
    let said: Vec<&str> = cookie.split("; ").skip(1).collect();
    for attribute in ["Path=/", "HttpOnly", "SameSite=Lax"] {
        assert!(said.contains(&attribute), "{cookie}");
    }
    assert!(!cookie.contains("Domain="), "{cookie}");
    // A modified cookie is invalid.
    let (name, value) = cookie.split(';').next().unwrap().split_once('=').unwrap();
    let parts: Vec<&str> = value.split('.').collect();
    let unsigned = format!("{}.{}.", "eyJhbGciOiJub25lIn0", parts[1]);
    let other = format!("{}.{}.{}", parts[0], parts[1], parts[2].chars().rev().collect::<String>());
    for forged in [unsigned.as_str(), other.as_str(), "", "x.y.z"] {
        let request = server.as_(Who::Anonymous).request(Method::GET, "/me");
        send(request.header("cookie", format!("{name}={forged}"))).expect(401).problem("not-signed-in");
    }
}
