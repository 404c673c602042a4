-- Clusters that an administrator has added. The server's own machine is none of them.
CREATE TABLE clusters (
    name TEXT PRIMARY KEY,
    description TEXT NOT NULL,
    -- How it is reached and what is on it, JSON.
    settings TEXT NOT NULL,
    -- The kubeconfig, encrypted with the server's key.
    sealed TEXT,
    created_at BIGINT NOT NULL,
    revision BIGINT NOT NULL
);
