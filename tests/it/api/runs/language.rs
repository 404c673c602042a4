//! The server's own texts in responses and events, in the reader's language.

use reqwest::Method;
use serde_json::{Value, json};

use super::help::{Events, document, start, task, until_task};
use crate::api::support::client::send;
use crate::api::support::{Client, Server, Who};
use crate::support::wait_for;

const ENGLISH: &str = "the pipeline's parallelism is 1: 1 of its jobs is active";
const CHINESE: &str = "流水线的并行上限为 1：有 1 个作业正在进行";
/// The reason in events: the rule without the position, which changes with every end.
const RULE: &str = "the pipeline's parallelism is 1";
const RULE_IN_CHINESE: &str = "流水线的并行上限为 1";

/// Requests Chinese, as a program or a browser would.
fn in_chinese(client: &Client, path: &str) -> Value {
    let asked = client.request(Method::GET, path).header("accept-language", "zh-CN,zh;q=0.9,en;q=0.8");
    send(asked).expect(200).json()
}

/// Why a task of a snapshot is pending.
fn reason<'s>(snapshot: &'s Value, task: &str) -> &'s Value {
    let tasks = snapshot["tasks"].as_array().unwrap();
    &tasks.iter().find(|one| one["name"] == task).unwrap()["wait"]["message"]
}

#[test]
fn why_a_task_waits_and_failed_is_told_in_the_readers_language() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let file = server.path("held");
    std::fs::write(&file, "").unwrap();
    let line = format!("while [ -e {} ]; do sleep 0.05; done; exit 3", file.display());
    let tasks = [task("a", &line, ""), task("b", "echo the pipeline is 1", "")].concat();
    let run = start(&editor, &document("told", &format!("parallelism: 1\ntasks:\n{tasks}")));
    until_task(&editor, &run, "a", "running");
    // Its position is updated every other second.
    wait_for("it to say for whom it waits", || {
        until_task(&editor, &run, "b", "waiting")["wait"]["message"] == ENGLISH
    });

    let path = format!("/runs/{run}/tasks");
    assert_eq!(in_chinese(&editor, &format!("{path}/b"))["wait"]["message"], CHINESE);
    assert_eq!(in_chinese(&editor, &path)["items"][1]["wait"]["message"], CHINESE);
    assert_eq!(in_chinese(&editor, &format!("{path}/b/instances"))["items"][0]["wait"]["message"], CHINESE);

    // Listeners of one run may have different languages, whichever connects first.
    let path = format!("/runs/{run}/events");
    let chinese = Events::of(editor.request(Method::GET, &path).header("cookie", "lang=zh"));
    let english = Events::open(&editor, &path, None);
    assert_eq!(reason(&chinese.next().data, "b"), RULE_IN_CHINESE);
    assert_eq!(reason(&english.next().data, "b"), RULE);

    std::fs::remove_file(&file).unwrap();
    let failure = |events: &Events| {
        let of_a = |data: &Value| data["task"]["name"] == "a" && data["task"]["state"] == "failed";
        events.find(|event| event.name == "task" && of_a(&event.data)).data["task"]["failure"].clone()
    };
    let (told, said) = (failure(&chinese), failure(&english));
    assert!(said["message"].as_str().unwrap().contains("ended with exit code 3"), "{said}");
    assert!(told["message"].as_str().unwrap().contains("以退出码 3 结束"), "{told}");
    // Machine-readable fields are the same in all languages.
    assert_eq!((&told["kind"], &told["exit_code"]), (&said["kind"], &json!(3)));
    let attempts = in_chinese(&editor, &format!("/runs/{run}/attempts"));
    let of_a = attempts["items"].as_array().unwrap().iter().find(|one| one["task"] == "a").unwrap();
    assert_eq!(of_a["failure"]["message"], told["message"]);
}
