-- What a project wants kept of jobs that have ended, a JSON object.
ALTER TABLE projects ADD COLUMN keeping_json TEXT NOT NULL DEFAULT '{}';
