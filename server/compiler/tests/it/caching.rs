//! The cache key: equal inputs give equal keys in different runs, and a miss says which part changed.

use cubeloom_compiler::{Digests, Outputs, PlanInputs, cache_key, job, parse_pipeline, plan};
use cubeloom_domain::{JsonMap, RunId, TaskIx, Timestamp};
use serde_json::Value;

use crate::support::{context, fixtures, machine};

/// The key of the second task of a run.
fn key(run: u128, said: &str, digest: &str, env: &str) -> (String, Value) {
    let text = format!(
        "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\ntasks:\n  - {{name: a, template: echo, arguments: {{words: [x]}}}}\n  \
         - {{name: b, template: echo, needs: [a], env: {{E: {env}}}, arguments: {{words: [\"{{{{ tasks.a.outputs.said }}}}\", \"{{{{ run.dir }}}}\"], file: f.py}}, \
         cache: {{inputs: [data/*]}}}}\n"
    );
    let (templates, facts) = (fixtures(), machine());
    let mut inputs =
        PlanInputs { context: context(), parameters: JsonMap::new(), templates: &templates, facts: &facts };
    inputs.context.id = RunId::new(Timestamp(0), run);
    let plan = plan(&parse_pipeline(&text).unwrap(), &inputs).unwrap().plan;
    let outputs: Outputs = [("a".to_owned(), serde_json::json!({ "said": said }))].into();
    let attempt = u32::try_from(run).unwrap();
    let job = job(&plan, TaskIx(1), 0, None, attempt, None, &outputs).unwrap();
    let digests = Digests {
        code: [("f.py".to_owned(), "code-1".to_owned())].into(),
        inputs: [("data/*".to_owned(), digest.to_owned())].into(),
    };
    cache_key(&plan, TaskIx(1), &job, &digests)
}

#[test]
fn equal_inputs_give_equal_keys_in_every_run() {
    assert_eq!(key(1, "hello", "d1", "x"), key(2, "hello", "d1", "x"));
    assert_eq!(key(1, "hello", "d1", "x").0.len(), 64);
}

#[test]
fn a_miss_says_which_part_changed() {
    let (hash, parts) = key(1, "hello", "d1", "x");
    for ((other_hash, other), changed) in [
        (key(1, "bye", "d1", "x"), "command"),
        (key(1, "hello", "d2", "x"), "inputs"),
        (key(1, "hello", "d1", "y"), "env"),
    ] {
        assert_ne!(hash, other_hash);
        let names = parts.as_object().unwrap().keys().filter(|name| parts[*name] != other[*name]);
        assert_eq!(names.collect::<Vec<_>>(), [changed]);
    }
    assert_eq!(parts["code"], serde_json::json!({"f.py": "code-1"}));
    assert_eq!(parts["inputs"], serde_json::json!({"data/*": "d1"}));
}
