-- The test of an attempt's workers before its program began.
ALTER TABLE attempts ADD COLUMN preflight_json TEXT;
-- Whether a failure through a node has shown by itself that it is the node.
ALTER TABLE node_failures ADD COLUMN sure BIGINT NOT NULL DEFAULT 0;

-- What the newest tests measured on the nodes of a group, or on all of a cluster (an empty name).
CREATE TABLE preflight_norms (
    cluster TEXT NOT NULL,
    node_group TEXT NOT NULL,
    norm_json TEXT NOT NULL,
    PRIMARY KEY (cluster, node_group)
);
