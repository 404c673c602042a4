//! An undisturbed run, and the comparison of every other run with it.

use super::document::Document;
use super::figures::Figures;
use super::site::Site;
use super::verdict::{self, Result, Stored};
use super::watch::{Came, Watch};
use cubeloom_domain::RunId;

/// Maximum findings of a run that are printed at once. All are printed at the end.
const SHOWN: usize = 10;

/// The expected result of every run of a document.
pub struct Baseline {
    pub document: Document,
    result: Result,
}

impl Baseline {
    /// Runs the document undisturbed.
    pub fn of(site: &mut Site, document: Document) -> Self {
        site.start_ready(&[]);
        let mut watch = Watch::of(site.run(&document));
        assert_eq!(watch.wait(site, None), Came::End, "{}", site.last_log());
        site.stop();
        let stored = Stored::of(site, &watch.run);
        assert_eq!(stored.result.state, "succeeded", "{:#?}\n{}", stored.result, site.last_log());
        let mut findings = stored.wrong_sums(&document);
        findings.extend(stored.against(&site.ledger.of_run(&watch.run)));
        findings.extend(stored.left_over(site));
        assert!(findings.is_empty(), "without any crash:\n{}", findings.join("\n"));
        Self { document, result: stored.result }
    }

    /// Compares a disturbed run.
    pub fn compare(&self, site: &Site, run: &RunId, figures: &mut Figures) {
        let stored = Stored::of(site, run);
        let told = site.ledger.of_run(run);
        figures.runs += 1;
        figures.executions += told.executions();
        let mut findings = verdict::differences(&self.result, &stored.result);
        findings.extend(stored.wrong_sums(&self.document));
        findings.extend(stored.against(&told));
        findings.extend(stored.left_over(site));
        if let Some(word) = site.database.integrity().filter(|word| word != "ok") {
            findings.push(format!("the database is damaged: {word}"));
        }
        for finding in findings.iter().take(SHOWN) {
            eprintln!("run {run}: {finding}");
        }
        figures.findings.extend(findings);
    }
}
