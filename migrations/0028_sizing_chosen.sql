-- Whether the right-sizing mode was chosen: by a person, or by the setting for new projects. The owners of other projects are
-- asked once, as the mode of new projects has become `auto`.
ALTER TABLE projects ADD COLUMN sizing_chosen BIGINT NOT NULL DEFAULT 0;
