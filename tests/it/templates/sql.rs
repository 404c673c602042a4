//! The `sql` template, with the real DuckDB.

use std::fs;

use serde_json::json;

use super::full::Small;
use super::rig::{app, folder, run};
use crate::support::{TestApp, instance, outputs};

/// Runs one task. Returns the run's report.
#[track_caller]
fn query(app: &TestApp, code: i32, arguments: &serde_json::Value) -> serde_json::Value {
    let text = format!("  - name: ask\n    template: sql\n    arguments: {arguments}\n");
    run(app, code, &app.pipeline("sql", &text), &[])
}

#[test]
fn sql_reads_files_of_every_kind_and_writes_them() {
    let app = app();
    app.write(
        "sql/report.sql",
        "SET VARIABLE least = 2;\nSELECT * FROM numbers WHERE n >= getvariable('least') -- the end",
    );
    for (kind, text) in [
        ("csv", "n,word\n1,one\n2,\"two, 2\"\n3,\n"),
        (
            "jsonl",
            "{\"n\": 1, \"word\": \"one\"}\n{\"n\": 2, \"word\": \"two, 2\"}\n{\"n\": 3, \"word\": null}\n",
        ),
    ] {
        let input = app.write(&format!("in/{kind}/part-0.{kind}"), text);
        let pattern = input.to_str().unwrap().replace("part-0", "part-*");
        for output in ["csv", "tsv", "json", "jsonl", "parquet"] {
            let output = format!("out/rows.{output}");
            let wanted = json!({"script": "report.sql", "inputs": {"numbers": pattern}, "output": output});
            let run = query(&app, 0, &wanted);
            let told = outputs(&run, "ask");
            assert_eq!(
                (&told["rows"], &told["columns"]),
                (&2.into(), &json!(["n", "word"])),
                "{kind} {output}"
            );
            assert_eq!(told["first"], json!({"n": 2, "word": "two, 2"}), "{kind} {output}");
            let file = folder(&run).join(&output);
            if output.ends_with("csv") {
                assert_eq!(fs::read_to_string(&file).unwrap(), "n,word\n2,\"two, 2\"\n3,\n");
            }
            // The output is read again.
            if !output.ends_with("parquet") {
                continue;
            }
            let again =
                json!({"query": "SELECT sum(n)::INTEGER AS total FROM rows", "inputs": {"rows": file}});
            assert_eq!(outputs(&query(&app, 0, &again), "ask")["first"]["total"], 5);
        }
    }
}

#[test]
fn sql_puts_aside_what_does_not_fit_into_the_workers_memory() {
    let app = app();
    let text = r#"
  - name: ask
    template: sql
    arguments:
      query: SELECT count(*) AS n FROM (SELECT DISTINCT md5(i::VARCHAR) FROM range(6_000_000) t(i))
    resources: {memory: 256Mi}
"#;
    let run = run(&app, 0, &app.pipeline("large", text), &[]);
    assert_eq!(outputs(&run, "ask")["first"]["n"], 6_000_000);
}

#[test]
fn sql_names_what_is_wrong_and_leaves_the_file_as_it_was() {
    let app = app();
    app.write("sql/old.csv", "n\n1\n");
    let target = app.data().join("workspace/default/target");
    // A disk with little space, if one can be mounted.
    let small = Small::mount(&target);
    let old = target.join("old.csv");
    fs::write(&old, "n\n1\n").unwrap();
    let to = "{{ workspace }}/target/old.csv";
    let full = json!({"query": "SELECT range AS n FROM range(2_000_000)", "output": to});
    let full = small.is_some().then_some((full, "No space left on device"));
    for (arguments, words) in [
        (json!({"query": "SELECT 1", "inputs": {"gone": "nowhere/*.csv"}}), "`inputs.gone`"),
        (json!({"query": "SELECT 1", "inputs": {"table": "notes.docx"}}), "`inputs.table`"),
        (json!({"query": "SELEKT 1"}), "SELEKT"),
        (json!({"query": "SELECT error('late') FROM range(9)", "output": to}), "late"),
        (json!({"query": "CREATE TABLE t AS SELECT 1", "output": to}), "`output`"),
        (
            json!({"query": "SELECT 1", "output": "{{ workspace }}/target/old.csv/rows.csv"}),
            "`output`: [Errno",
        ),
    ]
    .into_iter()
    .chain(full)
    {
        let run = query(&app, 1, &arguments);
        let failure = instance(&run, "ask")["state"]["failure"].to_string();
        assert!(failure.contains(words), "{words}: {failure}");
        assert_eq!(fs::read_to_string(&old).unwrap(), "n\n1\n");
        assert_eq!(fs::read_dir(&target).unwrap().count(), 1, "nothing is left beside it");
    }
    for (arguments, field) in [
        (json!({"query": "SELECT 1", "output": "rows.xlsx"}), "/tasks/0/arguments/output"),
        (json!({"query": "SELECT 1", "inputs": {"a": 7}}), "/tasks/0/arguments/inputs"),
        (json!({"query": "SELECT 1", "script": "x.sql"}), "/tasks/0/arguments"),
        (json!({"script": "gone.sql"}), "/tasks/0/arguments/script"),
    ] {
        let text = format!("  - name: ask\n    template: sql\n    arguments: {arguments}\n");
        let refused = app.expect(2, &["run", &app.pipeline("refused", &text)]);
        assert!(refused.out.contains(field), "{field}: {refused:?}");
    }
}
