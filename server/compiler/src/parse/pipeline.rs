//! The decoder of pipeline documents.

use std::collections::BTreeMap;

use cubeloom_domain::Code;
use cubeloom_domain::pipeline::{
    After, Arrival, CatchUp, EndState, Parameter, ParameterType, Parameters, Pipeline, Schedule, Task,
};
use cubeloom_domain::priority::Priority;

use super::canvas::canvas;
use super::decode::Decoder;
use super::keys;
use super::node::{Kind, Node};
use super::placement::placement;
use super::task::{sizing, task};

/// The form of a duration, for messages.
const SPAN: &str = "a length of time such as 90s, 5m or 1h30m";

/// Decodes a whole document; invalid parts are empty.
pub fn pipeline(d: &mut Decoder, node: &Node<'_>) -> Option<Pipeline> {
    let map = d.map(node, "a pipeline", keys::PIPELINE)?;
    d.required(map, "apiVersion", |d, node| version(d, node, "cubeloom/v1"));
    d.required(map, "kind", |d, node| version(d, node, "Pipeline"));
    Some(Pipeline {
        api_version: cubeloom_domain::pipeline::API_VERSION.into(),
        kind: "Pipeline".into(),
        name: d.required(map, "name", Decoder::name).unwrap_or_default(),
        description: d.optional(map, "description", Decoder::text),
        labels: d.optional(map, "labels", labels).unwrap_or_default(),
        parameters: d.optional(map, "parameters", parameters).unwrap_or_default(),
        env: d.optional(map, "env", env).unwrap_or_default(),
        parallelism: d.optional(map, "parallelism", |d, node| d.count(node, 1)),
        max_active_runs: d.optional(map, "max_active_runs", |d, node| d.count(node, 1)),
        priority: d.optional(map, "priority", priority),
        preemptible: d.optional(map, "preemptible", Decoder::boolean),
        schedule: d.optional(map, "schedule", schedule),
        cluster: d.optional(map, "cluster", Decoder::name),
        sizing: d.optional(map, "sizing", sizing),
        placement: d.optional(map, "placement", placement),
        tasks: d.required(map, "tasks", tasks).unwrap_or_default(),
        canvas: d.optional(map, "canvas", canvas).unwrap_or_default(),
    })
}

/// `apiVersion` and `kind` have one valid value each.
pub fn version(d: &mut Decoder, node: &Node<'_>, expected: &str) -> Option<()> {
    let text = d.word(node)?;
    if text != expected {
        let message = format!("this version of Cubeloom does not support `{text}`; write `{expected}`");
        d.problem(node, Code::UnknownVersion, message);
    }
    Some(())
}

fn tasks(d: &mut Decoder, node: &Node<'_>) -> Option<Vec<Task>> {
    let tasks = d.list(node, |d, node| Some(task(d, node).unwrap_or_default()))?;
    if tasks.is_empty() {
        d.problem(node, Code::InvalidValue, "a pipeline has at least one task");
    }
    Some(tasks)
}

fn parameters(d: &mut Decoder, node: &Node<'_>) -> Option<Parameters> {
    let mut found = Parameters::default();
    for (name, one) in d.pairs(node, parameter)? {
        found.entry(name).or_insert(one);
    }
    Some(found)
}

fn parameter(d: &mut Decoder, node: &Node<'_>) -> Option<Parameter> {
    let map = d.map(node, "a parameter", keys::PARAMETER)?;
    let kinds = [
        ("string", ParameterType::String),
        ("integer", ParameterType::Integer),
        ("number", ParameterType::Number),
        ("boolean", ParameterType::Boolean),
        ("date", ParameterType::Date),
        ("list", ParameterType::List),
        ("object", ParameterType::Object),
    ];
    Some(Parameter {
        kind: d.required(map, "type", |d, node| d.one_of(node, &kinds)).unwrap_or(ParameterType::String),
        default: d.optional(map, "default", Decoder::json),
        description: d.optional(map, "description", Decoder::text),
        choices: d.optional(map, "enum", |d, node| d.list(node, Decoder::json)),
        minimum: d.optional(map, "minimum", Decoder::float),
        maximum: d.optional(map, "maximum", Decoder::float),
    })
}

/// Labels: short keys; texts, numbers and booleans.
fn labels(d: &mut Decoder, node: &Node<'_>) -> Option<BTreeMap<String, String>> {
    let form = "a label's key: use letters, digits, `-`, `_`, `.` and `/`, at most 253";
    d.named(node, is_label_key, form, Decoder::word)
}

fn is_label_key(key: &str) -> bool {
    (1..=253).contains(&key.len())
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte))
}

/// Variables: names that are valid in a shell.
pub fn env(d: &mut Decoder, node: &Node<'_>) -> Option<BTreeMap<String, String>> {
    let form = "a variable's name: use letters, digits and `_`, no digit first";
    d.named(node, is_variable, form, Decoder::word)
}

pub fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

pub fn priority(d: &mut Decoder, node: &Node<'_>) -> Option<Priority> {
    match node.kind {
        Kind::String(_) => d.name(node).map(Priority::Class),
        _ => d.integer(node, -1000, 1000).map(Priority::Number),
    }
}

pub fn span(d: &mut Decoder, node: &Node<'_>) -> Option<cubeloom_domain::Span> {
    d.amount(node, SPAN)
}

pub fn positive_span(d: &mut Decoder, node: &Node<'_>) -> Option<cubeloom_domain::Span> {
    let value: cubeloom_domain::Span = span(d, node)?;
    if value.0.is_zero() {
        d.problem(node, Code::InvalidValue, "must be longer than 0");
    }
    Some(value)
}

const CATCH_UP: [(&str, CatchUp); 3] =
    [("none", CatchUp::None), ("latest", CatchUp::Latest), ("all", CatchUp::All)];

/// Decodes a schedule; invalid fields are absent.
pub fn schedule(d: &mut Decoder, node: &Node<'_>) -> Option<Schedule> {
    let map = d.map(node, "a schedule", keys::SCHEDULE)?;
    Some(Schedule {
        cron: d.optional(map, "cron", Decoder::filled),
        every: d.optional(map, "every", positive_span),
        after: d.optional(map, "after", after),
        file: d.optional(map, "file", arrival),
        timezone: d.optional(map, "timezone", Decoder::filled),
        start: d.optional(map, "start", Decoder::filled),
        end: d.optional(map, "end", Decoder::filled),
        catch_up: d.optional(map, "catch_up", |d, node| d.one_of(node, &CATCH_UP)),
        depends_on_past: d.optional(map, "depends_on_past", Decoder::boolean),
        skip_if_running: d.optional(map, "skip_if_running", Decoder::boolean),
        jitter: d.optional(map, "jitter", positive_span),
        late_after: d.optional(map, "late_after", positive_span),
        paused: d.optional(map, "paused", Decoder::boolean),
    })
}

const END_STATES: [(&str, EndState); 3] =
    [("succeeded", EndState::Succeeded), ("failed", EndState::Failed), ("ended", EndState::Ended)];

fn after(d: &mut Decoder, node: &Node<'_>) -> Option<After> {
    let map = d.map(node, "an upstream pipeline", keys::AFTER)?;
    Some(After {
        pipeline: d.required(map, "pipeline", Decoder::name).unwrap_or_default(),
        project: d.optional(map, "project", Decoder::name),
        state: d.optional(map, "state", |d, node| d.one_of(node, &END_STATES)),
    })
}

fn arrival(d: &mut Decoder, node: &Node<'_>) -> Option<Arrival> {
    let map = d.map(node, "a file to wait for", keys::ARRIVAL)?;
    Some(Arrival {
        volume: d.optional(map, "volume", Decoder::name),
        path: d.required(map, "path", Decoder::filled).unwrap_or_default(),
        every: d.optional(map, "every", positive_span),
    })
}
