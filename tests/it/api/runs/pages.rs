//! The pages of runs, as a browser gets them: what stands in them, for whom, and that nothing in them is markup that
//! people or programs wrote.

use reqwest::Method;

use super::help::{document, start, task, until};
use crate::api::support::client::send;
use crate::api::support::{Client, Server, Who};

fn page(client: &Client, path: &str) -> String {
    let answer = client.get(&format!("page:{path}")).expect(200);
    assert!(answer.header("content-type").starts_with("text/html"), "{path}");
    answer.text()
}

/// A run of every tab that has something to show: outputs, a metric, a failure, one task for each of a list.
fn finished(editor: &Client) -> String {
    let report = r#"echo '{"output": {"rows": "<b>7</b>"}}' >> "$CUBELOOM_OUTPUTS"; echo "<i>hello</i>""#;
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
        ("parameters", vec!["where", "here", "default of the pipeline"]),
        ("outputs", vec!["rows", "&#60;b&#62;7&#60;/b&#62;"]),
        ("metrics", vec!["metrics-none"]),
        ("objects", vec!["argv", "byte for byte"]),
    ] {
        let text = page(&editor, &format!("/runs/{run}?tab={tab}"));
        for word in words {
            assert!(text.contains(word), "{tab} does not show {word}: {text}");
        }
        // What failed first stands on every tab, and what programs wrote is never markup.
        assert!(text.contains("fails failed first") && text.contains("no such table"), "{tab}");
        assert!(text.contains(short) && !text.contains("<b>7</b>"), "{tab}");
    }
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
    // A document that is not stored is not there any more to be run again.
    assert!(!page(&editor, &here).contains("data-do=\"again\""));
    assert!(!page(&viewer, &here).contains("data-do="), "a viewer is offered what they may not do");
    assert!(page(&editor, list).contains("name=\"run\"") && !page(&viewer, list).contains("name=\"run\""));
    let stranger = server.as_(Who::Stranger);
    for path in [here.as_str(), list, &format!("/runs/{run}/compare"), &format!("/runs/{run}/tasks/pull")] {
        stranger.get(&format!("page:{path}")).expect(404);
    }
    editor.get(&format!("page:/runs/{run}/tasks/nothing")).expect(404);
    editor.get("page:/runs/01aaaaaaaaaaaaaaaaaaaaaaaa").expect(404);
    // The only run of its pipeline has nothing to be compared with.
    editor.get(&format!("page:/runs/{run}/compare")).expect(404);
}

#[test]
fn the_list_is_filtered_by_its_address() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let empty = page(&editor, "/projects/default/runs");
    assert!(empty.contains("Nothing was started here yet") && empty.contains("curl"), "{empty}");
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
        assert_eq!(text.contains("No run is like that"), !found, "{query}");
    }
    editor.get("page:/projects/default/runs?state=odd").expect(422);
}

#[test]
fn two_runs_are_compared() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let of = |value: &str| {
        let line = format!(r#"echo '{{"output": {{"auc": {value}}}}}' >> "$CUBELOOM_OUTPUTS""#);
        let run = start(&editor, &document("judged", &format!("tasks:\n{}", task("judge", &line, ""))));
        until(&editor, &run, "succeeded");
        run
    };
    let (first, second) = (of("0.91"), of("0.93"));
    // The run before is taken when none is named.
    for path in [format!("/runs/{second}/compare"), format!("/runs/{second}/compare?with={first}")] {
        let text = page(&editor, &path);
        for word in ["0.91", "0.93", "judge", &first, &second] {
            assert!(text.contains(word), "{path} does not show {word}: {text}");
        }
    }
    assert!(page(&editor, &format!("/runs/{second}")).contains(&format!("compare?with={first}")));
}

#[test]
fn what_two_runs_asked_for_stands_beside_each_other_and_what_differs_is_marked() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let run = |cpu: &str, rest: &str| {
        let asks = |name: &str, cpu: &str| {
            format!(
                "  - {{name: {name}, template: command, arguments: {{command: ['true']}}, \
                 resources: {{cpu: {cpu}, memory: 64Mi}}}}\n"
            )
        };
        let tasks = format!("tasks:\n{}{}{rest}", asks("same", "100m"), asks("more", cpu));
        let run = start(&editor, &document("asking", &tasks));
        until(&editor, &run, "succeeded");
        run
    };
    let only = "  - {name: only, template: command, arguments: {command: ['true']}, \
                resources: {cpu: 300m, memory: 32Mi}}\n";
    let (first, second) = (run("100m", ""), run("1500m", only));
    let text = page(&editor, &format!("/runs/{second}/compare?with={first}"));
    let (_, table) = text.split_once("compare-asked\"").unwrap_or_else(|| panic!("{text}"));
    let rows: Vec<&str> = table.split_once("</table>").unwrap().0.split("<tr").skip(2).collect();
    assert_eq!(rows.len(), 3, "{table}");
    assert!(
        rows[0].contains(">same<") && !rows[0].contains("differs") && rows[0].contains("64 MiB"),
        "{}",
        rows[0]
    );
    assert!(rows[0].contains(">0.1<") && !rows[0].contains("<mark>"), "{}", rows[0]);
    assert!(rows[1].contains(">more<") && rows[1].contains("class=\"differs\""), "{}", rows[1]);
    assert!(rows[1].contains("<mark>1.5</mark>") && rows[1].contains("<mark>0.1</mark>"), "{}", rows[1]);
    assert_eq!(rows[1].matches("<mark>").count(), 2, "the memory is the same: {}", rows[1]);
    assert!(
        rows[2].contains(">only<") && rows[2].contains("<mark>0.3</mark>") && rows[2].contains('–'),
        "{}",
        rows[2]
    );
}
