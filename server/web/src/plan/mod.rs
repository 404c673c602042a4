//! From a document to a plan: the compiler, told about this place and this project. Runs, previews, checks and hooks
//! all come through here, so that what is previewed is what runs.

mod facts;

use cubeloom_compiler::{Document, PlanInputs, Planned, check_pipeline, parse_pipeline};
use cubeloom_domain::plan::RunContext;
use cubeloom_domain::{JsonMap, Problem, RunId, Timestamp};

use crate::error::{ApiError, ApiResult};
use crate::state::Web;

pub(crate) use facts::facts;

/// A run that somebody wants, or wants to see the plan of.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// In which project.
    pub project: String,
    /// Whose it will be, by name.
    pub user: String,
    /// The parameters that were given.
    pub parameters: JsonMap,
    /// The digest of the folder of code that goes with the document.
    pub code: Option<String>,
}

/// Plans a run of a document.
///
/// # Errors
/// Every mistake in the document and its parameters, each with its place, or what the server lacks.
pub(crate) async fn plan(web: &Web, text: String, order: Order) -> ApiResult<(Document, Planned)> {
    let document = compile(move || parse_pipeline(&text)).await?.map_err(ApiError::invalid)?;
    let facts = facts(web, &order.project, &order.user, document.pipeline.cluster.as_deref()).await?;
    let context = context(web, &order);
    let templates = web.templates();
    compile(move || {
        let inputs =
            PlanInputs { context, parameters: order.parameters, templates: &templates, facts: &facts };
        cubeloom_compiler::plan(&document, &inputs).map(|planned| (document, planned))
    })
    .await?
    .map_err(ApiError::invalid)
}

/// Everything that can be said about a document before a run gives its parameters values. The document comes only
/// without errors.
///
/// # Errors
/// What the server lacks.
pub(crate) async fn check(
    web: &Web,
    project: &str,
    user: &str,
    text: String,
) -> ApiResult<(Option<Document>, Vec<Problem>)> {
    let (cluster, text) = compile(move || {
        let cluster = parse_pipeline(&text).ok().and_then(|document| document.pipeline.cluster);
        (cluster, text)
    })
    .await?;
    let facts = facts(web, project, user, cluster.as_deref()).await?;
    let templates = web.templates();
    compile(move || check_pipeline(&text, &templates, &facts)).await
}

/// Large documents take the compiler a while, which must not hold up other requests.
async fn compile<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> ApiResult<T> {
    tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)
}

fn context(web: &Web, order: &Order) -> RunContext {
    let now: Timestamp = web.now();
    RunContext {
        id: RunId::new(now, u128::from_le_bytes(web.random())),
        project: order.project.clone(),
        user: order.user.clone(),
        date: now,
        code: order.code.clone(),
    }
}
