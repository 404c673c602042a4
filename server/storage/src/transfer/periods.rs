//! Partitions by date: an address with a date pattern (`logs/dt=%Y-%m-%d/`) expands to one address per
//! period.

use std::ops::Range;

use clap::ValueEnum;
use jiff::civil::DateTime;
use jiff::{SignedDuration, Span, fmt::strtime};

use super::Source;
use super::error::TransferError;
use super::glob;

/// Maximum number of partitions of a transfer: a year of hours.
const MOST: usize = 9_000;

/// The lengths of partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Every {
    /// One hour
    Hour,
    /// One day
    Day,
    /// One week
    Week,
    /// One month; the last day of shorter months
    Month,
}

/// Partitions, from the first to the last, inclusive.
#[derive(Debug, Clone, Copy)]
pub struct Periods {
    /// Start of the first partition.
    pub first: DateTime,
    /// The last partition starts at or before this time.
    pub last: DateTime,
    /// Length of each partition.
    pub every: Every,
}

impl Periods {
    fn moments(&self) -> Result<Vec<DateTime>, TransferError> {
        let Self { first, last, every } = *self;
        if last < first {
            return Err(TransferError::Partitions(format!("last ({last}) comes before first ({first})")));
        }
        // Count each from the first: otherwise the last days of months would shrink step by step.
        let begins = (0..=MOST as i64).map(|count| {
            let days = |count| Span::new().try_days(count).and_then(|span| first.checked_add(span));
            match every {
                Every::Hour => first.checked_add(SignedDuration::from_hours(count)),
                Every::Day => days(count),
                Every::Week => days(7 * count),
                Every::Month => Span::new().try_months(count).and_then(|span| first.checked_add(span)),
            }
        });
        let moments: Vec<DateTime> =
            begins.map_while(Result::ok).take_while(|begin| *begin <= last).collect();
        if moments.len() > MOST {
            let why = format!("from {first} to {last} there are more than {MOST} partitions");
            return Err(TransferError::Partitions(why));
        }
        Ok(moments)
    }
}

/// Parses `2026-11-21` or `2026-11-21T05`.
pub fn moment(text: &str) -> Result<DateTime, String> {
    text.parse().map_err(|_| format!("{text:?} is not a date; write one like 2026-11-21 or 2026-11-21T05"))
}

/// The addresses of all partitions in `from`, and their target folder. If `to` has dates, a partition goes
/// there. Otherwise it goes into folders named as at the source, from the first with a date on.
pub fn expand(from: &[String], to: &str, periods: &Periods) -> Result<(Vec<Source>, String), TransferError> {
    if let Some(plain) = from.iter().find(|from| dates(from).is_none()) {
        let why = "it has no date such as %Y-%m-%d, but partitions need one";
        return Err(TransferError::bad_url(plain, why));
    }
    let (folder, below) = match dates(to) {
        Some(dates) => to.split_at(dates.start),
        None => (to, ""),
    };
    if !folder.is_empty() && !folder.ends_with('/') {
        return Err(TransferError::bad_url(to, "several partitions need a folder: end the address with `/`"));
    }
    let mut sources = Vec::new();
    for moment in periods.moments()? {
        for from in from {
            let mut source = Source { url: written(from, moment)?, partition: true, ..Source::default() };
            match below {
                "" => source.under = written(folder_with_date(from), moment)?,
                below if below.ends_with('/') => source.under = written(below, moment)?,
                below => source.name = Some(written(below, moment)?),
            }
            sources.push(source);
        }
    }
    let folder = if folder.is_empty() { "./" } else { folder };
    Ok((sources, folder.to_owned()))
}

/// The folders of an address to preserve at the target: from the first with a date on, without a pattern.
fn folder_with_date(from: &str) -> &str {
    let start = dates(from).map_or(from.len(), |dates| dates.start);
    let (folder, _) = glob::split(from);
    match folder.len() > start {
        true => &folder[start..],
        false => "",
    }
}

/// From the start of the first component with a date to the end of the text.
fn dates(text: &str) -> Option<Range<usize>> {
    let at = text.find('%')?;
    Some(text[..at].rfind('/').map_or(0, |slash| slash + 1)..text.len())
}

fn written(text: &str, moment: DateTime) -> Result<String, TransferError> {
    strtime::format(text, moment)
        .map_err(|error| TransferError::bad_url(text, format!("its date is invalid: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn periods(first: &str, last: &str, every: Every) -> Periods {
        Periods { first: moment(first).unwrap(), last: moment(last).unwrap(), every }
    }

    fn begins(first: &str, last: &str, every: Every) -> Vec<String> {
        let moments = periods(first, last, every).moments().unwrap();
        moments.iter().map(|moment| moment.strftime("%m-%d %H").to_string()).collect()
    }

    #[test]
    fn periods_begin_where_they_should() {
        assert_eq!(
            begins("2026-02-27", "2026-03-02", Every::Day),
            ["02-27 00", "02-28 00", "03-01 00", "03-02 00"]
        );
        assert_eq!(
            begins("2026-01-31", "2026-04-30", Every::Month),
            ["01-31 00", "02-28 00", "03-31 00", "04-30 00"]
        );
        assert_eq!(
            begins("2026-03-28T22", "2026-03-29T01", Every::Hour),
            ["03-28 22", "03-28 23", "03-29 00", "03-29 01"]
        );
        assert_eq!(begins("2026-12-24", "2027-01-06", Every::Week), ["12-24 00", "12-31 00"]);
        assert!(periods("2026-02-02", "2026-02-01", Every::Day).moments().is_err());
        assert!(periods("2000-01-01", "2026-01-01", Every::Hour).moments().is_err());
    }

    fn places(from: &str, to: &str) -> Vec<(String, String)> {
        let from = [from.to_owned()];
        let (sources, folder) = expand(&from, to, &periods("2026-11-20", "2026-11-20", Every::Day)).unwrap();
        let place = |source: &Source| format!("{folder}{}", source.name.as_ref().unwrap_or(&source.under));
        sources.iter().map(|source| (source.url.clone(), place(source))).collect()
    }

    #[test]
    fn names_are_kept_from_the_first_folder_with_a_date_on() {
        let one = |from: &str, to: &str| places(from, to).remove(0);
        let pair = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        assert_eq!(
            one("hdfs://nn/logs/dt=%Y-%m-%d/", "in/"),
            pair("hdfs://nn/logs/dt=2026-11-20/", "in/dt=2026-11-20/")
        );
        assert_eq!(
            one("hdfs://nn/%Y/%m/%d/x/*.csv", "in/"),
            pair("hdfs://nn/2026/11/20/x/*.csv", "in/2026/11/20/x/")
        );
        assert_eq!(one("hdfs://nn/logs/%Y%m%d.csv", "in/"), pair("hdfs://nn/logs/20261120.csv", "in/"));
        assert_eq!(one("hdfs://nn/%F/", "in/day-%d/"), pair("hdfs://nn/2026-11-20/", "in/day-20/"));
        assert_eq!(one("hdfs://nn/%F.csv", "in/%d.csv"), pair("hdfs://nn/2026-11-20.csv", "in/20.csv"));
        assert_eq!(one("hdfs://nn/%F.csv", "%d.csv"), pair("hdfs://nn/2026-11-20.csv", "./20.csv"));
    }

    #[test]
    fn what_cannot_be_partitions_is_said() {
        let days = periods("2026-11-20", "2026-11-21", Every::Day);
        let why = |from: &str, to: &str| expand(&[from.to_owned()], to, &days).unwrap_err().to_string();
        assert!(why("hdfs://nn/logs/", "in/").contains("has no date"));
        assert!(why("hdfs://nn/%F/", "in").contains("need a folder"));
        assert!(why("hdfs://nn/%!/", "in/").contains("its date is invalid"));
    }
}
