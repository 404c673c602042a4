//! Schedules: that they can be read. Firing them is not the compiler's work.

use croner::parser::{CronParser, Seconds, Year};
use cubeloom_domain::pipeline::Schedule;
use cubeloom_domain::{Code, Problem};

/// Checks a schedule.
pub fn check(schedule: &Schedule, problems: &mut Vec<Problem>) {
    match (&schedule.cron, &schedule.every) {
        (Some(_), Some(_)) => {
            let message = "give `cron` or `every`, not both";
            problems.push(Problem::error(Code::Conflict, "/schedule", message));
        }
        (None, None) => {
            let message = "give `cron` (\"0 6 * * *\") or `every` (12h)";
            problems.push(Problem::error(Code::MissingKey, "/schedule", message));
        }
        _ => {}
    }
    if let Some(cron) = &schedule.cron {
        self::cron(cron, problems);
    }
    if let Some(zone) = &schedule.timezone
        && jiff::tz::TimeZone::get(zone).is_err()
    {
        let message =
            format!("`{zone}` is not a time zone; write an IANA name such as Europe/Berlin or Asia/Shanghai");
        problems.push(Problem::error(Code::InvalidSchedule, "/schedule/timezone", message));
    }
}

fn cron(text: &str, problems: &mut Vec<Problem>) {
    let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
    // The parser's work grows with the text; no schedule is long.
    let said = |error: croner::errors::CronError| error.to_string().trim_end_matches('.').to_owned();
    let reason = match text.len() {
        0..=200 => parser.parse(text).err().map(said),
        _ => Some("it is too long".into()),
    };
    if let Some(reason) = reason {
        let message = format!(
            "`{text}` is not a schedule: {reason}; write five fields (minute, hour, day of month, month, day of week)"
        );
        problems.push(Problem::error(Code::InvalidSchedule, "/schedule/cron", message));
    }
}
