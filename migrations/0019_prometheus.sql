-- The password or the token that a cluster's Prometheus wants, encrypted.

ALTER TABLE clusters ADD COLUMN sealed_prometheus TEXT;
