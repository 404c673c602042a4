-- Names for priorities, and whether jobs of a class preempt others.
CREATE TABLE priority_classes (
    name TEXT PRIMARY KEY,
    priority BIGINT NOT NULL,
    -- `never` or `lower`.
    preempts TEXT NOT NULL,
    description TEXT,
    revision BIGINT NOT NULL
);
