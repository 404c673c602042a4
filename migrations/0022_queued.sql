-- Whether an instance waits for a place on its cluster: what the other servers have to know of it.
ALTER TABLE instances ADD COLUMN queued BIGINT NOT NULL DEFAULT 0;

UPDATE instances SET queued = 1 WHERE ended_at IS NULL AND state_json LIKE '{"state":"waiting"%'
    AND state_json NOT LIKE '%"rule":"parallelism"%' AND state_json NOT LIKE '%"rule":"decision"%';

CREATE INDEX instances_queued ON instances (run_id, ready_at) WHERE queued = 1;
