//! The known keys of each mapping. A test compares them with the published JSON Schema.

pub const PIPELINE: &[&str] = &[
    "apiVersion",
    "kind",
    "name",
    "description",
    "labels",
    "parameters",
    "env",
    "parallelism",
    "max_active_runs",
    "priority",
    "preemptible",
    "schedule",
    "cluster",
    "sizing",
    "placement",
    "tasks",
    "canvas",
];
pub const PREFLIGHT: &[&str] = &["wait", "restarts"];
pub const CANVAS: &[&str] = &["direction", "positions", "frames", "notes"];
pub const FRAME: &[&str] = &["title", "tasks"];
pub const NOTE: &[&str] = &["text", "at", "size"];
pub const TASK: &[&str] = &[
    "name",
    "template",
    "description",
    "arguments",
    "needs",
    "resources",
    "role_resources",
    "setup",
    "env",
    "secrets",
    "volumes",
    "retry",
    "timeout",
    "hang",
    "preflight",
    "when",
    "trigger",
    "for_each",
    "search",
    "placement",
    "priority",
    "preemptible",
    "limits",
    "elastic",
    "sizing",
    "outputs",
    "cache",
];
/// Keys that a task and its placement lack on purpose, with the message for each (decision 30).
pub const NOT_OF_TASKS: &[(&str, &str)] = &[(
    "cluster",
    "all tasks of a run go to one cluster: set it for the pipeline, or move this task to another pipeline and run that with the task template `pipeline`",
)];
pub const PARAMETER: &[&str] = &["type", "default", "description", "enum", "minimum", "maximum"];
pub const SCHEDULE: &[&str] = &[
    "cron",
    "every",
    "after",
    "file",
    "timezone",
    "start",
    "end",
    "catch_up",
    "depends_on_past",
    "skip_if_running",
    "jitter",
    "late_after",
    "paused",
];
pub const AFTER: &[&str] = &["pipeline", "project", "state"];
pub const ARRIVAL: &[&str] = &["volume", "path", "every"];
pub const RETRY: &[&str] = &["attempts", "backoff", "on"];
pub const BACKOFF: &[&str] = &["initial", "factor", "max"];
pub const FOR_EACH: &[&str] = &["list", "matrix", "from", "parallelism"];
pub const SEARCH: &[&str] = &[
    "over",
    "maximize",
    "minimize",
    "method",
    "trials",
    "parallelism",
    "seed",
    "early_stop",
    "max_failures",
];
pub const RANGE: &[&str] = &["type", "minimum", "maximum", "step", "scale"];
pub const EARLY_STOP: &[&str] = &["min_steps", "factor"];
pub const PLACEMENT: &[&str] =
    &["spread", "spread_by", "workers", "node_group", "selector", "tolerations", "host_network"];
pub const TOLERATION: &[&str] = &["key", "value", "effect"];
pub const HANG: &[&str] = &["after", "action", "restarts"];
pub const ELASTIC: &[&str] = &["min", "max"];
pub const RESOURCES: &[&str] =
    &["cpu", "cpu_limit", "memory", "gpu", "processes_per_gpu", "shm", "rdma", "cpu_exclusive", "pinned"];
pub const GPU: &[&str] = &["count", "fraction", "memory", "type"];
pub const SECRET: &[&str] = &["name", "env", "file"];
pub const VOLUME: &[&str] = &["name", "mount", "read_only"];
pub const CACHE: &[&str] = &["inputs", "max_age"];

pub const TEMPLATE: &[&str] = &[
    "apiVersion",
    "kind",
    "name",
    "version",
    "group",
    "label",
    "help",
    "framework",
    "image",
    "writable_root",
    "local",
    "parameters",
    "checks",
    "roles",
    "command",
    "env",
    "gang",
    "preflight",
    "elastic",
    "outputs",
];
pub const ELASTIC_TEMPLATE: &[&str] = &["min", "max", "leader"];
pub const LOCALIZED: &[&str] = &["en", "zh"];
pub const LOCAL: &[&str] = &["python", "apt"];
pub const PYTHON: &[&str] = &["interpreter", "requirements", "system_site_packages", "provided", "builds"];
pub const CHECK: &[&str] = &["holds", "argument", "says"];
pub const ROLE: &[&str] = &["name", "replicas", "resources", "command"];
pub const OUTPUT: &[&str] = &["name", "description"];
