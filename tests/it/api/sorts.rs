//! Sorted lists: `sort`, its pages, and the sortable table headings.

use std::fs;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::runs::help::{document, start, task, until};
use super::support::client::send;
use super::support::{Client, Server, Who};

/// The names of a list, read page by page.
#[track_caller]
fn names(client: &Client, list: &str, sort: &str, limit: usize) -> Vec<String> {
    let (mut names, mut cursor) = (Vec::new(), String::new());
    loop {
        let mark = if list.contains('?') { '&' } else { '?' };
        let path = format!("{list}{mark}sort={sort}&limit={limit}{cursor}");
        let page = client.get(&path).expect(200).json();
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= limit);
        names.extend(items.iter().map(|item| item["name"].as_str().unwrap().to_owned()));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return names,
        }
    }
}

/// In each order, the pages make up the whole list, and `-` reverses it.
#[track_caller]
fn look(client: &Client, list: &str, orders: &[(&str, &[&str])]) {
    for (sort, expected) in orders {
        let turned: Vec<&str> = expected.iter().rev().copied().collect();
        for limit in [1, 2, 200] {
            assert_eq!(names(client, list, sort, limit), *expected, "{list} by {sort}");
            assert_eq!(names(client, list, &format!("-{sort}"), limit), turned, "{list} by -{sort}");
        }
    }
    let mark = if list.contains('?') { '&' } else { '?' };
    let refused = client.get(&format!("{list}{mark}sort=colour")).expect(422).problem("invalid");
    assert_eq!(refused["problems"][0]["path"], "/sort", "{refused}");
    // A cursor is only valid for the same order.
    let next = client.get(&format!("{list}{mark}limit=1")).expect(200).json()["next_cursor"].clone();
    let other = format!("{list}{mark}sort={}&cursor={}", orders[1].0, next.as_str().unwrap());
    assert_eq!(client.get(&other).expect(422).problem("invalid")["problems"][0]["path"], "/cursor");
}

fn pipeline(client: &Client, name: &str) {
    let text = document(name, &format!("tasks:\n{}", task("say", "true", "")));
    client.post("/projects/default/pipelines", &json!({"document": text})).expect(201);
}

#[test]
fn pipelines_are_sorted_by_name_change_and_last_run() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    for name in ["be", "ce", "ae", "de"] {
        pipeline(&editor, name);
    }
    let text = document("ce", &format!("tasks:\n{}", task("say", "exit 0", "")));
    editor.put("/projects/default/pipelines/ce", "*", &json!({"document": text})).expect(200);
    for name in ["de", "be"] {
        let run = editor.post("/projects/default/runs", &json!({"pipeline": name})).expect(201).json();
        until(&editor, run["run"]["id"].as_str().unwrap(), "succeeded");
    }
    let orders: [(&str, &[&str]); 3] = [
        ("name", &["ae", "be", "ce", "de"]),
        ("updated", &["be", "ae", "de", "ce"]),
        ("last_run", &["ae", "ce", "de", "be"]),
    ];
    look(&editor, "/projects/default/pipelines", &orders);

    let page = editor.get("page:/projects/default/pipelines?sort=-updated&q=e").expect(200).text();
    let page = page.replace("&#38;", "&").replace("&amp;", "&");
    let there = "/projects/default/pipelines?q=e&sort=";
    for heading in [
        format!("<th aria-sort=\"none\"><a class=\"sort\" href=\"{there}name\">"),
        format!("<th aria-sort=\"none\"><a class=\"sort\" href=\"{there}-last_run\">"),
        format!("<th aria-sort=\"descending\"><a class=\"sort\" href=\"{there}updated\">"),
    ] {
        assert!(page.contains(&heading), "{heading}: {page}");
    }
    let places: Vec<_> = ["de", "ae"]
        .map(|name| page.find(&format!("/projects/default/pipelines/{name}\"")))
        .into_iter()
        .collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn people_are_sorted_by_name_when_they_came_and_when_they_were_here() {
    let server = Server::start();
    for name in ["carl", "ben"] {
        server.user(name, &[]);
    }
    let ada = server.as_(Who::Administrator);
    let orders: [(&str, &[&str]); 3] = [
        ("name", &["ada", "ben", "carl"]),
        ("created", &["carl", "ben", "ada"]),
        ("seen", &["ben", "carl", "ada"]),
    ];
    crate::support::wait_for("ada to have been seen", || {
        ada.get("/users/ada").expect(200).json()["seen_at"].is_string()
    });
    look(&ada, "/users", &orders);
    let page = ada.get("page:/users?sort=seen").expect(200).text();
    assert!(page.contains("aria-sort=\"ascending\"><a class=\"sort\" href=\"/users?sort=-seen\">"), "{page}");
}

#[test]
fn files_are_sorted_by_name_size_and_change_with_folders_first() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let volume = "/projects/default/volumes/workspace";
    for (name, content) in [("mid", "12"), ("old", "123"), ("young", "1")] {
        let path = format!("{volume}/file?path=in/{name}");
        send(editor.request(Method::PUT, &path).body(content)).expect(204);
    }
    let at = |name: &str| server.data().join("workspace/default/in").join(name);
    for (name, seconds) in [("old", 10), ("mid", 20), ("young", 30)] {
        let moment = std::time::UNIX_EPOCH + Duration::from_secs(seconds);
        fs::File::options().write(true).open(at(name)).unwrap().set_modified(moment).unwrap();
    }
    let orders: [(&str, &[&str]); 3] = [
        ("name", &["mid", "old", "young"]),
        ("size", &["young", "mid", "old"]),
        ("modified", &["old", "mid", "young"]),
    ];
    look(&editor, &format!("{volume}/files?path=in"), &orders);
    editor.post(&format!("{volume}/folders"), &json!({"path": "in/z"})).expect(201);
    for sort in ["name", "-name", "size", "-modified"] {
        assert_eq!(names(&editor, &format!("{volume}/files?path=in"), sort, 2)[0], "z", "{sort}");
    }
    let page = editor.get("page:/projects/default/storage?path=in&sort=-size").expect(200).text();
    assert!(page.contains("<th aria-sort=\"descending\" class=\"end\">"), "{page}");

    let line = "echo 1 > $CUBELOOM_RUN_DIR/b; echo 123 > $CUBELOOM_RUN_DIR/a";
    let run = start(&editor, &document("leaves", &format!("tasks:\n{}", task("say", line, ""))));
    until(&editor, &run, "succeeded");
    assert_eq!(names(&editor, &format!("/runs/{run}/files"), "size", 1), ["b", "a"]);
    let page = editor.get(&format!("page:/runs/{run}?tab=files&sort=size")).expect(200).text();
    assert!(page.contains("aria-sort=\"ascending\""), "{page}");
}

#[test]
fn templates_are_sorted_by_name_group_and_framework() {
    let server = Server::start();
    let ada = server.as_(Who::Stranger);
    let all = ada.get("/templates?limit=200").expect(200).json()["items"].as_array().unwrap().clone();
    let by = |field: &str| {
        let text = |item: &Value, field: &str| item[field].as_str().unwrap().to_owned();
        let mut items: Vec<_> = all.iter().map(|item| (text(item, field), text(item, "name"))).collect();
        items.sort();
        items.into_iter().map(|(_, name)| name).collect::<Vec<_>>()
    };
    let orders = ["name", "group", "framework"].map(|field| (field, by(field)));
    let orders: Vec<(&str, Vec<&str>)> =
        orders.iter().map(|(field, names)| (*field, names.iter().map(String::as_str).collect())).collect();
    let orders: Vec<(&str, &[&str])> =
        orders.iter().map(|(field, names)| (*field, names.as_slice())).collect();
    look(&ada, "/templates", &orders);
}

#[test]
fn the_page_of_runs_can_begin_with_the_oldest() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let text = document("twice", &format!("tasks:\n{}", task("say", "true", "")));
    let runs = [start(&editor, &text), start(&editor, &text)];
    let order = |sort: &str| {
        let page = editor.get(&format!("page:/projects/default/runs{sort}")).expect(200).text();
        let heading = if sort.is_empty() { "descending" } else { "ascending" };
        assert!(page.contains(&format!("<th aria-sort=\"{heading}\">")), "{page}");
        assert_eq!(page.contains("data-newest"), sort.is_empty(), "new ones come first in one of them only");
        runs.each_ref().map(|run| page.find(&format!("/runs/{run}")).unwrap())
    };
    assert!(!order("").is_sorted() && order("?sort=created").is_sorted());
    for run in &runs {
        until(&editor, run, "succeeded");
    }
}
