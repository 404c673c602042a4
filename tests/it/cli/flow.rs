//! Data flow between tasks, for-each tasks, and reused results.

use crate::support::{TestApp, instance, outputs, states};

#[test]
fn outputs_flow_between_tasks() {
    let app = TestApp::new();
    let file = app.pipeline(
        "outputs",
        r#"
  - name: count
    template: python
    arguments: {code: "import cubeloom; cubeloom.outputs(rows=41, where={'table': 'a b'})"}
  - name: add
    template: python
    needs: [count]
    arguments:
      code: "import sys, cubeloom; cubeloom.outputs(sum=int(sys.argv[1]) + 1, table=sys.argv[2])"
      args: ["{{ tasks.count.outputs.rows }}", "{{ tasks.count.outputs.where.table }}"]
"#,
    );
    let run = app.json(0, &["run", &file]);
    assert_eq!(outputs(&run, "add"), &serde_json::json!({"sum": 42, "table": "a b"}));
}

#[test]
fn for_each_takes_an_earlier_output() {
    let app = TestApp::new();
    let file = app.pipeline(
        "each",
        r#"
  - name: list
    template: python
    arguments: {code: "import cubeloom; cubeloom.outputs(parts=['a', 'b', 'c'])"}
  - name: part
    template: python
    needs: [list]
    for_each: {from: "tasks.list.outputs.parts", parallelism: 2}
    arguments: {code: "import sys, cubeloom; cubeloom.outputs(upper=sys.argv[1].upper())", args: ["{{ item }}"]}
    resources: {cpu: 500m, memory: 64Mi}
  - name: join
    template: command
    needs: [part]
    arguments: {command: [echo, "{{ tasks.part.outputs.upper | join('-') }}"]}
"#,
    );
    let done = app.expect(0, &["run", &file, "--watch"]);
    assert!(done.out.contains("3 instances"), "{}", done.out);
    assert_eq!(app.expect(0, &["logs", "latest", "join", "--worker", "worker-0"]).out, "A-B-C\n");
    let run = app.latest();
    assert_eq!(run["tasks"][1]["instances"].as_array().unwrap().len(), 3);
    assert_eq!(app.expect(0, &["logs", "latest", "part", "--instance", "1"]).code, Some(0));
}

#[test]
fn equal_work_is_reused_and_a_miss_says_what_changed() {
    let app = TestApp::new();
    let file = app.document(
        "cached",
        r#"parameters:
  n: {type: integer, default: 1}
tasks:
  - name: work
    template: python
    arguments: {script: work.py, args: ["{{ params.n }}"]}
    cache: true
"#,
    );
    app.write("cached/work.py", "import cubeloom; cubeloom.outputs(done=True)");
    let first = app.json(0, &["run", &file]);
    assert_eq!(states(&first), [("work", "succeeded")]);
    let again = app.json(0, &["run", &file]);
    assert_eq!(states(&again), [("work", "reused")]);
    assert_eq!(outputs(&again, "work")["done"], true);
    let note = instance(&again, "work")["note"].as_str().unwrap();
    assert!(note.contains(first["run"]["id"].as_str().unwrap()), "{note}");
    assert!(app.expect(0, &["run", &file, "--watch"]).out.contains("reused from"));
    let other = app.json(0, &["run", &file, "-p", "n=2"]);
    assert_eq!(states(&other), [("work", "succeeded")]);
    assert!(
        instance(&other, "work")["note"].as_str().unwrap().contains("changed since it last ran: "),
        "{other}"
    );
}

#[test]
fn a_changed_input_is_named() {
    let app = TestApp::new();
    let file = app.pipeline(
        "inputs",
        r#"
  - {name: a, template: command, cache: {inputs: ["{{ workspace }}/in.txt"]}, arguments: {command: [sh, -c, "cat $CUBELOOM_WORKSPACE/in.txt"]}}
"#,
    );
    let workspace = app.data().join("workspace/default");
    std::fs::create_dir_all(&workspace).expect("a folder");
    let run = |text: &str| {
        std::fs::write(workspace.join("in.txt"), text).expect("a file");
        let run = app.json(0, &["run", &file]);
        instance(&run, "a")["note"].as_str().unwrap_or_default().to_owned()
    };
    run("one");
    assert!(run("one").starts_with("reused from"));
    assert_eq!(run("two"), "not reused: changed since it last ran: inputs ({{ workspace }}/in.txt)");
}

#[test]
fn a_loop_over_nothing_has_empty_lists() {
    let app = TestApp::new();
    let file = app.pipeline(
        "nothing",
        r#"
  - {name: list, template: python, arguments: {code: "import cubeloom; cubeloom.outputs(files=[])"}}
  - name: each
    template: python
    needs: [list]
    for_each: {from: tasks.list.outputs.files}
    arguments: {code: "import cubeloom; cubeloom.outputs(v=1)"}
  - {name: again, template: command, needs: [each], for_each: {from: tasks.each.outputs.v}, arguments: {command: [echo]}}
  - name: join
    template: command
    needs: [each, again]
    when: "tasks.each.outputs.v | length == 0"
    arguments: {command: [echo, "{{ tasks.each.outputs.v | length }}", "{{ tasks.again.outputs.w | sum }}", "all {{ tasks.each.outputs.v }}"]}
"#,
    );
    app.expect(0, &["run", &file]);
    assert_eq!(app.expect(0, &["logs", "latest", "join", "--worker", "worker-0"]).out, "0 0 all []\n");
}

/// Numbers from the document, parameters, items and a previous task's outputs.
#[test]
fn words_reach_a_program_as_they_were_written() {
    let app = TestApp::new();
    let file = app.pipeline(
        "words",
        r#"
  - {name: find, template: python, arguments: {code: "import cubeloom; cubeloom.outputs(best=5, huge=2**70, bad=float('nan'))"}}
  - name: say
    template: command
    needs: [find]
    for_each: {list: [3, 0.5]}
    arguments:
      command: [echo, 007, 1e-3, 1.0, 0x10, true, 12345678901234567890123, "{{ item }}", "{{ tasks.find.outputs.best }}", "{{ tasks.find.outputs.huge }}", "{{ tasks.find.outputs.bad }}"]
"#,
    );
    app.expect(0, &["run", &file]);
    let said = |instance| {
        app.expect(0, &["logs", "latest", "say", "--instance", instance, "--worker", "worker-0"]).out
    };
    let rest = "5 1180591620717411303424 NaN\n";
    assert_eq!(said("0"), format!("007 1e-3 1.0 0x10 true 12345678901234567890123 3 {rest}"));
    assert_eq!(said("1"), format!("007 1e-3 1.0 0x10 true 12345678901234567890123 0.5 {rest}"));
}

#[test]
fn a_report_shows_some_of_many_outputs() {
    let app = TestApp::new();
    let code = "import cubeloom; cubeloom.outputs(**{f'name-{n:04}': n for n in range(5000)})";
    let task = format!("\n  - {{name: many, template: python, arguments: {{code: \"{code}\"}}}}\n");
    app.expect(0, &["run", &app.pipeline("many", &task)]);
    let shown = app.expect(0, &["runs", "show", "latest"]).out;
    assert!(shown.contains("many.name-0049") && !shown.contains("many.name-0050"), "{shown}");
    assert!(shown.contains("… and 4950 more outputs"), "{shown}");
}
