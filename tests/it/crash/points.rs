//! Kills at every named point.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use super::baseline::Baseline;
use super::document::Document;
use super::figures::Figures;
use super::moments::Numbers;
use super::site::Site;
use super::watch::{Came, Watch};

/// The variable that names the point to die at.
const POINT: &str = "CUBELOOM_FAILPOINT";
/// Points in the program that asks for a run; all others are reached in the server or in a shim.
const OF_THE_CLIENT: &str = "store.create_run.";

/// All points that the sources declare.
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

/// The points that were reached so far.
fn reached(site: &Site) -> BTreeSet<String> {
    fs::read_to_string(site.failpoints()).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// A point, and at which time it is reached the server dies.
struct Armed {
    point: String,
    time: u64,
    /// Runs that came to their end without reaching it so often.
    tried: u32,
}

impl Armed {
    fn word(&self) -> String {
        format!("{}:{}", self.point, self.time)
    }
}

/// Kills the server at each of the points, `kills_a_run` of them in one run, each at the first to `latest`th time.
pub fn kill(
    site: &mut Site,
    baseline: &Baseline,
    kills_a_run: usize,
    latest: u64,
    numbers: &mut Numbers,
    figures: &mut Figures,
) {
    figures.declared = declared();
    let of_the_server = figures.declared.iter().filter(|point| !point.starts_with(OF_THE_CLIENT));
    let mut points: VecDeque<Armed> = of_the_server
        .map(|point| Armed { point: point.clone(), time: 1 + numbers.below(latest), tried: 0 })
        .collect();
    while !points.is_empty() {
        kill_in_one_run(site, baseline, kills_a_run, &mut points, figures);
    }
    figures.reached.extend(reached(site));
}

fn kill_in_one_run(
    site: &mut Site,
    baseline: &Baseline,
    kills: usize,
    points: &mut VecDeque<Armed>,
    figures: &mut Figures,
) {
    let mut left = kills;
    let armed = |points: &VecDeque<Armed>, left| points.front().filter(|_| left > 0).map(Armed::word);
    let word = armed(points, left).unwrap_or_default();
    site.forget_environments();
    site.start(&[(POINT, &word)]);
    let mut watch = Watch::of(site.run(&baseline.document));
    while watch.wait(site, None) == Came::Death {
        left -= 1;
        figures.kills_at_points += 1;
        figures.killed_at.extend(points.pop_front().map(|armed| armed.point));
        match armed(points, left) {
            Some(word) => watch.restart(site, &[(POINT, &word)]),
            None => watch.restart(site, &[]),
        }
    }
    if left > 0
        && let Some(armed) = points.front_mut()
    {
        // Perhaps too late in the run for so many times.
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

/// Kills the program that asks for a run, before and after the run is stored.
pub fn kill_the_client(site: &mut Site, baseline: &Baseline, figures: &mut Figures) {
    for (point, stored) in [("store.create_run.before", 0), ("store.create_run.after", 1)] {
        site.start(&[]);
        let before = site.runs();
        let output = site.submit(&baseline.document, &[(POINT, point)]);
        let status = output.expect_err("the program dies before it can say the run's id").status;
        assert_eq!(status.signal(), Some(9), "{point}");
        figures.killed_at.insert(point.into());
        figures.kills_at_points += 1;
        let new: Vec<_> = site.runs().difference(&before).cloned().collect();
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
    figures.reached.extend(reached(site));
}

/// Kills the server while it stops a whole run, at each point on the way.
pub fn kill_while_cancelling(site: &mut Site, figures: &mut Figures) {
    let document = Document::endless();
    for point in
        ["engine.cancel.before:3", "local.cancel.before:2", "local.cancel.after:2", "engine.commit.after:2"]
    {
        site.start(&[]);
        let run = site.run(&document);
        super::cancel::until_all_hang(site, &run);
        site.kill();
        site.start(&[(POINT, point)]);
        site.cancel(&run);
        super::cancel::until_death(site, point);
        figures.kills_at_points += 1;
        site.start(&[]);
        super::cancel::check(site, &run, figures);
    }
    figures.reached.extend(reached(site));
}

/// Every declared point must have been reached, and each of them must have ended something.
pub fn find_unreached(figures: &mut Figures) {
    let unreached: Vec<String> = figures.declared.difference(&figures.reached).cloned().collect();
    figures.findings.extend(unreached.iter().map(|point| format!("not reached: {point}")));
    let survived: Vec<String> = figures.declared.difference(&figures.killed_at).cloned().collect();
    figures.findings.extend(survived.iter().map(|point| format!("not killed at: {point}")));
}
