-- Limits that tasks name, across pipelines, projects and clusters.
CREATE TABLE limits (
    name TEXT PRIMARY KEY,
    -- How many jobs may hold it at once; no bound where it is null.
    at_once BIGINT,
    -- How many may be started with it in a minute; no bound where it is null.
    a_minute BIGINT,
    description TEXT,
    revision BIGINT NOT NULL
);

-- The limits that an attempt holds, a JSON list; null where it names none, as nearly all do.
ALTER TABLE attempts ADD COLUMN limits_json TEXT;

-- What was started with a limit lately.
CREATE INDEX attempts_with_limits ON attempts (created_at) WHERE limits_json IS NOT NULL;
