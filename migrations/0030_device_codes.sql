-- Command lines that request a token through a browser (RFC 8628). A row is deleted with the token's creation.
CREATE TABLE device_codes (
    id TEXT PRIMARY KEY,
    -- SHA-256 of the device code, in hexadecimal.
    hash TEXT NOT NULL UNIQUE,
    -- What the user confirms, as shown: `BCDF-GHJK`.
    user_code TEXT NOT NULL UNIQUE,
    client TEXT NOT NULL,
    address TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    -- `approved` or `denied`; null until the user decides.
    decision TEXT,
    -- Of an approved one: the token's user, its scope, and its project when it is restricted to one.
    user_id TEXT REFERENCES users (id),
    scope TEXT,
    project TEXT
);
