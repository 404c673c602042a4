//! Changing one's password.

use reqwest::Method;
use serde_json::{Value, json};

use super::help::{Browser, sign_in};
use crate::api::support::{Answer, PASSWORD, Server, Who};

const NEW: &str = "another horse battery";

fn change(browser: &Browser, current: &str, password: &str) -> Answer {
    let body: Value = json!({"current": current, "password": password});
    browser.send(browser.request(Method::PUT, "/me/password").json(&body))
}

#[test]
fn a_new_password_ends_all_other_sessions_and_keeps_this_one() {
    let server = Server::start();
    server.user("eve", &[]);
    let (here, there) = (Browser::new(&server, "eve"), Browser::new(&server, "eve"));
    let before = here.cookie();
    change(&here, PASSWORD, NEW).expect(204);
    assert_ne!(here.cookie(), before);
    here.get("/me").expect(200);
    there.get("/me").expect(401).problem("not-signed-in");
    let nobody = server.as_(Who::Anonymous);
    sign_in(&nobody, "eve", PASSWORD).expect(401);
    sign_in(&nobody, "eve", NEW).expect(201);
    let list = here.get("/me/sessions").expect(200).json();
    let mine: Vec<&Value> = list["items"].as_array().unwrap().iter().map(|one| &one["current"]).collect();
    assert_eq!(mine, [&json!(false), &json!(true)], "only what has signed in since: {list}");
}

#[test]
fn the_present_password_is_asked_for_and_cannot_be_guessed_there_either() {
    let server = Server::start();
    server.user("eve", &[]);
    let browser = Browser::new(&server, "eve");
    for _ in 0..5 {
        let refused = change(&browser, "not the password", NEW).expect(422).problem("invalid");
        assert_eq!(refused["problems"][0]["path"], "/current", "{refused}");
    }
    let refused = change(&browser, PASSWORD, NEW).expect(429);
    assert_eq!(refused.header("retry-after"), "1");
    refused.problem("too-many");
    // A stolen session cannot lock its owner out of a new session.
    sign_in(&server.as_(Who::Anonymous), "eve", PASSWORD).expect(201);
}

#[test]
fn weak_passwords_are_refused_with_a_reason() {
    let server = Server::start();
    server.user("eve.the.long", &[]);
    let browser = Browser::new(&server, "eve.the.long");
    for (weak, why) in [
        ("short", "10 or more"),
        ("zzzzzzzzzzzz", "too easy"),
        ("Eve.the.long", "too easy"),
        (&"x".repeat(1025), "1024"),
    ] {
        let refused = change(&browser, PASSWORD, weak).expect(422).problem("invalid");
        assert_eq!(refused["problems"][0]["path"], "/password", "{refused}");
        assert!(refused["detail"].as_str().unwrap().contains(why), "{refused}");
    }
    sign_in(&server.as_(Who::Anonymous), "eve.the.long", PASSWORD).expect(201);
}
