//! Kills at every failpoint.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::baseline::Baseline;
use super::document::Document;
use super::figures::Figures;
use super::moments::Numbers;
use super::site::Site;
use super::watch::{Came, Watch};
use super::{growing, part, resizing, schedule};

/// The variable that names the failpoint to die at.
pub const POINT: &str = "CUBELOOM_FAILPOINT";
/// Failpoints in the client that starts a run. All others are in the server or a shim.
const OF_THE_CLIENT: [&str; 2] = ["store.create_run.before", "store.create_run.after"];
/// Failpoints reached once on a new data folder, while the server starts.
const OF_THE_FIRST_START: [&str; 4] =
    ["storage.snapshot.before", "storage.snapshot.after", "local.token.before", "local.token.after"];
/// Failpoints reached once on a new data folder, by the first tasks.
const OF_THE_FIRST_TASKS: [&str; 4] =
    ["local.owner.before", "local.owner.after", "local.python.before", "local.python.after"];
/// How long a server may take to die at a failpoint of its start.
const PATIENCE: Duration = Duration::from_secs(60);

/// Failpoints for one test, so that the tests can run in parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Reached by the full run, split into every second failpoint and the others.
    Run(Half),
    /// Reached while the server is new, by the client, or by a partial run.
    Beginning,
    Schedule,
    Scale,
    Grow,
}

/// One half of the failpoints of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    First,
    Second,
}

impl Group {
    /// Whether the group has the failpoint. Each declared failpoint belongs to one group.
    fn has(self, point: &str, at: usize) -> bool {
        let beginning =
            [&OF_THE_CLIENT[..], &OF_THE_FIRST_START, &OF_THE_FIRST_TASKS, &part::POINTS].concat();
        let group = if beginning.contains(&point) {
            Self::Beginning
        } else if schedule::POINTS.contains(&point) {
            Self::Schedule
        } else if point.contains(".scale.") && resizing::kills_at(point) {
            Self::Scale
        } else if growing::kills_at(point) {
            Self::Grow
        } else {
            Self::Run(if at.is_multiple_of(2) { Half::First } else { Half::Second })
        };
        group == self
    }

    fn points(self) -> BTreeSet<String> {
        let all = declared().into_iter().enumerate();
        all.filter(|(at, point)| self.has(point, *at)).map(|(_, point)| point).collect()
    }
}

/// All failpoints that the sources declare.
fn declared() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    scan(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../server")), &mut found);
    found
}

fn scan(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder of sources").flatten() {
        let path = entry.path();
        if path.is_dir() && entry.file_name() != "tests" {
            scan(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a source");
            let points = text.split("hit(\"").skip(1).filter_map(|rest| rest.split('"').next());
            found.extend(points.map(str::to_owned));
        }
    }
}

/// The failpoints that servers of a site have reached.
pub fn reached(site: &Site) -> BTreeSet<String> {
    fs::read_to_string(site.failpoints()).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// A failpoint, and the hit at which the server dies.
struct Armed {
    point: String,
    time: u64,
    /// Runs that ended with fewer hits.
    tried: u32,
}

impl Armed {
    fn word(&self) -> String {
        format!("{}:{}", self.point, self.time)
    }
}

/// Kills the server at each failpoint of a group, `kills_a_run` of them in one run, each at the first to
/// `latest`th hit.
pub fn kill(
    site: &mut Site,
    baseline: &Baseline,
    (group, kills_a_run, latest): (Group, usize, u64),
    numbers: &mut Numbers,
    figures: &mut Figures,
) {
    let armed = |point| Armed { point, time: 1 + numbers.below(latest), tried: 0 };
    let mut points: VecDeque<Armed> = group.points().into_iter().map(armed).collect();
    while !points.is_empty() {
        kill_in_one_run(site, baseline, kills_a_run, &mut points, figures);
    }
}

fn kill_in_one_run(
    site: &mut Site,
    baseline: &Baseline,
    kills: usize,
    points: &mut VecDeque<Armed>,
    figures: &mut Figures,
) {
    let mut left = kills;
    site.forget_environments();
    site.start(&[(POINT, &next(points, left))]);
    while !site.becomes_ready() {
        killed(points, &mut left, figures);
        site.start(&[(POINT, &next(points, left))]);
    }
    let mut watch = Watch::of(site.run(&baseline.document));
    while watch.wait(site, None) == Came::Death {
        killed(points, &mut left, figures);
        watch.restart(site, &[(POINT, &next(points, left))]);
    }
    if left > 0
        && let Some(armed) = points.front_mut()
    {
        // The run may have too few hits.
        armed.time = 1;
        armed.tried += 1;
        if armed.tried > 2 {
            figures.findings.push(format!("not reached: {}", armed.point));
            points.pop_front();
        }
    }
    site.stop();
    figures.take_times(&mut watch);
    baseline.compare(site, &watch.run, figures);
}

/// The failpoint to arm; empty for none.
fn next(points: &VecDeque<Armed>, left: usize) -> String {
    points.front().filter(|_| left > 0).map(Armed::word).unwrap_or_default()
}

/// Records that the server died at the armed failpoint.
fn killed(points: &mut VecDeque<Armed>, left: &mut usize, figures: &mut Figures) {
    *left -= 1;
    figures.kills_at_points += 1;
    figures.killed_at.extend(points.pop_front().map(|armed| armed.point));
}

/// Kills the server on a new data folder: during startup, and during its first tasks.
pub fn kill_at_the_first_start(site: &mut Site, baseline: &Baseline, figures: &mut Figures) {
    for point in OF_THE_FIRST_START {
        site.start(&[(POINT, point)]);
        let deadline = Instant::now() + PATIENCE;
        while !site.has_died() {
            assert!(Instant::now() < deadline, "{point} is not reached\n{}", site.last_log());
            sleep(Duration::from_millis(5));
        }
        figures.kills_at_points += 1;
        figures.killed_at.insert(point.into());
    }
    let first = OF_THE_FIRST_TASKS.map(|point| Armed { point: point.into(), time: 1, tried: 0 });
    kill_in_one_run(site, baseline, first.len(), &mut first.into(), figures);
}

/// Kills the client that starts a run, before and after the run is stored.
pub fn kill_the_client(site: &mut Site, baseline: &Baseline, figures: &mut Figures) {
    for (point, stored) in OF_THE_CLIENT.into_iter().zip([0, 1]) {
        site.start_ready(&[]);
        let before = site.database.runs();
        let output = site.submit(&baseline.document, &[(POINT, point)]);
        let status = output.expect_err("the program dies before it can say the run's id").status;
        assert_eq!(status.signal(), Some(9), "{point}");
        figures.killed_at.insert(point.into());
        figures.kills_at_points += 1;
        let new: Vec<_> = site.database.runs().difference(&before).cloned().collect();
        if new.len() != stored {
            figures.findings.push(format!("{point}: {} runs are stored and not {stored}", new.len()));
        }
        for run in new {
            assert_eq!(Watch::of(run.clone()).wait(site, None), Came::End, "{}", site.last_log());
            site.stop();
            baseline.compare(site, &run, figures);
        }
        site.stop();
    }
}

/// Kills the server while it cancels a run, at each failpoint on the way.
pub fn kill_while_cancelling(site: &mut Site, figures: &mut Figures) {
    let document = Document::endless();
    for point in
        ["engine.cancel.before:3", "local.cancel.before:2", "local.cancel.after:2", "engine.commit.after:2"]
    {
        site.start_ready(&[]);
        let run = site.run(&document);
        super::cancel::until_all_hang(site, &run);
        site.kill();
        site.start_ready(&[(POINT, point)]);
        site.cancel(&run);
        super::cancel::until_death(site, point);
        figures.kills_at_points += 1;
        site.start(&[]);
        super::cancel::check(site, &run, figures);
    }
}

/// Every failpoint of the group must have been reached on the site, and must have killed a process.
pub fn find_unreached(group: Group, site: &Site, figures: &mut Figures) {
    let points = group.points();
    assert!(!points.is_empty(), "no point is declared for {group:?}");
    figures.reached.extend(reached(site));
    let unreached: Vec<String> = points.difference(&figures.reached).cloned().collect();
    figures.findings.extend(unreached.iter().map(|point| format!("not reached: {point}")));
    let survived: Vec<String> = points.difference(&figures.killed_at).cloned().collect();
    figures.findings.extend(survived.iter().map(|point| format!("not killed at: {point}")));
    figures.declared.extend(points);
}
