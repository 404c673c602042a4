//! Follows the report files of running workers.

use cubeloom_domain::Timestamp;
use cubeloom_domain::executor::{Metric, Progress};
use cubeloom_domain::json::of_program;
use cubeloom_domain::pace::{Gait, Pace};
use cubeloom_domain::preflight::Tested;

use crate::logs;
use crate::outputs::{Line, Took};
use crate::place::Place;

/// New content in the files of a job's workers.
#[derive(Debug, Default, PartialEq)]
pub struct News {
    /// Progress of the program: the last one of the lowest rank that reported any.
    pub progress: Option<Progress>,
    /// Values of the metric that the job watches, from the lowest rank that reports it.
    pub measured: Vec<Metric>,
    /// Step progress of all ranks so far. `None` if unchanged.
    pub pace: Option<Pace>,
    /// Result of the workers' preflight test, before their program began.
    pub tested: Option<Box<Tested>>,
}

/// Read positions in the files of a job's workers.
#[derive(Debug, Default)]
pub struct Tails {
    watches: Option<String>,
    ranks: Vec<Tail>,
    /// The rank whose metrics count: all ranks of a program may report the same.
    measuring: Option<usize>,
    pace: Option<Pace>,
    /// Whether the preflight test has been reported.
    has_tested: bool,
    /// Whether the initial content has been read.
    has_caught_up: bool,
    /// Whether the job is suspended.
    is_suspended: bool,
}

/// Read position in one rank's file, and its state.
#[derive(Debug, Default)]
struct Tail {
    /// In bytes.
    offset: u64,
    gait: Gait,
    /// Whether the last step did not reach the end of the file.
    has_more: bool,
    /// Whether its clock was found to be wrong: its times are ignored from then on.
    is_clock_wrong: bool,
    /// Whether its worker has ended.
    ended: bool,
}

/// Maximum size that one step reads of a file, in bytes.
const STEP: usize = 256 << 10;

impl Tails {
    /// For a job that watches this metric, if any.
    #[must_use]
    pub fn new(watches: Option<String>) -> Self {
        Self { watches, ..Self::default() }
    }

    /// A worker has ended: no more of its steps are awaited.
    pub fn ended(&mut self, rank: usize) {
        self.tail(rank).ended = true;
    }

    /// A worker has restarted: no step is awaited before it reports one, and its absence was no gap.
    pub fn began(&mut self, rank: usize) {
        let tail = self.tail(rank);
        tail.ended = false;
        tail.gait.begin();
    }

    /// The job was suspended, and no steps are awaited. Or it was resumed, as if all ranks had reported a
    /// step now.
    pub fn suspend(&mut self, suspend: bool, now: Timestamp) {
        if std::mem::replace(&mut self.is_suspended, suspend) && !suspend {
            self.ranks.iter_mut().for_each(|tail| tail.gait.go_on(now));
        }
    }

    /// Reads complete new lines of the files, in rank order, of an attempt that began at this time.
    pub fn read<P: Into<Place>>(
        &mut self,
        files: impl Iterator<Item = P>,
        began: Timestamp,
        now: Timestamp,
    ) -> News {
        let mut news = News::default();
        for (rank, file) in files.enumerate() {
            let read = self.read_one(rank, &file.into(), began, now);
            let (progress, measured) = (read.progress, read.measured);
            news.progress = news.progress.or(progress);
            // The first one was written before the program began.
            if read.tested.is_some() && !std::mem::replace(&mut self.has_tested, true) {
                news.tested = read.tested;
            }
            if !measured.is_empty() && *self.measuring.get_or_insert(rank) == rank {
                news.measured = measured;
            }
        }
        // An incomplete read would look as if there had been no progress since.
        if self.ranks.iter().any(|tail| tail.has_more) {
            return news;
        }
        self.has_caught_up = true;
        let rests = self.is_suspended;
        let pace = Pace::of(self.ranks.iter().map(|tail| (&tail.gait, rests || tail.ended)));
        if pace != self.pace {
            self.pace.clone_from(&pace);
            news.pace = pace;
        }
        news
    }

    fn tail(&mut self, rank: usize) -> &mut Tail {
        if self.ranks.len() <= rank {
            self.ranks.resize_with(rank + 1, Tail::default);
        }
        &mut self.ranks[rank]
    }

    fn read_one(&mut self, rank: usize, path: &Place, began: Timestamp, now: Timestamp) -> News {
        let watches = self.watches.clone();
        // Initial content may be old: an earlier server has read it.
        let heard = match logs::changed(path) {
            Ok(Some(changed)) if !self.has_caught_up => changed.max(began).min(now),
            _ => now,
        };
        let read_later = !self.has_caught_up;
        let tail = self.tail(rank);
        let mut news = News::default();
        let length = logs::len(path).unwrap_or_default();
        tail.has_more = false;
        if length > tail.offset
            && let Ok(piece) = logs::range(path, tail.offset, STEP)
        {
            let whole = piece.bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            tail.offset += whole as u64;
            tail.has_more = whole > 0 && piece.bytes.len() == STEP && length > tail.offset;
            for line in piece.bytes[..whole].split(|byte| *byte == b'\n') {
                match serde_json::from_slice(&of_program(line)) {
                    Ok(Line::Progress(said)) => {
                        let at = said.at();
                        tail.is_clock_wrong |= at.is_some_and(|at| at < began);
                        let at = at.filter(|_| !tail.is_clock_wrong).map_or(heard, |at| at.min(now));
                        tail.gait.step_read(said.progress, at, heard, read_later);
                        news.progress = Some(said.progress);
                    }
                    Ok(Line::Checkpoint(value)) => tail.gait.saved(Took::in_value(&value).duration()),
                    Ok(Line::Restored(took)) => tail.gait.restored(took.duration()),
                    Ok(Line::Metric(metric)) if Some(&metric.name) == watches.as_ref() => {
                        news.measured.push(metric);
                    }
                    Ok(Line::Preflight(tested)) => drop(news.tested.get_or_insert(tested)),
                    _ => {}
                }
            }
        }
        news
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use cubeloom_domain::pace::{Behind, Mark};

    use super::*;

    const BEGAN: Timestamp = Timestamp(800_000_000);
    const NOW: Timestamp = Timestamp(1_000_000_000);

    #[test]
    fn what_is_new_is_read_once_and_only_from_whole_lines() {
        let folder = tempfile::tempdir().unwrap();
        let paths = [folder.path().join("a.jsonl"), folder.path().join("b.jsonl")];
        let mut tails = Tails::new(Some("loss".into()));
        let mut read = || {
            let news = tails.read(paths.iter(), BEGAN, NOW);
            News { pace: None, ..news }
        };
        assert_eq!(read(), News::default());
        let progress = "{\"progress\":{\"step\":1}}\n{\"progress\":{\"step\":2,\"total\":4}}\n{\"prog";
        std::fs::write(&paths[0], progress).unwrap();
        let metrics =
            "{\"metric\":{\"name\":\"loss\",\"value\":0.5}}\n{\"metric\":{\"name\":\"other\",\"value\":1}}\n";
        std::fs::write(&paths[1], metrics).unwrap();
        let loss = |value| Metric { name: "loss".into(), value, step: None };
        let progress = Some(Progress { step: 2.0, total: Some(4.0) });
        assert_eq!(read(), News { progress, measured: vec![loss(0.5)], ..News::default() });
        assert_eq!(read(), News::default());
        std::fs::write(
            &paths[0],
            format!("{}ress\":{{\"step\":3}}}}\n{metrics}", std::fs::read_to_string(&paths[0]).unwrap()),
        )
        .unwrap();
        std::fs::write(&paths[1], metrics.repeat(2)).unwrap();
        let progress = Some(Progress { step: 3.0, total: None });
        assert_eq!(
            read(),
            News { progress, measured: vec![loss(0.5)], ..News::default() },
            "one rank's values count"
        );
    }

    #[test]
    fn the_first_test_of_the_workers_is_told_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let line = |worker: &str| {
            format!(
                "{{\"preflight\":{{\"workers\":[{{\"worker\":\"{worker}\",\"cpu\":9.5}}],\"blamed\":null}}}}\n"
            )
        };
        std::fs::write(&path, line("a-0")).unwrap();
        let mut tails = Tails::new(None);
        let tested = tails.read([&path].into_iter(), BEGAN, NOW).tested.unwrap();
        assert_eq!((tested.workers[0].worker.as_str(), tested.workers[0].cpu), ("a-0", Some(9.5)));
        std::fs::write(&path, line("a-0") + &line("b-0")).unwrap();
        assert_eq!(tails.read([&path].into_iter(), BEGAN, NOW).tested, None, "the program may say anything");
    }

    #[test]
    fn steps_have_the_moments_that_programs_say() {
        let folder = tempfile::tempdir().unwrap();
        let paths = [folder.path().join("a.jsonl"), folder.path().join("b.jsonl")];
        let step =
            |step: u32, at: f64| format!("{{\"progress\":{{\"step\":{step},\"total\":9,\"at\":{at}}}}}\n");
        let mut text = step(1, 900.0) + &step(2, 910.5) + &step(3, 930.0);
        text +=
            "{\"checkpoint\":{\"step\":3,\"path\":\"c\",\"seconds\":2.5}}\n{\"restored\":{\"seconds\":4}}\n";
        std::fs::write(&paths[0], text).unwrap();
        // Its clock is ahead, and its last line has no time.
        std::fs::write(&paths[1], step(1, 5000.0) + "{\"progress\":{\"step\":2}}\n").unwrap();
        let mut tails = Tails::new(None);
        let pace = tails.read(paths.iter(), BEGAN, NOW).pace.unwrap();
        let mark = |at, step| Mark { at: Timestamp(at), step };
        assert_eq!((pace.first, pace.last), (mark(900_000_000, 1.0), mark(930_000_000, 3.0)));
        assert_eq!((pace.gaps, pace.longest), (2, 19_500_000));
        assert_eq!((pace.saving, pace.restoring), (2_500_000, 4_000_000));
        let behind = |rank, at, step| Some(Behind { rank, since: Timestamp(at), step, read_later: true });
        assert_eq!(pace.behind, behind(0, NOW.0, 3.0), "what it says is no matter for that");
        assert_eq!(tails.read(paths.iter(), BEGAN, NOW).pace, None, "nothing has changed");
        tails.ended(0);
        assert_eq!(tails.read(paths.iter(), BEGAN, NOW).pace.unwrap().behind, behind(1, NOW.0, 2.0));
    }

    #[test]
    fn nobody_waits_for_steps_of_workers_that_are_away_or_suspended() {
        let folder = tempfile::tempdir().unwrap();
        let paths = [folder.path().join("a.jsonl"), folder.path().join("b.jsonl")];
        let (mut tails, mut text) = (Tails::new(None), String::new());
        let later = |seconds| NOW.plus(Duration::from_secs(seconds));
        let behind = |rank: u32, seconds| Some((rank, later(seconds)));
        let shown = |pace: &Pace| pace.behind.map(|behind| (behind.rank, behind.since));
        let mut read = |tails: &mut Tails, step: u64, seconds| {
            text += &format!("{{\"progress\":{{\"step\":{step}}}}}\n");
            std::fs::write(&paths[usize::from(step.is_multiple_of(2))], &text).unwrap();
            tails.read(paths.iter(), BEGAN, later(seconds));
            let pace = tails.pace.as_ref().unwrap();
            (shown(pace), pace.longest / 1_000_000)
        };
        assert_eq!(read(&mut tails, 1, 0).0, behind(0, 0));
        assert_eq!(read(&mut tails, 2, 10).0, behind(0, 0));
        tails.ended(0);
        assert_eq!(read(&mut tails, 4, 20).0, behind(1, 20));
        tails.began(0);
        assert_eq!(read(&mut tails, 6, 4000), (behind(1, 4000), 3980), "it has reported nothing yet");
        assert_eq!(read(&mut tails, 7, 9000).0, behind(1, 4000), "now it has");
        assert_eq!(read(&mut tails, 8, 9001), (behind(0, 9000), 5001));
        tails.suspend(true, later(9002));
        assert_eq!(tails.read(paths.iter(), BEGAN, later(9002)).pace.unwrap().behind, None);
        tails.suspend(false, later(50_000));
        tails.suspend(false, later(60_000));
        let pace = tails.read(paths.iter(), BEGAN, later(60_000)).pace.unwrap();
        assert_eq!(shown(&pace), behind(0, 50_000));
        assert_eq!(read(&mut tails, 9, 70_000), (behind(1, 50_000), 5001));
        assert_eq!(read(&mut tails, 10, 70_001), (behind(0, 70_000), 5001), "to be suspended was no gap");
    }

    #[test]
    fn a_worker_whose_clock_is_wrong_has_the_moments_of_the_server() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let mut tails = Tails::new(None);
        let mut text = String::new();
        let mut pace = None;
        // The second time is invalid. The later ones are plausible, but no longer trusted.
        for (second, said) in [(0, 810.0), (10, 0.0), (20, 830.0), (50, 9999.0)] {
            text += &format!("{{\"progress\":{{\"step\":{second},\"at\":{said}}}}}\n");
            std::fs::write(&path, &text).unwrap();
            let now = NOW.plus(Duration::from_secs(second));
            pace = tails.read([&path].into_iter(), BEGAN, now).pace;
        }
        let (pace, last) = (pace.unwrap(), NOW.plus(Duration::from_secs(50)));
        assert_eq!((pace.first.at, pace.last.at), (Timestamp(810_000_000), last));
        let behind = Behind { rank: 0, since: last, step: 50.0, read_later: false };
        assert_eq!(pace.behind, Some(behind));
        assert_eq!(pace.longest, 200_000_000, "from what was still believed to the next");
    }

    #[test]
    fn what_an_earlier_server_had_read_is_as_old_as_its_file() {
        let since = |changed: u64| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.jsonl");
            std::fs::write(&path, "{\"progress\":{\"step\":1}}\n").unwrap();
            let file = std::fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(UNIX_EPOCH + Duration::from_secs(changed)).unwrap();
            let mut tails = Tails::new(None);
            let read_again = tails.read([&path].into_iter(), BEGAN, NOW).pace.unwrap().behind.unwrap();
            std::fs::write(&path, "{\"progress\":{\"step\":1}}\n{\"progress\":{\"step\":2}}\n").unwrap();
            file.set_modified(UNIX_EPOCH + Duration::from_secs(changed)).unwrap();
            let news = tails.read([&path].into_iter(), BEGAN, NOW).pace.unwrap();
            let new = Behind { rank: 0, since: NOW, step: 2.0, read_later: false };
            assert_eq!(news.behind, Some(new), "that is new");
            assert!(read_again.read_later);
            read_again.since
        };
        assert_eq!(since(900), Timestamp(900_000_000));
        assert_eq!((since(5), since(5000)), (BEGAN, NOW), "whatever the clock of its disk shows");
    }
}
