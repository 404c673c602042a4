-- What attempts held and used, added up by day when they end, so that a report over years reads no attempt.

-- Whom an attempt is counted for; empty in attempts of before, whose plan says it.
ALTER TABLE attempts ADD COLUMN user_name TEXT NOT NULL DEFAULT '';
ALTER TABLE attempts ADD COLUMN template TEXT NOT NULL DEFAULT '';
-- Thousandths of a card that are shared with others.
ALTER TABLE attempts ADD COLUMN card_parts BIGINT NOT NULL DEFAULT 0;
-- How often its end was written: the first time it is counted, and never again.
ALTER TABLE attempts ADD COLUMN counted BIGINT NOT NULL DEFAULT 0;

-- Attempts that ended before they were counted; once these are, it stays empty.
CREATE INDEX attempts_uncounted ON attempts (run_id) WHERE live = 0 AND counted = 0;

-- Days are counted from 1970-01-01, UTC. Amounts are seconds times the smallest part of what they are of: thousandths
-- of a core, MiB, thousandths of a card. Costs are millionths of the currency.
CREATE TABLE usage_days (
    day BIGINT NOT NULL,
    project TEXT NOT NULL,
    user_name TEXT NOT NULL,
    pipeline TEXT NOT NULL,
    template TEXT NOT NULL,
    cluster TEXT NOT NULL,
    -- Empty for nodes of no group.
    node_group TEXT NOT NULL,
    cpu BIGINT NOT NULL,
    memory BIGINT NOT NULL,
    gpu BIGINT NOT NULL,
    used_cpu BIGINT NOT NULL,
    used_memory BIGINT NOT NULL,
    -- On the day on which they ended.
    attempts BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    cost_cpu BIGINT NOT NULL,
    cost_memory BIGINT NOT NULL,
    cost_gpu BIGINT NOT NULL,
    PRIMARY KEY (day, project, user_name, pipeline, template, cluster, node_group)
);

CREATE INDEX usage_days_by_project ON usage_days (project, day);
CREATE INDEX usage_days_by_cluster ON usage_days (cluster, day);

-- What an hour costs, from a day on until the next price of the same pool.
CREATE TABLE prices (
    id TEXT PRIMARY KEY,
    cluster TEXT NOT NULL,
    -- Empty for every node group without a price of its own.
    node_group TEXT NOT NULL,
    valid_from BIGINT NOT NULL,
    cpu BIGINT NOT NULL,
    memory BIGINT NOT NULL,
    gpu BIGINT NOT NULL,
    user_name TEXT NOT NULL,
    revision BIGINT NOT NULL
);

CREATE UNIQUE INDEX prices_by_pool ON prices (cluster, node_group, valid_from);

-- What a project may spend in each month, from a month on until the next budget.
CREATE TABLE budgets (
    project TEXT NOT NULL REFERENCES projects (name),
    -- `2026-01`: sorts as it counts.
    month TEXT NOT NULL,
    -- Null: no bound.
    amount BIGINT,
    warn_percent BIGINT NOT NULL,
    stop BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (project, month)
);
