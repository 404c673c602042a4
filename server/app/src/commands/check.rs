//! `cubeloom check`: what this machine supports, and what is missing.

use std::collections::BTreeSet;

use cubeloom_executor_local::CheckLine;
use cubeloom_web::clusters::measured;
use serde::Serialize;

use crate::config::Config;
use crate::exit::{Exit, sentence};
use crate::platform::{Platform, local_config, templates_root};
use crate::show::{self, Align, Cell, Output, Style, Styles, Table};
use crate::templates;

/// Requirements of every job; the others affect only what depends on them.
const NEEDED: &[&str] = &["data folder", "python"];

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Level {
    Ok,
    /// It works, with limitations.
    Warning,
    /// A requirement is missing.
    Missing,
}

#[derive(Debug, Serialize)]
struct Finding {
    level: Level,
    subject: String,
    text: String,
}

impl Finding {
    fn new(level: Level, subject: &str, text: impl Into<String>) -> Self {
        Self { level, subject: subject.into(), text: text.into() }
    }
}

/// Runs all checks; fails when a requirement is missing.
pub async fn check(config: &Config, output: Output) -> anyhow::Result<Exit> {
    let mut findings = of_templates(config);
    findings.extend(of_platform(config).await);
    let missing = findings.iter().any(|finding| finding.level == Level::Missing);
    match output {
        Output::Json => show::json(&findings)?,
        Output::Human => print(&findings),
    }
    Ok(if missing { Exit::Failed } else { Exit::Ok })
}

fn of_templates(config: &Config) -> Vec<Finding> {
    let read = templates_root(config).and_then(|root| Ok((templates::usable(&root)?, root)));
    match read {
        Err(error) => vec![Finding::new(Level::Missing, "templates", sentence(&error))],
        Ok(((set, refused), root)) => {
            let text = format!("{} in {}", set.len(), root.display());
            let refused = refused.iter().map(|text| Finding::new(Level::Warning, "templates", text));
            std::iter::once(Finding::new(Level::Ok, "templates", text)).chain(refused).collect()
        }
    }
}

async fn of_platform(config: &Config) -> Vec<Finding> {
    let platform = match Platform::open(config.clone()).await {
        Ok(platform) => platform,
        Err(error) => return vec![Finding::new(Level::Missing, "data", sentence(&error))],
    };
    let database = match platform.store.check().await {
        Ok(()) => Finding::new(Level::Ok, "database", format!("{:?}, writable", platform.store.backend())),
        Err(error) => Finding::new(Level::Missing, "database", sentence(&error.into())),
    };
    let mut findings = vec![database];
    findings.extend(of_machine(config, &platform));
    findings.extend(of_clusters(&platform).await);
    findings
}

/// The metrics source of each added cluster.
async fn of_clusters(platform: &Platform) -> Vec<Finding> {
    // An unreachable database is already reported.
    let records = platform.store.clusters().await.unwrap_or_default();
    if records.is_empty() {
        return Vec::new();
    }
    let keys = match platform.keyring() {
        Ok(keys) => keys,
        Err(error) => return vec![Finding::new(Level::Warning, "clusters", sentence(&error))],
    };
    let mut findings = Vec::new();
    for record in &records {
        let subject = format!("monitoring of {}", record.name);
        let finding = match measured(&keys, record).await {
            Ok(text) => Finding::new(Level::Ok, &subject, text),
            Err(problem) => Finding::new(Level::Warning, &subject, problem),
        };
        findings.push(finding);
    }
    findings
}

fn of_machine(config: &Config, platform: &Platform) -> Vec<Finding> {
    let mut settings = match local_config(config, &platform.data) {
        Ok(settings) => settings,
        Err(error) => return vec![Finding::new(Level::Missing, "jobs", sentence(&error))],
    };
    settings.apt = packages(config);
    let lines = cubeloom_executor_local::check(&settings).lines.into_iter();
    let level = |line: &CheckLine| match line.ok {
        true => Level::Ok,
        false if NEEDED.contains(&line.name.as_str()) => Level::Missing,
        false => Level::Warning,
    };
    let text = |line: &CheckLine| match &line.hint {
        Some(hint) => format!("{}. To fix it: {hint}", line.detail),
        None => line.detail.clone(),
    };
    lines.map(|line| Finding::new(level(&line), &line.name, text(&line))).collect()
}

/// The Debian packages that the installed templates require.
fn packages(config: &Config) -> Vec<String> {
    let set = templates_root(config).and_then(|root| templates::usable(&root)).unwrap_or_default().0;
    let locals = set.into_values().flat_map(|versions| versions.into_values());
    let apt = locals.filter_map(|installed| installed.template.local).flat_map(|local| local.apt);
    apt.collect::<BTreeSet<_>>().into_iter().collect()
}

fn print(findings: &[Finding]) {
    let mut table = Table::new(&[("", Align::Left), ("", Align::Left), ("", Align::Left)]);
    for finding in findings {
        let (sign, style) = match finding.level {
            Level::Ok => ("✓", Style::Good),
            Level::Warning => ("!", Style::Warn),
            Level::Missing => ("✗", Style::Bad),
        };
        table.row([Cell::styled(sign, style), finding.subject.clone().into(), finding.text.clone().into()]);
    }
    table.rows(Styles::detect()).iter().for_each(show::line);
}
