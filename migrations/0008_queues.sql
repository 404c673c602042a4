-- The tree of quotas: groups, and projects of which something was said. `kind` is 'group' or 'project'.
CREATE TABLE queues (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    -- The group that it is in; none at the top.
    parent TEXT,
    -- What it has, a JSON list with one entry a pool.
    quotas_json TEXT NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (kind, name)
);

-- Counts the changes of the tree. Whoever changes it holds this row, so that each change is checked against all before it.
INSERT INTO counters (name, value) VALUES ('queues', 0);

-- The history of the tree is in the audit log.
CREATE INDEX audit_by_action ON audit (action, id);

-- Where a project's jobs may go, and where they go when nothing is said, a JSON object.
ALTER TABLE projects ADD COLUMN places_json TEXT NOT NULL DEFAULT '{}';

-- The pool that an attempt holds its amount of, and the whole cards in it by the type that was asked for, a JSON object.
-- Those that an earlier program left running are counted to the server's own machine.
ALTER TABLE attempts ADD COLUMN cluster TEXT NOT NULL DEFAULT 'local';
ALTER TABLE attempts ADD COLUMN node_group TEXT;
ALTER TABLE attempts ADD COLUMN cards_json TEXT NOT NULL DEFAULT '{}';
