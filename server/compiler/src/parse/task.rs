//! The decoder of tasks.

use cubeloom_domain::Code;
use cubeloom_domain::hang::HangAction;
use cubeloom_domain::pipeline::{
    Backoff, Cache, ElasticRange, ForEach, HangRule, Retry, RetryOn, SecretUse, SizingMode, Task,
    TriggerRule, VolumeUse, Written,
};
use cubeloom_domain::preflight::{PreflightRule, PreflightUse};

use super::decode::Decoder;
use super::keys;
use super::node::{Kind, Node, number};
use super::pipeline::{env, is_variable, positive_span, priority, span};
use super::placement::placement;
use super::resources::resources;
use super::search::search;
use crate::path::Path;

pub fn task(d: &mut Decoder, node: &Node<'_>) -> Option<Task> {
    let map = d.map_without(node, "a task", keys::TASK, keys::NOT_OF_TASKS)?;
    Some(Task {
        name: d.required(map, "name", Decoder::name).unwrap_or_default(),
        template: d.required(map, "template", Decoder::filled).unwrap_or_default(),
        description: d.optional(map, "description", Decoder::text),
        arguments: d.optional(map, "arguments", Decoder::object).unwrap_or_default(),
        written: map.get("arguments").and_then(written),
        needs: d.optional(map, "needs", |d, node| d.list(node, Decoder::word)).unwrap_or_default(),
        resources: d.optional(map, "resources", resources).map(Box::new),
        role_resources: d
            .optional(map, "role_resources", |d, node| d.table(node, resources))
            .unwrap_or_default(),
        setup: d.optional(map, "setup", |d, node| d.list(node, Decoder::word)).unwrap_or_default(),
        env: d.optional(map, "env", env).unwrap_or_default(),
        secrets: d.optional(map, "secrets", |d, node| d.list(node, secret)).unwrap_or_default(),
        volumes: d.optional(map, "volumes", |d, node| d.list(node, volume)).unwrap_or_default(),
        retry: d.optional(map, "retry", retry),
        timeout: d.optional(map, "timeout", positive_span),
        hang: d.optional(map, "hang", hang),
        preflight: d.optional(map, "preflight", preflight),
        when: d.optional(map, "when", Decoder::word),
        trigger: d.optional(map, "trigger", trigger),
        for_each: d.optional(map, "for_each", for_each).map(Box::new),
        search: d.optional(map, "search", search).map(Box::new),
        placement: d.optional(map, "placement", placement).map(Box::new),
        priority: d.optional(map, "priority", priority),
        preemptible: d.optional(map, "preemptible", Decoder::boolean),
        limits: d.optional(map, "limits", |d, node| d.list(node, Decoder::name)).unwrap_or_default(),
        elastic: d.optional(map, "elastic", elastic),
        sizing: d.optional(map, "sizing", sizing),
        outputs: d.optional(map, "outputs", |d, node| d.list(node, Decoder::filled)).unwrap_or_default(),
        cache: d.optional(map, "cache", cache),
    })
}

/// The numbers of the arguments that JSON writes differently from the document, by JSON pointer.
fn written(arguments: &Node<'_>) -> Option<Box<Written>> {
    fn note(node: &Node<'_>, path: &mut Path, found: &mut Written) {
        match &node.kind {
            Kind::Number(text) if number(text).is_some_and(|number| number.to_string() != *text) => {
                found.insert(path.pointer(), text.to_string());
            }
            Kind::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    path.push_index(at);
                    note(item, path, found);
                    path.pop();
                }
            }
            Kind::Map(entries) => {
                for entry in entries {
                    path.push_key(&entry.key);
                    note(&entry.value, path, found);
                    path.pop();
                }
            }
            _ => {}
        }
    }
    let mut found = Written::new();
    note(arguments, &mut Path::default(), &mut found);
    (!found.is_empty()).then(|| Box::new(found))
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

/// A plain file name, without folders.
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

fn hang(d: &mut Decoder, node: &Node<'_>) -> Option<HangRule> {
    let map = d.map(node, "a rule for hangs", keys::HANG)?;
    let actions = [("mark", HangAction::Mark), ("restart", HangAction::Restart)];
    Some(HangRule {
        after: d.optional(map, "after", positive_span),
        action: d.optional(map, "action", |d, node| d.one_of(node, &actions)),
        restarts: d.optional(map, "restarts", |d, node| d.integer(node, 0, 100)),
    })
}

fn preflight(d: &mut Decoder, node: &Node<'_>) -> Option<PreflightUse> {
    match node.kind {
        Kind::Bool(enabled) => return Some(PreflightUse::Enabled(enabled)),
        Kind::Map(_) => {}
        _ => {
            d.wrong_type(node, "true, false, or a mapping with `wait` and `restarts`");
            return None;
        }
    }
    let map = d.map(node, "a rule for tests", keys::PREFLIGHT)?;
    Some(PreflightUse::Detailed(PreflightRule {
        wait: d.optional(map, "wait", positive_span),
        restarts: d.optional(map, "restarts", |d, node| d.integer(node, 0, 100)),
    }))
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

/// The right-sizing mode.
pub fn sizing(d: &mut Decoder, node: &Node<'_>) -> Option<SizingMode> {
    // YAML 1.2 reads `off` as text, and so does this parser.
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
