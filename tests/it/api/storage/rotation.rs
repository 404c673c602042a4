//! Rotating the encryption keys of secrets while a server runs.

use std::collections::BTreeSet;

use serde_json::json;

use crate::api::runs::help::{document, start, task, until};
use crate::api::support::{Server, Who};

#[test]
fn keys_are_changed_while_a_server_runs() {
    let server = Server::start();
    let owner = server.as_(Who::Owner);
    let add = |name: &str| {
        owner.post("/projects/default/secrets", &json!({"name": name, "value": "hidden"})).expect(201);
    };
    let keys = || -> BTreeSet<String> {
        let rows = server.sql("SELECT substr(sealed, 4, 8) FROM secrets");
        rows.iter().map(|row| row[0].as_str().unwrap().to_owned()).collect()
    };
    let works = || {
        let secrets = "    secrets: [one, two]\n";
        let line = "test $ONE = hidden && test $TWO = hidden";
        let run = start(&owner, &document("p", &format!("tasks:\n{}", task("a", line, secrets))));
        until(&owner, &run, "succeeded");
    };
    add("one");
    let before = keys();
    let told = server.json(0, &["keys", "rotate"]);
    assert_eq!((&told["anew"], &told["left"]), (&json!(1), &json!([])));
    assert_eq!(keys(), BTreeSet::from([told["key"].as_str().unwrap().to_owned()]));
    assert!(keys().is_disjoint(&before));
    // From now on, the server encrypts with the new key.
    add("two");
    assert_eq!(keys().len(), 1);
    works();
    assert_eq!(server.json(0, &["keys", "forget"])["forgotten"], 1);
    works();
    assert_eq!(server.json(0, &["keys", "rotate"])["anew"], 2);
    works();
}
