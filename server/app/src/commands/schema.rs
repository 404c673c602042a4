//! `cubeloom schema pipeline|template|openapi`

use crate::cli::SchemaKind;
use crate::exit::Exit;
use crate::show;

pub fn schema(kind: SchemaKind) -> anyhow::Result<Exit> {
    let schema = match kind {
        SchemaKind::Pipeline => cubeloom_compiler::schema::pipeline(),
        SchemaKind::Template => cubeloom_compiler::schema::template(),
        SchemaKind::Openapi => {
            show::line(cubeloom_web::api::document::text());
            return Ok(Exit::Ok);
        }
    };
    show::json(&schema)?;
    Ok(Exit::Ok)
}
