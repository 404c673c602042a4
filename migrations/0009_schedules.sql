-- What started a run, the moment that it stands for, and by when it should have succeeded.
ALTER TABLE runs ADD COLUMN started_by TEXT NOT NULL DEFAULT 'person';
ALTER TABLE runs ADD COLUMN logical_date BIGINT;
ALTER TABLE runs ADD COLUMN late_at BIGINT;

UPDATE runs SET started_by = 'task' WHERE parent IS NOT NULL;

-- How the schedule of each pipeline stands: a row for every pipeline whose newest version was looked at.
CREATE TABLE schedules (
    project TEXT NOT NULL,
    pipeline TEXT NOT NULL,
    version BIGINT NOT NULL,
    schedule_json TEXT,
    set_by TEXT NOT NULL,
    set_at BIGINT NOT NULL,
    handled_at BIGINT NOT NULL,
    next_at BIGINT,
    paused_by TEXT,
    paused_at BIGINT,
    revision BIGINT NOT NULL,
    PRIMARY KEY (project, pipeline)
);

-- Those that were there before there were schedules begin from when they are looked at first.
INSERT INTO schedules (project, pipeline, version, set_by, set_at, handled_at, revision)
SELECT project, name, 0, '', 0, 0, 1 FROM pipelines WHERE deleted = 0;

CREATE INDEX schedules_next ON schedules (next_at) WHERE next_at IS NOT NULL;

-- One row for each date of a pipeline: two runs of one date cannot both be entered here.
CREATE TABLE firings (
    project TEXT NOT NULL,
    pipeline TEXT NOT NULL,
    logical_date BIGINT NOT NULL,
    started_by TEXT NOT NULL,
    user_name TEXT NOT NULL,
    state TEXT NOT NULL,
    run_id TEXT,
    why TEXT,
    detail TEXT,
    backfill TEXT,
    changed_at BIGINT NOT NULL,
    PRIMARY KEY (project, pipeline, logical_date)
);

CREATE INDEX firings_due ON firings (project, pipeline, logical_date) WHERE state = 'due';
CREATE INDEX firings_by_date ON firings (project, logical_date);
CREATE INDEX firings_by_run ON firings (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX firings_by_backfill ON firings (backfill, state) WHERE backfill IS NOT NULL;

CREATE TABLE backfills (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    pipeline TEXT NOT NULL,
    first_date BIGINT NOT NULL,
    last_date BIGINT NOT NULL,
    parallelism BIGINT NOT NULL,
    total BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    cancelled_by TEXT,
    cancelled_at BIGINT
);

CREATE INDEX backfills_by_pipeline ON backfills (project, pipeline, id);
