-- The first schema. One text for SQLite and PostgreSQL: columns are TEXT, BIGINT or DOUBLE PRECISION; times are
-- microseconds since the epoch (UTC); flags are 0 or 1; names that end in `_json` hold a JSON document.

CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    pipeline TEXT NOT NULL,
    user_name TEXT NOT NULL,
    state TEXT NOT NULL,
    live BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    ended_at BIGINT,
    tasks BIGINT NOT NULL,
    message TEXT,
    lease_owner TEXT,
    lease_until BIGINT
);

CREATE INDEX runs_by_pipeline ON runs (project, pipeline, id);

-- What the engine asks for touches these two, never the finished runs.
CREATE INDEX runs_live ON runs (project, pipeline) WHERE live = 1;
CREATE INDEX runs_leased ON runs (lease_owner) WHERE lease_owner IS NOT NULL;

-- A plan, cut into parts: part 0 is the plan without its tasks, each other part is a list of tasks.
CREATE TABLE plans (
    run_id TEXT NOT NULL REFERENCES runs (id),
    part BIGINT NOT NULL,
    part_json TEXT NOT NULL,
    PRIMARY KEY (run_id, part)
);

CREATE TABLE expansions (
    run_id TEXT NOT NULL,
    task BIGINT NOT NULL,
    items_json TEXT NOT NULL,
    PRIMARY KEY (run_id, task)
);

CREATE TABLE instances (
    run_id TEXT NOT NULL,
    task BIGINT NOT NULL,
    instance BIGINT NOT NULL,
    state_json TEXT NOT NULL,
    attempt BIGINT NOT NULL,
    tries BIGINT NOT NULL,
    ready_at BIGINT NOT NULL,
    ended_at BIGINT,
    report_json TEXT NOT NULL,
    note TEXT,
    PRIMARY KEY (run_id, task, instance)
);

CREATE TABLE attempts (
    run_id TEXT NOT NULL,
    task BIGINT NOT NULL,
    instance BIGINT NOT NULL,
    n BIGINT NOT NULL,
    task_name TEXT NOT NULL,
    live BIGINT NOT NULL,
    state_json TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    cpu BIGINT NOT NULL,
    memory BIGINT NOT NULL,
    gpus BIGINT NOT NULL,
    workers BIGINT NOT NULL,
    bindings_json TEXT NOT NULL,
    used_cpu_us BIGINT NOT NULL,
    peak_memory BIGINT NOT NULL,
    kernel_peak_memory BIGINT,
    PRIMARY KEY (run_id, task, instance, n)
);

CREATE INDEX attempts_live ON attempts (run_id) WHERE live = 1;

-- What people want of a run; ids are given by the store, in order.
CREATE TABLE wishes (
    id BIGINT PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES runs (id),
    wish_json TEXT NOT NULL,
    user_name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    handled BIGINT NOT NULL
);

CREATE INDEX wishes_open ON wishes (id, run_id) WHERE handled = 0;

CREATE TABLE cache (
    project TEXT NOT NULL,
    cache_key TEXT NOT NULL,
    parts_json TEXT NOT NULL,
    pipeline TEXT NOT NULL,
    task_name TEXT NOT NULL,
    run_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    report_json TEXT NOT NULL,
    PRIMARY KEY (project, cache_key)
);

CREATE INDEX cache_by_task ON cache (project, pipeline, task_name, created_at);

CREATE TABLE templates (
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    digest TEXT NOT NULL,
    folder TEXT NOT NULL,
    template_json TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (name, version)
);

CREATE TABLE pipelines (
    project TEXT NOT NULL,
    name TEXT NOT NULL,
    version BIGINT NOT NULL,
    PRIMARY KEY (project, name)
);

CREATE TABLE pipeline_versions (
    project TEXT NOT NULL,
    name TEXT NOT NULL,
    version BIGINT NOT NULL,
    document TEXT NOT NULL,
    digest TEXT NOT NULL,
    user_name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (project, name, version)
);

-- Numbers that are given out in the order of commits.
CREATE TABLE counters (
    name TEXT PRIMARY KEY,
    value BIGINT NOT NULL
);

INSERT INTO counters (name, value) VALUES ('wishes', 0);
