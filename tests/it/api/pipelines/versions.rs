//! Pipelines and their versions: concurrent edits, deletion and restoring, order, comparison.

use serde_json::json;

use super::super::support::Who;
use super::{PIPELINES, create, document, editor};

#[test]
fn a_pipeline_is_kept_byte_for_byte_and_found_again() {
    let (server, editor) = editor();
    let made = create(&editor, "greet");
    assert_eq!(made.header("location"), "/api/v1/projects/default/pipelines/greet");
    assert_eq!(made.etag(), "\"1\"");
    let found = server.as_(Who::Viewer).get(&format!("{PIPELINES}/greet")).expect(200);
    assert_eq!(found.json()["document"], document("greet", "hi"));
    assert_eq!(found.json()["problems"], json!([]));
    assert_eq!(found.json()["labels"], json!({"team": "Ops"}));
    for query in ["q=SAYS", "q=ops", "label=team%3DOps"] {
        let list = editor.get(&format!("{PIPELINES}?{query}")).expect(200).json();
        assert_eq!(list["items"][0]["name"], "greet", "{query}: {list}");
    }
    for query in ["q=nothing", "label=team%3Dops"] {
        assert_eq!(
            editor.get(&format!("{PIPELINES}?{query}")).expect(200).json()["items"],
            json!([]),
            "{query}"
        );
    }
    editor.get(&format!("{PIPELINES}?label=team")).expect(422).problem("invalid");
    editor.post(PIPELINES, &json!({"document": document("greet", "hi")})).expect(409).problem("conflict");
}

#[test]
fn the_second_of_two_people_is_told_and_shown_the_difference() {
    let (server, editor) = editor();
    create(&editor, "greet");
    let owner = server.as_(Who::Owner);
    let path = format!("{PIPELINES}/greet");
    let put = |client: &super::Client, etag: &str, text: &str, message: &str| {
        client.put(&path, etag, &json!({"document": text, "message": message}))
    };
    let theirs = document("greet", "hi").replace("team: Ops", "team: Data");
    let first = put(&owner, "\"1\"", &theirs, "another team").expect(200);
    assert_eq!((first.etag().as_str(), first.json()["version"].as_u64()), ("\"2\"", Some(2)));

    let mine = document("greet", "hi").replace("default: 1", "default: 5");
    let stale = put(&editor, "\"1\"", &mine, "five").expect(412);
    assert_eq!(stale.etag(), "\"2\"");
    let told = stale.problem("stale");
    assert_eq!(
        (&told["present"]["user"], &told["present"]["message"]),
        (&json!("olga"), &json!("another team"))
    );
    let theirs_shown = told["difference"]["theirs"]["unified"].as_str().unwrap();
    assert!(
        theirs_shown.contains("-labels: {team: Ops}") && theirs_shown.contains("+labels: {team: Data}"),
        "{told}"
    );
    let hunks = told["difference"]["yours"]["hunks"].as_array().unwrap();
    let side = |without: &str| -> String {
        let kept = hunks.iter().filter(|hunk| hunk["kind"] != without);
        kept.map(|hunk| hunk["text"].as_str().unwrap()).collect()
    };
    assert_eq!((side("added"), side("removed")), (theirs, mine));
    let merged = &told["difference"]["merged"];
    assert_eq!(merged["conflicts"], 0, "they changed different lines: {merged}");
    let both = merged["document"].as_str().unwrap();
    assert!(both.contains("team: Data") && both.contains("default: 5"), "{both}");

    let again = put(&editor, "\"2\"", both, "both").expect(200);
    assert_eq!(again.etag(), "\"3\"");
    let same = put(&editor, "\"3\"", both, "nothing new").expect(200);
    assert_eq!(same.etag(), "\"3\"", "an equal text is no version");
    put(&editor, "", both, "").expect(428).problem("precondition-required");
    put(&editor, "\"3\"", &document("other", "hi"), "").expect(422).problem("invalid");
    put(&editor, "nonsense", both, "").expect(400).problem("malformed");
}

#[test]
fn of_many_who_save_at_once_one_wins() {
    let (_server, editor) = editor();
    create(&editor, "greet");
    let path = format!("{PIPELINES}/greet");
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let save = |n: usize| {
            let (editor, path) = (editor.clone(), path.clone());
            move || {
                editor.put(&path, "\"1\"", &json!({"document": document("greet", &format!("hi{n}"))})).status
            }
        };
        let threads: Vec<_> = (0..6).map(|n| scope.spawn(save(n))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [200, 412].contains(status)), "{statuses:?}");
    assert_eq!(editor.get(&path).expect(200).etag(), "\"2\"");
}

#[test]
fn a_deleted_pipeline_comes_back_with_the_next_number() {
    let (_server, editor) = editor();
    create(&editor, "greet");
    let path = format!("{PIPELINES}/greet");
    editor.delete(&path, "\"7\"").expect(412).problem("stale");
    editor.delete(&path, "\"1\"").expect(204);
    editor.get(&path).expect(404).problem("not-found");
    editor.get(&format!("{path}/versions")).expect(404);
    editor.get(&format!("{path}/versions/1")).expect(200);
    assert_eq!(editor.get(PIPELINES).expect(200).json()["items"], json!([]));
    assert_eq!(create(&editor, "greet").etag(), "\"2\"");
}

#[test]
fn versions_are_listed_newest_first_and_compared() {
    let (_server, editor) = editor();
    create(&editor, "greet");
    let path = format!("{PIPELINES}/greet");
    for n in 1..6 {
        let text = document("greet", &format!("hi{n}"));
        editor
            .put(&path, &format!("\"{n}\""), &json!({"document": text, "message": format!("m{n}")}))
            .expect(200);
    }
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = editor.get(&format!("{path}/versions?limit=4&cursor={cursor}")).expect(200).json();
        seen.extend(page["items"].as_array().unwrap().iter().map(|item| item["version"].as_u64().unwrap()));
        assert!(page["items"][0].get("document").is_none(), "lists are without documents");
        match page["next_cursor"].as_str() {
            Some(next) => cursor = next.into(),
            None => break,
        }
    }
    assert_eq!(seen, [6, 5, 4, 3, 2, 1]);
    editor.get(&format!("{path}/versions?cursor=!!")).expect(422).problem("invalid");

    let changed =
        document("greet", "hi5").replace("name: after", "name: last").replace("default: 1", "default: 2");
    editor.put(&path, "\"6\"", &json!({"document": changed})).expect(200);
    let found = editor.get(&format!("{path}/compare?from=6&to=7")).expect(200).json();
    assert_eq!(found["structure"]["added"], json!(["last"]));
    assert_eq!(found["structure"]["removed"], json!(["after"]));
    assert_eq!(found["structure"]["parameters"], json!([{"path": "/n/default", "before": 1, "after": 2}]));
    let found = editor.get(&format!("{path}/compare?from=1&to=6")).expect(200).json();
    assert_eq!(found["structure"]["changed"][0]["task"], "hello");
    assert_eq!(found["structure"]["changed"][0]["fields"][0]["path"], "/arguments/command");
    let same = editor.get(&format!("{path}/compare?from=2&to=2")).expect(200).json();
    assert_eq!(same["text"]["same"], true);
    editor.get(&format!("{path}/compare?from=1&to=99")).expect(404).problem("not-found");
}
