-- Whether an instance waits for a place on its cluster: what the other servers have to know of it.
ALTER TABLE instances ADD COLUMN queued BIGINT NOT NULL DEFAULT 0;

CREATE INDEX instances_queued ON instances (run_id, ready_at) WHERE queued = 1;
