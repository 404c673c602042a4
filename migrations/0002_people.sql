-- People, projects, and what belongs to them. The same rules as in 0001: TEXT, BIGINT, DOUBLE PRECISION; times in
-- microseconds (UTC); flags 0 or 1; `_json` holds a document. `revision` counts changes of a row: it is its ETag.

CREATE TABLE projects (
    name TEXT PRIMARY KEY,
    label TEXT NOT NULL,
    description TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    revision BIGINT NOT NULL
);

-- The project of runs that are started on the command line. It was always there: its time is 0.
INSERT INTO projects (name, label, description, created_at, revision) VALUES ('default', 'Default', '', 0, 1);

CREATE TABLE users (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    display_name TEXT NOT NULL,
    email TEXT,
    -- A PHC string; none for people who sign in elsewhere only.
    password_hash TEXT,
    admin BIGINT NOT NULL,
    disabled BIGINT NOT NULL,
    -- OpenID Connect.
    issuer TEXT,
    subject TEXT,
    created_at BIGINT NOT NULL,
    seen_at BIGINT,
    revision BIGINT NOT NULL
);

CREATE UNIQUE INDEX users_by_subject ON users (issuer, subject) WHERE subject IS NOT NULL;

CREATE TABLE members (
    project TEXT NOT NULL REFERENCES projects (name),
    user_id TEXT NOT NULL REFERENCES users (id),
    role TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (project, user_id)
);

CREATE INDEX members_by_user ON members (user_id);

-- Who is signed in where. `key` is the id of the present cookie; the one before is valid for a short time, for
-- requests that were under way when it was replaced.
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id),
    session_key TEXT NOT NULL,
    previous_key TEXT,
    previous_until BIGINT,
    created_at BIGINT NOT NULL,
    renewed_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT,
    address TEXT NOT NULL,
    agent TEXT NOT NULL
);

CREATE INDEX sessions_by_user ON sessions (user_id);

CREATE TABLE api_tokens (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id),
    name TEXT NOT NULL,
    -- SHA-256 of the secret part, in hexadecimal.
    hash TEXT NOT NULL,
    scope TEXT NOT NULL,
    -- Only this project's; all of the person's when null.
    project TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    used_at BIGINT,
    revoked_at BIGINT
);

CREATE INDEX api_tokens_by_user ON api_tokens (user_id);

-- One-time links: the first administrator's, invitations, lost passwords.
CREATE TABLE links (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    user_id TEXT,
    project TEXT,
    role TEXT,
    admin BIGINT NOT NULL,
    note TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT
);

-- `owner` is a project's name or a person's id, by `owner_kind` ('project', 'user').
CREATE TABLE secrets (
    owner_kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    -- Encrypted; see the web's documentation of secrets for the format.
    sealed TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    updated_by TEXT NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (owner_kind, owner, name)
);

CREATE TABLE volumes (
    project TEXT NOT NULL REFERENCES projects (name),
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    description TEXT NOT NULL,
    config_json TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (project, name)
);

CREATE TABLE registries (
    project TEXT NOT NULL REFERENCES projects (name),
    name TEXT NOT NULL,
    host TEXT NOT NULL,
    user_name TEXT NOT NULL,
    -- The project's secret that holds the password.
    secret TEXT,
    created_at BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (project, name)
);

-- URLs that start a pipeline. The signature in the URL is made from the server's key, the id and the revision.
CREATE TABLE hooks (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (name),
    pipeline TEXT NOT NULL,
    name TEXT NOT NULL,
    parameters_json TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    used_at BIGINT,
    revision BIGINT NOT NULL
);

CREATE INDEX hooks_by_pipeline ON hooks (project, pipeline);

-- Every change: who, what, from where, before and after. Rows are only added.
CREATE TABLE audit (
    id TEXT PRIMARY KEY,
    at BIGINT NOT NULL,
    user_id TEXT,
    user_name TEXT NOT NULL,
    via TEXT NOT NULL,
    address TEXT NOT NULL,
    project TEXT,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    before_json TEXT,
    after_json TEXT
);

CREATE INDEX audit_by_project ON audit (project, id);
CREATE INDEX audit_by_user ON audit (user_name, id);
CREATE INDEX audit_by_subject ON audit (subject, id);

-- Answers to requests that carried an Idempotency-Key; `status` is null while the first is under way.
CREATE TABLE idempotency (
    user_id TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    request_hash TEXT NOT NULL,
    status BIGINT,
    headers_json TEXT,
    body TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, idempotency_key)
);

CREATE INDEX idempotency_by_age ON idempotency (created_at);

ALTER TABLE pipelines ADD COLUMN description TEXT NOT NULL DEFAULT '';
ALTER TABLE pipelines ADD COLUMN labels_json TEXT NOT NULL DEFAULT '{}';
ALTER TABLE pipelines ADD COLUMN deleted BIGINT NOT NULL DEFAULT 0;

-- Name, description and labels in lower case, which the two databases would make differently: what is searched.
ALTER TABLE pipelines ADD COLUMN search_text TEXT NOT NULL DEFAULT '';
UPDATE pipelines SET search_text = name;

-- What stands beside the document: the digest of the pipeline's folder, and what the author said of the change.
ALTER TABLE pipeline_versions ADD COLUMN code TEXT;
ALTER TABLE pipeline_versions ADD COLUMN message TEXT NOT NULL DEFAULT '';

ALTER TABLE runs ADD COLUMN version BIGINT;
ALTER TABLE runs ADD COLUMN parameters_json TEXT NOT NULL DEFAULT '{}';

CREATE INDEX runs_by_project ON runs (project, id);
CREATE INDEX runs_live_by_id ON runs (id) WHERE live = 1;

-- What a run's deletion and the history of a task look for.
CREATE INDEX wishes_by_run ON wishes (run_id);
CREATE INDEX cache_by_run ON cache (run_id);
CREATE INDEX attempts_ended ON attempts (run_id, task_name) WHERE live = 0;

-- Instances that have not ended: a run of 100,000 that wait has as many rows here, one that is over none.
CREATE INDEX instances_open ON instances (run_id, ready_at) WHERE ended_at IS NULL;
