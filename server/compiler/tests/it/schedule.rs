//! The scheduled moments of schedules, also across clock changes, and catch-up for missed ones.

use std::time::Duration;

use cubeloom_compiler::parse_pipeline;
use cubeloom_compiler::schedule::{Calendar, Past, Situation, Verdict, Why, decide, due, starts_at};
use cubeloom_domain::pipeline::{CatchUp, Schedule};
use cubeloom_domain::{Code, Timestamp};
use jiff::tz::TimeZone;
use proptest::prelude::*;

fn document(schedule: &str) -> String {
    format!(
        "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\nschedule: {{{schedule}}}\ntasks: [{{name: a, template: t}}]"
    )
}

fn schedule(text: &str) -> Schedule {
    parse_pipeline(&document(text)).unwrap().pipeline.schedule.unwrap()
}

fn calendar(text: &str) -> Calendar {
    Calendar::of(&schedule(text)).unwrap()
}

fn at(text: &str) -> Timestamp {
    Timestamp(text.parse::<jiff::Timestamp>().unwrap().as_microsecond())
}

fn shown(moment: Timestamp, zone: &str) -> String {
    let zoned = jiff::Timestamp::from_microsecond(moment.0).unwrap().to_zoned(TimeZone::get(zone).unwrap());
    zoned.strftime("%m-%d %H:%M%:z").to_string()
}

/// The first scheduled moments after a moment, in the zone's local time.
fn firings(text: &str, zone: &str, after: &str, count: usize) -> Vec<String> {
    let calendar = calendar(&format!("{text}, timezone: {zone}"));
    let mut moment = at(after);
    let next = || {
        moment = calendar.after(moment)?;
        Some(shown(moment, zone))
    };
    std::iter::from_fn(next).take(count).collect()
}

#[test]
fn a_time_that_does_not_exist_fires_once_when_the_clock_is_set_forward() {
    // 2026-03-29 02:00 -> 03:00.
    let found = firings("cron: '30 2 * * *'", "Europe/Berlin", "2026-03-28T00:00:00Z", 3);
    assert_eq!(found, ["03-28 02:30+01:00", "03-29 03:00+02:00", "03-30 02:30+02:00"]);
    let found = firings("cron: '*/20 * * * *'", "Europe/Berlin", "2026-03-29T00:30:00Z", 4);
    assert_eq!(found, ["03-29 01:40+01:00", "03-29 03:00+02:00", "03-29 03:20+02:00", "03-29 03:40+02:00"]);
    // 2026-03-08 02:00 -> 03:00.
    let found = firings("cron: '15 2 * * *'", "America/New_York", "2026-03-07T12:00:00Z", 2);
    assert_eq!(found, ["03-08 03:00-04:00", "03-09 02:15-04:00"]);
    // 2026-10-04 02:00 -> 02:30.
    let found = firings("cron: '15 2 * * *'", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", 2);
    assert_eq!(found, ["10-04 02:30+11:00", "10-05 02:15+11:00"]);
}

#[test]
fn a_schedule_that_can_never_fire_is_refused_with_its_field() {
    for (text, path) in [
        ("cron: '0 0 30 2 *'", "/schedule/cron"),
        ("cron: '0 0 31 4,6 *', start: 2026-01-01", "/schedule/cron"),
        ("cron: '0 0 29 2 *', start: 2025-03-01, end: 2027-12-31", "/schedule/end"),
        ("every: 30d, start: 2026-01-01T06:00, end: 2026-01-01T05:59", "/schedule/end"),
    ] {
        let problems = parse_pipeline(&document(text)).unwrap_err();
        let told: Vec<_> = problems.iter().map(|problem| (problem.code, problem.path.as_str())).collect();
        assert_eq!(told, [(Code::InvalidSchedule, path)], "{text}");
    }
    for text in
        ["cron: '0 0 29 2 *'", "cron: '0 0 29 2 *', start: 2025-03-01, end: 2028-12-31", "cron: '* * * * *'"]
    {
        assert!(Calendar::of(&schedule(text)).is_ok(), "{text}");
    }
}

#[test]
fn a_time_that_exists_twice_fires_the_first_time() {
    // 2026-10-25 03:00 -> 02:00.
    let found = firings("cron: '30 2 * * *'", "Europe/Berlin", "2026-10-24T12:00:00Z", 2);
    assert_eq!(found, ["10-25 02:30+02:00", "10-26 02:30+01:00"]);
    let found = firings("cron: '0 * * * *'", "Europe/Berlin", "2026-10-24T23:30:00Z", 3);
    assert_eq!(found, ["10-25 02:00+02:00", "10-25 02:00+01:00", "10-25 03:00+01:00"]);
    // During the second occurrence, the next local minutes have already passed.
    let found = firings("cron: '45 2 * * *'", "Europe/Berlin", "2026-10-25T01:10:00Z", 1);
    assert_eq!(found, ["10-26 02:45+01:00"]);
    // 2026-11-01 02:00 -> 01:00.
    let found = firings("cron: '30 1 * * *'", "America/New_York", "2026-10-31T12:00:00Z", 2);
    assert_eq!(found, ["11-01 01:30-04:00", "11-02 01:30-05:00"]);
    // 2026-04-05 02:00 -> 01:30.
    let found = firings("cron: '45 1 * * *'", "Australia/Lord_Howe", "2026-04-04T00:00:00Z", 2);
    assert_eq!(found, ["04-05 01:45+11:00", "04-06 01:45+10:30"]);
}

/// A wildcard for the minute or the hour continues: it has neither a gap nor a doubled moment.
#[test]
fn what_repeats_by_wildcard_goes_on_while_clocks_change() {
    let found = firings("cron: '0 * * * *'", "Europe/Berlin", "2026-10-24T21:30:00Z", 5);
    let hours = ["00:00+02:00", "01:00+02:00", "02:00+02:00", "02:00+01:00", "03:00+01:00"];
    assert_eq!(found, hours.map(|hour| format!("10-25 {hour}")));
    let found = firings("cron: '*/30 2 * * *'", "Europe/Berlin", "2026-10-24T22:30:00Z", 5);
    let halves = ["10-25 02:00+02:00", "10-25 02:30+02:00", "10-25 02:00+01:00", "10-25 02:30+01:00"];
    assert_eq!(found[..4], halves);
    assert_eq!(found[4], "10-26 02:00+01:00");
    // Forward: a skipped local time is not caught up, and nothing fires at the transition instead.
    let found = firings("cron: '30 * * * *'", "Europe/Berlin", "2026-03-29T00:00:00Z", 3);
    assert_eq!(found, ["03-29 01:30+01:00", "03-29 03:30+02:00", "03-29 04:30+02:00"]);
    // Half an hour back, 2026-04-05 02:00 -> 01:30.
    let found = firings("cron: '45 * * * *'", "Australia/Lord_Howe", "2026-04-04T14:00:00Z", 3);
    assert_eq!(found, ["04-05 01:45+11:00", "04-05 01:45+10:30", "04-05 02:45+10:30"]);
}

#[test]
fn a_distance_is_counted_on_the_time_line() {
    let found = firings("every: 24h", "Europe/Berlin", "2026-03-27T12:00:00Z", 3);
    assert_eq!(found, ["03-28 00:00+01:00", "03-29 00:00+01:00", "03-30 01:00+02:00"]);
    let text = "every: 36h, start: 2026-01-01T06:00";
    let found = firings(text, "Asia/Shanghai", "2025-01-01T00:00:00Z", 3);
    assert_eq!(found, ["01-01 06:00+08:00", "01-02 18:00+08:00", "01-04 06:00+08:00"]);
}

#[test]
fn start_and_end_are_both_included() {
    let calendar = calendar("cron: '0 6 * * *', start: 2026-01-10, end: 2026-01-12, timezone: Asia/Shanghai");
    let all = calendar.between(Timestamp(0), at("2030-01-01T00:00:00Z"), 100);
    let days: Vec<String> = all.iter().map(|one| shown(*one, "Asia/Shanghai")).collect();
    assert_eq!(days, ["01-10 06:00+08:00", "01-11 06:00+08:00", "01-12 06:00+08:00"]);
    assert_eq!(calendar.after(all[2]), None);
    assert_eq!(calendar.until(at("2030-01-01T00:00:00Z")), Some(all[2]));
    assert_eq!(calendar.until(Timestamp(all[0].0 - 1)), None);
    assert!(calendar.fires_at(all[1]) && !calendar.fires_at(Timestamp(all[1].0 + 1)));
}

#[test]
fn mistakes_name_their_fields() {
    let text = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\nschedule: {every: 500ms, timezone: UTC, start: soon, \
                end: 2026-02-30, catch_up: some, late_after: 0s, jitter: 3}\ntasks: [{name: a, template: t}]";
    let problems = parse_pipeline(text).unwrap_err();
    let found: Vec<&str> = problems.iter().map(|problem| problem.path.as_str()).collect();
    let wanted = ["catch_up", "late_after"].map(|field| format!("/schedule/{field}"));
    assert!(wanted.iter().all(|field| found.contains(&field.as_str())), "{problems:#?}");
    let wrong = |text: &str| {
        let text = format!(
            "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\nschedule: {{{text}}}\ntasks: [{{name: a, template: t}}]"
        );
        let problems = parse_pipeline(&text).unwrap_err();
        problems.into_iter().map(|problem| (problem.path, problem.code)).collect::<Vec<_>>()
    };
    let of = |field: &str| (format!("/schedule/{field}"), Code::InvalidSchedule);
    assert_eq!(wrong("cron: '0 25 * * *', timezone: Mars/Olympus"), [of("cron"), of("timezone")]);
    assert_eq!(wrong("cron: '0 5 * * *', start: soon, end: 2026-02-30"), [of("start"), of("end")]);
    assert_eq!(wrong("cron: '0 5 * * *', start: 2026-02-02, end: 2026-02-01"), [of("end")]);
    assert_eq!(wrong("every: 500ms"), [of("every")]);
}

#[test]
fn missed_firings_are_handled_as_the_schedule_says() {
    let daily = calendar("cron: '0 6 * * *'");
    let (stopped, now) = (at("2026-01-10T07:00:00Z"), at("2026-01-14T12:00:00Z"));
    let days = ["11", "12", "13", "14"].map(|day| at(&format!("2026-01-{day}T06:00:00Z")));
    let next = Some(at("2026-01-15T06:00:00Z"));
    let none = due(&daily, CatchUp::None, stopped, now);
    assert_eq!((none.fire, none.missed, none.handled, none.next), (vec![], days.to_vec(), now, next));
    let latest = due(&daily, CatchUp::Latest, stopped, now);
    assert_eq!((latest.fire, latest.missed), (vec![days[3]], days[..3].to_vec()));
    let all = due(&daily, CatchUp::All, stopped, now);
    assert_eq!((all.fire, all.missed, all.handled, all.next), (days.to_vec(), vec![], now, next));
    // One that is due just now is not missed, and replaces those that were.
    let latest = due(&daily, CatchUp::Latest, stopped, at("2026-01-14T06:00:03Z"));
    assert_eq!((latest.fire, latest.missed), (vec![days[3]], days[..3].to_vec()));
    // Each date is handled once, even if the clock is set back.
    let again = due(&daily, CatchUp::Latest, now, at("2026-01-12T12:00:00Z"));
    assert_eq!((again.fire, again.missed, again.handled), (vec![], vec![], now));
}

#[test]
fn what_is_too_much_for_one_go_is_carried_on_where_it_was_left() {
    let minutely = calendar("cron: '* * * * *'");
    let (start, now) = (at("2026-01-01T00:00:00Z"), at("2026-01-01T04:00:00Z"));
    let (mut handled, mut fired) = (start, Vec::new());
    loop {
        let part = due(&minutely, CatchUp::All, handled, now);
        handled = part.handled;
        fired.extend(part.fire);
        if part.next.is_none_or(|next| next > now) {
            break;
        }
    }
    assert_eq!(fired.len(), 240);
    assert!(fired.is_sorted_by(|one, next| one < next));
}

#[test]
fn who_set_it_decides_from_when_on_it_is_made_up_for() {
    let set_at = at("2026-01-10T12:00:00Z");
    let calendar = calendar("cron: '0 6 * * *', start: 2026-01-08");
    assert_eq!(calendar.handled_when_set(CatchUp::Latest, set_at), set_at);
    let handled = calendar.handled_when_set(CatchUp::All, set_at);
    assert_eq!(due(&calendar, CatchUp::All, handled, set_at).fire.len(), 3);
}

#[test]
fn a_firing_waits_or_is_left_out_for_its_reasons() {
    let (now, free) =
        (at("2026-01-10T06:00:00Z"), Situation { past: Past::Settled, running: 0, backfill: None });
    let of = |text: &str, situation| decide(&schedule(&format!("every: 1h{text}")), now, now, situation);
    assert_eq!(of("", Situation { running: 9, past: Past::Failed, ..free }), Verdict::Start);
    let skip = ", skip_if_running: true";
    assert_eq!(of(skip, free), Verdict::Start);
    assert_eq!(of(skip, Situation { running: 1, ..free }), Verdict::Skip(Why::Running));
    let past = ", depends_on_past: true";
    assert_eq!(of(past, Situation { past: Past::Underway, ..free }), Verdict::Wait(Why::PastUnderway));
    assert_eq!(of(past, Situation { past: Past::Failed, ..free }), Verdict::Wait(Why::PastFailed));
    let filling = |running| Situation { backfill: Some((running, 2)), running: 5, ..free };
    assert_eq!(of(skip, filling(1)), Verdict::Start);
    assert_eq!(of(skip, filling(2)), Verdict::Wait(Why::Full));
    let later = now.plus(Duration::from_secs(1));
    assert_eq!(decide(&schedule("every: 1h"), now, later, free), Verdict::Wait(Why::NotYet));
}

#[test]
fn jitter_is_the_same_whenever_it_is_asked_for_and_spreads() {
    let schedule = schedule("every: 1h, jitter: 10m");
    let date = at("2026-01-10T06:00:00Z");
    let names: Vec<String> = (0..50).map(|n| format!("p{n}")).collect();
    let found: std::collections::BTreeSet<Timestamp> =
        names.iter().map(|name| starts_at(&schedule, ("team", name), date, date)).collect();
    assert!(found.len() > 45);
    assert!(found.iter().all(|at| (date..date.plus(Duration::from_secs(600))).contains(at)));
    // A date long past fires now.
    let fired = date.plus(Duration::from_secs(86_400));
    let moved = starts_at(&schedule, ("team", "p1"), date, fired).since(fired);
    assert_eq!(moved, starts_at(&schedule, ("team", "p1"), date, date).since(date));
    assert_eq!(
        starts_at(&schedule, ("team", "p1"), date, date),
        starts_at(&schedule, ("team", "p1"), date, date)
    );
}

fn any_schedule() -> impl Strategy<Value = String> {
    let zones = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"];
    let minutes =
        prop_oneof![Just("*/7".to_owned()), Just("*".to_owned()), (0..60).prop_map(|n| format!("{n}"))];
    let hours =
        prop_oneof![Just("*".to_owned()), Just("1-3".to_owned()), (0..24).prop_map(|n| format!("{n}"))];
    let days = prop_oneof![Just("*"), Just("1,15,31"), Just("L")];
    let cron = (minutes, hours, days).prop_map(|(m, h, d)| format!("cron: '{m} {h} {d} * *'"));
    let every = (1_u64..200_000).prop_map(|seconds| format!("every: {seconds}s"));
    (prop_oneof![3 => cron, 1 => every], prop::sample::select(zones.to_vec()))
        .prop_map(|(what, zone)| format!("{what}, timezone: {zone}"))
}

/// Days before clock changes in one of the zones, and an ordinary one.
fn any_moment() -> impl Strategy<Value = Timestamp> {
    let days =
        ["2026-03-28", "2026-10-24", "2026-03-07", "2026-10-31", "2026-04-04", "2026-10-03", "2026-06-01"];
    (prop::sample::select(days.to_vec()), 0_i64..3 * 86_400_000_000)
        .prop_map(|(day, micros)| Timestamp(at(&format!("{day}T00:00:00Z")).0 + micros))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn firings_strictly_increase_and_both_directions_agree(text in any_schedule(), from in any_moment()) {
        let calendar = calendar(&text);
        let mut moment = from;
        for _ in 0..40 {
            let Some(next) = calendar.after(moment) else { break };
            prop_assert!(next > moment);
            prop_assert_eq!(calendar.until(next), Some(next));
            if moment != from {
                prop_assert_eq!(calendar.until(Timestamp(next.0 - 1)), Some(moment));
            }
            moment = next;
        }
    }

    /// However often and irregularly the schedule is checked, each date fires once, and no date to catch up
    /// is lost.
    #[test]
    fn each_date_is_handled_once(
        text in any_schedule(),
        from in any_moment(),
        steps in prop::collection::vec(1_i64..9_000, 1..12),
    ) {
        let calendar = calendar(&text);
        let end = Timestamp(from.0 + steps.iter().sum::<i64>() * 1_000_000);
        let all = calendar.between(Timestamp(from.0 + 1), end, 100_000);
        for catch_up in [CatchUp::None, CatchUp::Latest, CatchUp::All] {
            let (mut handled, mut now, mut fired, mut seen) = (from, from, Vec::new(), Vec::new());
            for step in &steps {
                now = Timestamp(now.0 + step * 1_000_000);
                loop {
                    let part = due(&calendar, catch_up, handled, now);
                    handled = part.handled;
                    seen.extend(part.missed.iter().chain(&part.fire).copied());
                    fired.extend(part.fire);
                    if part.next.is_none_or(|next| next > now) {
                        break;
                    }
                }
            }
            seen.sort_unstable();
            prop_assert!(seen.is_sorted_by(|one, next| one < next));
            prop_assert!(fired.is_sorted_by(|one, next| one < next));
            prop_assert!(seen.iter().all(|date| all.binary_search(date).is_ok()));
            if catch_up == CatchUp::All {
                prop_assert_eq!(&fired, &all);
            }
        }
    }
}
