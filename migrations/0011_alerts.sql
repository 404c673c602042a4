-- Ways to people: where messages about a project go, and what each wants to hear of.
CREATE TABLE alert_channels (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (name),
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    -- As much of the address as members may see.
    shown TEXT NOT NULL,
    -- Encrypted, like secrets.
    address TEXT NOT NULL,
    secret TEXT,
    rules_json TEXT NOT NULL,
    enabled BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    revision BIGINT NOT NULL
);

CREATE INDEX alert_channels_by_project ON alert_channels (project, id);

-- Messages: those that are to be sent have a `due_at`, the others are their history. A row is written in the transaction
-- that ends a run, which must not fail because somebody deletes the channel meanwhile: it does not refer to it.
CREATE TABLE alert_deliveries (
    id TEXT PRIMARY KEY,
    channel TEXT NOT NULL,
    project TEXT NOT NULL,
    kind TEXT NOT NULL,
    alert_key TEXT NOT NULL,
    topic TEXT NOT NULL,
    alert_json TEXT NOT NULL,
    -- What is sent together.
    batch TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    due_at BIGINT,
    tries BIGINT NOT NULL,
    ended_at BIGINT,
    answer TEXT,
    lease_owner TEXT,
    lease_until BIGINT
);

-- Each channel tells a thing once.
CREATE UNIQUE INDEX alert_deliveries_once ON alert_deliveries (channel, alert_key);
CREATE INDEX alert_deliveries_by_topic ON alert_deliveries (channel, topic, created_at);
CREATE INDEX alert_deliveries_by_project ON alert_deliveries (project, id);
CREATE INDEX alert_deliveries_due ON alert_deliveries (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX alert_deliveries_by_batch ON alert_deliveries (batch) WHERE due_at IS NOT NULL;
