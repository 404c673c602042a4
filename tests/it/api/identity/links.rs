//! One-time links: for the first administrator, invitations and password resets.

use cubeloom_domain::Timestamp;
use cubeloom_domain::identity::{AuditEntry, Link, LinkPurpose};
use reqwest::Method;
use serde_json::{Value, json};

use super::help::{Browser, sign_in, with_store};
use crate::api::support::client::send;
use crate::api::support::{Answer, Client, PASSWORD, Server, Who};

/// The secret of a link, from its URL.
fn secret(url: &str) -> String {
    let (_, secret) = url.split_once("?token=").unwrap_or_else(|| panic!("no link: {url}"));
    secret.split_whitespace().next().unwrap().to_owned()
}

fn make(admin: &Client, wanted: &Value) -> String {
    secret(admin.post("/links", wanted).expect(201).json()["url"].as_str().unwrap())
}

fn use_up(server: &Server, token: &str, name: &str) -> Answer {
    let body = json!({"token": token, "name": name, "password": PASSWORD});
    server.as_(Who::Anonymous).post("/links/use", &body)
}

#[test]
fn the_first_link_makes_one_administrator() {
    let server = Server::start();
    let log = server.log();
    let url = log.split_whitespace().find(|word| word.contains("/welcome?token=")).expect("a link");
    let page = server.as_(Who::Anonymous).get(&format!("page:{}", url.trim_start_matches(&server.url())));
    assert!(page.expect(200).text().contains("administers the platform"));
    let made = use_up(&server, &secret(url), "grace").expect(201);
    let me = made.json();
    assert_eq!((&me["user"]["name"], &me["user"]["admin"]), (&json!("grace"), &json!(true)), "{me}");
    assert!(made.header("set-cookie").contains("HttpOnly"), "she is signed in");
    use_up(&server, &secret(url), "mallory").expect(410).problem("gone");
    let browser = Browser::new(&server, "grace");
    assert_eq!(browser.get("/users").expect(200).json()["items"].as_array().unwrap().len(), 1);
    // A server with accounts prints no link.
    server.kill();
    std::fs::write(server.path("server.log"), "").unwrap();
    server.run();
    assert!(!server.log().contains("token="), "{}", server.log());
}

#[test]
fn the_first_link_holds_no_more_once_somebody_has_an_account() {
    let server = Server::start();
    let log = server.log();
    let url =
        log.split_whitespace().find(|word| word.contains("/welcome?token=")).expect("a link").to_owned();
    server.user("ada", &["--admin"]);
    use_up(&server, &secret(&url), "mallory").expect(410).problem("gone");
}

#[test]
fn an_invitation_gives_what_it_says_to_one_person() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    let wanted = json!({"kind": "invite", "project": "default", "role": "viewer", "note": "for Eve"});
    let token = make(&ada, &wanted);
    let open = ada.get("/links").expect(200).json();
    assert_eq!(open["items"][0]["note"], "for Eve");
    assert!(!open.to_string().contains(&token), "its secret is not shown again");
    let nobody = server.as_(Who::Anonymous);
    let by = |name: &'static str| {
        nobody.post("/links/use", &json!({"token": token, "name": name, "password": PASSWORD})).status
    };
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let used = ["eve", "bob", "sid", "tom"].map(|name| {
            scope.spawn({
                let by = &by;
                move || by(name)
            })
        });
        used.map(|one| one.join().unwrap()).into()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 410).count(), 3, "{statuses:?}");
    let members = ada.get("/projects/default/members").expect(200).json();
    let roles: Vec<&Value> = members["items"].as_array().unwrap().iter().map(|one| &one["role"]).collect();
    assert_eq!(roles, [&json!("viewer")], "{members}");
    assert_eq!(ada.get("/links").expect(200).json()["items"], json!([]));
}

#[test]
fn a_link_that_was_taken_back_has_expired_or_never_was_is_of_no_use() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    let token = make(&ada, &json!({"kind": "invite"}));
    let id = ada.get("/links").expect(200).json()["items"][0]["id"].as_str().unwrap().to_owned();
    ada.delete(&format!("/links/{id}"), "").expect(204);
    ada.delete(&format!("/links/{id}"), "").expect(404);
    let mut told = vec![use_up(&server, &token, "eve"), use_up(&server, &"x".repeat(43), "eve")];
    let expired = "the secret of a link that has expired";
    with_store(&server, async |store| {
        let now = store.user_by_name("ada").await.unwrap().unwrap().created_at;
        let ago = |days: i64| Timestamp(now.0 - days * 86_400_000_000);
        let link = Link {
            id: "01aaaaaaaaaaaaaaaaaaaaaaaa".into(),
            hash: cubeloom_web::auth::secret::hash(expired),
            purpose: LinkPurpose::Invite { place: None, admin: true },
            note: String::new(),
            created_by: "ada".into(),
            created_at: ago(8),
            expires_at: ago(1),
            used_at: None,
        };
        store.create_link(&link, &entry(now)).await.unwrap();
    });
    told.push(use_up(&server, expired, "eve"));
    let told: Vec<Value> =
        told.into_iter().map(|answer| answer.expect(410).problem("gone")["detail"].clone()).collect();
    assert!(told.iter().all(|detail| *detail == told[0]), "{told:?}");
    let page = server.as_(Who::Anonymous).get(&format!("page:/link?token={token}")).expect(410);
    assert!(page.text().contains("Ask an administrator for a new one"), "{}", page.text());
}

fn entry(at: Timestamp) -> AuditEntry {
    AuditEntry {
        id: "01aaaaaaaaaaaaaaaaaaaaaaaa".into(),
        at,
        user_id: None,
        user_name: "test".into(),
        via: "server".into(),
        address: String::new(),
        project: None,
        action: "link.create".into(),
        subject: "01aaaaaaaaaaaaaaaaaaaaaaaa".into(),
        before: None,
        after: None,
    }
}

#[test]
fn a_lost_password_is_set_by_an_administrators_link_or_one_of_the_host() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    server.user("eve", &[]);
    let browser = Browser::new(&server, "eve");
    let first = make(&ada, &json!({"kind": "reset", "user": "eve"}));
    let said = server.expect(0, &["user", "link", "eve"]).out;
    let of_host = secret(said.split_whitespace().find(|word| word.contains("/link?token=")).expect("a link"));
    let page = server.as_(Who::Anonymous).get(&format!("page:/link?token={of_host}")).expect(200);
    assert!(page.text().contains("For eve"), "{}", page.text());
    let set = |token: &str, password: &str| {
        server.as_(Who::Anonymous).post("/links/use", &json!({"token": token, "password": password}))
    };
    set(&of_host, "short").expect(422).problem("invalid");
    set(&of_host, "four new words here").expect(201);
    browser.get("/me").expect(401);
    let nobody = server.as_(Who::Anonymous);
    sign_in(&nobody, "eve", PASSWORD).expect(401);
    sign_in(&nobody, "eve", "four new words here").expect(201);
    set(&of_host, "another one for me").expect(410).problem("gone");
    set(&first, "another one for me").expect(410).problem("gone");
}

#[test]
fn what_somebody_invited_who_no_longer_administers_does_not_count() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    for change in [json!({"disabled": true}), json!({"admin": false})] {
        let name = if change["disabled"] == true { "mallory" } else { "trent" };
        server.user(name, &["--admin"]);
        server.user(&format!("{name}-friend"), &[]);
        let theirs = server.with_token(Some(server.token(name, &["--scope", "admin"])));
        let invitation = make(&theirs, &json!({"kind": "invite", "admin": true}));
        let reset = make(&theirs, &json!({"kind": "reset", "user": format!("{name}-friend")}));
        let kept = make(&ada, &json!({"kind": "invite"}));
        let etag = ada.get(&format!("/users/{name}")).expect(200).etag();
        ada.patch(&format!("/users/{name}"), &etag, &change).expect(200);
        use_up(&server, &invitation, &format!("{name}-2")).expect(410).problem("gone");
        use_up(&server, &reset, "").expect(410).problem("gone");
        use_up(&server, &kept, &format!("{name}-3")).expect(201);
    }
}

#[test]
fn the_secret_of_a_link_stays_out_of_the_log_and_of_other_sites() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    let token = make(&ada, &json!({"kind": "invite"}));
    let page = server.as_(Who::Anonymous).get(&format!("page:/link?token={token}")).expect(200);
    assert_eq!(page.header("referrer-policy"), "same-origin");
    assert_eq!(page.header("cache-control"), "no-store");
    let body = format!("token={token}&name=eve&display_name=&password=correct+horse+battery");
    let request = server.as_(Who::Anonymous).request(Method::POST, "page:/link");
    send(request.header("content-type", "application/x-www-form-urlencoded").body(body)).expect(303);
    assert!(!ada.get("/audit?limit=200").expect(200).text().contains(&token));
    server.stop();
    assert!(!server.log().contains(&token), "{}", server.log());
}
