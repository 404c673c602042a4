//! View of a hook.

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
    /// ID.
    pub id: String,
    /// Pipeline to start. The newest version is used.
    pub pipeline: String,
    /// Name.
    pub name: String,
    /// URL including its signature. Anyone who has it can start the pipeline.
    pub url: String,
    /// Parameters of the runs that it starts. Parameters sent by the caller take precedence.
    #[schema(value_type = Object)]
    pub parameters: JsonMap,
    /// Name of the user who created it. Its runs belong to this user.
    pub created_by: String,
    /// Creation time.
    pub created_at: Time,
    /// Time of last use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_at: Option<Time>,
    /// Revision number, starting at 1, used as the ETag. Every change creates a new URL.
    pub revision: u64,
}

impl HookView {
    /// View of a hook, with its URL.
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
