//! Guessing passwords: attempts are slowed down, and reveal nothing about which accounts exist.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::json;

use super::help::{Browser, sign_in};
use crate::api::support::client::send;
use crate::api::support::{Answer, PASSWORD, Server, Who};
use crate::support::TestApp;
use crate::support::processes::processor_time;

/// `Retry-After`, in seconds.
fn wait(answer: &Answer) -> u64 {
    answer.header("retry-after").parse().unwrap_or_else(|_| panic!("no Retry-After: {:?}", answer.headers))
}

#[test]
fn a_name_that_is_unknown_is_answered_as_a_wrong_password_is() {
    let server = Server::start();
    for name in ["eve", "bob", "sid"] {
        server.user(name, &[]);
    }
    let nobody = server.as_(Who::Anonymous);
    let mut took = [Duration::ZERO; 2];
    let mut told = [Vec::new(), Vec::new()];
    for names in [["eve", "nobody-1"], ["bob", "nobody-2"], ["sid", "nobody-3"], ["eve", "nobody-4"]] {
        for (kind, name) in names.into_iter().enumerate() {
            let before = processor_time(server.pid());
            let answer = sign_in(&nobody, name, "not the password").expect(401);
            took[kind] += processor_time(server.pid()).saturating_sub(before);
            let mut document = answer.problem("not-signed-in");
            document["instance"] = json!(null);
            told[kind].push((document, answer.headers.keys().map(ToString::to_string).collect::<Vec<_>>()));
        }
    }
    assert_eq!(told[0], told[1]);
    // Both take about the same work: a lookup alone would take a hundredth of it.
    let [known, unknown] = took;
    assert!(unknown * 3 > known && known * 3 > unknown, "known {known:?}, unknown {unknown:?}");
}

/// Repeats an attempt until it is refused for some seconds, enough for a machine of any speed. The first
/// `free` attempts are not limited.
fn tried_until_refused(free: u32, try_once: impl Fn(u32) -> Answer) -> Answer {
    let mut tried = 0;
    loop {
        let answer = try_once(tried);
        if answer.status == 401 {
            tried += 1;
            assert!(tried < free + 8, "{tried} wrong passwords, and the next is heard");
            continue;
        }
        let over = tried.checked_sub(free).expect("nobody waits before these are used up");
        let refused = answer.expect(429);
        let seconds = wait(&refused);
        assert!((1..=1 << over).contains(&seconds), "each try waits twice as long: {seconds} after {over}");
        if seconds >= 4 {
            return refused;
        }
        std::thread::sleep(Duration::from_secs(seconds) + Duration::from_millis(100));
    }
}

#[test]
fn an_account_is_tried_slower_and_slower_and_opens_to_the_right_password_after_waiting() {
    let server = Server::start();
    server.user("eve", &[]);
    let nobody = server.as_(Who::Anonymous);
    tried_until_refused(5, |_| sign_in(&nobody, "eve", "not the password"));
    let refused = sign_in(&nobody, "eve", PASSWORD).expect(429);
    assert!(refused.problem("too-many")["detail"].as_str().unwrap().contains("wait"), "{}", refused.text());
    // Names are case-insensitive.
    sign_in(&nobody, "EVE", PASSWORD).expect(429);
    std::thread::sleep(Duration::from_secs(wait(&refused)) + Duration::from_millis(100));
    Browser::new(&server, "eve");
    // After a success, counting starts over.
    for _ in 0..4 {
        sign_in(&nobody, "eve", "not the password").expect(401);
    }
    Browser::new(&server, "eve");
}

#[test]
fn the_form_says_the_same_in_words() {
    let server = Server::start();
    server.user("eve", &[]);
    let nobody = server.as_(Who::Anonymous);
    let form = |password: &str| {
        let body = format!("name=eve&password={}&next=%2Fme", password.replace(' ', "+"));
        let request = nobody.request(Method::POST, "page:/sign-in");
        send(request.header("content-type", "application/x-www-form-urlencoded").body(body))
    };
    tried_until_refused(5, |_| {
        let page = form("not the password");
        if page.status == 401 {
            assert!(page.text().contains("Wrong name or password"), "{}", page.text());
            assert!(!page.text().contains("not the password\""), "the password is not sent back");
        }
        page
    });
    let page = form(PASSWORD).expect(429);
    let seconds = wait(&page);
    assert!(page.text().contains(&format!("Wait {seconds} seconds")), "{}", page.text());
    std::thread::sleep(Duration::from_secs(seconds) + Duration::from_millis(100));
    let page = form(PASSWORD).expect(303);
    assert_eq!(page.header("location"), "/me");
}

#[test]
fn an_address_that_tries_many_names_is_slowed_and_others_are_not() {
    let mut app = TestApp::new();
    app.set("CUBELOOM_SERVER_PROXIES", "1");
    let server = Server::start_in(app);
    server.user("eve", &[]);
    let nobody = server.as_(Who::Anonymous);
    let from = |address: &str, name: &str, password: &str| {
        let body = json!({"name": name, "password": password});
        send(nobody.request(Method::POST, "/session").header("x-forwarded-for", address).json(&body))
    };
    tried_until_refused(20, |n| from("192.0.2.7", &format!("name-{n}"), "not the password"));
    from("192.0.2.7", "eve", PASSWORD).expect(429).problem("too-many");
    // A client may forge every address before the one that the proxy appended.
    from("198.51.100.1, 192.0.2.7", "eve", PASSWORD).expect(429);
    from("192.0.2.7, 198.51.100.1", "eve", PASSWORD).expect(201);
}

#[test]
fn many_guesses_at_once_count_each() {
    let server = Server::start();
    server.user("eve", &[]);
    let nobody = server.as_(Who::Anonymous);
    let start = Instant::now();
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let asked: Vec<_> =
            (0..12).map(|_| scope.spawn(|| sign_in(&nobody, "eve", "not the password").status)).collect();
        asked.into_iter().map(|one| one.join().unwrap()).collect()
    });
    // Five are free. Attempts after a second, and after two more, were accepted again.
    let later = (start.elapsed().as_secs() + 1).ilog2() as usize;
    let heard = statuses.iter().filter(|status| **status == 401).count();
    assert!((5..=5 + later).contains(&heard), "{statuses:?} after {:?}", start.elapsed());
    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 12 - heard, "{statuses:?}");
}
