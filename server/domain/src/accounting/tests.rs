use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::clock::Timestamp;
use crate::executor::StopCause;
use crate::ids::{AttemptKey, RunId, TaskIx};
use crate::kubernetes::{KubernetesFacts, QueueFacts};
use crate::lowered::{Bindings, KubernetesBindings};
use crate::outcome::{Failure, FailureKind, Outcome};
use crate::quantity::{Bytes, Cpu};
use crate::quota::Pool;
use crate::record::{AttemptRecord, Stretch};
use crate::resources::Amount;
use crate::state::AttemptState;
use crate::usage::UsageSummary;

const HOUR: i64 = 3_600_000_000;
const DAY: i64 = 24 * HOUR;

fn attempt(state: AttemptState) -> AttemptRecord {
    AttemptRecord {
        key: AttemptKey { run: RunId::new(Timestamp(0), 1), task: "train".into(), instance: 0, n: 1 },
        task: TaskIx(0),
        state,
        created_at: Timestamp(0),
        amount: Amount { cpu: Cpu(4000), memory: Bytes(8 << 30), gpus: 2 },
        cards: BTreeMap::new(),
        pool: Pool::of("local"),
        workers: 2,
        earlier: Vec::new(),
        bindings: Bindings::None,
        limits: Vec::new(),
        sizing: None,
        pace: None,
        hang: None,
        preflight: None,
        usage: UsageSummary { cpu_us: 3_600_000_000, peak_memory: Bytes(1 << 30), ..UsageSummary::default() },
        account: Account::default(),
    }
}

fn ended(from: i64, until: i64) -> AttemptRecord {
    let outcome = Outcome::Succeeded;
    attempt(AttemptState::Ended { started_at: Some(Timestamp(from)), ended_at: Timestamp(until), outcome })
}

fn rates(cpu: i64, memory: i64, gpu: i64) -> Rates {
    Rates { cpu: Money(cpu), memory: Money(memory), gpu: Money(gpu) }
}

#[test]
fn others_count_on_what_a_job_was_let_in_with_where_the_cluster_lends_more() {
    let amount = |cpu: u64| Amount { cpu: Cpu(cpu), ..Amount::default() };
    let first = Stretch { until: Timestamp(HOUR), amount: amount(2000), card_parts: 0, workers: 2 };
    let more = AttemptRecord { amount: amount(5000), workers: 5, earlier: vec![first], ..ended(0, DAY) };
    assert_eq!(more.counted_on(), (amount(5000), 5), "it gives single workers back only when it is told to");
    let volcano = Some(QueueFacts { queue: "q".into(), priority_class: None });
    let facts = KubernetesFacts { volcano, ..KubernetesFacts::default() };
    let bindings = Bindings::Kubernetes(Box::new(KubernetesBindings { cluster: "gpu".into(), facts }));
    let lent = AttemptRecord { bindings, ..more };
    assert_eq!(lent.counted_on(), (amount(2000), 2));
    assert_eq!(AttemptRecord { earlier: Vec::new(), ..lent }.counted_on(), (amount(5000), 5));
}

#[test]
fn what_ran_and_used_nothing_was_not_measured() {
    let of = |usage: UsageSummary| {
        let stay = Stay::of(&AttemptRecord { usage, ..ended(0, HOUR) }, Timestamp(0));
        let used = stay.between(Timestamp(0), Timestamp(DAY), &Rates::default());
        (used.cpu_is_measured(), used.memory_is_measured())
    };
    assert_eq!(of(UsageSummary::default()), (false, false));
    assert_eq!(of(attempt(AttemptState::Submitting).usage), (true, true));
    let none = Figures::default();
    assert!(none.cpu_is_measured() && none.memory_is_measured(), "nothing ran");
}

#[test]
fn an_attempt_over_midnight_is_split() {
    let stay = Stay::of(&ended(DAY - HOUR, DAY + 3 * HOUR), Timestamp(0));
    let price = rates(10_000, 1_000, 2_000_000);
    let days = stay.by_day(Period { first: Day(0), last: Day(9) }, |_| price);
    let hours: Vec<_> = days.iter().map(|(day, of)| (day.0, of.cpu_hours(), of.gpu_hours())).collect();
    assert_eq!(hours, [(0, 4.0, 2.0), (1, 12.0, 6.0)]);
    let (_, second) = days[1];
    assert_eq!((second.memory_hours(), second.used_memory_hours()), (24.0, 6.0));
    assert_eq!(days.iter().map(|(_, of)| of.used_cpu_hours()).sum::<f64>(), 1.0);
    assert_eq!(days.iter().map(|(_, of)| (of.attempts, of.failed)).collect::<Vec<_>>(), [(0, 0), (1, 0)]);
    // 12 CPU-hours at 0.01, 24 GiB-hours at 0.001, 6 GPU-hours at 2.
    let cost = Cost { cpu: Money(120_000), memory: Money(24_000), gpu: Money(12_000_000) };
    assert_eq!((second.cost, second.cost.total()), (cost, Money(12_144_000)));
}

#[test]
fn workers_that_came_and_went_are_counted_while_they_were_there() {
    let amount = |cpu: u64, gpus: u32| Amount { cpu: Cpu(cpu), memory: Bytes(u64::from(gpus) << 32), gpus };
    let was = |until: i64, cpu: u64, gpus: u32| Stretch {
        until: Timestamp(until),
        amount: amount(cpu, gpus),
        card_parts: 0,
        workers: gpus,
    };
    // Four workers for an hour, one for two, two for the last.
    let earlier = vec![was(HOUR, 4000, 4), was(3 * HOUR, 1000, 1)];
    let usage = UsageSummary { peak_memory: Bytes(1 << 30), ..UsageSummary::default() };
    let attempt = AttemptRecord { earlier, amount: amount(2000, 2), workers: 2, usage, ..ended(0, 4 * HOUR) };
    let stay = Stay::of(&attempt, Timestamp(0));
    let price = rates(0, 0, 1_000_000);
    let whole = stay.between(Timestamp(0), Timestamp(DAY), &price);
    assert_eq!((whole.cpu_hours(), whole.gpu_hours(), whole.memory_hours()), (8.0, 8.0, 32.0));
    assert_eq!((whole.used_memory_hours(), whole.cost.total()), (8.0, Money(8_000_000)));
    let middle = stay.between(Timestamp(HOUR / 2), Timestamp(2 * HOUR), &price);
    assert_eq!(middle.gpu_hours(), 3.0);
    // A clock that went backwards: a part that ended later than the attempt counts to the attempt's end.
    let late = AttemptRecord { earlier: vec![was(9 * HOUR, 4000, 4)], ..attempt };
    let stay = Stay::of(&late, Timestamp(0));
    assert_eq!(stay.between(Timestamp(0), Timestamp(DAY), &price).gpu_hours(), 16.0);
}

#[test]
fn a_price_change_in_the_middle_splits() {
    let price = |from: i64, gpu: i64| Price {
        id: String::new(),
        cluster: "a".into(),
        node_group: String::new(),
        from: Day(from),
        rates: rates(0, 0, gpu),
        user: String::new(),
        revision: 1,
    };
    let list: PriceList = [price(0, 1_000_000), price(1, 3_000_000)].into_iter().collect();
    let stay = Stay::of(&ended(DAY - HOUR, DAY + HOUR), Timestamp(0));
    let days = stay.by_day(stay.days(), |day| list.at("a", "cards", day));
    let costs: Vec<_> = days.iter().map(|(_, of)| of.cost.total().to_string()).collect();
    assert_eq!(costs, ["2.00", "6.00"]);
    assert_eq!(list.at("a", "", Day(-1)), Rates::default());
    assert_eq!(list.at("b", "", Day(5)), Rates::default());
}

#[test]
fn the_price_of_a_node_group_goes_before_its_clusters() {
    let price = |node_group: &str, from: i64, gpu: i64| Price {
        id: String::new(),
        cluster: "a".into(),
        node_group: node_group.into(),
        from: Day(from),
        rates: rates(0, 0, gpu),
        user: String::new(),
        revision: 1,
    };
    let list: PriceList = [price("", 0, 1), price("h100", 5, 2), price("", 9, 3)].into_iter().collect();
    let at = |group: &str, day: i64| list.at("a", group, Day(day)).gpu.0;
    assert_eq!([at("h100", 4), at("h100", 5), at("h100", 9), at("", 9), at("", 8)], [1, 2, 2, 3, 1]);
}

#[test]
fn what_still_runs_is_counted_up_to_now_and_what_never_ran_holds_nothing() {
    let running = attempt(AttemptState::Running { started_at: Timestamp(0) });
    let stay = Stay::of(&running, Timestamp(2 * HOUR));
    let (_, of) = stay.by_day(stay.days(), |_| Rates::default())[0];
    assert_eq!((of.cpu_hours(), of.attempts), (8.0, 0));
    let stopping = AttemptState::Stopping { started_at: None, cause: StopCause::Cancelled };
    for state in [AttemptState::Submitting, stopping] {
        let stay = Stay::of(&attempt(state), Timestamp(2 * HOUR));
        assert_eq!(stay.by_day(stay.days(), |_| rates(1, 1, 1))[0].1, Figures::default());
    }
    let never = |kind| {
        let outcome = Outcome::Failed(Failure::new(kind, "no"));
        let ended = AttemptState::Ended { started_at: None, ended_at: Timestamp(5), outcome };
        let stay = Stay::of(&attempt(ended), Timestamp(DAY));
        stay.by_day(stay.days(), |_| rates(1, 1, 1))[0].1
    };
    let counted = |attempts, failed| Figures { attempts, failed, ..Figures::default() };
    assert_eq!(never(FailureKind::CouldNotStart), counted(1, 1));
    assert_eq!(never(FailureKind::Preempted), counted(1, 0), "its place was needed: it did not fail");
}

#[test]
fn parts_of_cards_are_counted() {
    let gpu = |gpu: serde_json::Value| card_part(&serde_json::from_value(gpu).unwrap_or_default());
    assert_eq!(gpu(serde_json::json!({"fraction": 0.25})), 250);
    assert_eq!(gpu(serde_json::json!({"count": 2, "type": "3g.40gb"})), 856);
    assert_eq!(gpu(serde_json::json!({"count": 1, "type": "1c.3g.40gb"})), 428);
    assert_eq!(gpu(serde_json::json!({"count": 2, "type": "H100"})), 0, "whole GPUs are in the amount");
    assert_eq!(gpu(serde_json::json!({"memory": "8Gi"})), 0);
}

#[test]
fn days_and_months_are_those_of_the_calendar() {
    for (text, day) in [("1970-01-01", 0), ("2000-02-29", 11_016), ("2026-11-24", 20_781)] {
        assert_eq!((text.parse(), Day(day).to_string().as_str()), (Ok(Day(day)), text));
    }
    for text in
        ["2026-02-29", "2026-13-01", "2026-1-01", "26-01-01", "2026-01-01x", "", "1969-12-31", "2026-00-10"]
    {
        assert!(text.parse::<Day>().is_err(), "{text}");
    }
    let month: Month = "2024-02".parse().unwrap_or_else(|_| Day(0).month());
    assert_eq!(
        (month.first().to_string(), month.last().to_string()),
        ("2024-02-01".into(), "2024-02-29".into())
    );
    assert_eq!((month.before().to_string(), month.period().days()), ("2024-01".into(), 29));
    assert_eq!("2023-12".parse::<Month>().map(|month| month.next().to_string()), Ok("2024-01".into()));
    for text in ["2026-00", "2026-13", "2026", "2026-1", "1969-12"] {
        assert!(text.parse::<Month>().is_err(), "{text}");
    }
}

#[test]
fn money_is_read_and_written_exactly() {
    for (text, amount, shown) in [
        ("0.35", 350_000, "0.35"),
        ("1200", 1_200_000_000, "1200.00"),
        ("0.000001", 1, "0.000001"),
        ("0.1250", 125_000, "0.125"),
    ] {
        assert_eq!(text.parse::<Money>().map(|money| money.0), Ok(amount));
        assert_eq!(Money(amount).to_string(), shown);
    }
    for text in ["", ".5", "5.", "-1", "+1", "1e3", "0.0000001", "1,5", "1000000001", "99999999999", " 1"] {
        assert!(text.parse::<Money>().is_err(), "{text}");
    }
    let rounded = [4_999, 5_000, 994_999, 995_000, -5_000_000].map(|amount| Money(amount).rounded());
    assert_eq!(rounded, ["0.00", "0.01", "0.99", "1.00", "-5.00"]);
}

#[test]
fn a_budget_warns_and_stops() {
    let month = Day(0).month();
    let budget = budget::Budget {
        project: "shop".into(),
        month,
        amount: Some(Money(1_000_000)),
        warn_percent: 80,
        stop: true,
        revision: 1,
    };
    let level = |spent: i64, stop: bool| {
        let budget = budget::Budget { stop, ..budget.clone() };
        budget.standing(month, Money(spent)).map(|standing| standing.level().as_str())
    };
    assert_eq!(level(799_999, true), Some("within"));
    assert_eq!(level(800_000, true), Some("warned"));
    assert_eq!(level(999_999, true), Some("warned"));
    assert_eq!(level(1_000_000, true), Some("stopped"));
    assert_eq!(level(1_000_000, false), Some("spent"));
    let none = budget::Budget { amount: None, ..budget };
    assert_eq!(none.standing(month, Money(5)), None);
}

fn moment() -> impl Strategy<Value = i64> {
    0..40 * DAY
}

fn attempts() -> impl Strategy<Value = AttemptRecord> {
    let amount = (0_u64..300_000, 0_u64..(1 << 42), 0_u32..64, 0_u64..8_000);
    let used = (0_u64..10_000_000_000_000, 0_u64..(1 << 40), 1_u32..64);
    let earlier = prop::collection::vec((moment(), 0_u64..300_000, 0_u32..64), 0..4);
    (moment(), moment(), any::<bool>(), amount, used, earlier).prop_map(
        |(a, b, over, amount, used, earlier)| {
            let was = |(until, cpu, gpus): &(i64, u64, u32)| Stretch {
                until: Timestamp(*until),
                amount: Amount { cpu: Cpu(*cpu), memory: Bytes(*cpu << 20), gpus: *gpus },
                card_parts: 0,
                workers: *gpus,
            };
            let (from, until) = (a.min(b), a.max(b));
            let base = match over {
                true => ended(from, until),
                false => attempt(AttemptState::Running { started_at: Timestamp(from) }),
            };
            AttemptRecord {
                amount: Amount { cpu: Cpu(amount.0), memory: Bytes(amount.1), gpus: amount.2 },
                workers: used.2,
                earlier: earlier.iter().map(was).collect(),
                usage: UsageSummary { cpu_us: used.0, peak_memory: Bytes(used.1), ..UsageSummary::default() },
                account: Account { card_parts: amount.3, ..Account::default() },
                ..base
            }
        },
    )
}

/// A price for each day, from a seed.
fn price_of(seed: i64) -> impl Fn(Day) -> Rates {
    move |day| {
        let part = |n: i64| (day.0 * 7_919 + seed * 31 + n * 977).rem_euclid(9_000_000);
        rates(part(1), part(2), part(3))
    }
}

fn sum(days: impl IntoIterator<Item = (Day, Figures)>) -> Figures {
    days.into_iter().fold(Figures::default(), |all, (_, figures)| all.plus(figures))
}

proptest! {
    /// However a period is split at moments, its parts add up to the total exactly.
    #[test]
    fn parts_between_moments_add_up(
        attempt in attempts(),
        mut cuts in prop::collection::vec(moment(), 2..12),
        price in (0_i64..9_000_000, 0_i64..9_000_000, 0_i64..9_000_000),
    ) {
        cuts.sort_unstable();
        let stay = Stay::of(&attempt, Timestamp(30 * DAY));
        let price = rates(price.0, price.1, price.2);
        let parts = cuts.windows(2).map(|pair| stay.between(Timestamp(pair[0]), Timestamp(pair[1]), &price));
        let parts = parts.fold(Figures::default(), Figures::plus);
        let whole = stay.between(Timestamp(cuts[0]), Timestamp(cuts[cuts.len() - 1]), &price);
        prop_assert_eq!(parts, whole);
    }

    /// However a period is split into periods of days, its parts add up to the total exactly, although prices
    /// change.
    #[test]
    fn parts_of_periods_add_up(
        attempt in attempts(),
        mut cuts in prop::collection::vec(0_i64..45, 1..8),
        seed in 0_i64..1000,
    ) {
        let stay = Stay::of(&attempt, Timestamp(30 * DAY));
        let whole = sum(stay.by_day(Period { first: Day(0), last: Day(45) }, price_of(seed)));
        cuts.extend([0, 46]);
        cuts.sort_unstable();
        let of_part = |pair: &[i64]| {
            sum(stay.by_day(Period { first: Day(pair[0]), last: Day(pair[1] - 1) }, price_of(seed)))
        };
        let parts = cuts.windows(2).map(of_part).fold(Figures::default(), Figures::plus);
        prop_assert_eq!(parts, whole);
        prop_assert_eq!(sum(stay.by_day(stay.days(), price_of(seed))), whole, "nothing lies outside of its days");
        prop_assert!(whole.used_memory <= whole.memory);
        prop_assert_eq!(whole.attempts, i64::from(!attempt.state.is_live()));
    }

    /// Every grouping has the same total.
    #[test]
    fn groups_have_one_total(
        all in prop::collection::vec((attempts(), 0_u8..3, 0_u8..3, 0_u8..3, 0_u8..3), 0..20),
        seed in 0_i64..1000,
    ) {
        let mut lines: Vec<(Line, Figures)> = Vec::new();
        for (attempt, project, user, template, pool) in all {
            let stay = Stay::of(&attempt, Timestamp(30 * DAY));
            for (day, figures) in stay.by_day(stay.days(), price_of(seed)) {
                let line = Line {
                    day,
                    project: format!("p{project}"),
                    user: format!("u{user}"),
                    pipeline: format!("l{}", user / 2),
                    template: format!("t{template}"),
                    cluster: format!("c{}", pool / 2),
                    node_group: format!("n{pool}"),
                };
                lines.push((line, figures));
            }
        }
        let total = |by: &[By]| {
            let mut groups: BTreeMap<Line, Figures> = BTreeMap::new();
            for (line, figures) in &lines {
                let group = groups.entry(line.group(by)).or_default();
                *group = group.plus(*figures);
            }
            groups.into_values().fold(Figures::default(), Figures::plus)
        };
        let whole = total(&[]);
        let each = [By::Day, By::Project, By::User, By::Pipeline, By::Template, By::NodeGroup];
        for by in each {
            prop_assert_eq!(total(&[by]), whole);
            prop_assert_eq!(total(&[by, By::Day]), whole);
        }
        let positions = statement::positions(&lines, &PriceList::default());
        let of_positions = positions.iter().fold(Figures::default(), |all, one| all.plus(one.figures));
        prop_assert_eq!(of_positions, whole);
    }

    /// Days round-trip through their text form over many years.
    #[test]
    fn days_come_back(day in 0_i64..2_900_000) {
        let day = Day(day);
        prop_assert_eq!(day.to_string().parse(), Ok(day));
        let month = day.month();
        prop_assert!(month.period().has(day) && month.period().days() >= 28);
        prop_assert_eq!(month.to_string().parse(), Ok(month));
        prop_assert_eq!(Day::of(day.next().start()), day.next());
        prop_assert_eq!(Day::of(Timestamp(day.next().start().0 - 1)), day);
    }

    /// Money round-trips through its text form.
    #[test]
    fn money_comes_back(amount in 0_i64..1_000_000_000_000_000) {
        prop_assert_eq!(Money(amount).to_string().parse(), Ok(Money(amount)));
    }
}
