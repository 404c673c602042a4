//! One request of every kind that changes something, and the audit entries each leaves.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use cubeloom_domain::Timestamp;
use cubeloom_domain::identity::{AuditEntry, Federated};
use reqwest::{Method, Url};
use serde_json::{Value, json};

use super::help::{Browser, sign_in, with_store};
use crate::api::models::register;
use crate::api::pipelines::code::archive;
use crate::api::policy::rule_of;
use crate::api::runs::help::{document, id, task, until, until_task};
use crate::api::storage::clusters::AWAY;
use crate::api::support::client::send;
use crate::api::support::{Answer, Client, PASSWORD, Server, Who};

/// Passwords and values that must not appear in the log.
pub const SECRETS: [&str; 6] =
    [PASSWORD, "the value of a secret", "its value afterwards", "another long password", "clt_", "tops3cret"];

const TEMPLATE: &str = r#"{apiVersion: cubeloom/v1, kind: TaskTemplate, name: say, version: 1.0.0, group: basics,
label: {en: Say, zh: 说}, help: {en: Says it., zh: 说出来。}, framework: single,
parameters: {type: object, additionalProperties: false, properties: {}},
roles: [{name: worker, replicas: 1, resources: {cpu: 100m, memory: 64Mi}}], command: [echo, hi]}"#;

/// A reader of the audit log that records which request left which entry.
pub struct Log {
    reader: Client,
    known: RefCell<BTreeSet<String>>,
    /// The actions, by the route that left them: `("POST", "/api/v1/projects")`.
    pub left: RefCell<BTreeMap<(&'static str, &'static str), BTreeSet<String>>>,
}

impl Log {
    /// Records the entries of a completed request.
    #[track_caller]
    fn note(&self, answer: Answer) -> Answer {
        assert!((200..400).contains(&answer.status), "{}: {}", answer.asked, answer.text());
        let (method, url) = answer.asked.split_once(' ').unwrap();
        let path = Url::parse(url).unwrap().path().to_owned();
        let rule = rule_of(method, &path).unwrap_or_else(|| panic!("no row for {method} {path}"));
        let mut left = self.left.borrow_mut();
        let actions = left.entry((rule.method, rule.route)).or_default();
        let log = self.reader.get("/audit?limit=50").expect(200).json();
        for entry in log["items"].as_array().unwrap() {
            let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
            // Excludes entries of test commands and of the server itself.
            let by_request = !["server", "command line", "run"].contains(&text("via").as_str());
            if self.known.borrow_mut().insert(text("id")) && by_request {
                actions.insert(text("action"));
            }
        }
        answer
    }
}

/// Performs every possible change once.
pub fn change_everything(server: &Server) -> Log {
    let log = begin(server);
    let ada = server.as_(Who::Administrator);
    server.user("eve", &[]);
    change_projects(&ada, &log);
    change_files(&ada, &log);
    change_secrets(&ada, &log);
    change_pipelines(&ada, &log);
    change_schedules(&ada, &log);
    change_sizing(&ada, &log);
    change_alerts(&ada, &log);
    change_models(&ada, &log);
    change_runs(&ada, &log);
    change_people(server, &ada, &log);
    change_own_account(server, &ada, &log);
    change_device_codes(server, &log);
    change_links(server, &ada, &log);
    change_the_server(&ada, &log);
    change_prices_and_budgets(&ada, &log);
    log.note(ada.delete("/projects/vision", "*").expect(204));
    log
}

/// The first administrator signs in with the first link.
fn begin(server: &Server) -> Log {
    let said = server.log();
    let url = said.split_whitespace().find(|word| word.contains("/welcome?token=")).expect("a link");
    let fields = [("token", secret_of(url)), ("name", "grace".to_owned()), ("password", PASSWORD.to_owned())];
    let welcome = form(&server.as_(Who::Anonymous), "page:/welcome", &fields).expect(303);
    let reader = server.with_token(Some(server.token("grace", &["--scope", "admin"])));
    let log = Log { reader, known: RefCell::default(), left: RefCell::default() };
    log.note(welcome);
    log
}

fn secret_of(url: &str) -> String {
    url.split_once("?token=").unwrap_or_else(|| panic!("no link: {url}")).1.to_owned()
}

/// Submits a form as a page without JavaScript does.
fn form(client: &Client, page: &str, fields: &[(&str, String)]) -> Answer {
    let body = Url::parse_with_params("http://form", fields).unwrap().query().unwrap_or_default().to_owned();
    let request = client.request(Method::POST, page);
    send(request.header("content-type", "application/x-www-form-urlencoded").body(body))
}

fn change_projects(ada: &Client, log: &Log) {
    let project = "/projects/vision";
    log.note(ada.post("/projects", &json!({"name": "vision"})).expect(201));
    log.note(ada.patch(project, "*", &json!({"label": "Vision"})).expect(200));
    let member = format!("{project}/members/eve");
    log.note(ada.put(&member, "", &json!({"role": "viewer"})).expect(201));
    log.note(ada.put(&member, "*", &json!({"role": "editor"})).expect(200));
    log.note(ada.delete(&member, "*").expect(204));
}

fn change_files(ada: &Client, log: &Log) {
    let volumes = "/projects/vision/volumes";
    let place = json!({"kind": "workspace", "path": "data"});
    log.note(ada.post(volumes, &json!({"name": "data", "place": place})).expect(201));
    log.note(ada.patch(&format!("{volumes}/data"), "*", &json!({"description": "rows"})).expect(200));
    log.note(ada.post(&format!("{volumes}/data/folders"), &json!({"path": "in"})).expect(201));
    let file = format!("{volumes}/data/file?path=in/rows.csv");
    log.note(send(ada.request(Method::PUT, &file).body("a,b\n")).expect(204));
    log.note(ada.delete(&file, "").expect(204));
    log.note(ada.delete(&format!("{volumes}/data"), "*").expect(204));
}

fn change_secrets(ada: &Client, log: &Log) {
    let secret = json!({"name": "pw", "value": "the value of a secret", "description": "of the hub"});
    let (all, registries) = ("/projects/vision/secrets", "/projects/vision/registries");
    for secrets in [all, "/me/secrets"] {
        let one = format!("{secrets}/pw");
        log.note(ada.post(secrets, &secret).expect(201));
        log.note(ada.put(&one, "*", &json!({"value": "its value afterwards"})).expect(200));
    }
    let hub = json!({"name": "hub", "host": "registry.example.org", "user": "bot", "secret": "pw"});
    log.note(ada.post(registries, &hub).expect(201));
    let other = json!({"host": "hub.example.org", "user": "bot"});
    log.note(ada.put(&format!("{registries}/hub"), "*", &other).expect(200));
    log.note(ada.delete(&format!("{registries}/hub"), "*").expect(204));
    for secrets in [all, "/me/secrets"] {
        log.note(ada.delete(&format!("{secrets}/pw"), "*").expect(204));
    }
}

fn change_pipelines(ada: &Client, log: &Log) {
    let code = archive(&[(b"main.py", tar::EntryType::Regular, b"print(1)\n")]);
    let upload =
        ada.request(Method::PUT, "/projects/default/code").header("content-type", "application/gzip");
    log.note(send(upload.body(code)).expect(200));
    let list = "/projects/default/pipelines";
    let parameters = "parameters: {n: {type: integer, default: 0}}\n";
    let text =
        document("count", &format!("{parameters}tasks:\n{}", task("wait", "sleep {{ params.n }}", "")));
    log.note(ada.post(list, &json!({"document": text})).expect(201));
    let changed = json!({"document": format!("{text}# more\n")});
    log.note(ada.put(&format!("{list}/count"), "*", &changed).expect(200));
    let spare = document("spare", &format!("tasks:\n{}", task("say", "true", "")));
    log.note(ada.post(list, &json!({"document": spare})).expect(201));
    log.note(ada.delete(&format!("{list}/spare"), "*").expect(204));
    let hooks = format!("{list}/count/hooks");
    let hook = log.note(ada.post(&hooks, &json!({"name": "nightly"})).expect(201)).json();
    let (name, url) = (id(&hook), hook["url"].as_str().unwrap());
    let called = log.note(ada.post(url.split("/api/v1").nth(1).unwrap(), &json!({})).expect(201)).json();
    until(ada, called["run"].as_str().unwrap(), "succeeded");
    log.note(ada.patch(&format!("{hooks}/{name}"), "*", &json!({"name": "weekly"})).expect(200));
    log.note(ada.delete(&format!("{hooks}/{name}"), "*").expect(204));
}

fn change_schedules(ada: &Client, log: &Log) {
    let list = "/projects/default/pipelines";
    let tasks = format!("schedule: {{cron: '0 0 * * *'}}\ntasks:\n{}", task("say", "true", ""));
    log.note(ada.post(list, &json!({"document": document("dated", &tasks)})).expect(201));
    let dated = format!("{list}/dated");
    log.note(ada.post(&format!("{dated}/schedule/pause"), &json!({})).expect(200));
    log.note(ada.post(&format!("{dated}/schedule/resume"), &json!({})).expect(200));
    let date = json!({"date": "2026-01-31"});
    let started = log.note(ada.post(&format!("{dated}/schedule/dates"), &date).expect(201)).json();
    until(ada, &id(&started["run"]), "succeeded");
    let range = json!({"first": "2025-01-01", "last": "2025-03-31"});
    let backfill = id(&log.note(ada.post(&format!("{dated}/backfills"), &range).expect(201)).json());
    let cancel = format!("{dated}/backfills/{backfill}/cancel");
    log.note(ada.post(&cancel, &json!({"runs": true})).expect(200));
}

fn change_sizing(ada: &Client, log: &Log) {
    let task = "/projects/default/pipelines/dated/tasks/say/sizing";
    log.note(ada.post(&format!("{task}/revert"), &json!({})).expect(200));
    log.note(ada.post(&format!("{task}/resume"), &json!({})).expect(200));
}

fn change_alerts(ada: &Client, log: &Log) {
    let list = "/projects/vision/alerts";
    // No server listens there: the test message fails, but is sent.
    let channel = json!({"name": "ops", "kind": "webhook", "address": "https://127.0.0.1:9/in",
        "rules": {"events": ["run_failed"]}});
    let one = format!("{list}/{}", id(&log.note(ada.post(list, &channel).expect(201)).json()));
    log.note(ada.patch(&one, "*", &json!({"name": "on duty"})).expect(200));
    log.note(ada.post(&format!("{one}/test"), &json!({})).expect(200));
    log.note(ada.delete(&one, "*").expect(204));
}

fn change_models(ada: &Client, log: &Log) {
    let model = "/projects/default/models/digits";
    for number in [1, 2] {
        register(ada, "default", &json!({"name": "digits", "path": format!("models/digits/{number}")}));
    }
    let alias = format!("{model}/aliases/production");
    log.note(ada.put(&alias, "", &json!({"version": 2})).expect(200));
    log.note(ada.delete(&alias, "").expect(204));
    log.note(ada.patch(model, "*", &json!({"description": "numbers"})).expect(200));
    log.note(ada.delete(&format!("{model}/versions/1"), "").expect(204));
    log.note(ada.delete(model, "*").expect(204));
}

fn change_runs(ada: &Client, log: &Log) {
    let runs = "/projects/default/runs";
    let begin = |n: u32| {
        let body = json!({"pipeline": "count", "parameters": {"n": n}});
        id(&log.note(ada.post(runs, &body).expect(201)).json()["run"])
    };
    let wish = |run: &str, what: &str, body: &Value| ada.post(&format!("/runs/{run}/{what}"), body);
    let long = begin(600);
    until_task(ada, &long, "wait", "running");
    log.note(wish(&long, "cancel", &json!({})).expect(202));
    until(ada, &long, "cancelled");
    log.note(wish(&long, "resume", &json!({})).expect(202));
    until_task(ada, &long, "wait", "running");
    log.note(ada.post(&format!("{runs}/cancel"), &json!({"runs": [long]})).expect(200));
    until(ada, &long, "cancelled");
    let with = id(&log.note(wish(&long, "resume-with", &json!({})).expect(201)).json()["run"]);
    until_task(ada, &with, "wait", "running");
    log.note(wish(&with, "cancel", &json!({})).expect(202));
    until(ada, &with, "cancelled");
    let terminals = format!("/runs/{long}/tasks/wait/instances/0/terminals");
    let terminal = log.note(ada.post(&terminals, &json!({})).expect(201)).json();
    log.note(
        ada.delete(&format!("/runs/{long}/terminals/{}", terminal["id"].as_str().unwrap()), "").expect(204),
    );
    let short = begin(0);
    until(ada, &short, "succeeded");
    log.note(wish(&short, "rerun", &json!({"from": ["wait"]})).expect(202));
    until(ada, &short, "succeeded");
    let again = log.note(wish(&short, "again", &json!({})).expect(201)).json();
    let many = log.note(ada.post(&format!("{runs}/rerun"), &json!({"runs": [short]})).expect(200)).json();
    until(ada, &id(&again["run"]), "succeeded");
    until(ada, many["results"][0]["started"].as_str().unwrap(), "succeeded");
    let asks = "tasks:\n  - {name: ask, template: approval, arguments: {message: 'Go on?'}}\n";
    let asking = log.note(ada.post(runs, &json!({"document": document("asks", asks)})).expect(201)).json();
    let asking = id(&asking["run"]);
    until_task(ada, &asking, "ask", "waiting");
    let answer = json!({"approved": true, "comment": "yes"});
    log.note(ada.post(&format!("/runs/{asking}/tasks/ask/instances/0/decision"), &answer).expect(202));
    until(ada, &asking, "succeeded");
    let mark = json!({"as": "skipped", "reason": "not needed"});
    log.note(ada.post(&format!("/runs/{asking}/tasks/ask/instances/0/mark"), &mark).expect(202));
    until(ada, &asking, "succeeded");
    let gone = RefCell::new(None);
    crate::support::wait_for("the engine to let go of the run", || {
        let answer = ada.delete(&format!("/runs/{short}"), "");
        let done = answer.status == 204;
        *gone.borrow_mut() = Some(answer);
        done
    });
    log.note(gone.into_inner().unwrap());
}

fn change_people(server: &Server, ada: &Client, log: &Log) {
    log.note(ada.post("/users", &json!({"name": "bob", "password": PASSWORD})).expect(201));
    // Simulates a sign-in through a provider. tests/e2e/oidc.test.mjs tests the real one.
    with_store(server, async |store| {
        let bob = store.user_by_name("bob").await.unwrap().unwrap();
        let by = Federated { issuer: "https://id.example.org".into(), subject: "b-1".into() };
        store.connect_user(&bob.id, &by, &of_the_server("user.connect")).await.unwrap();
    });
    let change = json!({"admin": true, "email": "bob@example.org"});
    log.note(ada.patch("/users/bob", "*", &change).expect(200));
    let made = log.note(ada.post("/tokens", &json!({"name": "nightly", "scope": "read"})).expect(201)).json();
    log.note(ada.delete(&format!("/tokens/{}", id(&made)), "").expect(204));
}

fn of_the_server(action: &str) -> AuditEntry {
    AuditEntry {
        id: "01aaaaaaaaaaaaaaaaaaaaaaaa".into(),
        at: Timestamp(1_700_000_000_000_000),
        user_id: None,
        user_name: "server".into(),
        via: "server".into(),
        address: String::new(),
        project: None,
        action: action.into(),
        subject: "bob".into(),
        before: None,
        after: None,
    }
}

fn change_own_account(server: &Server, ada: &Client, log: &Log) {
    let nobody = server.as_(Who::Anonymous);
    log.note(sign_in(&nobody, "bob", PASSWORD).expect(201));
    let fields = [("name", "eve".to_owned()), ("password", PASSWORD.to_owned()), ("next", "/me".to_owned())];
    log.note(form(&nobody, "page:/sign-in", &fields).expect(303));
    let bob = Browser::new(server, "bob");
    let change = bob.request(Method::PATCH, "/me").header("if-match", "*");
    log.note(bob.send(change.json(&json!({"display_name": "Bob"}))).expect(200));
    log.note(bob.send(bob.request(Method::DELETE, "/me/provider").header("if-match", "*")).expect(204));
    let sessions = bob.get("/me/sessions").expect(200).json();
    let other = sessions["items"].as_array().unwrap().iter().find(|one| one["current"] != true).unwrap();
    let path = format!("/me/sessions/{}", id(other));
    log.note(bob.send(bob.request(Method::DELETE, &path)).expect(204));
    let body = json!({"current": PASSWORD, "password": "another long password"});
    log.note(bob.send(bob.request(Method::PUT, "/me/password").json(&body)).expect(204));
    log.note(bob.send(bob.request(Method::DELETE, "/session")).expect(204));
    assert!(ada.get("/users/bob").expect(200).json().get("issuer").is_none_or(Value::is_null));
}

fn change_device_codes(server: &Server, log: &Log) {
    let nobody = server.as_(Who::Anonymous);
    let eve = Browser::new(server, "eve");
    let begin = || nobody.post("/device/code", &json!({"client": "cubeloom on laptop"})).expect(200).json();
    let allowed = begin();
    let decision = json!({"user_code": allowed["user_code"], "approve": true, "scope": "read"});
    log.note(eve.send(eve.request(Method::POST, "/device/decision").json(&decision)).expect(204));
    let fetch = json!({"device_code": allowed["device_code"]});
    let made = log.note(nobody.post("/device/token", &fetch).expect(201)).json();
    log.note(nobody.post("/device/revoke", &json!({"token": made["token"]})).expect(204));
    let page = format!("page:/device?user_code={}", begin()["user_code"].as_str().unwrap());
    let form = eve.request(Method::POST, &page).header("content-type", "application/x-www-form-urlencoded");
    log.note(eve.send(form.body("answer=deny&scope=read")).expect(303));
}

fn change_links(server: &Server, ada: &Client, log: &Log) {
    let nobody = server.as_(Who::Anonymous);
    let make = |wanted: Value| log.note(ada.post("/links", &wanted).expect(201)).json();
    let unused = make(json!({"kind": "invite", "note": "for nobody"}));
    log.note(ada.delete(&format!("/links/{}", id(&unused)), "").expect(204));
    let token = |link: &Value| secret_of(link["url"].as_str().unwrap());
    let invited = token(&make(json!({"kind": "invite", "project": "default", "role": "viewer"})));
    let body = json!({"token": invited, "name": "carl", "password": PASSWORD});
    log.note(nobody.post("/links/use", &body).expect(201));
    let lost = token(&make(json!({"kind": "reset", "user": "eve"})));
    let fields = [("token", lost), ("password", "another long password".to_owned())];
    log.note(form(&nobody, "page:/link", &fields).expect(303));
}

fn change_prices_and_budgets(ada: &Client, log: &Log) {
    let price =
        log.note(ada.post("/prices", &json!({"cluster": "local", "gpu_hour": "2"})).expect(201)).json();
    let price = format!("/prices/{}", id(&price));
    log.note(ada.put(&price, "*", &json!({"gpu_hour": "3"})).expect(200));
    log.note(ada.delete(&price, "*").expect(204));
    let budget = "/projects/vision/budgets/2999-01";
    log.note(ada.put(budget, "*", &json!({"amount": "100"})).expect(201));
    log.note(ada.delete(budget, "*").expect(204));
}

fn change_the_server(ada: &Client, log: &Log) {
    log.note(ada.post("/templates", &json!({"document": TEMPLATE})).expect(201));
    let far = json!({"name": "far", "access": "kubeconfig", "kubeconfig": AWAY});
    log.note(ada.post("/clusters", &far).expect(201));
    let change = json!({"access": "kubeconfig", "namespace": "jobs-{project}"});
    log.note(ada.put("/clusters/far", "*", &change).expect(200));
    log.note(ada.post("/clusters/far/give-up", &json!({})).expect(200));
    log.note(ada.put("/clusters/far", "*", &change).expect(200));
    log.note(ada.put("/clusters/far/aside/gpu-3", "", &json!({"note": "its fan"})).expect(201));
    log.note(ada.delete("/clusters/far/aside/gpu-3", "").expect(204));
    log.note(ada.delete("/clusters/far", "*").expect(204));
    let limit = json!({"quotas": {"local": {"limit": {"runs": 9}}}});
    for queue in ["/quotas/groups/seeing", "/projects/vision/quota"] {
        log.note(ada.put(queue, "*", &limit).expect(200));
        log.note(ada.delete(queue, "*").expect(204));
    }
    let edit = json!({"kind": "group", "name": "hearing", "revision": 0});
    log.note(ada.post("/quotas/changes", &json!({"edits": [edit]})).expect(200));
    log.note(ada.put("/limits/hdfs-prod", "*", &json!({"at_once": 9})).expect(200));
    log.note(ada.delete("/limits/hdfs-prod", "*").expect(204));
    log.note(ada.put("/priority-classes/urgent", "*", &json!({"priority": 9})).expect(200));
    log.note(ada.delete("/priority-classes/urgent", "*").expect(204));
    log.note(ada.put("/projects/vision/places", "*", &json!({"allowed": ["local"]})).expect(200));
}
