//! The HTML pages of runs: content, permissions, and escaping of text from people and programs.

use reqwest::Method;
use serde_json::json;

use super::help::{document, start, task, until};
use crate::api::support::client::send;
use crate::api::support::{Client, Server, Who};

pub fn page(client: &Client, path: &str) -> String {
    let answer = client.get(&format!("page:{path}")).expect(200);
    assert!(answer.header("content-type").starts_with("text/html"), "{path}");
    answer.text()
}

/// A run with content for every tab: outputs, a metric, a failure, a for-each task.
fn finished(editor: &Client) -> String {
    let report = r#"echo '{"output": {"rows": "<b>7</b>"}}' >> "$CUBELOOM_OUTPUTS"; echo '{"metric": {"name": "loss", "value": 0.5, "step": 3}}' >> "$CUBELOOM_OUTPUTS"; echo "<i>hello</i>""#;
    let each = "    needs: [pull]\n    for_each: {list: [a, b]}\n";
    let text = format!(
        "parameters:\n  where: {{type: string, default: here}}\ntasks:\n{}{}{}",
        task("pull", report, ""),
        task("each", "true", each),
        task("fails", "echo no such table >&2; exit 3", "    needs: [each]\n"),
    );
    let run = start(editor, &document("shown", &text));
    until(editor, &run, "failed");
    run
}

#[test]
fn every_tab_shows_its_part() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let run = finished(&editor);
    let short = &run[run.len() - 8..];
    for (tab, words) in [
        ("graph", vec!["data-graph", "&#34;fails&#34;", "data-states"]),
        ("gantt", vec!["data-gantt", "each"]),
        ("table", vec!["pull", "command@", "exit code 3", "2/2"]),
        ("logs", vec!["data-task=\"fails\"", "stdout and stderr"]),
        ("parameters", vec!["where", "here", "pipeline default"]),
        ("outputs", vec!["rows", "&#60;b&#62;7&#60;/b&#62;"]),
        ("objects", vec!["argv", "byte for byte"]),
    ] {
        let text = page(&editor, &format!("/runs/{run}?tab={tab}"));
        for word in words {
            assert!(text.contains(word), "{tab} does not show {word}: {text}");
        }
        // Every tab shows the first failure, and program output is escaped.
        assert!(text.contains("fails failed first") && text.contains("no such table"), "{tab}");
        assert!(text.contains(short) && !text.contains("<b>7</b>"), "{tab}");
    }
    // The script plots the API's data: tests/e2e/plots.test.mjs checks that.
    assert!(page(&editor, &format!("/runs/{run}?tab=metrics")).contains("id=\"metrics\""));
    let metrics = editor.get(&format!("/runs/{run}/metrics")).expect(200).json();
    let series: Vec<_> =
        metrics["series"].as_array().unwrap().iter().map(|one| (&one["name"], &one["points"])).collect();
    assert_eq!(series, [(&json!("loss"), &json!([[3.0, 0.5]]))]);
    let text = page(&editor, &format!("/runs/{run}/tasks/each"));
    assert!(text.contains("instance-1") && text.contains("attempt-1"), "{text}");
    let chinese =
        editor.request(Method::GET, &format!("page:/runs/{run}?tab=table")).header("cookie", "lang=zh");
    assert!(send(chinese).expect(200).text().contains("等待"));
}

#[test]
fn people_see_what_they_may_do() {
    let server = Server::start();
    let (editor, viewer) = (server.as_(Who::Editor), server.as_(Who::Viewer));
    let run = finished(&editor);
    let (here, list) = (format!("/runs/{run}"), "/projects/default/runs");
    for words in ["data-do=\"resume\"", "data-do=\"delete\""] {
        assert!(page(&editor, &here).contains(words), "an editor is not offered {words}");
    }
    // A document that was not stored cannot be run again.
    assert!(!page(&editor, &here).contains("data-do=\"again\""));
    assert!(!page(&viewer, &here).contains("data-do="), "a viewer is offered what they may not do");
    // A viewer selects runs to compare them.
    for (client, may_cancel) in [(&editor, true), (&viewer, false)] {
        let text = page(client, list);
        assert!(text.contains("name=\"run\"") && text.contains("bulk-compare"), "{text}");
        assert_eq!(text.contains("bulk-cancel"), may_cancel, "{text}");
    }
    let stranger = server.as_(Who::Stranger);
    for path in [here.as_str(), list, &format!("/runs/{run}/compare"), &format!("/runs/{run}/tasks/pull")] {
        stranger.get(&format!("page:{path}")).expect(404);
    }
    editor.get(&format!("page:/runs/{run}/tasks/nothing")).expect(404);
    editor.get("page:/runs/01aaaaaaaaaaaaaaaaaaaaaaaa").expect(404);
    // The only run of a pipeline has nothing to be compared with.
    editor.get(&format!("page:/runs/{run}/compare")).expect(404);
}

#[test]
fn the_list_is_filtered_by_its_address() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let empty = page(&editor, "/projects/default/runs");
    assert!(empty.contains("No runs yet") && empty.contains("curl"), "{empty}");
    let run = finished(&editor);
    let row = format!("run-{run}");
    for (query, found) in [
        ("state=failed", true),
        ("state=live", false),
        ("pipeline=other", false),
        ("user=emil&since=hour", true),
        ("q=SHOWN", true),
    ] {
        let text = page(&editor, &format!("/projects/default/runs?{query}"));
        assert_eq!(text.contains(&row), found, "{query}: {text}");
        assert_eq!(text.contains("No matching runs"), !found, "{query}");
    }
    editor.get("page:/projects/default/runs?state=odd").expect(422);
}
