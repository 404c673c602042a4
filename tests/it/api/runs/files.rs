//! Files of runs: artifacts, previews, metrics, and names that try path traversal.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::help::{document, start, task, until, until_task};
use crate::api::support::{Server, Who};

const REPORT: &str = r#"cd $CUBELOOM_RUN_DIR && mkdir -p out && echo '<script>alert(1)</script>' > out/page.html \
 && printf 'a,b\n1,2\n3,4\n' > out/table.csv && echo '{"k": [1]}' > out/data.json \
 && head -c 5000 /dev/zero | tr '\0' y > out/long.txt \
 && printf '{"artifact": {"name": "page", "path": "out/page.html"}}\n' >> $CUBELOOM_OUTPUTS \
 && printf '{"artifact": {"name": "table", "path": "%s/out/table.csv"}}\n' $CUBELOOM_RUN_DIR >> $CUBELOOM_OUTPUTS \
 && printf '{"artifact": {"name": "lost", "path": "out/none.png"}}\n' >> $CUBELOOM_OUTPUTS \
 && printf '{"artifact": {"name": "bad", "path": "../../../../../etc/passwd"}}\n' >> $CUBELOOM_OUTPUTS"#;

#[test]
fn artefacts_are_listed_served_and_previewed() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let run = start(&editor, &document("left", &format!("tasks:\n{}", task("a", REPORT, ""))));
    until(&editor, &run, "succeeded");
    let viewer = server.as_(Who::Viewer);
    let list = viewer.get(&format!("/runs/{run}/artifacts")).expect(200).json();
    let shown: Vec<(&Value, &Value, &Value)> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (&one["path"], &one["size"], &one["preview"]))
        .collect();
    assert_eq!(shown[0], (&json!("out/page.html"), &json!(26), &json!("html")));
    assert_eq!(shown[1], (&json!("out/table.csv"), &json!(12), &json!("csv")), "a whole path is understood");
    assert_eq!((shown[2].1, shown[2].2), (&Value::Null, &json!("none")), "it was never written");
    assert_eq!((shown[3].1, shown[3].2), (&Value::Null, &json!("none")), "it leads elsewhere");
    let first = viewer.get(&format!("/runs/{run}/artifacts?limit=1")).expect(200).json();
    let next = first["next_cursor"].as_str().unwrap();
    let second = viewer.get(&format!("/runs/{run}/artifacts?limit=1&cursor={next}")).expect(200).json();
    assert_eq!(second["items"][0]["name"], "table");
    let page = viewer.get(&format!("/runs/{run}/file?path=out/page.html&inline=true")).expect(200);
    assert!(page.header("content-type").starts_with("text/html"), "{:?}", page.headers);
    let policy = page.header("content-security-policy");
    assert!(policy.starts_with("sandbox") && !policy.contains("allow-same-origin"), "{policy}");
    assert_eq!(page.header("x-content-type-options"), "nosniff");
    assert!(page.header("content-disposition").starts_with("inline"), "{:?}", page.headers);
    let kept = viewer.get(&format!("/runs/{run}/file?path=out/page.html")).expect(200);
    assert!(kept.header("content-disposition").starts_with("attachment"), "{:?}", kept.headers);
    let request = viewer.request(reqwest::Method::GET, &format!("/runs/{run}/file?path=out/long.txt"));
    let part = request.header("range", "bytes=4990-").send().unwrap();
    assert_eq!(part.status(), 206);
    assert_eq!(part.headers()["content-range"], "bytes 4990-4999/5000");
    assert_eq!(part.text().unwrap(), "y".repeat(10));
    let preview = |path: &str| viewer.get(&format!("/runs/{run}/preview?path={path}")).expect(200).json();
    assert_eq!(preview("out/table.csv")["rows"], json!([["1", "2"], ["3", "4"]]));
    assert_eq!(preview("out/data.json")["shown_as"], "json");
    assert_eq!(preview("out/page.html")["shown_as"], "page");
    let files = viewer.get(&format!("/runs/{run}/files?path=out")).expect(200).json();
    let names: Vec<&Value> = files["items"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["data.json", "long.txt", "page.html", "table.csv"]);
    server.as_(Who::Stranger).get(&format!("/runs/{run}/file?path=out/data.json")).expect(404);
}

#[test]
fn no_name_leads_out_of_a_runs_folder() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let run = start(
        &editor,
        &document(
            "tricks",
            &format!(
                "tasks:\n{}",
                task("a", "echo x > $CUBELOOM_RUN_DIR/x; mkfifo $CUBELOOM_RUN_DIR/pipe", "")
            ),
        ),
    );
    until(&editor, &run, "succeeded");
    let folder = server.data().join("workspace/default/runs").join(&run);
    symlink("/etc/passwd", folder.join("link")).unwrap();
    symlink("/etc", folder.join("etc")).unwrap();
    symlink("../../../../keys", folder.join("keys")).unwrap();
    let tricks = [
        "../x",
        "../../../../keys/signing",
        "/etc/passwd",
        "//etc/passwd",
        "x/../../x",
        "link",
        "etc/passwd",
        "keys/signing",
        "pipe",
        "%00",
        "x%00y",
        "..%2F..%2Fx",
        "%2e%2e/x",
    ];
    for path in tricks {
        for what in ["file", "preview"] {
            let answer = editor.get(&format!("/runs/{run}/{what}?path={path}"));
            assert!(
                [403, 404, 409, 422].contains(&answer.status),
                "{what} {path}: {} {}",
                answer.status,
                answer.text()
            );
            assert!(!answer.text().contains("root:"), "{what} {path}: {}", answer.text());
        }
        let list = editor.get(&format!("/runs/{run}/files?path={path}"));
        assert!([403, 404, 409, 422].contains(&list.status), "{path}: {} {}", list.status, list.text());
    }
    assert_eq!(editor.get(&format!("/runs/{run}/file?path=x")).expect(200).text(), "x\n");
}

#[test]
fn metrics_are_series_also_of_what_still_runs() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let held = server.path("held");
    std::fs::write(&held, "").unwrap();
    let line = format!(
        r#"i=0; while [ $i -lt 3000 ]; do echo "{{\"metric\": {{\"name\": \"loss\", \"value\": $((3000 - i)), \"step\": $i}}}}"; i=$((i+1)); done >> $CUBELOOM_OUTPUTS; while [ -e {} ]; do sleep 0.1; done"#,
        held.display()
    );
    let command = json!(["sh", "-c", line]);
    let text = document(
        "measured",
        &format!(
            "tasks:\n  - name: train\n    template: command\n    resources: {{cpu: 100m, memory: 64Mi}}\n    arguments: {{command: {command}}}\n"
        ),
    );
    let run = start(&editor, &text);
    until_task(&editor, &run, "train", "running");
    let path = format!("/runs/{run}/metrics?task=train&name=loss");
    crate::support::wait_for("the metrics of what runs", || {
        editor.get(&path).expect(200).json()["series"][0]["count"] == 3000
    });
    std::fs::remove_file(&held).unwrap();
    until(&editor, &run, "succeeded");
    let series = editor.get(&path).expect(200).json()["series"][0].clone();
    assert_eq!((&series["min"], &series["max"], &series["last"]), (&json!(1.0), &json!(3000.0), &json!(1.0)));
    let points = series["points"].as_array().unwrap();
    assert!(points.len() <= 1000, "{}", points.len());
    assert_eq!((&points[0], points.last().unwrap()), (&json!([0.0, 3000.0]), &json!([2999.0, 1.0])));
    assert_eq!(editor.get(&format!("/runs/{run}/metrics?name=none")).expect(200).json()["series"], json!([]));
    editor.get(&format!("/runs/{run}/metrics?task=none")).expect(404);
}
