//! Whenever the server dies, nothing is lost and nothing runs twice.
//!
//! The real program on the real executor is killed with `-9`, alone, and started again: at every failpoint that
//! the sources declare, and at random moments. Afterwards the run must be what it is without any crash, and the
//! ledger, which only the workers write, must have each worker of each attempt once.
//! docs/CRASH-SAFETY.md says what is guaranteed. `make crash-test` runs the ignored tests: many more kills.

mod baseline;
mod cancel;
mod database;
mod document;
mod figures;
mod giving_back;
mod growing;
mod ledger;
mod moments;
mod part;
mod points;
mod resizing;
mod schedule;
mod site;
mod sub_run;
mod verdict;
mod watch;

use baseline::Baseline;
use cubeloom_testkit::postgres::Database;
use document::Document;
use figures::{BACK_WITHIN, Figures};
use moments::Numbers;
use points::{Group, Half};
use site::Site;

/// Seed of the random moments, unless `CUBELOOM_TEST_SEED` is set.
const SEED: u64 = 20_240_229;

#[test]
fn at_failpoints_of_a_run_the_first_half() {
    in_runs(Half::First);
}

#[test]
fn at_failpoints_of_a_run_the_second_half() {
    in_runs(Half::Second);
}

fn in_runs(half: Half) {
    let baseline = Baseline::of(&mut Site::new(None), Document::short());
    let mut site = Site::new(None);
    let mut figures = Figures::of(&baseline);
    points::kill(&mut site, &baseline, (Group::Run(half), 12, 3), &mut numbers(), &mut figures);
    points::find_unreached(Group::Run(half), &site, &mut figures);
    tell(&figures);
}

#[test]
fn at_failpoints_of_a_beginning_and_while_cancelling() {
    at_the_beginning(Document::short());
}

fn at_the_beginning(document: Document) {
    let baseline = Baseline::of(&mut Site::new(None), document);
    let mut site = Site::new(None);
    let mut figures = Figures::of(&baseline);
    points::kill_at_the_first_start(&mut site, &baseline, &mut figures);
    points::kill_the_client(&mut site, &baseline, &mut figures);
    points::kill_while_cancelling(&mut site, &mut figures);
    part::kill(&mut site, &mut figures);
    points::find_unreached(Group::Beginning, &site, &mut figures);
    tell(&figures);
}

#[test]
fn while_a_gang_is_resized() {
    let mut site = Site::new(None);
    let mut figures = Figures::default();
    resizing::kill(&mut site, &mut figures);
    points::find_unreached(Group::Scale, &site, &mut figures);
    tell(&figures);
}

#[test]
fn while_a_run_starts_another_one_and_stops_it() {
    let mut site = Site::new(None);
    let mut figures = Figures::default();
    sub_run::kill(&mut site, &mut figures);
    tell(&figures);
}

#[test]
fn while_a_job_gives_back() {
    let mut figures = Figures::default();
    giving_back::kill(&mut Site::new(None), &mut figures);
    tell(&figures);
}

#[test]
fn while_a_job_gets_more_memory() {
    let mut site = Site::new(None);
    let mut figures = Figures::default();
    growing::kill(&mut site, &mut figures);
    points::find_unreached(Group::Grow, &site, &mut figures);
    tell(&figures);
}

#[test]
fn while_a_schedule_fires_on_postgresql() {
    let database = Database::create();
    let mut site = Site::new(Some(database.url()));
    let mut figures = Figures::default();
    schedule::kill(&mut site, &mut figures);
    tell(&figures);
}

#[test]
fn while_a_schedule_fires() {
    let mut site = Site::new(None);
    let mut figures = Figures::default();
    schedule::kill(&mut site, &mut figures);
    points::find_unreached(Group::Schedule, &site, &mut figures);
    tell(&figures);
}

#[test]
fn at_random_moments() {
    random_moments(None, Document::of_200_tasks(), 25);
}

#[test]
fn at_random_moments_on_postgresql() {
    let database = Database::create();
    random_moments(Some(database.url()), Document::short(), 10);
}

#[test]
fn without_adoption_the_test_turns_red() {
    let mut site = Site::new(None);
    let baseline = Baseline::of(&mut site, Document::short());
    let mut figures = Figures::of(&baseline);
    let off = [("CUBELOOM_LOCAL_ADOPTION", "false")];
    let is_wrong = |finding: &String| finding.starts_with("doubled") || finding.starts_with("lost");
    let mut numbers = numbers();
    // A bug mostly shows at the first kills, and each run with kills takes a while.
    for _ in 0..4 {
        moments::kill(&mut site, &baseline, 3, &mut numbers, &off, &mut figures);
        if figures.findings.iter().any(is_wrong) {
            return eprintln!("{figures}");
        }
    }
    panic!("the ledger does not show that workers are run twice: {:#?}", figures.findings);
}

#[test]
#[ignore = "many runs: make crash-test"]
fn at_every_failpoint_in_a_run_of_its_own() {
    let baseline = Baseline::of(&mut Site::new(None), Document::of_200_tasks());
    let mut numbers = numbers();
    for group in [Group::Run(Half::First), Group::Run(Half::Second)] {
        let mut site = Site::new(None);
        let mut figures = Figures::of(&baseline);
        points::kill(&mut site, &baseline, (group, 1, 1), &mut numbers, &mut figures);
        points::kill(&mut site, &baseline, (group, 10, 20), &mut numbers, &mut figures);
        points::find_unreached(group, &site, &mut figures);
        tell(&figures);
    }
    at_the_beginning(Document::of_200_tasks());
}

#[test]
#[ignore = "a thousand kills: make crash-test"]
fn at_many_random_moments() {
    let kills = variable("CUBELOOM_TEST_CRASHES").unwrap_or(1000);
    random_moments(None, Document::of_200_tasks(), kills);
}

#[test]
#[ignore = "a hundred kills: make crash-test"]
fn at_many_random_moments_on_postgresql() {
    let database = Database::create();
    let kills = variable("CUBELOOM_TEST_CRASHES").unwrap_or(1000).div_ceil(10);
    random_moments(Some(database.url()), Document::of_200_tasks(), kills);
}

fn random_moments(database: Option<String>, document: Document, kills: u64) {
    let mut site = Site::new(database);
    let baseline = Baseline::of(&mut site, document);
    let mut figures = Figures::of(&baseline);
    moments::kill(&mut site, &baseline, kills, &mut numbers(), &[], &mut figures);
    tell(&figures);
}

/// Prints the figures. Fails if there are findings.
fn tell(figures: &Figures) {
    eprintln!("{figures}");
    assert!(figures.findings.is_empty(), "\n{}\n", figures.findings.join("\n"));
    assert!(figures.median() <= BACK_WITHIN, "mostly back at work after {:?}", figures.median());
}

fn numbers() -> Numbers {
    Numbers(variable("CUBELOOM_TEST_SEED").unwrap_or(SEED))
}

#[allow(clippy::disallowed_methods, reason = "a test may be told how much to do")]
pub fn variable(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}
