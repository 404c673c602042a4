//! The decoder of pipeline documents.

use std::collections::BTreeMap;

use cubeloom_domain::Code;
use cubeloom_domain::pipeline::{
    Backoff, Cache, ElasticRange, ForEach, Parameter, ParameterType, Pipeline, Retry, RetryOn, Schedule,
    SecretUse, SizingMode, Task, TriggerRule, VolumeUse,
};

use super::decode::Decoder;
use super::keys;
use super::node::{Kind, Node};
use super::placement::placement;
use super::resources::resources;

/// The form of a length of time, for messages.
const SPAN: &str = "a length of time such as 90s, 5m or 1h30m";

/// Reads a whole document; what could not be read is empty.
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
        parameters: d.optional(map, "parameters", |d, node| d.table(node, parameter)).unwrap_or_default(),
        env: d.optional(map, "env", env).unwrap_or_default(),
        parallelism: d.optional(map, "parallelism", |d, node| d.count(node, 1)),
        max_active_runs: d.optional(map, "max_active_runs", |d, node| d.count(node, 1)),
        priority: d.optional(map, "priority", priority),
        schedule: d.optional(map, "schedule", schedule),
        cluster: d.optional(map, "cluster", Decoder::name),
        placement: d.optional(map, "placement", placement),
        tasks: d.required(map, "tasks", tasks).unwrap_or_default(),
    })
}

/// `apiVersion` and `kind` have one value each.
pub fn version(d: &mut Decoder, node: &Node<'_>, expected: &str) -> Option<()> {
    let text = d.word(node)?;
    if text != expected {
        let message = format!("`{text}` is not known to this version of Cubeloom; write `{expected}`");
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

fn task(d: &mut Decoder, node: &Node<'_>) -> Option<Task> {
    let map = d.map(node, "a task", keys::TASK)?;
    Some(Task {
        name: d.required(map, "name", Decoder::name).unwrap_or_default(),
        template: d.required(map, "template", Decoder::filled).unwrap_or_default(),
        description: d.optional(map, "description", Decoder::text),
        arguments: d.optional(map, "arguments", Decoder::object).unwrap_or_default(),
        needs: d.optional(map, "needs", |d, node| d.list(node, Decoder::word)).unwrap_or_default(),
        resources: d.optional(map, "resources", resources),
        role_resources: d
            .optional(map, "role_resources", |d, node| d.table(node, resources))
            .unwrap_or_default(),
        setup: d.optional(map, "setup", |d, node| d.list(node, Decoder::word)).unwrap_or_default(),
        env: d.optional(map, "env", env).unwrap_or_default(),
        secrets: d.optional(map, "secrets", |d, node| d.list(node, secret)).unwrap_or_default(),
        volumes: d.optional(map, "volumes", |d, node| d.list(node, volume)).unwrap_or_default(),
        retry: d.optional(map, "retry", retry),
        timeout: d.optional(map, "timeout", positive_span),
        when: d.optional(map, "when", Decoder::word),
        trigger: d.optional(map, "trigger", trigger),
        for_each: d.optional(map, "for_each", for_each),
        placement: d.optional(map, "placement", placement),
        priority: d.optional(map, "priority", priority),
        elastic: d.optional(map, "elastic", elastic),
        sizing: d.optional(map, "sizing", sizing),
        outputs: d.optional(map, "outputs", |d, node| d.list(node, Decoder::filled)).unwrap_or_default(),
        cache: d.optional(map, "cache", cache),
    })
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

/// Labels: short keys; texts, numbers and truth values.
fn labels(d: &mut Decoder, node: &Node<'_>) -> Option<BTreeMap<String, String>> {
    let form = "a label's key: use letters, digits, `-`, `_`, `.` and `/`, at most 253";
    d.named(node, is_label_key, form, Decoder::word)
}

fn is_label_key(key: &str) -> bool {
    (1..=253).contains(&key.len())
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte))
}

/// Variables: names as a shell knows them.
pub fn env(d: &mut Decoder, node: &Node<'_>) -> Option<BTreeMap<String, String>> {
    let form = "a variable's name: use letters, digits and `_`, no digit first";
    d.named(node, is_variable, form, Decoder::word)
}

/// Whether a text can name an environment variable.
pub fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn priority(d: &mut Decoder, node: &Node<'_>) -> Option<i32> {
    d.integer(node, -1000, 1000)
}

fn span(d: &mut Decoder, node: &Node<'_>) -> Option<cubeloom_domain::Span> {
    d.amount(node, SPAN)
}

fn positive_span(d: &mut Decoder, node: &Node<'_>) -> Option<cubeloom_domain::Span> {
    let value: cubeloom_domain::Span = span(d, node)?;
    if value.0.is_zero() {
        d.problem(node, Code::InvalidValue, "must be longer than nothing");
    }
    Some(value)
}

fn schedule(d: &mut Decoder, node: &Node<'_>) -> Option<Schedule> {
    let map = d.map(node, "a schedule", keys::SCHEDULE)?;
    Some(Schedule {
        cron: d.optional(map, "cron", Decoder::filled),
        every: d.optional(map, "every", positive_span),
        timezone: d.optional(map, "timezone", Decoder::filled),
    })
}

fn secret(d: &mut Decoder, node: &Node<'_>) -> Option<SecretUse> {
    if !matches!(node.kind, Kind::Map(_)) {
        return d.name(node).map(SecretUse::Name);
    }
    let map = d.map(node, "a secret", keys::SECRET)?;
    Some(SecretUse::Detailed {
        name: d.required(map, "name", Decoder::name)?,
        env: d.optional(map, "env", variable),
        file: d.optional(map, "file", file_name),
    })
}

fn variable(d: &mut Decoder, node: &Node<'_>) -> Option<String> {
    let name = d.filled(node)?;
    if !is_variable(&name) {
        d.problem(node, Code::InvalidName, format!("`{name}` is not a variable's name"));
    }
    Some(name)
}

/// A plain file name: no folders.
fn file_name(d: &mut Decoder, node: &Node<'_>) -> Option<String> {
    let name = d.filled(node)?;
    if name.contains(['/', '\0']) || name == "." || name == ".." {
        d.problem(node, Code::InvalidValue, format!("`{name}` is not a file name; write it without folders"));
    }
    Some(name)
}

fn volume(d: &mut Decoder, node: &Node<'_>) -> Option<VolumeUse> {
    if !matches!(node.kind, Kind::Map(_)) {
        return d.name(node).map(VolumeUse::Name);
    }
    let map = d.map(node, "a volume", keys::VOLUME)?;
    Some(VolumeUse::Detailed {
        name: d.required(map, "name", Decoder::name)?,
        mount: d.optional(map, "mount", absolute),
        read_only: d.optional(map, "read_only", Decoder::boolean).unwrap_or(false),
    })
}

fn absolute(d: &mut Decoder, node: &Node<'_>) -> Option<String> {
    let path = d.filled(node)?;
    if !path.starts_with('/') {
        d.problem(node, Code::InvalidValue, format!("`{path}` must be an absolute path, beginning with `/`"));
    }
    Some(path)
}

fn retry(d: &mut Decoder, node: &Node<'_>) -> Option<Retry> {
    let map = d.map(node, "a retry policy", keys::RETRY)?;
    let kinds = [
        ("error", RetryOn::Error),
        ("out_of_memory", RetryOn::OutOfMemory),
        ("timeout", RetryOn::Timeout),
        ("lost", RetryOn::Lost),
        ("preempted", RetryOn::Preempted),
    ];
    Some(Retry {
        attempts: d.required(map, "attempts", |d, node| d.integer(node, 1, 100)).unwrap_or(1),
        backoff: d.optional(map, "backoff", backoff),
        on: d.optional(map, "on", |d, node| d.list(node, |d, node| d.one_of(node, &kinds))),
    })
}

fn backoff(d: &mut Decoder, node: &Node<'_>) -> Option<Backoff> {
    let map = d.map(node, "a backoff", keys::BACKOFF)?;
    Some(Backoff {
        initial: d.required(map, "initial", span).unwrap_or_default(),
        factor: d.optional(map, "factor", factor),
        max: d.optional(map, "max", span),
    })
}

fn factor(d: &mut Decoder, node: &Node<'_>) -> Option<f64> {
    let value = d.float(node)?;
    if !(1.0..=100.0).contains(&value) {
        d.problem(node, Code::InvalidValue, format!("{value} is not allowed: must be between 1 and 100"));
    }
    Some(value)
}

fn trigger(d: &mut Decoder, node: &Node<'_>) -> Option<TriggerRule> {
    d.one_of(
        node,
        &[
            ("all_success", TriggerRule::AllSuccess),
            ("all_done", TriggerRule::AllDone),
            ("all_failed", TriggerRule::AllFailed),
            ("one_failed", TriggerRule::OneFailed),
            ("one_success", TriggerRule::OneSuccess),
            ("none_failed", TriggerRule::NoneFailed),
            ("none_failed_min_one_success", TriggerRule::NoneFailedMinOneSuccess),
        ],
    )
}

fn for_each(d: &mut Decoder, node: &Node<'_>) -> Option<ForEach> {
    let map = d.map(node, "for_each", keys::FOR_EACH)?;
    Some(ForEach {
        list: d.optional(map, "list", elements),
        matrix: d.optional(map, "matrix", |d, node| d.table(node, |d, node| d.list(node, Decoder::json))),
        from: d.optional(map, "from", Decoder::filled),
        parallelism: d.optional(map, "parallelism", |d, node| d.count(node, 1)),
    })
}

fn elements(d: &mut Decoder, node: &Node<'_>) -> Option<serde_json::Value> {
    if !matches!(node.kind, Kind::List(_) | Kind::String(_)) {
        d.wrong_type(node, "a list, or an expression that yields one");
        return None;
    }
    Some(node.to_json())
}

fn elastic(d: &mut Decoder, node: &Node<'_>) -> Option<ElasticRange> {
    let map = d.map(node, "an elastic range", keys::ELASTIC)?;
    let min = d.required(map, "min", |d, node| d.count(node, 1));
    let max = d.required(map, "max", |d, node| d.count(node, 1));
    let range = ElasticRange { min: min?, max: max? };
    if range.min > range.max {
        d.problem(node, Code::Conflict, format!("min ({}) is more than max ({})", range.min, range.max));
    }
    Some(range)
}

fn sizing(d: &mut Decoder, node: &Node<'_>) -> Option<SizingMode> {
    // YAML 1.2 reads `off` as text, and so do we.
    d.one_of(node, &[("off", SizingMode::Off), ("advise", SizingMode::Advise), ("auto", SizingMode::Auto)])
}

fn cache(d: &mut Decoder, node: &Node<'_>) -> Option<Cache> {
    match node.kind {
        Kind::Bool(enabled) => return Some(Cache::Enabled(enabled)),
        Kind::Map(_) => {}
        _ => {
            d.wrong_type(node, "true, false, or a mapping with `inputs`");
            return None;
        }
    }
    let map = d.map(node, "a cache", keys::CACHE)?;
    Some(Cache::Detailed {
        inputs: d.required(map, "inputs", |d, node| d.list(node, Decoder::filled)).unwrap_or_default(),
        max_age: d.optional(map, "max_age", positive_span),
    })
}
