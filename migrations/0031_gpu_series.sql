-- GPUs of clusters over time: a row each minute, summed up to rows of 15 minutes and of two hours. All values are sums over
-- a row's minutes, so that a longer row is the sum of shorter ones.
CREATE TABLE gpu_series (
    cluster TEXT NOT NULL,
    -- Length: 1, 15 or 120 minutes.
    step BIGINT NOT NULL,
    -- The first minute, counted from 1970-01-01, UTC.
    minute BIGINT NOT NULL,
    totals_json TEXT NOT NULL,
    -- By project, user, pipeline, task and node group.
    allocations_json TEXT NOT NULL,
    models_json TEXT NOT NULL,
    nodes_json TEXT NOT NULL,
    PRIMARY KEY (cluster, step, minute)
);

CREATE INDEX gpu_series_by_time ON gpu_series (step, minute);

-- One server at a time samples all clusters.
CREATE TABLE gpu_sampler (
    id BIGINT PRIMARY KEY,
    lease_owner TEXT,
    lease_until BIGINT
);

INSERT INTO gpu_sampler (id) VALUES (1);
