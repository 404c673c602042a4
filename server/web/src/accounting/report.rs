//! Usage by groups over a period, for the projects that a user can see.

use cubeloom_domain::accounting::{By, Day, Figures, Line, Period};
use cubeloom_store::UsageFilter;

use super::today;
use crate::auth::{self, Caller};
use crate::check::Found;
use crate::error::{ApiError, ApiResult};
use crate::state::Web;

/// Maximum length of a period, in days: ten years.
const LONGEST: i64 = 3660;

/// Ways to group, with their names in queries.
pub(crate) const WAYS: [(By, &str); 6] = [
    (By::Day, "day"),
    (By::Project, "project"),
    (By::User, "user"),
    (By::Template, "template"),
    (By::Pipeline, "pipeline"),
    (By::NodeGroup, "node_group"),
];

/// Query as sent. Absent or empty fields mean the defaults.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub from: Option<String>,
    pub to: Option<String>,
    pub by: Option<String>,
    pub project: Option<String>,
}

/// Parsed query.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub period: Period,
    pub by: Vec<By>,
    pub project: Option<String>,
}

impl Asked {
    /// Parses the query.
    ///
    /// # Errors
    /// All problems of the query.
    pub(crate) fn read(&self, web: &Web) -> ApiResult<Wanted> {
        let (mut found, today) = (Found::default(), today(web));
        let said = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let mut day =
            |path: &str, text: &Option<String>, usual: Day| match said(text).map(|text| text.parse()) {
                None => usual,
                Some(Ok(day)) => day,
                Some(Err(error)) => {
                    let error: cubeloom_domain::accounting::BadDay = error;
                    found.wrong(path, error.to_string());
                    usual
                }
            };
        let last = day("/to", &self.to, today);
        let first = day("/from", &self.from, last.month().first());
        let period = Period { first, last };
        if period.days() == 0 {
            found.wrong("/to", format!("`{last}` is before `{first}`"));
        } else if period.days() > LONGEST {
            found.wrong("/from", format!("the range has {} days: request at most {LONGEST}", period.days()));
        }
        let by = ways(self.by.as_deref().unwrap_or("project"), &mut found);
        found.refuse()?;
        Ok(Wanted { period, by, project: said(&self.project) })
    }
}

/// One way to group, or two separated by a comma.
fn ways(text: &str, found: &mut Found) -> Vec<By> {
    let words: Vec<&str> = text.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
    let mut by = Vec::new();
    for word in &words {
        match WAYS.iter().find(|(_, known)| known == word) {
            Some((way, _)) if !by.contains(way) => by.push(*way),
            Some(_) => found.wrong("/by", format!("`{word}` is listed twice")),
            None => found.wrong(
                "/by",
                format!("`{word}` is not one of day, project, user, template, pipeline, node_group"),
            ),
        }
    }
    if words.is_empty() || words.len() > 2 {
        found.wrong("/by", "enter one of them, or two separated by a comma");
    }
    by
}

/// Usage by groups.
///
/// # Errors
/// The caller cannot see the project.
pub(crate) async fn report(web: &Web, caller: &Caller, wanted: &Wanted) -> ApiResult<Vec<(Line, Figures)>> {
    let seen = auth::projects_of(web, caller).await?;
    let projects = match &wanted.project {
        None => seen,
        Some(project) => {
            let sees = seen.as_ref().is_none_or(|names| names.contains(project));
            let there = web.store().project(project).await?.is_some();
            // Administrators also see the usage of deleted projects.
            if !sees || (!there && !caller.user.admin) {
                return Err(ApiError::not_found("project", project));
            }
            Some(vec![project.clone()])
        }
    };
    let filter = UsageFilter { period: wanted.period, projects };
    Ok(web.store().usage(&filter, &wanted.by, web.now()).await?)
}

/// Sum of all figures.
pub(crate) fn total<'f>(figures: impl IntoIterator<Item = &'f Figures>) -> Figures {
    figures.into_iter().fold(Figures::default(), |sum, figures| sum.plus(*figures))
}
