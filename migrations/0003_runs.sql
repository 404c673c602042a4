-- Who last wanted the run to go on, or parts of it again; null as long as it runs as it was started.
ALTER TABLE runs ADD COLUMN acting_user TEXT;

-- Which folder of code a run was started with: what nobody names any more is removed after a time.
CREATE TABLE run_code (
    run_id TEXT PRIMARY KEY REFERENCES runs (id),
    project TEXT NOT NULL,
    code TEXT NOT NULL
);

CREATE INDEX run_code_by_code ON run_code (code, project);
CREATE INDEX versions_by_code ON pipeline_versions (code, project) WHERE code IS NOT NULL;
