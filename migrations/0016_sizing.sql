-- What an attempt's workers get, role by role, why, and what they used; null where nothing is sized. JSON.
ALTER TABLE attempts ADD COLUMN sizing_json TEXT;

-- Whether CPU and memory are chosen from real use, for tasks that do not say it: off, advise or auto.
ALTER TABLE projects ADD COLUMN sizing TEXT NOT NULL DEFAULT 'advise';

-- What the last attempts had and used, by task and role; with an empty pipeline and task, those of a template in the whole
-- project. A list, the newest last, JSON.
CREATE TABLE sizes (
    project TEXT NOT NULL,
    pipeline TEXT NOT NULL,
    task_name TEXT NOT NULL,
    template TEXT NOT NULL,
    role TEXT NOT NULL,
    past_json TEXT NOT NULL,
    PRIMARY KEY (project, pipeline, task_name, template, role)
);

-- Every change of what the workers of a role get, with the attempt that got it first.
CREATE TABLE size_changes (
    project TEXT NOT NULL,
    pipeline TEXT NOT NULL,
    task_name TEXT NOT NULL,
    changed_at BIGINT NOT NULL,
    attempt TEXT NOT NULL,
    role TEXT NOT NULL,
    sized_json TEXT NOT NULL,
    PRIMARY KEY (project, pipeline, task_name, changed_at, attempt, role)
);

-- Tasks of which somebody took sizing back.
CREATE TABLE size_reverts (
    project TEXT NOT NULL,
    pipeline TEXT NOT NULL,
    task_name TEXT NOT NULL,
    user_name TEXT NOT NULL,
    reverted_at BIGINT NOT NULL,
    PRIMARY KEY (project, pipeline, task_name)
);
