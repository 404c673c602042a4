//! Volumes: a project's volumes, and their mounts in tasks.

use std::fs;
use std::os::unix::fs::symlink;

use reqwest::Method;
use serde_json::json;

use super::clusters::AWAY;
use crate::api::runs::help::{document, of_task, start, task, until};
use crate::api::support::client::send;
use crate::api::support::{Server, Who};

const LIST: &str = "/projects/default/volumes";

#[test]
fn a_folder_of_the_project_is_made_for_the_tasks_that_name_it() {
    let server = Server::start();
    let owner = server.as_(Who::Owner);
    let body =
        json!({"name": "sets", "description": "data", "place": {"kind": "workspace", "path": "data/sets"}});
    let made = owner.post(LIST, &body).expect(201);
    assert_eq!(made.json()["place"]["path"], "data/sets");
    let line = "echo written > $CUBELOOM_VOLUME_SETS/file";
    let run = start(
        &owner,
        &document("writes", &format!("tasks:\n{}", task("write", line, "    volumes: [sets]\n"))),
    );
    until(&owner, &run, "succeeded");
    assert_eq!(owner.get(&format!("{LIST}/sets/file?path=file")).expect(200).text(), "written\n");
    assert_eq!(
        owner.get(&format!("{LIST}/workspace/file?path=data/sets/file")).expect(200).text(),
        "written\n"
    );
    let names: Vec<String> = owner.get(LIST).expect(200).json()["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|volume| volume["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["sets", "workspace"]);
}

#[test]
fn a_volume_that_is_not_there_or_no_folder_is_a_mistake_of_the_document() {
    let server = Server::start();
    let owner = server.as_(Who::Owner);
    let bucket = json!({"kind": "object_store", "scheme": "s3", "bucket": "b"});
    owner.post(LIST, &json!({"name": "far", "place": bucket})).expect(201);
    let claim = json!({"kind": "claim", "cluster": "k8s", "claim": "data"});
    server.as_(Who::Administrator).post(LIST, &json!({"name": "claimed", "place": claim})).expect(201);
    for (name, told) in [
        ("none", "there is no volume `none` here"),
        ("far", "is a bucket"),
        ("claimed", "on Kubernetes clusters only"),
    ] {
        let text =
            document("names", &format!("tasks:\n{}", task("t", "true", &format!("    volumes: [{name}]\n"))));
        let refused =
            owner.post("/projects/default/runs", &json!({"document": text})).expect(422).problem("invalid");
        assert_eq!(refused["problems"][0]["path"], "/tasks/0/volumes/0", "{refused}");
        assert!(refused.to_string().contains(told), "{refused}");
    }
    let refused = owner.get(&format!("{LIST}/claimed/files")).expect(409).problem("conflict");
    assert!(refused["detail"].as_str().unwrap().contains("an administrator can add it"), "{refused}");
}

#[test]
fn the_claim_of_a_clusters_workspace_is_the_workspace_and_another_is_out_of_sight() {
    let server = Server::start();
    let (admin, editor, owner) =
        (server.as_(Who::Administrator), server.as_(Who::Editor), server.as_(Who::Owner));
    let far = json!({"name": "far", "access": "kubeconfig", "kubeconfig": AWAY, "workspace_claim": "shared"});
    admin.post("/clusters", &far).expect(201);
    for (name, claim) in [("mine", "shared"), ("other", "data")] {
        let place = json!({"kind": "claim", "cluster": "far", "claim": claim});
        let body = json!({"name": name, "place": place});
        let made = match name {
            "mine" => owner.post(LIST, &body),
            // In a shared namespace there are others' claims, perhaps the server's own data.
            _ => {
                owner.post(LIST, &body).expect(403).problem("forbidden");
                admin.post(LIST, &body)
            }
        };
        let made = made.expect(201).json();
        assert_eq!(made["browsable"], name == "mine", "{made}");
    }
    // The workspace does not exist yet; the first upload creates it.
    assert_eq!(editor.get(&format!("{LIST}/mine/files")).expect(200).json()["items"], json!([]));
    let put = |name: &str| {
        send(editor.request(Method::PUT, &format!("{LIST}/{name}/file?path=in/a.csv")).body("a,b\n"))
    };
    put("mine").expect(204);
    // Another project's folder is in the same claim.
    let theirs = server.data().join("workspace/theirs");
    fs::create_dir_all(&theirs).unwrap();
    fs::write(theirs.join("secret.txt"), "theirs").unwrap();
    let lies = fs::read_to_string(server.data().join("workspace/default/in/a.csv")).unwrap();
    assert_eq!(lies, "a,b\n", "where the project's jobs on the cluster see it");
    assert_eq!(editor.get(&format!("{LIST}/mine/file?path=in/a.csv")).expect(200).text(), "a,b\n");
    let preview = editor.get(&format!("{LIST}/mine/preview?path=in/a.csv")).expect(200).json();
    assert_eq!(preview["columns"], json!(["a", "b"]), "{preview}");
    for path in ["../theirs/secret.txt", "/theirs/secret.txt"] {
        let out = editor.get(&format!("{LIST}/mine/file?path={path}"));
        assert!(matches!(out.status, 404 | 422), "{path}: {}", out.text());
    }
    send(editor.request(Method::DELETE, &format!("{LIST}/mine/file?path=in"))).expect(204);
    let page = editor.get("page:/projects/default/storage?volume=mine").expect(200).text();
    assert!(page.contains("data-writable"), "{page}");

    for refused in [editor.get(&format!("{LIST}/other/files")), put("other")] {
        let refused = refused.expect(409).problem("conflict");
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains("an administrator can mount it") && detail.contains("`shared`"), "{detail}");
    }
    let page = editor.get("page:/projects/default/storage?volume=other").expect(200).text();
    assert!(page.contains("with a task that has the volume") && !page.contains("data-writable"), "{page}");
    let all = owner.get(LIST).expect(200).json();
    let told: Vec<_> = all["items"].as_array().unwrap().iter().map(|one| one["browsable"].clone()).collect();
    assert_eq!(told, [true, false, true], "mine, other, workspace: {all}");
    // Without the cluster, the claim's owner is unknown.
    admin.delete("/clusters/far", "*").expect(204);
    editor.get(&format!("{LIST}/mine/files")).expect(409);
}

#[test]
fn a_claim_of_a_namespace_that_is_the_projects_own_is_the_projects_to_name() {
    let server = Server::start();
    let (admin, owner) = (server.as_(Who::Administrator), server.as_(Who::Owner));
    let far =
        json!({"name": "far", "access": "kubeconfig", "kubeconfig": AWAY, "namespace": "jobs-{project}"});
    admin.post("/clusters", &far).expect(201);
    let place = |cluster: &str| json!({"kind": "claim", "cluster": cluster, "claim": "data"});
    owner.post(LIST, &json!({"name": "own", "place": place("far")})).expect(201);
    // The future content of a missing cluster's namespace is unknown.
    owner.post(LIST, &json!({"name": "later", "place": place("none")})).expect(403).problem("forbidden");
    let workspace = json!({"kind": "workspace", "path": "sets"});
    let made = owner.post(LIST, &json!({"name": "sets", "place": workspace})).expect(201);
    let change = json!({"place": place("none")});
    owner.patch(&format!("{LIST}/sets"), &made.etag(), &change).expect(403).problem("forbidden");
}

#[test]
fn a_claim_that_the_server_sees_is_browsed_like_a_folder() {
    let server = Server::start();
    let (admin, owner, viewer) =
        (server.as_(Who::Administrator), server.as_(Who::Owner), server.as_(Who::Viewer));
    let mounted = server.path("mounted");
    fs::create_dir(&mounted).unwrap();
    let body = |folder: &str| {
        let place = json!({"kind": "claim", "cluster": "far", "claim": "datasets", "folder": folder});
        json!({"name": "sets", "place": place})
    };
    let here = body(mounted.to_str().unwrap());
    // It would expose everything that the server may read.
    owner.post(LIST, &here).expect(403).problem("forbidden");
    let own = body(server.data().join("keys").to_str().unwrap());
    let refused = admin.post(LIST, &own).expect(422).problem("invalid");
    assert_eq!(refused["problems"][0]["path"], "/place/folder", "{refused}");
    let made = admin.post(LIST, &here).expect(201).json();
    assert_eq!((&made["browsable"], &made["place"]), (&json!(true), &here["place"]));
    let file = format!("{LIST}/sets/file?path=a/b.csv");
    send(owner.request(Method::PUT, &file).body("a,b\n1,2\n")).expect(204);
    assert_eq!(fs::read_to_string(mounted.join("a/b.csv")).unwrap(), "a,b\n1,2\n");
    assert_eq!(viewer.get(&file).expect(200).text(), "a,b\n1,2\n");
    let preview = viewer.get(&format!("{LIST}/sets/preview?path=a/b.csv")).expect(200).json();
    assert_eq!(preview["columns"], json!(["a", "b"]), "{preview}");
    send(viewer.request(Method::PUT, &file).body("x")).expect(403);
    server.as_(Who::Stranger).get(&file).expect(404);
    let page = owner.get("page:/projects/default/storage?volume=sets").expect(200).text();
    assert!(page.contains("far: datasets") && page.contains("data-writable"), "{page}");
    // Jobs still use the claim.
    let text = document("names", &format!("tasks:\n{}", task("t", "true", "    volumes: [sets]\n")));
    let refused =
        owner.post("/projects/default/runs", &json!({"document": text})).expect(422).problem("invalid");
    assert!(refused.to_string().contains("on Kubernetes clusters only"), "{refused}");
    fs::remove_dir_all(&mounted).unwrap();
    viewer.get(&format!("{LIST}/sets/files")).expect(503).problem("unavailable");
}

#[test]
fn a_folder_of_the_machine_is_an_administrators_to_name_and_never_the_servers_own() {
    let server = Server::start();
    let (owner, admin) = (server.as_(Who::Owner), server.as_(Who::Administrator));
    let folder = server.path("shared");
    fs::create_dir(&folder).unwrap();
    let body = |path: &str| json!({"name": "shared", "place": {"kind": "folder", "path": path}});
    owner.post(LIST, &body(folder.to_str().unwrap())).expect(403).problem("forbidden");
    for own in [server.data(), server.data().join("keys"), "/".into(), server.path("shared/..")] {
        let refused = admin.post(LIST, &body(own.to_str().unwrap())).expect(422).problem("invalid");
        assert_eq!(refused["problems"][0]["path"], "/place/path", "{refused}");
    }
    admin.post(LIST, &body(folder.to_str().unwrap())).expect(201);
    let file = format!("{LIST}/shared/file?path=a/b.txt");
    send(owner.request(Method::PUT, &file).body("x")).expect(204);
    assert_eq!(fs::read_to_string(folder.join("a/b.txt")).unwrap(), "x");
    let change = json!({"place": {"kind": "folder", "path": "/srv"}});
    owner.patch(&format!("{LIST}/shared"), "\"1\"", &change).expect(403);
}

#[test]
fn volumes_are_changed_and_taken_away_but_the_built_in_one() {
    let server = Server::start();
    let owner = server.as_(Who::Owner);
    let place = |path: &str| json!({"kind": "workspace", "path": path});
    owner.post(LIST, &json!({"name": "sets", "place": place("a")})).expect(201);
    owner.post(LIST, &json!({"name": "sets", "place": place("a")})).expect(409);
    owner.post(LIST, &json!({"name": "workspace", "place": place("a")})).expect(409);
    owner.post(LIST, &json!({"name": "out", "place": place("../other")})).expect(422);
    let path = format!("{LIST}/sets");
    let changed =
        owner.patch(&path, "\"1\"", &json!({"description": "new", "place": place("b")})).expect(200);
    assert_eq!((changed.etag(), &changed.json()["place"]["path"]), ("\"2\"".into(), &json!("b")));
    owner.patch(&path, "\"1\"", &json!({"description": "late"})).expect(412).problem("stale");
    owner.delete(&format!("{LIST}/workspace"), "*").expect(409);
    owner.delete(&path, "\"2\"").expect(204);
    owner.get(&path).expect(404);
}

#[test]
fn a_link_that_a_task_left_does_not_turn_a_volume_elsewhere() {
    let server = Server::start();
    let owner = server.as_(Who::Owner);
    let elsewhere = server.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    send(owner.request(Method::PUT, &format!("{LIST}/workspace/file?path=x")).body("x")).expect(204);
    symlink(&elsewhere, server.data().join("workspace/default/turned")).unwrap();
    let body = json!({"name": "turned", "place": {"kind": "workspace", "path": "turned/in"}});
    owner.post(LIST, &body).expect(201);
    owner.get(&format!("{LIST}/turned/files")).expect(422).problem("invalid");
    send(owner.request(Method::PUT, &format!("{LIST}/turned/file?path=y")).body("y")).expect(422);
    let run = start(
        &owner,
        &document("turns", &format!("tasks:\n{}", task("t", "true", "    volumes: [turned]\n"))),
    );
    until(&owner, &run, "failed");
    let told = of_task(&owner, &run, "t").to_string();
    assert!(told.contains("cannot be created"), "{told}");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}
