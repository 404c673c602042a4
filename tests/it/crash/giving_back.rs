//! The server dies while a borrowing project's job is preempted because its owner reclaims guaranteed quota.

use std::thread::sleep;
use std::time::{Duration, Instant};

use cubeloom_domain::RunId;
use cubeloom_domain::state::RunState;
use serde_json::json;

use super::cancel::until_death;
use super::document::Document;
use super::figures::Figures;
use super::points::POINT;
use super::site::Site;
use super::verdict::Stored;
use crate::api::support::Client;

/// Before, during and after the job's preemption.
const POINTS: [&str; 4] =
    ["engine.cancel.before", "local.wish.before", "local.cancel.after", "local.exit.seen"];
const PATIENCE: Duration = Duration::from_secs(60);
/// A preempted project may borrow again at once.
const COOL_DOWN: (&str, &str) = ("CUBELOOM_SHARING_COOL_DOWN", "0s");
const OWNER: &str = "owner";

/// Kills at each failpoint. The owner's and the borrower's run must both succeed, the borrower's task in its
/// second attempt, which does not count as a retry.
pub fn kill(site: &mut Site, figures: &mut Figures) {
    site.start_ready(&[]);
    let token = give_the_owner_everything(site);
    site.stop();
    let borrows = Document::borrowing();
    for point in POINTS {
        site.start_ready(&[COOL_DOWN, (POINT, point)]);
        let borrower = site.run(&borrows);
        until_it_runs(site, &borrower);
        let owner = run_of_the_owner(site, &token);
        until_death(site, point);
        figures.kills_at_points += 1;
        figures.killed_at.insert(point.into());
        site.start_ready(&[COOL_DOWN]);
        for run in [&owner, &borrower] {
            let state = site.wait_for_end(run, PATIENCE);
            if state != RunState::Succeeded {
                figures.findings.push(format!("{point}: a run is {}", state.as_str()));
            }
        }
        site.stop();
        let attempts = check(site, &borrower, &borrows, figures);
        if attempts != ["preempted", "succeeded"] {
            figures.findings.push(format!("{point}: the borrower's attempts ended as {attempts:?}"));
        }
    }
}

/// Guarantees a project the whole machine, which it lends. Returns the token of an administrator.
fn give_the_owner_everything(site: &Site) -> String {
    site.say(&["user", "add", "ada", "--admin"]);
    let token = site.say(&["token", "create", "--user", "ada", "--scope", "admin"]);
    let ada = Client::new(site.url(), Some(token.clone()));
    ada.post("/projects", &json!({"name": OWNER, "label": "Owner"})).expect(201);
    let quotas = json!({"quotas": {"local": {"guarantee": {"cpu": "8"}}}});
    ada.put(&format!("/projects/{OWNER}/quota"), "*", &quotas).expect(200);
    token
}

/// The owner's run: one short task.
fn run_of_the_owner(site: &Site, token: &str) -> RunId {
    let ada = Client::new(site.url(), Some(token.to_owned()));
    let task = json!({"name": "only", "template": "command", "arguments": {"command": ["true"]}});
    let document = json!({"apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "owed", "tasks": [task]});
    let made = ada.post(&format!("/projects/{OWNER}/runs"), &json!({"document": document.to_string()}));
    made.expect(201).json()["run"]["id"].as_str().expect("a run").parse().expect("its id")
}

fn until_it_runs(site: &Site, run: &RunId) {
    let deadline = Instant::now() + PATIENCE;
    while site.ledger.of_run(run).executions() == 0 {
        assert!(Instant::now() < deadline, "the borrower does not start\n{}", site.last_log());
        sleep(Duration::from_millis(10));
    }
}

/// Compares a run with the ledger. Returns how the attempts of its first task ended.
fn check(site: &Site, run: &RunId, document: &Document, figures: &mut Figures) -> Vec<String> {
    let (stored, told) = (Stored::of(site, run), site.ledger.of_run(run));
    figures.runs += 1;
    figures.executions += told.executions();
    figures.findings.extend(stored.against(&told));
    figures.findings.extend(stored.wrong_sums(document));
    figures.findings.extend(stored.left_over(site));
    stored.result.ends_of(document.first())
}
