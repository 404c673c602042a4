//! Expressions in a document: their features and their limits.

use cubeloom_compiler::{Outputs, check_pipeline, job};
use cubeloom_domain::{Code, JsonMap, TaskIx};
use cubeloom_testkit::cpu::Spent;

use crate::support::{fixtures, machine, try_plan};

/// The words that a text renders to, or the first problem.
fn words(text: &str) -> Result<Vec<String>, (Code, String)> {
    let document = serde_json::json!({
        "apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "p",
        "parameters": {
            "n": {"type": "integer", "default": 3}, "list": {"type": "list", "default": ["a", "b"]},
            "day": {"type": "date", "default": "{{ run.date | days(-1) }}"}, "none": {"type": "object", "default": {}},
        },
        "tasks": [{"name": "my-task", "template": "echo", "arguments": {"words": [text]},
            "env": {"USED": "{{ params.n }}{{ params.list }}{{ params.day }}{{ params.none }}"}}],
    });
    let planned = try_plan(&document.to_string(), JsonMap::new(), &fixtures(), &machine())
        .map_err(|problems| (problems[0].code, problems[0].message.clone()))?;
    let job = job(&planned.plan, TaskIx(0), 0, None, 1, None, &Outputs::new())
        .map_err(|failure| (Code::InvalidExpression, failure.message))?;
    Ok(job.roles[0].argv[2..].to_vec())
}

#[test]
fn values_texts_and_dates() {
    for (text, expected) in [
        ("plain", "plain"),
        ("{{ params.day }}", "2026-07-14"),
        ("{{ run.date | days(-15) }}", "2026-06-30"),
        ("{{ run.date | months(-1) | format('%Y/%m/%d') }}", "2026/06/15"),
        ("{{ run.date | hours(-1) }}", "2026-07-14T23:00:00Z"),
        ("{{ run.timestamp }}", "2026-07-15T06:30:00Z"),
        ("{{ run.timestamp | minutes(45) | format('%H:%M') }}", "07:15"),
        ("{{ '2026-01-31' | months(1) }}", "2026-02-28"),
        ("{{ '2026-01-01' | days_until('2026-03-01') }} days", "59 days"),
        (
            "{{ [0.1, 2, 0.5] is interval }} {{ [2, 2] is interval }} {{ [1] is interval }}",
            "true false false",
        ),
        ("{{ '2026-02-28T08' is date }} {{ '2026-02-30' is date }}", "true false"),
        ("{{ params.n }}-{{ params.n + 1 }}", "3-4"),
        ("{{ params.n | times(4) | string }}", "12"),
        ("{{ params.list | join('+') | upper }}", "A+B"),
        ("{{ params.list | tojson }}", "[\"a\",\"b\"]"),
        ("x{{ params.list }}", "x[\"a\",\"b\"]"),
        ("{{ 'big' if params.n > 2 else 'small' }}", "big"),
        ("{{ task.name }}", "my-task"),
        ("{{ run.project }}/{{ run.user }}", "vision/ada"),
        ("{{ run.dir }}/x", "$(CUBELOOM_RUN_DIR)/x"),
        ("{{ workspace }}|{{ code }}", "$(CUBELOOM_WORKSPACE)|$(CUBELOOM_CODE)"),
        ("{{ params.none.x | default('d') }}", "d"),
        ("{{ '{{' }}", "{{"),
        ("awk '{print $1}' {#notes#} {%d}", "awk '{print $1}' {#notes#} {%d}"),
        ("{{ range(3) | join(',') }}", "0,1,2"),
    ] {
        assert_eq!(words(text), Ok(vec![expected.to_owned()]), "{text}");
    }
}

#[test]
fn mistakes_are_told_before_anything_runs() {
    use Code::{InvalidExpression, OutputNotAvailable, UndefinedName, UnknownTask};
    for (text, code) in [
        ("{{ params.m }}", UndefinedName),
        ("{{ param.n }}", UndefinedName),
        ("{{ run.dat }}", UndefinedName),
        ("{{ env.HOME }}", UndefinedName),
        ("{{ item }}", UndefinedName),
        ("{{ args.words }}", UndefinedName),
        ("{{ params.none.x }}", UndefinedName),
        ("{{ task.owner }}", UndefinedName),
        ("{{ tasks.other.outputs.x }}", UnknownTask),
        ("{{ tasks.my-task.outputs.x }}", OutputNotAvailable),
        ("{{ params.n ", InvalidExpression),
        ("{{ }}", InvalidExpression),
        ("{{ params.n | shell }}", InvalidExpression),
        ("{{ params.n.upper() }}", InvalidExpression),
        ("{% for x in params.list %}{{ x }}{% endfor %}", InvalidExpression),
        ("{{ 'x' | days(1) }}", InvalidExpression),
        ("{{ run.date | days(99999999999) }}", InvalidExpression),
        ("{{ run.date | format('%Q%!') }}", InvalidExpression),
        ("{{ include('x') }}", UndefinedName),
    ] {
        let (found, message) = words(text).unwrap_err();
        assert_eq!(found, code, "{text}: {message}");
    }
}

/// Expressions that would exhaust memory or time and that the engine itself would allow.
#[test]
fn bombs_are_refused_quickly() {
    let spent = Spent::begin();
    for text in [
        "{{ 'aaaaaaaaaaaa' * 100000000 }}",
        "{{ [1] * 100000000 }}",
        "{{ range(100000000) }}",
        "{{ range(10000) | join(range(10000) | join('aaaaaaaaaa')) }}",
        "{{ (range(10000) | join('aaaaaaaaa')) | replace('a', range(10000) | join('a')) }}",
        "{{ range(10000) | map('join', range(10000) | join('aaaaaaaaaa')) | list }}",
        "{{ 9 ** 999999999 }}",
        &format!("{{{{ {}1{} }}}}", "(".repeat(2000), ")".repeat(2000)),
        &format!("{{{{ {}1{} }}}}", "[".repeat(2000), "]".repeat(2000)),
        &format!("{{{{ 1{} }}}}", "+1".repeat(100_000)),
        &format!("{{{{ {}1 }}}}", "-".repeat(100_000)),
        &format!("{{{{ {}true }}}}", "not ".repeat(100_000)),
        "{{ '%999999999d' | format(1) }}",
    ] {
        assert!(words(text).is_err(), "{text}");
    }
    assert!(spent.so_far().as_secs() < 10, "{:?}", spent.so_far());
}

/// Each is allowed alone, and all of them together would keep a server busy for minutes.
#[test]
fn the_expressions_of_a_document_have_a_bound_together() {
    let mut text = String::from("apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\ntasks:\n");
    for at in 0..8000 {
        let expression = format!("{{{{ range(10000) | map('int') | map('string') | join({at}) | length }}}}");
        let task = format!("  - {{name: t{at}, template: echo, arguments: {{words: [\"{expression}\"]}}}}\n");
        text.push_str(&task);
    }
    let spent = Spent::begin();
    let (_, problems) = check_pipeline(&text, &fixtures(), &machine());
    let refused = problems
        .iter()
        .filter(|problem| problem.message.contains("the document's expressions produce too much"));
    assert!(refused.count() > 4000, "{:?}", &problems[..3.min(problems.len())]);
    assert!(spent.so_far().as_secs() < 60, "{:?}", spent.so_far());
}
