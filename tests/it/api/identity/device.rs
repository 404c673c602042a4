//! Signing in a command line through a browser (RFC 8628).

use std::time::Duration;

use cubeloom_web::time::Time;
use regex::Regex;
use reqwest::Method;
use serde_json::{Value, json};

use super::help::{Browser, audited};
use crate::api::support::client::send;
use crate::api::support::{Answer, Client, Server, Who};

const CLIENT: &str = "cubeloom on laptop";

/// The codes of a new command line.
fn begin(server: &Server) -> Value {
    server.as_(Who::Anonymous).post("/device/code", &json!({"client": CLIENT})).expect(200).json()
}

/// A request for its token.
fn fetch(server: &Server, code: &Value) -> Answer {
    server.as_(Who::Anonymous).post("/device/token", &json!({"device_code": code["device_code"]}))
}

/// The reason why there is no token.
#[track_caller]
fn reason(answer: Answer) -> String {
    answer.expect(400).problem("not-granted")["code"].as_str().expect("a code").to_owned()
}

fn decide(browser: &Browser, code: &Value, more: Value) -> Answer {
    let mut body = json!({"user_code": code["user_code"], "approve": true});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    browser.send(browser.request(Method::POST, "/device/decision").json(&body))
}

/// The paths of the problems of a refused decision.
#[track_caller]
fn wrong(answer: Answer) -> Vec<String> {
    let problem = answer.expect(422).problem("invalid");
    let paths = problem["problems"].as_array().unwrap().iter();
    paths.map(|one| one["path"].as_str().unwrap().to_owned()).collect()
}

fn page(code: &Value) -> String {
    format!("page:/device?user_code={}", code["user_code"].as_str().unwrap())
}

/// A server with the editor `eve`, and her browser.
fn with_eve() -> (Server, Client, Browser) {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    server.user("eve", &["--project", "default", "--role", "editor"]);
    let eve = Browser::new(&server, "eve");
    (server, ada, eve)
}

#[test]
fn a_token_is_revoked_by_the_program_that_has_it_only() {
    let (server, ada, eve) = with_eve();
    let code = begin(&server);
    decide(&eve, &code, json!({"scope": "read", "project": "default"})).expect(204);
    let token = fetch(&server, &code).expect(201).json()["token"].as_str().unwrap().to_owned();
    let (program, stranger) = (server.with_token(Some(token.clone())), server.as_(Who::Anonymous));
    let (id, _) = token.rsplit_once('_').unwrap();
    for wrong in ["", "clt_", "nonsense", &format!("{id}_"), &format!("{token}x")] {
        stranger.post("/device/revoke", &json!({"token": wrong})).expect(204);
        program.get("/projects/default").expect(200);
    }
    for _ in 0..2 {
        stranger.post("/device/revoke", &json!({"token": token})).expect(204);
        program.get("/projects/default").expect(401);
    }
    assert_eq!(audited(&ada, "token.revoke").len(), 1);
}

#[test]
fn a_command_line_gets_the_token_that_a_user_allows() {
    let (server, ada, eve) = with_eve();
    let code = begin(&server);
    let user_code = code["user_code"].as_str().unwrap();
    let form = Regex::new("^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$").unwrap();
    assert!(form.is_match(user_code), "{code}");
    assert_eq!(code["verification_uri"], format!("{}/device", server.url()));
    let complete = format!("{}/device?user_code={user_code}", server.url());
    assert_eq!(
        [&code["verification_uri_complete"], &code["expires_in"], &code["interval"]],
        [&json!(complete), &json!(600), &json!(5)]
    );
    assert_eq!(reason(fetch(&server, &code)), "authorization_pending");
    let typed = json!(user_code.to_lowercase().replace('-', " "));
    decide(&eve, &code, json!({"user_code": typed, "scope": "run", "project": "default"})).expect(204);
    let made = fetch(&server, &code).expect(201).json();
    assert_eq!(
        [&made["user"], &made["scope"], &made["project"]],
        [&json!("eve"), &json!("run"), &json!("default")]
    );
    let program = server.with_token(made["token"].as_str().map(Into::into));
    let me = program.get("/me").expect(200).json();
    assert_eq!([&me["user"]["name"], &me["scope"], &me["project"]], ["eve", "run", "default"]);
    let token = eve.get("/tokens").expect(200).json()["items"][0].clone();
    assert_eq!((&token["name"], &token["expires_at"]), (&json!(CLIENT), &made["expires_at"]));
    let time = |name: &str| token[name].as_str().unwrap().parse::<Time>().unwrap().0;
    assert_eq!(time("expires_at").since(time("created_at")), Duration::from_secs(90 * 86_400));
    let entry = |action: &str| audited(&ada, action)[0].clone();
    let approved = entry("device.approve");
    assert_eq!(
        [&approved["user"], &approved["via"], &approved["subject"]],
        [&json!("eve"), &json!("session"), &json!(CLIENT)]
    );
    let what = json!({"client_address": "127.0.0.1", "scope": "run", "project": "default"});
    assert_eq!(approved["after"], what);
    let created = entry("token.create");
    assert_eq!([&created["user"], &created["via"]], ["eve", "device cubeloom on laptop"]);
}

#[test]
fn a_token_is_fetched_once() {
    let (server, _, eve) = with_eve();
    let code = begin(&server);
    decide(&eve, &code, json!({})).expect(204);
    let (nobody, body) = (server.as_(Who::Anonymous), json!({"device_code": code["device_code"]}));
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let ask = || nobody.post("/device/token", &body).status;
        let asked: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        asked.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 400).count(), 3, "{statuses:?}");
    assert_eq!(reason(fetch(&server, &code)), "expired_token");
    // Nor does a key repeat it.
    let other = begin(&server);
    decide(&eve, &other, json!({})).expect(204);
    let ada = server.as_(Who::Administrator);
    let with_key = || {
        let request = ada.request(Method::POST, "/device/token").header("idempotency-key", "one");
        send(request.json(&json!({"device_code": other["device_code"]})))
    };
    assert_eq!(with_key().expect(201).json()["user"], "eve");
    assert_eq!(reason(with_key()), "expired_token");
}

#[test]
fn a_denied_an_expired_and_an_unknown_code_get_none() {
    let (server, ada, eve) = with_eve();
    let denied = begin(&server);
    decide(&eve, &denied, json!({"approve": false})).expect(204);
    assert_eq!(reason(fetch(&server, &denied)), "access_denied");
    assert_eq!(wrong(decide(&eve, &denied, json!({}))), ["/user_code"]);
    assert_eq!(reason(fetch(&server, &denied)), "access_denied");
    let log = audited(&ada, "device.");
    assert_eq!((log.len(), &log[0]["action"]), (1, &json!("device.deny")), "{log:?}");
    let late = begin(&server);
    server.sql("UPDATE device_codes SET expires_at = 1 WHERE decision IS NULL");
    assert_eq!(wrong(decide(&eve, &late, json!({}))), ["/user_code"]);
    let allowed = begin(&server);
    decide(&eve, &allowed, json!({})).expect(204);
    server.sql("UPDATE device_codes SET expires_at = 1 WHERE decision = 'approved'");
    let unknown = json!({"device_code": "x".repeat(43)});
    let told: Vec<Value> = [&late, &allowed, &unknown]
        .map(|code| {
            let mut problem = fetch(&server, code).expect(400).problem("not-granted");
            problem["instance"] = json!(null);
            problem
        })
        .into();
    assert_eq!(told[0]["code"], "expired_token");
    assert!(told.iter().all(|one| *one == told[0]), "{told:?}");
    assert_eq!(eve.get("/tokens").expect(200).json()["items"], json!([]));
}

#[test]
fn only_a_user_in_a_browser_decides() {
    let (server, ada, eve) = with_eve();
    let code = begin(&server);
    let body = json!({"user_code": code["user_code"], "approve": true});
    let token = server.with_token(Some(server.token("eve", &["--scope", "admin"])));
    let refused = token.post("/device/decision", &body).expect(403).problem("forbidden");
    assert!(refused["detail"].as_str().unwrap().contains("in a browser"), "{refused}");
    assert!(!token.get(&page(&code)).expect(403).text().contains(CLIENT));
    let nobody = server.as_(Who::Anonymous);
    nobody.post("/device/decision", &body).expect(401).problem("not-signed-in");
    let away = nobody.get(&page(&code)).expect(303);
    assert!(away.header("location").starts_with("/sign-in?next=%2Fdevice%3F"), "{:?}", away.headers);
    let elsewhere = eve.bare(Method::POST, &page(&code)).header("sec-fetch-site", "cross-site");
    let form = elsewhere.header("content-type", "application/x-www-form-urlencoded");
    send(form.body("answer=allow&scope=write")).expect(403);
    assert_eq!(reason(fetch(&server, &code)), "authorization_pending");
    assert!(audited(&ada, "device.").is_empty());
}

#[test]
fn a_command_line_may_no_more_than_its_user() {
    let (server, ada, _) = with_eve();
    ada.post("/projects", &json!({"name": "vision"})).expect(201);
    server.as_(Who::Viewer);
    let vera = Browser::new(&server, Who::Viewer.name());
    let code = begin(&server);
    assert_eq!(wrong(decide(&vera, &code, json!({"scope": "admin"}))), ["/scope"]);
    for project in ["vision", "none", ""] {
        assert_eq!(wrong(decide(&vera, &code, json!({"project": project}))), ["/project"], "{project}");
    }
    decide(&vera, &code, json!({})).expect(204);
    let made = fetch(&server, &code).expect(201).json();
    assert_eq!((&made["scope"], made.get("project")), (&json!("write"), None));
    let program = server.with_token(made["token"].as_str().map(Into::into));
    program.get("/projects/default").expect(200);
    program.get("/projects/vision").expect(404).problem("not-found");
    program.post("/projects/default/pipelines", &json!({"document": ""})).expect(403).problem("forbidden");
    program.post("/tokens", &json!({"name": "more", "scope": "read"})).expect(403).problem("forbidden");
}

#[test]
fn what_a_user_loses_before_the_token_is_fetched_is_not_in_it() {
    let (server, ada, eve) = with_eve();
    let (bound, free) = (begin(&server), begin(&server));
    decide(&eve, &bound, json!({"project": "default"})).expect(204);
    decide(&eve, &free, json!({})).expect(204);
    ada.delete("/projects/default/members/eve", "*").expect(204);
    assert_eq!(reason(fetch(&server, &bound)), "access_denied");
    ada.patch("/users/eve", "*", &json!({"disabled": true})).expect(200);
    ada.patch("/users/eve", "*", &json!({"disabled": false})).expect(200);
    assert_eq!(reason(fetch(&server, &free)), "expired_token");
}

#[test]
fn user_codes_are_not_guessed() {
    let (server, _, eve) = with_eve();
    let code = begin(&server);
    // The right one is no attempt to guess.
    for _ in 0..10 {
        eve.get(&page(&code)).expect(200);
    }
    let guess = || decide(&eve, &code, json!({"user_code": "BBBB-BBBB"}));
    let mut tried = 0;
    let refused = loop {
        let answer = guess();
        if answer.status == 429 {
            break answer;
        }
        assert_eq!(wrong(answer), ["/user_code"]);
        tried += 1;
        assert!(tried < 20, "nothing slows the guesses");
    };
    assert!(tried >= 5, "{tried}");
    assert!(!refused.header("retry-after").is_empty(), "{:?}", refused.headers);
    refused.problem("too-many");
}

#[test]
fn the_page_needs_no_script() {
    let (server, _, eve) = with_eve();
    let first = eve.get("page:/device").expect(200).text();
    assert!(first.contains("name=\"user_code\"") && !first.contains(CLIENT), "{first}");
    let code = begin(&server);
    let shown = eve.get(&page(&code)).expect(200);
    assert_eq!(shown.header("cache-control"), "no-store");
    for part in ["cubeloom on laptop wants to act as you", "127.0.0.1", "after 90 days", "started yourself"] {
        assert!(shown.text().contains(part), "{part}: {}", shown.text());
    }
    let submit = |code: &Value, body: &'static str| {
        let request = eve.request(Method::POST, &page(code));
        eve.send(request.header("content-type", "application/x-www-form-urlencoded").body(body))
    };
    let away = submit(&code, "answer=allow&scope=read&project=").expect(303);
    assert_eq!(away.header("location"), "/device?decided=allowed");
    let done = eve.get("page:/device?decided=allowed").expect(200).text();
    assert!(done.contains("You can go back to the command line"), "{done}");
    let made = fetch(&server, &code).expect(201).json();
    assert_eq!((&made["scope"], made.get("project")), (&json!("read"), None));
    let used = eve.get(&page(&code)).expect(422).text();
    assert!(used.contains("This code is wrong, was used or has expired"), "{used}");
    let code = begin(&server);
    let away = submit(&code, "answer=deny&scope=write&project=").expect(303);
    assert_eq!(away.header("location"), "/device?decided=denied");
    assert_eq!(reason(fetch(&server, &code)), "access_denied");
}

#[test]
fn a_description_is_one_visible_line() {
    let (server, _, eve) = with_eve();
    let nobody = server.as_(Who::Anonymous);
    let long = "x".repeat(101);
    for client in ["", "  ", "a\nb", "a\u{202e}b", "a\u{200b}b", long.as_str()] {
        let answer = nobody.post("/device/code", &json!({"client": client}));
        assert_eq!(wrong(answer), ["/client"], "{client:?}");
    }
    let evil = json!({"client": " <script>alert(1)</script> "});
    let code = nobody.post("/device/code", &evil).expect(200).json();
    assert!(!eve.get(&page(&code)).expect(200).text().contains("<script>alert"));
}

#[test]
fn only_so_many_codes_are_pending() {
    let server = Server::start();
    server.sql(
        "INSERT INTO device_codes (id, hash, user_code, client, address, created_at, expires_at) \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) \
         SELECT 'id' || i, 'hash' || i, 'code' || i, 'x', '', 0, 9000000000000000 FROM n",
    );
    let nobody = server.as_(Who::Anonymous);
    let body = json!({"client": CLIENT});
    let refused = nobody.post("/device/code", &body).expect(429);
    assert_eq!(refused.header("retry-after"), "60");
    refused.problem("too-many");
    server.sql("UPDATE device_codes SET expires_at = 1 WHERE id = 'id7'");
    nobody.post("/device/code", &body).expect(200);
}
