//! What the time of a run, or of a task of it, went to.

use std::collections::BTreeMap;

use cubeloom_domain::TaskIx;
use cubeloom_domain::effective::{Effective, Tried, of_instance};
use cubeloom_domain::record::InstanceRecord;
use cubeloom_domain::state::InstanceState;

use super::reader::{Reader, WHOLE};
use crate::api::tasks::effective::{EffectiveView, TimePartView};
use crate::error::ApiResult;
use crate::state::Web;

/// Of more attempts than this nothing is told: every look at the run would read them all.
const ATTEMPTS: usize = 2_000;

/// What the time of a run went to, or that of one task of it; `None` before an attempt, and where there are too many instances
/// or attempts to look at each.
pub(crate) async fn of(
    web: &Web,
    reader: &Reader<'_>,
    task: Option<TaskIx>,
) -> ApiResult<Option<EffectiveView>> {
    let (run, store) = (&reader.record.id, web.store());
    let count = match task {
        Some(task) => reader.instances(task.0),
        None => reader.all_instances(),
    };
    if count == 0 || count > WHOLE {
        return Ok(None);
    }
    let attempts = store.tried(run, task, ATTEMPTS + 1).await?;
    let instances = match task {
        Some(task) => store.instances_of(run, task, None, WHOLE as usize).await?,
        None => store.instances(run).await?,
    };
    Ok(sum(&instances, &attempts, web.now()).as_ref().map(view))
}

/// What instances' time went to, all together; none before one of them has an attempt, and of too many attempts. Instances that
/// never had one, as a person decides or nothing was to be done, take no part.
fn sum(
    instances: &[InstanceRecord],
    attempts: &[Tried],
    now: cubeloom_domain::Timestamp,
) -> Option<Effective> {
    if attempts.len() > ATTEMPTS {
        return None;
    }
    let mut of_each: BTreeMap<_, Vec<&Tried>> = BTreeMap::new();
    for attempt in attempts {
        of_each.entry((attempt.task, attempt.instance)).or_default().push(attempt);
    }
    let tried = instances.iter().filter(|one| one.state != InstanceState::Pending).filter_map(|one| {
        let attempts = of_each.get(&(one.task, one.instance))?.iter().copied();
        Some(of_instance(one.ready_at, one.ended_at.unwrap_or(now), attempts))
    });
    tried.reduce(|sum, one| sum.plus(&one)).filter(|sum| sum.whole() > 0)
}

fn view(found: &Effective) -> EffectiveView {
    let seconds = |micros: u64| micros as f64 / 1e6;
    let parts = found.parts().filter(|(_, micros)| *micros > 0);
    EffectiveView {
        share: found.share().unwrap_or_default(),
        seconds: seconds(found.whole()),
        parts: parts
            .map(|(part, micros)| TimePartView { part: part.into(), seconds: seconds(micros) })
            .collect(),
        attempts: found.ran,
        attempts_with_steps: found.reported,
    }
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::Timestamp;
    use cubeloom_domain::state::AttemptState;

    use super::*;

    #[test]
    fn of_too_many_attempts_nothing_is_said() {
        let instance = InstanceRecord {
            run: cubeloom_domain::RunId::new(Timestamp(0), 7),
            task: TaskIx(0),
            instance: 0,
            state: InstanceState::Active,
            attempt: 1,
            tries: 1,
            ready_at: Timestamp(0),
            ended_at: None,
            report: Default::default(),
            note: None,
            cool_until: None,
        };
        let one = Tried {
            task: TaskIx(0),
            instance: 0,
            state: AttemptState::Running { started_at: Timestamp(10) },
            created_at: Timestamp(0),
            pace: None,
            hang: None,
        };
        let told =
            |attempts| sum(std::slice::from_ref(&instance), &vec![one.clone(); attempts], Timestamp(100));
        assert!(told(ATTEMPTS).is_some_and(|found| found.ran == 2_000));
        assert_eq!(told(ATTEMPTS + 1), None);
        assert_eq!(told(0), None);
    }
}
