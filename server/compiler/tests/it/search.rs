//! Searches: valid documents, plans, and the values of their trials.

use std::collections::BTreeSet;

use cubeloom_compiler::search::{Trial, first_trials, next_trial};
use cubeloom_compiler::{Outputs, check_pipeline, expand, parse_pipeline};
use cubeloom_domain::plan::{ForEachItems, RunPlan};
use cubeloom_domain::search::{Axis, Goal, Method, PlannedSearch};
use cubeloom_domain::{JsonMap, Problem, Severity, TaskIx};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::problems::listed;
use crate::support::{fixtures, machine, try_plan};

const TUNE: TaskIx = TaskIx(0);

/// A pipeline whose task `tune` has this search and uses all of its axes.
fn document(search: &str) -> String {
    format!(
        "{{apiVersion: cubeloom/v1, kind: Pipeline, name: p, parameters: {{few: {{type: list, default: [1, 2]}}}}, tasks: [
  {{name: tune, template: echo, arguments: {{words: [\"of {{{{ item }}}}\"]}}, search: {search}}},
  {{name: say, template: echo, needs: [tune], arguments: {{words: [\"{{{{ tasks.tune.outputs.best.value }}}}\", \"{{{{ params.few }}}}\"]}}}}]}}"
    )
}

fn problems(search: &str) -> Vec<Problem> {
    check_pipeline(&document(search), &fixtures(), &machine()).1
}

fn plan(search: &str) -> RunPlan {
    try_plan(&document(search), JsonMap::new(), &fixtures(), &machine())
        .unwrap_or_else(|problems| panic!("{search}\n{}", listed(&problems)))
        .plan
}

fn planned(plan: &RunPlan) -> &PlannedSearch {
    plan.task(TUNE).search().unwrap()
}

/// All trials of a search; `value` returns the result of each.
fn trials(plan: &RunPlan, value: impl Fn(&Value) -> Option<f64>) -> Vec<Value> {
    let mut items = first_trials(plan, TUNE);
    loop {
        let known: Vec<Trial<'_>> = items.iter().map(|item| Trial { item, value: value(item) }).collect();
        let Some(next) = next_trial(plan, TUNE, &known) else { return items };
        items.push(next);
    }
}

#[test]
fn every_mistake_is_named_with_its_place() {
    let cases = [
        "[]",
        "{}",
        "{over: {x: [1]}}",
        "{over: {}, maximize: a, trials: 3}",
        "{over: {x: []}, maximize: a, method: grid}",
        "{over: {x: 3}, maximize: a, method: grid}",
        "{over: {x: [1]}, maximize: a, minimize: b, trials: 1}",
        "{over: {x: [1]}, maximize: '', trials: 1}",
        "{over: {x: {minimum: 0, maximum: 1}}, maximize: a}",
        "{over: {x: {minimum: 0, maximum: 1}}, maximize: a, method: grid}",
        "{over: {x: {minimum: 0, maximum: 1}}, maximize: a, method: best, trials: 3}",
        "{over: {x: {minimum: 1, maximum: 1}}, maximize: a, trials: 3}",
        "{over: {x: {minimum: .nan, maximum: 1}}, maximize: a, trials: 3}",
        "{over: {x: {maximum: 1}}, maximize: a, trials: 3}",
        "{over: {x: {minimum: 0, maximum: 1, steps: 3}}, maximize: a, trials: 3}",
        "{over: {x: {minimum: 0, maximum: 1, step: 2}}, maximize: a, trials: 3}",
        "{over: {x: {minimum: 0, maximum: 1, step: 0}}, maximize: a, trials: 3}",
        "{over: {x: {minimum: 0, maximum: 1, scale: log}}, maximize: a, trials: 3}",
        "{over: {x: {minimum: 1, maximum: 9, step: 2, scale: log}}, maximize: a, trials: 3}",
        "{over: {x: {type: integer, minimum: 0.5, maximum: 9}}, maximize: a, trials: 3}",
        "{over: {x: {type: integer, minimum: 0, maximum: 9, step: 1.5}}, maximize: a, trials: 3}",
        "{over: {x: {type: integer, minimum: 0, maximum: 1e17}}, maximize: a, trials: 3}",
        "{over: {x: {type: integer, minimum: 0, maximum: 10000}}, maximize: a, method: grid}",
        "{over: {x: {minimum: 0, maximum: 1}}, maximize: a, trials: 10001}",
        "{over: {x: [1, 2]}, maximize: a, trials: 0}",
        "{over: {x: [1, 2]}, maximize: a, trials: 2, parallelism: 0}",
        "{over: {x: [1, 2]}, maximize: a, trials: 2, early_stop: {}}",
        "{over: {x: [1, 2]}, maximize: a, trials: 2, early_stop: {min_steps: 0, factor: 1}}",
        "{over: {x: [1, 2]}, maximize: a, trials: 2, early_stop: {min_steps: 1, factor: 101}}",
        "{over: {x: ['{{ item }}']}, maximize: a, method: grid}",
        "{over: {x: '{{ params.few }}'}, maximize: a, method: grid}",
        "{over: {x: [1, 2]}, maximize: a, trials: 5}",
    ];
    let told = |search: &str| {
        let problems = problems(search);
        assert!(
            problems.iter().any(|problem| problem.path.starts_with("/tasks/0/search")),
            "{search}: {problems:#?}"
        );
        format!("{search}\n{}", listed(&problems))
    };
    insta::assert_snapshot!(cases.map(told).join("\n\n"));
}

#[test]
fn a_search_stands_alone_and_is_used() {
    let text = document("{over: {x: [1, 2]}, maximize: a, method: grid}, for_each: {list: [1]}");
    let (_, problems) = check_pipeline(&text, &fixtures(), &machine());
    assert_eq!(problems.len(), 1, "{problems:#?}");
    assert_eq!((problems[0].path.as_str(), problems[0].severity), ("/tasks/0/search", Severity::Error));

    let unused =
        document("{over: {x: [1, 2]}, maximize: a, method: grid}").replace("of {{ item }}", "of all");
    let (_, problems) = check_pipeline(&unused, &fixtures(), &machine());
    assert_eq!(problems.len(), 1, "{problems:#?}");
    assert_eq!(
        (problems[0].path.as_str(), problems[0].severity),
        ("/tasks/0/search/over/x", Severity::Warning)
    );
}

#[test]
fn arguments_that_no_trial_could_have_are_told_before_a_run() {
    let text =
        document("{over: {x: [1, 2]}, maximize: a, method: grid}").replace("of {{ item }}", "{{ item }}");
    let (_, problems) = check_pipeline(&text, &fixtures(), &machine());
    let [problem] = problems.as_slice() else { panic!("{problems:#?}") };
    assert_eq!(problem.path, "/tasks/0/arguments/words/0");
    assert_eq!(problem.message, "expected text, found a mapping");
    // A skipped trial has no result.
    let passed = text.replace("search:", "when: item.x > 5, search:");
    assert_eq!(check_pipeline(&passed, &fixtures(), &machine()).1, []);
    let list =
        text.replace("search: {over: {x: [1, 2]}, maximize: a, method: grid}", "for_each: {list: [{x: 1}]}");
    let (_, problems) = check_pipeline(&list, &fixtures(), &machine());
    assert_eq!(problems[0].path, "/tasks/0/arguments/words/0", "{problems:#?}");
}

#[test]
fn what_is_not_said_is_planned() {
    let tpe = plan("{over: {x: {minimum: 0, maximum: 1}}, minimize: loss, trials: 30}");
    let search = planned(&tpe);
    assert_eq!((search.method, search.goal, search.of.as_str()), (Method::Tpe, Goal::Minimize, "loss"));
    assert_eq!((search.trials, search.max_failures), (30, 3));
    assert_eq!(
        tpe.task(TUNE).for_each.as_ref().unwrap().parallelism,
        Some(4),
        "later trials learn from earlier ones"
    );
    assert_eq!(first_trials(&tpe, TUNE).len(), 4);

    let random = plan("{over: {x: {minimum: 0, maximum: 1}}, maximize: a, method: random, trials: 30}");
    assert_eq!(random.task(TUNE).for_each.as_ref().unwrap().parallelism, None);
    assert_eq!(first_trials(&random, TUNE).len(), 30);

    let grid = plan("{over: {x: ['{{ params.few }}', 3], y: [a, b]}, maximize: a, method: grid}");
    let items: Vec<String> = first_trials(&grid, TUNE).iter().map(|item| item["x"].to_string()).collect();
    assert_eq!(items, ["[1,2]", "[1,2]", "3", "3"], "an element is what its expression gives");
    assert_eq!(planned(&grid).trials, 4);
    assert!(matches!(grid.task(TUNE).for_each.as_ref().unwrap().items, ForEachItems::Search(_)));
    assert_eq!(expand(&grid, TUNE, &Outputs::new()).unwrap(), first_trials(&grid, TUNE));
}

#[test]
fn a_grid_goes_through_all_combinations_in_order() {
    let plan = plan(
        "{over: {b: [x, y], a: {type: integer, minimum: 1, maximum: 3}, c: {minimum: 0, maximum: 1, step: 0.5}}, maximize: v, method: grid}",
    );
    let items = first_trials(&plan, TUNE);
    assert_eq!(items.len(), 18);
    assert_eq!(items[0], json!({"a": 1, "b": "x", "c": 0.0}));
    assert_eq!(items[1], json!({"a": 1, "b": "x", "c": 0.5}));
    assert_eq!(items[3], json!({"a": 1, "b": "y", "c": 0.0}));
    assert_eq!(items[17], json!({"a": 3, "b": "y", "c": 1.0}));
    assert_eq!(
        next_trial(&plan, TUNE, &items.iter().map(|item| Trial { item, value: None }).collect::<Vec<_>>()),
        None
    );
}

#[test]
fn of_a_grid_without_end_only_the_first_are_made() {
    let plan = plan(
        "{over: {x: {type: integer, minimum: 0, maximum: 9e15}, y: {type: integer, minimum: 0, maximum: 9e15}}, maximize: v, method: grid, trials: 3}",
    );
    let of = |at: u64| json!({"x": 0, "y": at});
    assert_eq!(first_trials(&plan, TUNE), [of(0), of(1), of(2)]);
}

#[test]
fn numbers_on_a_step_stay_apart_and_are_written_as_a_person_would() {
    let plan = plan(
        "{over: {x: {minimum: 1000000, maximum: 1000002, step: 0.5}, y: {minimum: 0.1, maximum: 0.5, step: 0.1}}, maximize: v, method: grid}",
    );
    let items = first_trials(&plan, TUNE);
    let of = |name: &str| items.iter().map(|item| item[name].to_string()).collect::<BTreeSet<_>>();
    assert_eq!(
        of("x").into_iter().collect::<Vec<_>>(),
        ["1000000.0", "1000000.5", "1000001.0", "1000001.5", "1000002.0"]
    );
    assert_eq!(of("y").into_iter().collect::<Vec<_>>(), ["0.1", "0.2", "0.3", "0.4", "0.5"]);
}

#[test]
fn where_few_combinations_are_left_they_are_tried() {
    for method in ["random", "tpe"] {
        let plan = plan(&format!(
            "{{over: {{x: {{type: integer, minimum: 1, maximum: 10}}, y: [a, b, c, d]}}, maximize: v, method: {method}, trials: 40}}"
        ));
        let items = trials(&plan, |item| item["x"].as_f64());
        let apart: BTreeSet<String> = items.iter().map(Value::to_string).collect();
        assert_eq!((items.len(), apart.len()), (40, 40), "{method}");
    }
}

#[test]
fn a_seed_gives_the_same_trials_whatever_the_order_of_keys() {
    let text = "{over: {aa: {minimum: 0, maximum: 1}, b: [1, 2, 3], c: {type: integer, minimum: 1, maximum: 64, scale: log}}, maximize: v, trials: 30, seed: SEED}";
    let of = |seed: &str| {
        let plan = plan(&text.replace("SEED", seed));
        let good = |item: &Value| Some(item["aa"].as_f64().unwrap() + item["b"].as_f64().unwrap());
        trials(&plan, good)
    };
    assert_eq!(of("7"), of("7"));
    assert_ne!(of("7"), of("8"));

    // With the key order that a database may return.
    let plan = plan(&text.replace("SEED", "7"));
    let items = of("7");
    let turned: Vec<Value> = items
        .iter()
        .map(|item| Value::Object(item.as_object().unwrap().clone().into_iter().rev().collect::<JsonMap>()))
        .collect();
    let next = |items: &[Value]| {
        let known: Vec<_> =
            items[..20].iter().map(|item| Trial { item, value: item["aa"].as_f64() }).collect();
        next_trial(&plan, TUNE, &known)
    };
    assert_eq!(next(&items), next(&turned));
}

/// The estimator should beat random search; the medians of several seeds are compared.
#[test]
fn what_earlier_trials_gave_is_used() {
    let loss = |item: &Value| {
        let (rate, kind) = (item["rate"].as_f64().unwrap(), item["kind"].as_str().unwrap());
        let far = (rate.log10() + 3.0).powi(2) + (item["depth"].as_f64().unwrap() - 12.0).powi(2) / 100.0;
        far + if kind == "good" { 0.0 } else { 2.0 }
    };
    let median = |method: &str| {
        let mut best: Vec<f64> = (0..15)
            .map(|seed| {
                let plan = plan(&format!(
                    "{{over: {{rate: {{minimum: 1e-6, maximum: 1, scale: log}}, kind: [good, bad, worse], depth: {{type: integer, minimum: 1, maximum: 40}}}}, minimize: loss, method: {method}, trials: 60, seed: {seed}}}"
                ));
                // The mean of the last trials shows where it searches.
                let items = trials(&plan, |item| Some(loss(item)));
                items[30..].iter().map(loss).sum::<f64>() / 30.0
            })
            .collect();
        best.sort_by(f64::total_cmp);
        best[7]
    };
    let (tpe, chance) = (median("tpe"), median("random"));
    assert!(tpe < chance / 2.0, "{tpe} against {chance}");
}

/// Ranges and lists as users write them.
fn axes() -> impl Strategy<Value = String> {
    let list = prop::collection::vec(
        prop_oneof![Just("1"), Just("'b'"), Just("[2, 3]"), Just("null"), Just("0.5")],
        1..5,
    )
    .prop_map(|values| format!("[{}]", values.join(", ")));
    let number = (-1e6..1e6f64, 1e-3..1e6f64)
        .prop_map(|(low, wide)| format!("{{minimum: {low}, maximum: {}}}", low + wide));
    let stepped = (-1e3..1e3f64, 1..200u32, 1..50u32).prop_map(|(low, parts, step)| {
        let step = f64::from(step) / 100.0;
        format!("{{minimum: {low}, maximum: {}, step: {step}}}", low + step * f64::from(parts))
    });
    let whole = (-1000..1000i64, 1..100_000i64)
        .prop_map(|(low, wide)| format!("{{type: integer, minimum: {low}, maximum: {}}}", low + wide));
    let log = (1e-9..1.0f64, 1.001..1e6f64)
        .prop_map(|(low, times)| format!("{{minimum: {low}, maximum: {}, scale: log}}", low * times));
    let whole_log = (1..100i64, 1..10_000i64).prop_map(|(low, wide)| {
        format!("{{type: integer, minimum: {low}, maximum: {}, scale: log}}", low + wide)
    });
    prop_oneof![list, number, stepped, whole, log, whole_log]
}

/// Whether the axis has a value.
fn belongs(axis: &Axis, value: &Value) -> bool {
    match axis {
        Axis::Values(values) => values.contains(value),
        Axis::Range(range) => {
            let whole = range.kind.is_none() || value.is_i64();
            whole && value.as_f64().is_some_and(|value| range.minimum <= value && value <= range.maximum)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn every_trial_is_within_what_is_tried(
        axes in prop::collection::vec(axes(), 1..4),
        method in prop_oneof![Just("random"), Just("tpe")],
        values in prop::collection::vec(prop_oneof![Just(None), (-1e9..1e9f64).prop_map(Some), Just(Some(0.0))], 25),
    ) {
        let over: Vec<String> = axes.iter().enumerate().map(|(at, axis)| format!("x{at}: {axis}")).collect();
        let text = format!("{{over: {{{}}}, minimize: v, method: {method}, trials: 25, parallelism: 3}}", over.join(", "));
        let plan = plan(&text);
        let search = planned(&plan);
        let mut items = first_trials(&plan, TUNE);
        loop {
            let known: Vec<_> = items.iter().zip(&values).map(|(item, value)| Trial { item, value: *value }).collect();
            let Some(next) = next_trial(&plan, TUNE, &known) else { break };
            items.push(next);
        }
        prop_assert_eq!(items.len(), search.trials as usize);
        for item in &items {
            prop_assert_eq!(item.as_object().unwrap().len(), search.over.len());
            for (name, axis) in &search.over {
                prop_assert!(belongs(axis, &item[name]), "{name}: {} of {text}", item[name]);
            }
        }
    }

    #[test]
    fn a_search_is_written_as_it_was_read(
        axis in axes(),
        rest in prop_oneof![
            Just("maximize: a, trials: 9, seed: 4, parallelism: 2"),
            Just("minimize: b, method: random, trials: 3, early_stop: {min_steps: 2, factor: 4}, max_failures: 0"),
        ],
    ) {
        let read = parse_pipeline(&document(&format!("{{over: {{x: {axis}}}, {rest}}}"))).unwrap();
        let again = parse_pipeline(&serde_json::to_string(&read.pipeline).unwrap()).unwrap();
        prop_assert_eq!(read.pipeline, again.pipeline);
    }
}
