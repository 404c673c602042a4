//! A volume backed by a bucket of a real S3 server.

use reqwest::Method;
use serde_json::{Value, json};

use crate::api::support::client::send;
use crate::api::support::{Server, Who};
use crate::support::{S3, TestApp};

#[test]
fn a_bucket_is_looked_into_written_and_read() {
    let (store, mut app) = (S3::start(), TestApp::new());
    // The store of this test is on this machine.
    app.set("CUBELOOM_SERVER_PRIVATE_ENDPOINTS", "true");
    let server = Server::start_in(app);
    let owner = server.as_(Who::Owner);
    for (name, key) in [("key-id", "access_key"), ("key-secret", "secret_key")] {
        let body = json!({"name": name, "value": store.said[key]});
        owner.post("/projects/default/secrets", &body).expect(201);
    }
    let place = json!({
        "kind": "object_store", "scheme": "s3", "bucket": "data", "prefix": "team", "endpoint": store.said["endpoint"],
        "credentials": {"id": "key-id", "key": "key-secret"},
    });
    let list = "/projects/default/volumes";
    owner.post(list, &json!({"name": "far", "place": place})).expect(201);
    let content: Vec<u8> = (0..9_000_000_u32).map(|at| (at % 251) as u8).collect();
    let file = |path: &str| format!("{list}/far/file?path={path}");
    send(owner.request(Method::PUT, &file("big.bin")).body(content.clone())).expect(204);
    for path in ["in/a.csv", "in/b.csv", "in/deep/c.csv"] {
        send(owner.request(Method::PUT, &file(path)).body("x,y\n1,2\n")).expect(204);
    }
    assert!(owner.get(&file("big.bin")).expect(200).body == content);
    let part =
        send(owner.request(Method::GET, &file("big.bin")).header("range", "bytes=8999990-")).expect(206);
    assert!(part.body == content[8_999_990..]);
    let names = |path: &str, rest: &str| -> (Vec<String>, Value) {
        let page = owner.get(&format!("{list}/far/files?path={path}{rest}")).expect(200).json();
        let items = page["items"].as_array().unwrap();
        let told = |entry: &Value| {
            format!("{} {}", entry["kind"].as_str().unwrap(), entry["name"].as_str().unwrap())
        };
        (items.iter().map(told).collect(), page["next_cursor"].clone())
    };
    assert_eq!(names("", "").0, ["file big.bin", "folder in"]);
    let (first, cursor) = names("in", "&limit=2");
    let (second, end) = names("in", &format!("&limit=2&cursor={}", cursor.as_str().unwrap()));
    assert_eq!([first, second].concat(), ["file a.csv", "file b.csv", "folder deep"]);
    assert_eq!(end, Value::Null);
    let preview = owner.get(&format!("{list}/far/preview?path=in/a.csv")).expect(200).json();
    assert_eq!(preview["rows"], json!([["1", "2"]]));
    owner.delete(&file("in"), "").expect(204);
    assert_eq!(names("", "").0, ["file big.bin"]);
    owner.get(&file("nothing")).expect(404).problem("not-found");
    owner.get(&file("../other")).expect(422).problem("invalid");
    let used = owner.get("/projects/default/audit?action=secret.use").expect(200).json();
    let used = used["items"].as_array().unwrap();
    assert!(!used.is_empty(), "who looks into the bucket uses its key");
    assert!(
        used.iter().all(|entry| entry["subject"] == "key-secret" && entry["after"]["volume"] == "far"),
        "{used:?}"
    );
    owner.put("/projects/default/secrets/key-secret", "*", &json!({"value": "wrong-secret"})).expect(200);
    let refused = owner.get(&format!("{list}/far/files")).expect(503).problem("unavailable");
    assert!(refused["detail"].as_str().unwrap().contains("credentials were refused"), "{refused}");
}
