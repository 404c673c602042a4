//! Validates documents to be stored.
//!
//! A document can be stored if it parses, has its required fields, and its tasks form a graph. Problems that
//! depend on the installation (a missing template, too much memory, a missing secret) are returned as
//! warnings. They are refused when a run is started.

use std::collections::BTreeMap;

use cubeloom_domain::pipeline::Pipeline;
use cubeloom_domain::schedule::PipelineName;
use cubeloom_domain::{Code, JsonMap, Problem};
use cubeloom_storage::snapshot::text_digest;
use cubeloom_store::NewVersion;
use serde_json::Value;

use crate::auth::Caller;
use crate::check;
use crate::code;
use crate::error::{ApiError, ApiResult};
use crate::plan;
use crate::schedules;
use crate::state::Web;

/// A document that can be stored.
#[derive(Debug)]
pub(crate) struct Accepted {
    /// Version to store.
    pub new: NewVersion,
    /// Parsed document.
    pub pipeline: Pipeline,
    /// Problems that prevent the pipeline from running here, and probable mistakes.
    pub problems: Vec<Problem>,
}

/// A submitted document.
#[derive(Debug)]
pub(crate) struct Sent {
    /// The document, stored byte for byte.
    pub document: String,
    /// Message of the change.
    pub message: String,
    /// Digest of a code folder uploaded to the project.
    pub code: Option<String>,
}

/// Parses and validates a document.
///
/// # Errors
/// All syntax problems.
pub(crate) async fn accept(web: &Web, caller: &Caller, project: &str, sent: Sent) -> ApiResult<Accepted> {
    let mut found = check::Found::default();
    found.text("/message", &sent.message, 2000);
    let code = sent.code.filter(|digest| !digest.is_empty());
    if let Some(digest) = &code
        && !code::renew(web.folders(), project, digest)
    {
        found.wrong(
            "/code",
            format!("the project has no folder `{digest}`: upload it with PUT .../code first"),
        );
    }
    found.refuse()?;
    let (_, mut problems) =
        plan::check(web.planner(), project, &caller.acting(), sent.document.clone()).await?;
    let Ok(document) = plan::parse(sent.document.clone()).await? else {
        return Err(ApiError::invalid(problems));
    };
    let of = PipelineName { project: project.into(), pipeline: document.pipeline.name.clone() };
    let mut of_source =
        schedules::check_source(web, caller, &of, document.pipeline.schedule.as_ref()).await?;
    document.locate(&mut of_source);
    problems.extend(of_source);
    if problems.iter().any(|problem| problem.code == Code::Cycle && problem.path.starts_with("/schedule/")) {
        return Err(ApiError::invalid(problems));
    }
    let pipeline = document.pipeline;
    let new = NewVersion {
        project: project.into(),
        name: pipeline.name.clone(),
        digest: text_digest(&sent.document),
        document: sent.document,
        code,
        message: sent.message,
        description: pipeline.description.clone().unwrap_or_default(),
        labels: labels(&pipeline.labels),
        user: caller.user.name.clone(),
        now: web.now(),
    };
    Ok(Accepted { new, pipeline, problems })
}

impl Accepted {
    /// Checks that the document has the route's name.
    ///
    /// # Errors
    /// It has another name.
    pub fn must_be(&self, name: &str) -> ApiResult<()> {
        if self.new.name == name {
            return Ok(());
        }
        let message = format!(
            "the document is named `{}`, but the pipeline is `{name}`: a pipeline's name never changes; create another pipeline instead",
            self.new.name
        );
        Err(ApiError::invalid(vec![Problem::error(Code::InvalidName, "/name", message)]))
    }
}

fn labels(labels: &BTreeMap<String, String>) -> JsonMap {
    labels.iter().map(|(name, value)| (name.clone(), Value::String(value.clone()))).collect()
}
