//! Usage by day, prices and budgets: each attempt counts once, and every grouping has the same total.

use std::collections::{BTreeMap, BTreeSet};

use cubeloom_domain::accounting::budget::{Budget, Level};
use cubeloom_domain::accounting::{Account, By, Day, Figures, Line, Money, Period, Price, Rates};
use cubeloom_domain::lowered::Bindings;
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome};
use cubeloom_domain::quota::Pool;
use cubeloom_domain::record::{AttemptRecord, Changes, RunRecord, TakenOver, Wish};
use cubeloom_domain::resources::Amount;
use cubeloom_domain::state::{AttemptState, RunState};
use cubeloom_domain::usage::UsageSummary;
use cubeloom_domain::{Bytes, Cpu, RunId, TaskIx, Timestamp};
use cubeloom_store::{Change, Store, StoreError, UsageFilter};
use sqlx::{AnyConnection, Connection};

use crate::people::{audit, project};
use crate::records::{attempt, plan, run, run_id};
use crate::support::{Fixture, lease, leased_run, on_both};

on_both!(
    an_end_is_counted_once_however_often_it_is_written,
    what_cards_did_is_counted_where_it_was_measured,
    days_groups_and_what_runs_have_one_total,
    a_change_of_price_gives_counted_days_their_cost,
    prices_have_a_history_and_revisions,
    a_spent_budget_stops_what_is_new,
    attempts_of_before_are_counted_later,
    a_deleted_run_stays_counted,
);

const HOUR: i64 = 3_600_000_000;
const DAY: i64 = 24 * HOUR;

/// The day on which the tests' attempts end: 2026-11-24.
const TODAY: Day = Day(20_781);

const ALL: [By; 6] = [By::Day, By::Project, By::User, By::Pipeline, By::Template, By::NodeGroup];

fn at(hours: i64) -> Timestamp {
    Timestamp(TODAY.start().0 + hours * HOUR)
}

/// An attempt with 2 CPUs, 4 GiB and 1 GPU from one hour of the day to another.
fn ran(run: &RunId, n: u32, (from, until): (i64, i64)) -> AttemptRecord {
    AttemptRecord {
        state: AttemptState::Ended {
            started_at: Some(at(from)),
            ended_at: at(until),
            outcome: Outcome::Succeeded,
        },
        amount: Amount { cpu: Cpu(2000), memory: Bytes(4 << 30), gpus: 1 },
        usage: UsageSummary { cpu_us: 1_800_000_000, peak_memory: Bytes(1 << 30), ..UsageSummary::default() },
        ..attempt(run, 0, n, 1)
    }
}

async fn what_cards_did_is_counted_where_it_was_measured(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 1, "a").await;
    let id = run_id(1);
    let with = |n: u32, card_us: Option<u64>| {
        let ran = ran(&id, n, (1, 3));
        AttemptRecord { usage: UsageSummary { card_us, ..ran.usage }, ..ran }
    };
    commit(store, vec![with(0, None)]).await;
    let none = total(store, at(24)).await;
    assert_eq!((none.gpu_hours(), none.gpu_is_measured()), (2.0, false));
    // One is measured for half an hour of its two, another was idle; busy time never exceeds allocated time.
    let all = vec![with(1, Some(1_800_000_000)), with(2, Some(0)), with(3, Some(u64::MAX >> 1))];
    commit(store, all).await;
    let sum = total(store, at(24)).await;
    assert_eq!((sum.gpu_hours(), sum.measured_gpu_hours(), sum.used_gpu_hours()), (8.0, 6.0, 2.5));
    assert!(sum.gpu_is_measured());
    let read = store.attempts_of_task(&id, TaskIx(0), 9).await.unwrap();
    let told: BTreeSet<_> = read.iter().map(|attempt| attempt.usage.card_us).collect();
    assert_eq!(told, BTreeSet::from([None, Some(1_800_000_000), Some(0), Some(u64::MAX >> 1)]));
}

async fn commit(store: &Store, attempts: Vec<AttemptRecord>) {
    store.commit(&lease("a"), &Changes { attempts, ..Changes::default() }).await.unwrap();
}

fn filter(projects: Option<&[&str]>) -> UsageFilter {
    let period = Period { first: TODAY.plus(-30), last: TODAY };
    UsageFilter { period, projects: projects.map(|all| all.iter().map(|&one| one.to_owned()).collect()) }
}

async fn total(store: &Store, now: Timestamp) -> Figures {
    let found = store.usage(&filter(None), &[], now).await.unwrap();
    found.into_iter().map(|(_, figures)| figures).next().unwrap_or_default()
}

fn price(id: &str, node_group: &str, from: Day, gpu: i64) -> Price {
    Price {
        id: id.into(),
        cluster: "local".into(),
        node_group: node_group.into(),
        from,
        rates: Rates { cpu: Money(0), memory: Money(0), gpu: Money(gpu) },
        user: "root".into(),
        revision: 1,
    }
}

async fn an_end_is_counted_once_however_often_it_is_written(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 1, "a").await;
    let id = run_id(1);
    commit(store, vec![attempt(&id, 0, 0, 1), attempt(&id, 0, 1, 1)]).await;
    assert_eq!(total(store, at(24)).await, Figures::default());
    let failed = AttemptRecord {
        state: AttemptState::Ended {
            started_at: Some(at(1)),
            ended_at: at(2),
            outcome: Outcome::Failed(Failure::new(FailureKind::Exit, "no")),
        },
        ..ran(&id, 1, (1, 2))
    };
    let ended = vec![ran(&id, 0, (1, 3)), failed];
    commit(store, ended.clone()).await;
    let once = total(store, at(24)).await;
    assert_eq!((once.cpu_hours(), once.memory_hours(), once.gpu_hours()), (6.0, 12.0, 3.0));
    assert_eq!((once.used_cpu_hours(), once.used_memory_hours()), (1.0, 3.0));
    assert_eq!((once.attempts, once.failed), (2, 1));
    // A commit whose acknowledgement was lost is repeated; and one pass may write the same end twice.
    commit(store, ended.clone()).await;
    commit(
        store,
        ended.into_iter().chain([ran(&id, 0, (1, 3)), ran(&id, 2, (1, 1)), ran(&id, 2, (1, 1))]).collect(),
    )
    .await;
    let again = total(store, at(24)).await;
    assert_eq!(again, Figures { attempts: 3, ..once });
    // One that never started and ends in the pass that writes it, and one that is a run of another pipeline.
    let called = AttemptRecord { bindings: Bindings::Run { run: run_id(7) }, ..ran(&id, 3, (1, 9)) };
    commit(store, vec![called]).await;
    assert_eq!(total(store, at(24)).await, again);
    // A refused commit counts nothing.
    store.release("a", std::slice::from_ref(&id)).await.unwrap();
    let refused = Changes { attempts: vec![ran(&id, 4, (1, 9))], ..Changes::default() };
    let error = store.commit(&lease("a"), &refused).await.unwrap_err();
    assert!(matches!(error, StoreError::LeaseLost(_)), "{error}");
    assert_eq!(total(store, at(24)).await, again);
}

#[expect(clippy::cognitive_complexity, reason = "one story, of which each step asserts something")]
async fn days_groups_and_what_runs_have_one_total(fixture: Fixture) {
    let store = &fixture.store;
    store.create_price(&price("p", "", TODAY.plus(-20), 1_000_000), &audit("price.create")).await.unwrap();
    store.create_project(&project("toys"), &audit("project.create")).await.unwrap();
    for n in 1..4_u64 {
        let record = RunRecord {
            project: if n == 3 { "toys".into() } else { "shop".into() },
            pipeline: format!("p{}", n % 2),
            ..run(n)
        };
        store.create_run(&record, &plan(&record, 1), None).await.unwrap();
    }
    store.acquire("a", Timestamp(0), crate::support::MINUTE, 100).await.unwrap();
    let mut written = Vec::new();
    for n in 1..4_u64 {
        for at in 0..4_u32 {
            let account =
                Account { user: format!("u{}", at % 2), template: format!("t{}", at % 3), card_parts: 250 };
            let pool = Pool { node_group: (at > 0).then(|| "cards".into()), ..Pool::of("local") };
            let from = i64::from(at) * -20 - 10 - i64::try_from(n).unwrap();
            written.push(AttemptRecord { account, pool, ..ran(&run_id(n), at, (from, from + 30)) });
        }
    }
    // One in each run still runs.
    for n in 1..4_u64 {
        let state = AttemptState::Running { started_at: at(-30) };
        written.push(AttemptRecord { state, ..ran(&run_id(n), 9, (0, 0)) });
    }
    commit(store, written).await;
    let now = at(10);
    let whole = total(store, now).await;
    // 3 runs with 4 attempts of 30 hours, each with 1.25 GPUs; and 3 that have run for 40 hours.
    assert_eq!((whole.gpu_hours(), whole.attempts), (3.0 * 4.0 * 30.0 * 1.25 + 3.0 * 40.0, 12));
    assert_eq!(whole.cost.total().0, (3 * 4 * 30 * 5 / 4 + 3 * 40) * 1_000_000);
    let sum = |found: &[(Line, Figures)]| found.iter().fold(Figures::default(), |sum, (_, of)| sum.plus(*of));
    for by in ALL {
        let found = store.usage(&filter(None), &[by], now).await.unwrap();
        assert!(found.len() > 1, "{by:?}: {found:?}");
        assert_eq!(sum(&found), whole, "{by:?}");
        let by_day = store.usage(&filter(None), &[by, By::Day], now).await.unwrap();
        assert_eq!(sum(&by_day), whole, "{by:?} by day");
    }
    // The single days add up to the total.
    let mut days = Figures::default();
    for day in filter(None).period.each() {
        let one = UsageFilter { period: Period { first: day, last: day }, projects: None };
        days = days.plus(sum(&store.usage(&one, &[By::Template], now).await.unwrap()));
    }
    assert_eq!(days, whole);
    // Usage of some projects is theirs only.
    let by_project: BTreeMap<String, Figures> = store
        .usage(&filter(None), &[By::Project], now)
        .await
        .unwrap()
        .into_iter()
        .map(|(line, figures)| (line.project, figures))
        .collect();
    let of = async |projects: &[&str]| sum(&store.usage(&filter(Some(projects)), &[], now).await.unwrap());
    assert_eq!(of(&["toys"]).await, by_project["toys"]);
    assert_eq!(of(&["shop", "toys"]).await, whole);
    assert_eq!(of(&[]).await, Figures::default());
    assert_eq!(of(&["other"]).await, Figures::default());
}

async fn a_change_of_price_gives_counted_days_their_cost(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 1, "a").await;
    let id = run_id(1);
    let of_group = AttemptRecord {
        pool: Pool { node_group: Some("cards".into()), ..Pool::of("local") },
        ..ran(&id, 1, (0, 2))
    };
    // From the evening before into the night: 4 GPU hours yesterday, 2 today; and 2 of a group.
    commit(store, vec![ran(&id, 0, (-4, 2)), of_group]).await;
    let costs = async || {
        let by = [By::Day, By::NodeGroup];
        let found = store.usage(&filter(None), &by, at(24)).await.unwrap();
        found.into_iter().map(|(_, figures)| figures.cost.total().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(costs().await, ["0.00", "0.00", "0.00"]);

    store.create_price(&price("old", "", TODAY.plus(-9), 1_000_000), &audit("change")).await.unwrap();
    assert_eq!(costs().await, ["4.00", "2.00", "2.00"]);
    store.create_price(&price("new", "", TODAY, 3_000_000), &audit("change")).await.unwrap();
    assert_eq!(costs().await, ["4.00", "6.00", "6.00"]);
    store.create_price(&price("own", "cards", TODAY, 500_000), &audit("change")).await.unwrap();
    assert_eq!(costs().await, ["4.00", "6.00", "1.00"]);
    // Attempts that end from now on cost the same as those counted before.
    commit(store, vec![ran(&id, 2, (-4, 2))]).await;
    assert_eq!(costs().await, ["8.00", "12.00", "1.00"]);
    let dearer =
        Price { rates: Rates { gpu: Money(10_000_000), ..Rates::default() }, ..price("new", "", TODAY, 0) };
    assert_eq!(store.update_price(&dearer, Some(1), &audit("change")).await.unwrap(), Change::Done(2));
    assert_eq!(costs().await, ["8.00", "40.00", "1.00"]);
    store.delete_price(&dearer, Some(2), &audit("change")).await.unwrap();
    assert_eq!(costs().await, ["8.00", "4.00", "1.00"]);
}

async fn prices_have_a_history_and_revisions(fixture: Fixture) {
    let store = &fixture.store;

    store.create_price(&price("a", "", TODAY, 1), &audit("change")).await.unwrap();
    store.create_price(&price("b", "", TODAY.plus(31), 2), &audit("change")).await.unwrap();
    let again = store.create_price(&price("c", "", TODAY, 3), &audit("change")).await.unwrap_err();
    assert!(matches!(again, StoreError::PriceExists(day) if day == TODAY), "{again}");
    let history: Vec<_> = store.prices().await.unwrap().into_iter().map(|price| price.id).collect();
    assert_eq!(history, ["b", "a"]);
    let changed = price("a", "", TODAY, 5);
    assert_eq!(store.update_price(&changed, Some(2), &audit("change")).await.unwrap(), Change::Stale(1));
    assert_eq!(store.update_price(&changed, Some(1), &audit("change")).await.unwrap(), Change::Done(2));
    assert_eq!(store.price("a").await.unwrap(), Some(Price { revision: 2, ..changed.clone() }));
    assert_eq!(store.delete_price(&changed, Some(1), &audit("change")).await.unwrap(), Change::Stale(2));
    assert_eq!(store.delete_price(&changed, None, &audit("change")).await.unwrap(), Change::Done(3));
    assert_eq!(store.delete_price(&changed, None, &audit("change")).await.unwrap(), Change::Missing);
    assert_eq!(store.price("a").await.unwrap(), None);
}

#[expect(clippy::cognitive_complexity, reason = "one story, of which each step asserts something")]
async fn a_spent_budget_stops_what_is_new(fixture: Fixture) {
    let store = &fixture.store;

    store.create_price(&price("p", "", TODAY.plus(-9), 1_000_000), &audit("change")).await.unwrap();
    leased_run(store, 1, 1, "a").await;
    let id = run_id(1);
    let budget = Budget {
        project: "shop".into(),
        month: TODAY.month().before(),
        amount: Some(Money(10_000_000)),
        warn_percent: 80,
        stop: true,
        revision: 1,
    };
    assert_eq!(store.put_budget(&budget, Some(4), &audit("change")).await.unwrap(), Change::Missing);
    assert_eq!(store.put_budget(&budget, None, &audit("change")).await.unwrap(), Change::Done(1));
    let level =
        async |now| store.budget_standing("shop", now).await.unwrap().map(|standing| standing.level());
    assert_eq!(level(at(24)).await, Some(Level::Within), "it goes on into this month");
    commit(store, vec![ran(&id, 0, (0, 8))]).await;
    assert_eq!(level(at(9)).await, Some(Level::Warned));
    // Live attempts count as spent, too.
    let running = AttemptRecord { state: AttemptState::Running { started_at: at(8) }, ..ran(&id, 1, (0, 0)) };
    commit(store, vec![running.clone()]).await;
    assert_eq!(level(at(9)).await, Some(Level::Warned));
    assert_eq!(level(at(10)).await, Some(Level::Stopped));
    let standings = store.budget_standings(at(10)).await.unwrap();
    assert_eq!(standings["shop"].spent, Money(10_000_000));
    let new = RunRecord { created_at: at(10), ..run(2) };
    let refused = store.create_run(&new, &plan(&new, 1), None).await.unwrap_err();
    assert!(matches!(&refused, StoreError::BudgetSpent { .. }), "{refused}");
    assert!(refused.to_string().contains("shop for 2026-11 is spent, 10.00 of 10.00"), "{refused}");
    assert_eq!(store.run(&new.id).await.unwrap(), None);
    // A run started by a task is part of the task's run.
    let part = RunRecord { parent: Some(running.key.clone()), ..new.clone() };
    store.create_run_with(&part, &plan(&part, 1), &TakenOver::default(), None).await.unwrap();
    // An active run may be resumed; an ended one may not, but may be cancelled.
    store.add_wish(&id, &Wish::Resume, "ada", at(10), None).await.unwrap();
    commit(store, vec![ran(&id, 1, (8, 10))]).await;
    let over = RunRecord { state: RunState::Failed, ..run(1) };
    store.commit(&lease("a"), &Changes { runs: vec![over], ..Changes::default() }).await.unwrap();
    let refused = store.add_wish(&id, &Wish::Resume, "ada", at(10), None).await.unwrap_err();
    assert!(matches!(refused, StoreError::BudgetSpent { .. }), "{refused}");
    store.add_wish(&id, &Wish::Cancel, "ada", at(10), None).await.unwrap();
    // With the next month, a larger budget, or no block, it continues.
    let later = RunRecord { created_at: TODAY.month().next().first().start(), ..run(3) };
    store.create_run(&later, &plan(&later, 1), None).await.unwrap();
    let open = Budget { stop: false, ..budget.clone() };
    assert_eq!(store.put_budget(&open, Some(1), &audit("change")).await.unwrap(), Change::Done(2));
    let new = RunRecord { created_at: at(10), ..run(4) };
    store.create_run(&new, &plan(&new, 1), None).await.unwrap();
    let more = Budget { month: TODAY.month(), amount: None, ..budget };
    store.put_budget(&more, None, &audit("change")).await.unwrap();
    assert_eq!(level(at(10)).await, None);
    assert_eq!(store.budgets("shop").await.unwrap().len(), 2);
    assert_eq!(
        store.delete_budget("shop", more.month, Some(1), &audit("change")).await.unwrap(),
        Change::Done(2)
    );
    assert!(store.budget_standing("shop", at(10)).await.unwrap().is_some());
    let nobody = Budget { project: "nobody".into(), ..more };
    let error = store.put_budget(&nobody, None, &audit("change")).await.unwrap_err();
    assert!(matches!(error, StoreError::NoSuchProject(_)), "{error}");
}

async fn attempts_of_before_are_counted_later(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 2, "a").await;
    let id = run_id(1);
    let bare = |n: u32| AttemptRecord { account: Account::default(), ..ran(&id, n, (0, 1)) };
    let live = AttemptRecord { account: Account::default(), ..attempt(&id, 0, 9, 1) };
    commit(store, (0..7).map(bare).chain([live]).collect()).await;
    // As an earlier program version left it.
    let mut outside = AnyConnection::connect(&fixture.url).await.unwrap();
    sqlx::raw_sql("DELETE FROM usage_days; UPDATE attempts SET counted = 0")
        .execute(&mut outside)
        .await
        .unwrap();
    outside.close().await.unwrap();
    // An end written again meanwhile does not count twice.
    commit(store, vec![ran(&id, 0, (0, 1))]).await;
    let mut parts = Vec::new();
    loop {
        match store.count_earlier(4).await.unwrap() {
            0 => break,
            part => parts.push(part),
        }
    }
    assert_eq!(parts, [4, 2]);
    let found = store.usage(&filter(None), &[By::User, By::Template, By::NodeGroup], at(24)).await.unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    let (line, figures) = &found[0];
    assert_eq!((figures.attempts, figures.gpu_hours()), (7, 7.0));
    assert_eq!([&line.user, &line.template, &line.cluster].map(String::as_str), ["ada", "command", "local"]);
    // A live one gets its account when it is loaded.
    let loaded = store.load(&id).await.unwrap().unwrap();
    assert_eq!(loaded.attempts[0].account.template, "command");
}

async fn a_deleted_run_stays_counted(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 1, "a").await;
    let id = run_id(1);
    commit(store, vec![ran(&id, 0, (0, 5))]).await;
    let over = RunRecord { state: RunState::Succeeded, ..run(1) };
    store.commit(&lease("a"), &Changes { runs: vec![over], ..Changes::default() }).await.unwrap();
    store.release("a", std::slice::from_ref(&id)).await.unwrap();
    store.delete_run(&id, &audit("run.delete")).await.unwrap();
    assert_eq!(total(store, Timestamp(TODAY.start().0 + DAY)).await.gpu_hours(), 5.0);
}
