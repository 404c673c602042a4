-- The registry of models. A version never changes; its number is given once, also when it is deleted.
CREATE TABLE models (
    project TEXT NOT NULL REFERENCES projects (name),
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    -- Which version each alias stands for, a JSON object.
    aliases_json TEXT NOT NULL,
    -- The highest number that was given.
    counted BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (project, name)
);

CREATE TABLE model_versions (
    project TEXT NOT NULL,
    model TEXT NOT NULL,
    version BIGINT NOT NULL,
    -- Below the project's workspace.
    path TEXT NOT NULL,
    -- What the program said of it.
    reported_json TEXT NOT NULL,
    -- Where it comes from: the run may have been deleted since.
    run_id TEXT NOT NULL,
    task_name TEXT NOT NULL,
    instance BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    pipeline TEXT NOT NULL,
    pipeline_version BIGINT,
    code TEXT,
    user_name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (project, model, version),
    FOREIGN KEY (project, model) REFERENCES models (project, name)
);

-- A success that is written twice registers once.
CREATE UNIQUE INDEX model_versions_once ON model_versions (run_id, task_name, instance, attempt, model, path);
