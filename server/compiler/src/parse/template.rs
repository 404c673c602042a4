//! The decoder of task templates.

use cubeloom_domain::Code;
use cubeloom_domain::template::{
    CheckTemplate, ElasticTemplate, LocalRuntime, Localized, OutputTemplate, PythonRuntime, RoleTemplate,
    TaskTemplate,
};
use serde_json::Value;

use super::decode::Decoder;
use super::keys;
use super::node::{Kind, Node};
use super::pipeline::{env, version};

/// Decodes a whole template; invalid parts are empty.
pub fn template(d: &mut Decoder, node: &Node<'_>) -> Option<TaskTemplate> {
    let map = d.map(node, "a task template", keys::TEMPLATE)?;
    d.required(map, "apiVersion", |d, node| version(d, node, "cubeloom/v1"));
    d.required(map, "kind", |d, node| version(d, node, "TaskTemplate"));
    Some(TaskTemplate {
        api_version: cubeloom_domain::pipeline::API_VERSION.into(),
        kind: "TaskTemplate".into(),
        name: d.required(map, "name", Decoder::name).unwrap_or_default(),
        version: d.required(map, "version", Decoder::word).unwrap_or_default(),
        group: d.required(map, "group", Decoder::name).unwrap_or_default(),
        label: d.required(map, "label", localized).unwrap_or_else(nothing),
        help: d.required(map, "help", localized).unwrap_or_else(nothing),
        framework: d.required(map, "framework", Decoder::filled).unwrap_or_default(),
        image: d.optional(map, "image", Decoder::filled),
        writable_root: d.optional(map, "writable_root", Decoder::boolean).unwrap_or(false),
        local: d.optional(map, "local", local),
        parameters: d
            .optional(map, "parameters", |d, node| d.object(node).map(Value::Object))
            .unwrap_or_else(|| serde_json::json!({"type": "object", "additionalProperties": false})),
        checks: d.optional(map, "checks", |d, node| d.list(node, check)).unwrap_or_default(),
        roles: d.optional(map, "roles", |d, node| d.list(node, role)).unwrap_or_default(),
        command: d.optional(map, "command", command).unwrap_or_default(),
        env: d.optional(map, "env", env).unwrap_or_default(),
        gang: d.optional(map, "gang", Decoder::boolean),
        preflight: d.optional(map, "preflight", Decoder::boolean).unwrap_or(false),
        elastic: d.optional(map, "elastic", elastic),
        outputs: d.optional(map, "outputs", |d, node| d.list(node, output)).unwrap_or_default(),
    })
}

fn nothing() -> Localized {
    Localized { en: String::new(), zh: String::new() }
}

fn localized(d: &mut Decoder, node: &Node<'_>) -> Option<Localized> {
    let map = d.map(node, "a text in both languages", keys::LOCALIZED)?;
    let en = d.required(map, "en", Decoder::filled);
    let zh = d.required(map, "zh", Decoder::filled);
    Some(Localized { en: en?, zh: zh? })
}

fn local(d: &mut Decoder, node: &Node<'_>) -> Option<LocalRuntime> {
    let map = d.map(node, "a local run-time", keys::LOCAL)?;
    Some(LocalRuntime {
        python: d.optional(map, "python", python),
        apt: d.optional(map, "apt", |d, node| d.list(node, Decoder::filled)).unwrap_or_default(),
    })
}

fn python(d: &mut Decoder, node: &Node<'_>) -> Option<PythonRuntime> {
    let map = d.map(node, "a Python run-time", keys::PYTHON)?;
    Some(PythonRuntime {
        interpreter: d.optional(map, "interpreter", Decoder::filled),
        requirements: d.optional(map, "requirements", requirements).unwrap_or(Value::Null),
        system_site_packages: d.optional(map, "system_site_packages", Decoder::boolean).unwrap_or(false),
        provided: d.optional(map, "provided", |d, node| d.list(node, Decoder::name)).unwrap_or_default(),
        builds: d.optional(map, "builds", |d, node| d.list(node, Decoder::name)).unwrap_or_default(),
    })
}

fn requirements(d: &mut Decoder, node: &Node<'_>) -> Option<Value> {
    if matches!(node.kind, Kind::String(_)) {
        return Some(node.to_json());
    }
    d.list(node, Decoder::filled).map(Value::from)
}

fn check(d: &mut Decoder, node: &Node<'_>) -> Option<CheckTemplate> {
    let map = d.map(node, "a check", keys::CHECK)?;
    let holds = d.required(map, "holds", Decoder::filled);
    let argument = d.required(map, "argument", Decoder::filled);
    let says = d.required(map, "says", Decoder::filled);
    Some(CheckTemplate { holds: holds?, argument: argument?, says: says? })
}

fn role(d: &mut Decoder, node: &Node<'_>) -> Option<RoleTemplate> {
    let map = d.map(node, "a role", keys::ROLE)?;
    Some(RoleTemplate {
        name: d.required(map, "name", Decoder::name)?,
        replicas: d.required(map, "replicas", number_or_expression).unwrap_or(Value::from(1)),
        resources: d.optional(map, "resources", |d, node| d.object(node).map(Value::Object)),
        command: d.optional(map, "command", command),
    })
}

fn number_or_expression(d: &mut Decoder, node: &Node<'_>) -> Option<Value> {
    if matches!(node.kind, Kind::String(_)) {
        return Some(node.to_json());
    }
    d.count(node, 0).map(Value::from)
}

fn command(d: &mut Decoder, node: &Node<'_>) -> Option<Vec<String>> {
    let words = d.list(node, Decoder::word)?;
    if words.is_empty() {
        d.problem(node, Code::InvalidValue, "a command needs at least a program");
    }
    Some(words)
}

fn elastic(d: &mut Decoder, node: &Node<'_>) -> Option<ElasticTemplate> {
    let map = d.map(node, "an elastic range", keys::ELASTIC_TEMPLATE)?;
    let min = d.required(map, "min", number_or_expression);
    let max = d.required(map, "max", number_or_expression);
    let leader = d.optional(map, "leader", Decoder::boolean).unwrap_or(false);
    Some(ElasticTemplate { min: min?, max: max?, leader })
}

fn output(d: &mut Decoder, node: &Node<'_>) -> Option<OutputTemplate> {
    let map = d.map(node, "an output", keys::OUTPUT)?;
    Some(OutputTemplate {
        name: d.required(map, "name", Decoder::filled)?,
        description: d.optional(map, "description", Decoder::text),
    })
}
