//! What `cubeloom schema` is called with.

use clap::ValueEnum;

/// What has a schema.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SchemaKind {
    /// Pipeline documents.
    Pipeline,
    /// Task templates.
    Template,
    /// The REST API (OpenAPI 3.1).
    Openapi,
}
