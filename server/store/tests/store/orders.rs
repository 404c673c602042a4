//! Lists in each of their orders: the pages, one after the other, are the whole list.

use std::cmp::Reverse;

use cubeloom_domain::Timestamp;
use cubeloom_domain::identity::User;
use cubeloom_store::{
    Expected, NewVersion, PipelineFilter, PipelineOrder, PipelineSummary, Store, UserFilter, UserOrder,
};

use crate::people::{audit, project, user, version};
use crate::records::{plan, run};
use crate::support::{Fixture, on_both};

on_both!(
    pipelines_are_paged_in_every_order,
    a_page_goes_on_where_the_last_one_ended_whatever_changed,
    people_are_paged_in_every_order,
);

/// A pseudo-random number from a small range, so that many are equal.
fn some(n: u64, of: u64) -> u64 {
    (n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407) >> 33) % of
}

/// The order of the same kind that continues after `last`.
type GoesOn<T, O> = fn(&T) -> O;

const PIPELINES: [GoesOn<PipelineSummary, PipelineOrder>; 3] = [
    |last| PipelineOrder::Name(Some((last.name.clone(), last.project.clone()))),
    |last| PipelineOrder::Changed(Some((last.created_at, last.name.clone(), last.project.clone()))),
    |last| {
        let run = last.last_run.clone().expect("it is known in this order");
        PipelineOrder::LastRun(Some((run, last.name.clone(), last.project.clone())))
    },
];

/// Every page of a list of pipelines.
async fn pages(
    store: &Store,
    first: PipelineOrder,
    goes_on: GoesOn<PipelineSummary, PipelineOrder>,
    descending: bool,
    limit: usize,
) -> Vec<PipelineSummary> {
    let (mut seen, mut order) = (Vec::new(), first);
    loop {
        let filter = PipelineFilter { order, descending, limit: Some(limit), ..Default::default() };
        let page = store.pipelines(&filter).await.unwrap();
        assert!(page.len() <= limit);
        let Some(last) = page.last() else { return seen };
        order = goes_on(last);
        seen.extend(page);
    }
}

async fn put(store: &Store, new: &NewVersion) {
    store.put_pipeline(new, Expected::Any, &audit("pipeline.put")).await.unwrap();
}

/// Sixty pipelines of two projects, many changed at the same moment, a third of them without runs.
async fn sixty(store: &Store) {
    store.create_project(&project("ads"), &audit("p")).await.unwrap();
    for n in 0..60 {
        let project = if some(n, 2) == 0 { "shop" } else { "ads" };
        let now = Timestamp(i64::try_from(some(n, 7)).unwrap());
        put(store, &NewVersion { project: project.into(), now, ..version(&format!("p-{}", n * 37 % 60)) })
            .await;
    }
    for n in 0..80 {
        let mut record = run(n);
        record.pipeline = format!("p-{}", some(n, 40));
        record.project = if n % 2 == 0 { "shop" } else { "ads" }.into();
        store.create_run(&record, &plan(&record, 1), None).await.unwrap();
    }
}

async fn pipelines_are_paged_in_every_order(fixture: Fixture) {
    let store = &fixture.store;
    sixty(store).await;
    let firsts = [PipelineOrder::Name(None), PipelineOrder::Changed(None), PipelineOrder::LastRun(None)];
    for (first, goes_on) in firsts.into_iter().zip(PIPELINES) {
        let filter = PipelineFilter { order: first.clone(), ..Default::default() };
        let all = store.pipelines(&filter).await.unwrap();
        assert_eq!(all.len(), 60);
        // The keys by which the database must order.
        let key = |one: &PipelineSummary| {
            let by = match first {
                PipelineOrder::Name(_) => (0, String::new()),
                PipelineOrder::Changed(_) => (one.created_at.0, String::new()),
                PipelineOrder::LastRun(_) => (0, one.last_run.clone().unwrap()),
            };
            (by, one.name.clone(), one.project.clone())
        };
        assert!(all.is_sorted_by_key(key), "{first:?}");
        let reversed: Vec<PipelineSummary> = all.iter().rev().cloned().collect();
        for limit in [1, 7, 60] {
            assert_eq!(pages(store, first.clone(), goes_on, false, limit).await, all, "{first:?} {limit}");
            assert_eq!(
                pages(store, first.clone(), goes_on, true, limit).await,
                reversed,
                "-{first:?} {limit}"
            );
        }
    }
    let by_run = PipelineFilter { order: PipelineOrder::LastRun(None), ..Default::default() };
    for one in store.pipelines(&by_run).await.unwrap() {
        let last = store.last_runs(&one.project, std::slice::from_ref(&one.name), 1).await.unwrap();
        let id = last.get(&one.name).map(|runs| runs[0].id.to_string());
        assert_eq!(one.last_run, Some(id.unwrap_or_default()), "{}", one.name);
    }
}

async fn a_page_goes_on_where_the_last_one_ended_whatever_changed(fixture: Fixture) {
    let store = &fixture.store;
    for n in 0..9 {
        put(store, &NewVersion { now: Timestamp(n), ..version(&format!("p-{n}")) }).await;
    }
    let newest_first =
        |order, limit| PipelineFilter { order, descending: true, limit: Some(limit), ..Default::default() };
    let names = |page: &[PipelineSummary]| page.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
    let page = store.pipelines(&newest_first(PipelineOrder::Changed(None), 3)).await.unwrap();
    assert_eq!(names(&page), ["p-8", "p-7", "p-6"]);
    // A displayed one and another one are changed: both are the newest now.
    for name in ["p-7", "p-2"] {
        put(store, &NewVersion { now: Timestamp(20), digest: "d2".into(), ..version(name) }).await;
    }
    let rest = store.pipelines(&newest_first(PIPELINES[1](page.last().unwrap()), 9)).await.unwrap();
    assert_eq!(names(&rest), ["p-5", "p-4", "p-3", "p-1", "p-0"], "no other comes twice, or is left out");
}

async fn people_are_paged_in_every_order(fixture: Fixture) {
    let store = &fixture.store;
    for n in 0..25 {
        let at = |of: u64| Timestamp(i64::try_from(some(n, of)).unwrap());
        let seen_at = Some(at(5)).filter(|at| at.0 > 0);
        let one = User { seen_at, created_at: at(3), ..user(&format!("user-{}", n * 7 % 25)) };
        store.create_user(&one, None, &audit("user.create")).await.unwrap();
    }
    let orders: [(UserOrder, GoesOn<User, UserOrder>); 3] = [
        (UserOrder::Name(None), |last| UserOrder::Name(Some(last.name.clone()))),
        (UserOrder::Seen(None), |last| {
            UserOrder::Seen(Some((last.seen_at.unwrap_or(Timestamp(0)), last.name.clone())))
        }),
        (UserOrder::Created(None), |last| UserOrder::Created(Some((last.created_at, last.name.clone())))),
    ];
    for (first, goes_on) in orders {
        let key = |one: &User| {
            let at = match first {
                UserOrder::Name(_) => None,
                UserOrder::Seen(_) => one.seen_at,
                UserOrder::Created(_) => Some(one.created_at),
            };
            (at, one.name.clone())
        };
        for (descending, limit) in [(false, 1), (true, 4), (false, 10), (true, 25)] {
            let (mut seen, mut order): (Vec<User>, _) = (Vec::new(), first.clone());
            loop {
                let filter = UserFilter { order, descending, limit: Some(limit), ..Default::default() };
                let page = store.users(&filter).await.unwrap();
                let Some(last) = page.last() else { break };
                order = goes_on(last);
                seen.extend(page);
            }
            assert_eq!(seen.len(), 25, "{first:?}");
            let sorted = if descending {
                seen.is_sorted_by_key(|one| Reverse(key(one)))
            } else {
                seen.is_sorted_by_key(key)
            };
            assert!(sorted, "{first:?}, turned round: {descending}");
        }
    }
}
