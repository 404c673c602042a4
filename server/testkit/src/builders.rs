//! Builders: `pipeline("ctr").task("pull", |task| task).task("train", |task| task.needs("pull"))`.

use std::collections::BTreeMap;

use cubeloom_domain::JsonMap;
use cubeloom_domain::canvas::Canvas;
use cubeloom_domain::executor::{Facts, NodeFacts};
use cubeloom_domain::pipeline::{
    API_VERSION, Backoff, ForEach, Parameter, ParameterType, Parameters, Pipeline, Retry, RetryOn, Task,
    TriggerRule,
};
use cubeloom_domain::quantity::Span;
use cubeloom_domain::resources::ResourceRequest;
use cubeloom_domain::template::{
    ElasticTemplate, InstalledTemplate, Localized, RoleTemplate, TaskTemplate, TemplateSet,
};
use cubeloom_domain::{Bytes, Cpu};
use serde_json::{Value, json};

#[derive(Clone, Debug)]
pub struct PipelineBuilder(pub Pipeline);

#[must_use]
pub fn pipeline(name: &str) -> PipelineBuilder {
    PipelineBuilder(Pipeline {
        api_version: API_VERSION.into(),
        kind: "Pipeline".into(),
        name: name.into(),
        description: None,
        labels: BTreeMap::new(),
        parameters: Parameters::default(),
        env: BTreeMap::new(),
        parallelism: None,
        max_active_runs: None,
        priority: None,
        preemptible: None,
        schedule: None,
        cluster: None,
        sizing: None,
        placement: None,
        tasks: Vec::new(),
        canvas: Canvas::default(),
    })
}

impl PipelineBuilder {
    /// Adds a task of the template `noop`.
    #[must_use]
    pub fn task(mut self, name: &str, make: impl FnOnce(TaskBuilder) -> TaskBuilder) -> Self {
        let task = Task { name: name.into(), template: "noop".into(), ..Task::default() };
        self.0.tasks.push(make(TaskBuilder(task)).0);
        self
    }

    /// Adds a parameter with a default.
    #[must_use]
    pub fn parameter(mut self, name: &str, kind: ParameterType, default: Value) -> Self {
        let parameter = Parameter {
            kind,
            default: Some(default),
            description: None,
            choices: None,
            minimum: None,
            maximum: None,
        };
        self.0.parameters.insert(name.into(), parameter);
        self
    }

    /// Changes any other field.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Pipeline)) -> Self {
        change(&mut self.0);
        self
    }

    #[must_use]
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(&self.0).expect("a pipeline is JSON")
    }
}

#[derive(Clone, Debug)]
pub struct TaskBuilder(pub Task);

impl TaskBuilder {
    /// Adds a dependency.
    #[must_use]
    pub fn needs(mut self, need: &str) -> Self {
        self.0.needs.push(need.into());
        self
    }

    /// Sets the template.
    #[must_use]
    pub fn template(mut self, name: &str) -> Self {
        self.0.template = name.into();
        self
    }

    /// Sets an argument.
    #[must_use]
    pub fn argument(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.arguments.insert(name.into(), value.into());
        self
    }

    /// Sets the resources of each worker.
    #[must_use]
    pub fn resources(mut self, cpu: &str, memory: &str) -> Self {
        self.0.resources = Some(Box::new(ResourceRequest {
            cpu: Some(cpu.parse().expect("an amount of CPU")),
            memory: Some(memory.parse().expect("an amount of memory")),
            ..ResourceRequest::default()
        }));
        self
    }

    /// Sets the max attempts, without backoff, after every kind of failure.
    #[must_use]
    pub fn attempts(mut self, attempts: u32) -> Self {
        let on =
            vec![RetryOn::Error, RetryOn::OutOfMemory, RetryOn::Timeout, RetryOn::Lost, RetryOn::Preempted];
        let backoff = Some(Backoff { initial: span("0s"), factor: None, max: None });
        self.0.retry = Some(Retry { attempts, backoff, on: Some(on) });
        self
    }

    /// Sets the trigger rule.
    #[must_use]
    pub fn trigger(mut self, rule: TriggerRule) -> Self {
        self.0.trigger = Some(rule);
        self
    }

    /// One instance for each of these items.
    #[must_use]
    pub fn for_each(mut self, items: Value) -> Self {
        self.0.for_each =
            Some(Box::new(ForEach { list: Some(items), matrix: None, from: None, parallelism: None }));
        self
    }

    /// One instance for each item that the expression yields.
    #[must_use]
    pub fn for_each_from(mut self, expression: &str) -> Self {
        self.0.for_each = Some(Box::new(ForEach {
            list: None,
            matrix: None,
            from: Some(expression.into()),
            parallelism: None,
        }));
        self
    }

    /// Changes any other field.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Task)) -> Self {
        change(&mut self.0);
        self
    }
}

#[must_use]
pub fn span(text: &str) -> Span {
    text.parse().expect("a length of time")
}

/// The templates `noop` (one worker), `gang` (argument `workers`), `elastic` (arguments `min` and `max`), and
/// `pair` (a master and a worker).
#[must_use]
pub fn templates() -> TemplateSet {
    let install = |template: TaskTemplate| {
        let installed = InstalledTemplate { digest: "0".repeat(64), folder: "/nowhere".into(), template };
        (installed.template.name.clone(), BTreeMap::from([(installed.template.version.clone(), installed)]))
    };
    let gang = TaskTemplate {
        framework: "indexed".into(),
        roles: vec![role(json!("{{ args.workers }}"))],
        parameters: json!({"type": "object", "properties": {"workers": {"type": "integer", "default": 2}}}),
        ..noop("gang")
    };
    let range = ElasticTemplate { min: json!("{{ args.min }}"), max: json!("{{ args.max }}"), leader: true };
    let elastic = TaskTemplate {
        framework: "indexed".into(),
        roles: vec![role(json!("{{ args.min }}"))],
        parameters: json!({"type": "object", "properties": {
            "min": {"type": "integer", "default": 1},
            "max": {"type": "integer", "default": 4},
        }}),
        elastic: Some(range),
        ..noop("elastic")
    };
    let master = RoleTemplate { name: "master".into(), ..role(json!(1)) };
    let pair =
        TaskTemplate { framework: "xgboost".into(), roles: vec![master, role(json!(1))], ..noop("pair") };
    TemplateSet::from([install(noop("noop")), install(gang), install(elastic), install(pair)])
}

fn role(replicas: Value) -> RoleTemplate {
    let resources = Some(json!({"cpu": "100m", "memory": "16Mi"}));
    RoleTemplate { name: "worker".into(), replicas, resources, command: None }
}

fn noop(name: &str) -> TaskTemplate {
    let text = |text: &str| Localized { en: text.into(), zh: text.into() };
    TaskTemplate {
        api_version: API_VERSION.into(),
        kind: "TaskTemplate".into(),
        name: name.into(),
        version: "1.0.0".into(),
        group: "basics".into(),
        label: text(name),
        help: text("Does nothing."),
        framework: "single".into(),
        image: None,
        writable_root: false,
        local: None,
        parameters: json!({"type": "object", "properties": {}}),
        checks: Vec::new(),
        roles: vec![role(json!(1))],
        command: vec!["/bin/true".into()],
        env: BTreeMap::new(),
        gang: None,
        preflight: false,
        elastic: None,
        outputs: Vec::new(),
    }
}

/// A cluster `local` of one node.
#[must_use]
pub fn facts(cpu: &str, memory: &str) -> Facts {
    let cpu: Cpu = cpu.parse().expect("an amount of CPU");
    let memory: Bytes = memory.parse().expect("an amount of memory");
    let node = NodeFacts { name: "local".into(), cpu, memory, ..NodeFacts::default() };
    Facts { cluster: "local".into(), kind: "local".into(), nodes: vec![node], ..Facts::default() }
}

/// Outputs, from JSON.
#[must_use]
pub fn outputs(value: Value) -> JsonMap {
    value.as_object().cloned().unwrap_or_default()
}
