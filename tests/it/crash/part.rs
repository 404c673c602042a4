//! The server dies while it fills the folder of a partial run of a pipeline.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use cubeloom_domain::RunId;
use cubeloom_domain::state::RunState;

use super::document::Document;
use super::figures::Figures;
use super::points::POINT;
use super::site::Site;
use super::verdict::Stored;

/// Failpoints of the preparation.
pub const POINTS: [&str; 3] = ["engine.prepare.before", "engine.prepare.copied", "engine.prepare.after"];
/// Files that the earlier run leaves.
const FILES: usize = 200;
const PATIENCE: Duration = Duration::from_secs(60);

/// Kills at each failpoint. The run must end like an undisturbed one, with every file once.
pub fn kill(site: &mut Site, figures: &mut Figures) {
    let document = Document::pair();
    site.start_ready(&[]);
    let earlier = site.run(&document);
    assert_eq!(site.wait_for_end(&earlier, PATIENCE), RunState::Succeeded);
    let left = folder(site, &earlier);
    for n in 0..FILES {
        fs::write(left.join(format!("file-{n}")), format!("file {n}")).expect("a file");
    }
    site.stop();
    for point in POINTS {
        site.start_ready(&[(POINT, point)]);
        let run = site.run_with(&document, &["--only", "end", "--of", earlier.as_str()]);
        super::cancel::until_death(site, point);
        figures.kills_at_points += 1;
        figures.killed_at.insert(point.into());
        site.start(&[]);
        check(site, &run, point, figures);
    }
}

fn check(site: &mut Site, run: &RunId, point: &str, figures: &mut Figures) {
    let state = site.wait_for_end(run, PATIENCE);
    let mut wrong = |what: String| figures.findings.push(format!("{point}: {what}"));
    if state != RunState::Succeeded {
        wrong(format!("the run is {}", state.as_str()));
    }
    let folder = folder(site, run);
    let is_right = |n: &usize| {
        let text = fs::read_to_string(folder.join(format!("file-{n}"))).unwrap_or_default();
        text == format!("file {n}")
    };
    let right = (0..FILES).filter(is_right).count();
    if right != FILES {
        wrong(format!("{right} of {FILES} files were copied"));
    }
    let beside = fs::read_dir(folder.parent().expect("a parent")).expect("a folder").flatten();
    for entry in beside.filter(|entry| entry.file_name().to_string_lossy().starts_with('.')) {
        wrong(format!("{} is left over", entry.path().display()));
    }
    site.stop();
    let (stored, told) = (Stored::of(site, run), site.ledger.of_run(run));
    figures.runs += 1;
    figures.executions += told.executions();
    figures.findings.extend(stored.against(&told));
    figures.findings.extend(stored.left_over(site));
}

fn folder(site: &Site, run: &RunId) -> PathBuf {
    site.data().join("workspace/default/runs").join(run.as_str())
}
