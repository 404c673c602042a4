//! The rules on scenarios: healthy ones have no recommendations and no hangs, and each bad one has exactly
//! the right ones. The same holds for recorded ones, healthy or not.

mod player;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use cubeloom_monitoring::advice::RULES;
use player::Scenario;

/// Recommendations, with the affected workers.
type Found = BTreeMap<String, BTreeSet<String>>;

/// The scenarios of a folder.
fn scenarios(folder: &str) -> Vec<(String, Scenario)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios").join(folder);
    let mut paths: Vec<_> =
        fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let scenario = Scenario::read(&name, &fs::read_to_string(path).expect("a text"));
        (name, scenario)
    };
    paths.iter().map(read).collect()
}

#[test]
fn nothing_is_advised_on_healthy_series() {
    let all = scenarios("healthy");
    assert!(all.len() >= 20, "{}", all.len());
    let fired: Vec<_> = all
        .iter()
        .map(|(name, scenario)| (name, scenario.play()))
        .filter(|(_, found)| !found.is_empty())
        .collect();
    assert!(fired.is_empty(), "{fired:#?}");
    let hours: f64 = all.iter().map(|(_, scenario)| scenario.hours()).sum();
    assert!(hours >= 60.0, "{hours}");
}

#[test]
fn each_rule_speaks_on_its_own_bad_series_and_on_no_other() {
    let (spoke, wrong) = judged("bad");
    assert!(wrong.is_empty(), "{wrong:#?}");
    let all = RULES.iter().copied().chain(["hang by cards", "hang by steps"]);
    assert_eq!(spoke, all.map(str::to_owned).collect::<BTreeSet<_>>());
}

#[test]
fn what_was_recorded_of_real_programs_is_judged_as_it_was() {
    let (spoke, wrong) = judged("recorded");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(spoke, ["far_from_peers", "hang by steps"].map(str::to_owned).into());
}

/// The rules that applied to the scenarios of a folder, and the scenarios with wrong rules or workers.
fn judged(folder: &str) -> (BTreeSet<String>, Vec<(String, Found)>) {
    let mut spoke = BTreeSet::new();
    let mut wrong = Vec::new();
    for (name, scenario) in scenarios(folder) {
        let found = scenario.play();
        let rules: Vec<_> = found.keys().cloned().collect();
        let is_right = rules.iter().eq(scenario.expected.keys())
            && scenario.expected.iter().all(|(rule, workers)| workers.is_empty() || found[rule] == *workers);
        if !is_right {
            wrong.push((name, found));
        }
        spoke.extend(rules);
    }
    (spoke, wrong)
}

#[test]
fn the_documentation_says_how_many_there_are() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/monitoring.md");
    let page = fs::read_to_string(page).expect("the page").split_whitespace().collect::<Vec<_>>().join(" ");
    for kind in ["healthy", "bad"] {
        let count = format!("the {} {kind} ones", scenarios(kind).len());
        assert!(page.contains(&count), "docs/monitoring.md must say \"{count}\"");
    }
}
