-- The ends of runs that fire a schedule, and what came of looking for files.
ALTER TABLE schedules ADD COLUMN after_project TEXT;
ALTER TABLE schedules ADD COLUMN after_pipeline TEXT;
ALTER TABLE schedules ADD COLUMN after_state TEXT;
ALTER TABLE schedules ADD COLUMN after_until BIGINT;
ALTER TABLE schedules ADD COLUMN look_json TEXT;

CREATE INDEX schedules_after ON schedules (after_project, after_pipeline) WHERE after_pipeline IS NOT NULL;

-- What happened that a date is fired for: the run that ended, or the path of the file that arrived.
ALTER TABLE firings ADD COLUMN event_at BIGINT;
ALTER TABLE firings ADD COLUMN event TEXT;

-- Runs that are to be looked at for whether they are late.
CREATE INDEX runs_by_lateness ON runs (late_at) WHERE late_at IS NOT NULL;

-- Quotas that are nearly used: since when, and whether that was told.
CREATE TABLE quota_marks (
    project TEXT NOT NULL,
    pool TEXT NOT NULL,
    resource TEXT NOT NULL,
    since BIGINT NOT NULL,
    told BIGINT NOT NULL,
    PRIMARY KEY (project, pool, resource)
);
