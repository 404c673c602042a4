//! A hook, as the API shows it.

use cubeloom_domain::JsonMap;
use cubeloom_domain::belongings::Hook;
use serde::Serialize;
use utoipa::ToSchema;

use crate::hooks;
use crate::state::Web;
use crate::time::{Time, maybe};

/// A URL that starts a pipeline.
#[derive(Debug, Serialize, ToSchema)]
pub struct HookView {
    /// Its id.
    pub id: String,
    /// The pipeline that it starts, in its newest version.
    pub pipeline: String,
    /// What it is called.
    pub name: String,
    /// The URL, with its signature: whoever has it can start the pipeline.
    pub url: String,
    /// Parameters of the runs that it starts; what the caller sends goes over them.
    #[schema(value_type = Object)]
    pub parameters: JsonMap,
    /// The name of who made it: its runs are theirs.
    pub created_by: String,
    /// Since when there is one.
    pub created_at: Time,
    /// When it was last used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_at: Option<Time>,
    /// Counts its changes, from 1: its ETag. Every change makes a new URL.
    pub revision: u64,
}

impl HookView {
    /// A hook, with its URL.
    pub fn new(web: &Web, hook: Hook) -> Self {
        Self {
            url: hooks::url(web, &hook),
            id: hook.id,
            pipeline: hook.pipeline,
            name: hook.name,
            parameters: hook.parameters,
            created_by: hook.created_by,
            created_at: Time(hook.created_at),
            used_at: maybe(hook.used_at),
            revision: hook.revision,
        }
    }
}
