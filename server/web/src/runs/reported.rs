//! Reports of a run's programs, by instance, in pages.

use cubeloom_domain::record::InstanceRecord;
use cubeloom_domain::{RunId, TaskIx};
use serde::Deserialize;
use utoipa::IntoParams;

use super::Reader;
use crate::error::{ApiError, ApiResult};
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// Instances read at a time.
const TOGETHER: usize = 200;

/// Task whose reports are requested.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct OfTask {
    /// Returns only the entries of this task.
    pub task: Option<String>,
}

impl OfTask {
    /// Position of the task.
    pub(crate) fn find(&self, reader: &Reader<'_>) -> ApiResult<Option<TaskIx>> {
        self.task.as_deref().filter(|name| !name.is_empty()).map(|name| reader.find(name)).transpose()
    }
}

/// One page of the instances' reports. `items` extracts those of one instance.
pub(crate) async fn page<T>(
    web: &Web,
    run: &RunId,
    task: Option<TaskIx>,
    page: &PageQuery,
    items: impl Fn(&InstanceRecord) -> Vec<T>,
) -> ApiResult<Page<T>> {
    let limit = page.limit()?;
    let (first, skip) = begin(page)?;
    let mut after = first;
    let mut skip = skip;
    let mut found: Vec<(String, T)> = Vec::new();
    while found.len() <= limit {
        let instances = web.store().reported(run, task, after, TOGETHER).await?;
        let last = instances.len() < TOGETHER;
        for one in &instances {
            let place = (one.task.0, one.instance);
            after = Some(place);
            let seen = skip.take().filter(|(at, _)| *at == place).map_or(0, |(_, count)| count);
            for (at, item) in items(one).into_iter().enumerate().skip(seen) {
                found.push((format!("{}.{}.{}", place.0, place.1, at + 1), item));
            }
        }
        if last {
            break;
        }
    }
    let found = Page::of(found, limit, |(key, _)| key.clone());
    Ok(found.map(|(_, item)| item))
}

/// The instance before the first one, and the number of the first one's items on earlier pages.
type Begin = (Option<(u32, u32)>, Option<((u32, u32), usize)>);

/// A page starts within the instance in which the previous page ended.
fn begin(page: &PageQuery) -> ApiResult<Begin> {
    let Some(key) = page.after()? else { return Ok((None, None)) };
    let mut parts = key.split('.').map(str::parse::<u32>);
    let (Some(Ok(task)), Some(Ok(instance)), Some(Ok(told)), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(ApiError::field("/cursor", "the cursor is not from this list: start without one"));
    };
    let before = match (task, instance) {
        (0, 0) => None,
        (task, 0) => Some((task - 1, u32::MAX)),
        (task, instance) => Some((task, instance - 1)),
    };
    Ok((before, Some(((task, instance), told as usize))))
}
