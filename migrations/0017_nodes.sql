-- Nodes that are set aside, and the failures for which they are.

-- Attempts that failed through their node. Those of long ago are forgotten.
CREATE TABLE node_failures (
    cluster TEXT NOT NULL,
    node TEXT NOT NULL,
    attempt TEXT NOT NULL,
    began_at BIGINT NOT NULL,
    failed_at BIGINT NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (attempt)
);
CREATE INDEX node_failures_by_time ON node_failures (failed_at);

CREATE TABLE nodes_aside (
    cluster TEXT NOT NULL,
    node TEXT NOT NULL,
    since BIGINT NOT NULL,
    why_json TEXT NOT NULL,
    PRIMARY KEY (cluster, node)
);
