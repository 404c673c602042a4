//! Pipelines as Argo Workflows.

use std::path::Path;

use cubeloom_compiler::export::argo::workflow;
use cubeloom_compiler::parse_pipeline;

use crate::support::{repository, templates};

pub const PIPELINE: &str = r#"apiVersion: cubeloom/v1
kind: Pipeline
name: clicks
description: Counts clicks
parameters:
  day: {type: date, default: "{{ run.date | days(-1) }}"}
  rounds: {type: integer, default: 3, minimum: 1}
  loss: {type: string, enum: [squared, absolute], description: What is minimised}
parallelism: 4
max_active_runs: 1
tasks:
  - name: list
    template: python
    description: Which parts there are
    arguments: {code: "print(1)", args: ["{{ params.day }}", "--until={{ params.day | days(1) }}"]}
    outputs: [parts]
  - name: part
    template: command
    needs: [list]
    for_each: {from: tasks.list.outputs.parts, parallelism: 2}
    arguments: {command: [sh, -c, "echo {{ item }} > {{ run.dir }}/{{ item.name }}"]}
    env: {LOSS: "{{ params.loss }}", FIXED: "a{{ params.rounds + 1 }}"}
    secrets: [token]
    volumes: [{name: datasets, mount: /data, read_only: true}]
    resources: {cpu: 500m, memory: 1Gi, gpu: {count: 2, type: H100}, shm: 2Gi}
    retry: {attempts: 3, backoff: {initial: 10s, factor: 2, max: 10m}, on: [error]}
    timeout: 1h
    cache: true
  - name: each
    template: command
    needs: [list]
    for_each: {matrix: {rate: [0.1, 0.3], depth: [4]}}
    arguments: {command: [run, "{{ item.rate }}"]}
    placement: {selector: {disk: ssd}, tolerations: [{key: gpu, value: "yes", effect: NoSchedule}], spread: required}
  - name: train
    template: mpi
    needs: [part, each]
    trigger: none_failed_min_one_success
    when: "params.rounds > 1 and tasks.list.outputs.parts != 'none'"
    arguments: {script: train.py, workers: "{{ params.rounds }}", args: ["{{ tasks.list.outputs.parts }}"]}
  - name: alarm
    template: command
    needs: [train]
    trigger: one_failed
    when: "params.loss | upper == 'X'"
    arguments: {command: [./alarm.sh, "{{ run.id }}"]}
"#;

#[test]
fn a_pipeline_becomes_a_workflow() {
    let set = templates(&repository().join("task-templates"));
    let made = workflow(&parse_pipeline(PIPELINE).unwrap(), &set).unwrap();
    for sentence in &made.report {
        assert!(made.document.contains(&format!("# - {sentence}\n")), "{sentence}");
    }
    let marks = |c: char| ('\u{e000}'..'\u{f8ff}').contains(&c);
    assert!(!made.document.contains(marks), "{}", made.document);
    insta::assert_snapshot!(made.document);
}

#[test]
fn every_example_can_be_exported() {
    let set = templates(&repository().join("task-templates"));
    for entry in std::fs::read_dir(repository().join("examples")).unwrap().flatten() {
        let file = entry.path().join("pipeline.yaml");
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        let made = workflow(&parse_pipeline(&text).unwrap(), &set);
        let made = made.unwrap_or_else(|problems| panic!("{}: {problems:#?}", file.display()));
        assert!(made.document.contains("kind: Workflow"), "{}", made.document);
    }
}

#[test]
fn mistakes_of_the_document_are_told_with_their_places() {
    let set = templates(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures")));
    let text = PIPELINE.replace("template: python", "template: pythn");
    let problems = workflow(&parse_pipeline(&text).unwrap(), &set).unwrap_err();
    assert!(problems.iter().all(|problem| problem.line.is_some()), "{problems:#?}");
}
