//! Projects, pipelines, code, templates, hooks.
