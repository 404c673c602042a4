-- Which secrets the tasks of a run were given, and for whom: each is in the audit log once.
CREATE TABLE secret_uses (
    run_id TEXT NOT NULL,
    user_name TEXT NOT NULL,
    secret TEXT NOT NULL,
    PRIMARY KEY (run_id, user_name, secret)
);

-- The receivers that the audit log is sent to. Every entry up to `position` was sent; of later ones, those in `audit_sent`.
CREATE TABLE audit_streams (
    name TEXT PRIMARY KEY,
    position TEXT NOT NULL,
    due_at BIGINT NOT NULL DEFAULT 0,
    lease_owner TEXT,
    lease_until BIGINT,
    failures BIGINT NOT NULL DEFAULT 0,
    failed_since BIGINT,
    error TEXT
);

-- Ids are not committed in their order: what is sent is noted one by one while an earlier id may still come.
CREATE TABLE audit_sent (
    stream TEXT NOT NULL,
    entry TEXT NOT NULL,
    PRIMARY KEY (stream, entry)
);
