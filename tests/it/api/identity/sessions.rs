//! Sessions: key rotation, expiry, and the end of streams opened with them.

use std::time::Duration;

use cubeloom_domain::Timestamp;
use reqwest::Method;
use serde_json::json;

use super::help::{Browser, MOMENT, age, session_of, set_cookie, sign_in, with_store};
use crate::api::runs::help::Events;
use crate::api::support::client::send;
use crate::api::support::{PASSWORD, Server, Who};

const QUARTER: Duration = Duration::from_secs(20 * 60);

fn status(server: &Server, cookie: &str) -> u16 {
    let nobody = server.as_(Who::Anonymous);
    send(nobody.request(Method::GET, "/me").header("cookie", cookie)).status
}

#[test]
fn a_key_is_replaced_and_requests_at_the_same_time_stay_signed_in() {
    let server = Server::start();
    server.user("eve", &[]);
    let browser = Browser::new(&server, "eve");
    let old = browser.cookie();
    age(&server, &session_of(&server, &browser), QUARTER);
    let client = server.as_(Who::Anonymous);
    let answers: Vec<_> = std::thread::scope(|scope| {
        let ask = || send(client.request(Method::GET, "/me").header("cookie", &old));
        let asked: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        asked.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [200; 8], "nobody is signed out");
    let given: Vec<String> = answers.iter().filter_map(set_cookie).collect();
    assert!(!given.is_empty() && given.iter().all(|cookie| *cookie != old), "{given:?}");
    for cookie in &given {
        assert_eq!(status(&server, cookie), 200);
    }
    // A late request with the old cookie gets the new one.
    let late = send(client.request(Method::GET, "/me").header("cookie", &old)).expect(200);
    assert!(set_cookie(&late).is_some_and(|cookie| cookie != old));
    let list = browser.get("/me/sessions").expect(200).json();
    assert_eq!(list["items"].as_array().unwrap().len(), 1, "it is the same session: {list}");
}

#[test]
fn a_replaced_key_holds_for_a_minute_and_no_longer() {
    let server = Server::start();
    server.user("eve", &[]);
    let browser = Browser::new(&server, "eve");
    let (old, first) = (browser.cookie(), session_of(&server, &browser));
    age(&server, &first, QUARTER);
    browser.get("/me").expect(200);
    assert_ne!(browser.cookie(), old);
    assert_eq!(status(&server, &old), 200);
    let second = session_of(&server, &browser);
    let (before, until) = second.previous.clone().expect("the key before");
    assert_eq!(before, first.key);
    let minute = (until.0 - second.renewed_at.0) / 1_000_000;
    assert_eq!(minute, 60);
    // The minute is over: switch back to the first key, and from it to the second without a grace period.
    with_store(&server, async |store| {
        let at = second.renewed_at;
        let rotate =
            async |from: &str, to: &str| store.rotate_session(&second.id, from, to, Timestamp(1), at).await;
        assert!(rotate(&second.key, &first.key).await.unwrap());
        assert!(rotate(&first.key, &second.key).await.unwrap());
    });
    std::thread::sleep(MOMENT);
    assert_eq!(status(&server, &old), 401, "a cookie that was stolen is of no use any more");
    browser.get("/me").expect(200);
}

#[test]
fn a_session_ends_by_signing_out_and_its_streams_end_too() {
    let server = Server::start();
    server.user("eve", &[]);
    let (here, there) = (Browser::new(&server, "eve"), Browser::new(&server, "eve"));
    let stream = stream(&there);
    assert_eq!(stream.next().name, "snapshot");
    let id = session_of(&server, &there).id;
    // Not of another person.
    server.user("bob", &[]);
    let bob = Browser::new(&server, "bob");
    let path = format!("/me/sessions/{id}");
    bob.send(bob.request(Method::DELETE, &path)).expect(404).problem("not-found");
    here.send(here.request(Method::DELETE, &path)).expect(204);
    there.get("/me").expect(401).problem("not-signed-in");
    stream.find(|event| event.name == "revoked");
    let cookie = here.cookie();
    let out = here.send(here.request(Method::DELETE, "/session")).expect(204);
    assert!(out.header("set-cookie").contains("Max-Age=0"), "{:?}", out.headers);
    assert_eq!(status(&server, &cookie), 401, "the cookie is of no use to whoever kept it");
    let page = send(server.as_(Who::Anonymous).request(Method::GET, "page:/me").header("cookie", cookie));
    assert_eq!((page.status, page.header("location")), (303, "/sign-in?next=%2Fme"));
}

/// An event stream opened with a browser's cookie.
fn stream(browser: &Browser) -> Events {
    Events::of(browser.request(Method::GET, "/events"))
}

#[test]
fn a_session_that_nobody_uses_ends() {
    let server = Server::start();
    server.user("eve", &[]);
    let browser = Browser::new(&server, "eve");
    age(&server, &session_of(&server, &browser), Duration::from_secs(8 * 86_400));
    browser.get("/me").expect(401).problem("not-signed-in");
    let fresh = Browser::new(&server, "eve");
    assert_eq!(fresh.get("/me/sessions").expect(200).json()["items"].as_array().unwrap().len(), 1);
}

#[test]
fn whoever_is_disabled_loses_sessions_tokens_and_streams_for_good() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    server.user("eve", &["--project", "default", "--role", "editor"]);
    let browser = Browser::new(&server, "eve");
    let program = server.with_token(Some(server.token("eve", &["--scope", "admin"])));
    let streams = [stream(&browser), Events::open(&program, "/projects/default/events", None)];
    for stream in &streams {
        assert_eq!(stream.next().name, "snapshot");
    }
    let etag = ada.get("/users/eve").expect(200).etag();
    let off = ada.patch("/users/eve", &etag, &json!({"disabled": true})).expect(200);
    browser.get("/me").expect(401).problem("not-signed-in");
    program.get("/me").expect(401).problem("not-signed-in");
    for stream in &streams {
        stream.find(|event| event.name == "revoked");
    }
    let wrong = sign_in(&server.as_(Who::Anonymous), "eve", PASSWORD).expect(401).problem("not-signed-in");
    assert_eq!(wrong["detail"], "wrong name or password", "it is not told that she is disabled");
    ada.patch("/users/eve", &off.etag(), &json!({"disabled": false})).expect(200);
    browser.get("/me").expect(401);
    program.get("/me").expect(401);
    Browser::new(&server, "eve").get("/me").expect(200);
}

#[test]
fn a_token_that_is_revoked_ends_its_stream_in_the_middle() {
    let server = Server::start();
    server.user("eve", &["--project", "default", "--role", "viewer"]);
    let program = server.with_token(Some(server.token("eve", &["--scope", "read"])));
    let other = server.with_token(Some(server.token("eve", &["--scope", "admin"])));
    let (stream, stays) = (
        Events::open(&program, "/projects/default/events", None),
        Events::open(&other, "/projects/default/events", None),
    );
    assert_eq!(stream.next().name, "snapshot");
    assert_eq!(stays.next().name, "snapshot");
    let id = program.token().unwrap().split('_').nth(1).unwrap().to_owned();
    other.delete(&format!("/tokens/{id}"), "").expect(204);
    program.get("/me").expect(401).problem("not-signed-in");
    let rest = stream.rest();
    let names: Vec<&str> = rest.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["revoked"]);
    stays.quiet(Duration::from_secs(1));
}
