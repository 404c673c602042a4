-- How long the last successful attempts took, by task and place; with an empty pipeline and task, those of a template in
-- the whole project. A list of microseconds, the newest last, JSON.
CREATE TABLE lengths (
    project TEXT NOT NULL,
    pipeline TEXT NOT NULL,
    task_name TEXT NOT NULL,
    template TEXT NOT NULL,
    cluster TEXT NOT NULL,
    -- Empty for nodes of no group.
    node_group TEXT NOT NULL,
    lengths_json TEXT NOT NULL,
    PRIMARY KEY (project, pipeline, task_name, template, cluster, node_group)
);
