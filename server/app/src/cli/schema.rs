//! Arguments of `cubeloom schema`.

use clap::ValueEnum;

/// The schemas.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SchemaKind {
    /// Pipeline documents
    Pipeline,
    /// Task templates
    Template,
    /// REST API (OpenAPI 3.1)
    Openapi,
}
