//! `GET /usage`: allocations, usage and cost over a period, by groups and by day. Also prices.

mod chart;
mod month;
mod words;

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use cubeloom_domain::accounting::{By, Day, Figures, Line, Money, Period};
use serde::Deserialize;

use self::chart::{Chart, Measure};
pub(super) use self::month::MonthUsage;
pub(super) use self::words::{hours, level, money, percent};
use super::{Frame, html, with_query};
use crate::accounting::report::{Asked, WAYS, Wanted, report, total};
use crate::accounting::today;
use crate::api::prices::view::PriceView;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult};
use crate::extract::Query;
use crate::state::Web;

#[derive(Template)]
#[template(path = "usage.html")]
struct UsagePage {
    frame: Frame,
    asked: PageQuery,
    period: Period,
    by: By,
    measure: Measure,
    /// Measures that are not zero.
    measures: Vec<Measure>,
    rows: Vec<Row>,
    total: Figures,
    chart: Chart,
    /// Predefined periods: text key and URL.
    periods: Vec<(&'static str, String)>,
    csv: String,
    prices: Vec<PriceView>,
    /// Clusters and node groups, for the price dialog.
    pools: String,
    currency: Option<String>,
}

struct Row {
    name: String,
    /// URL that the group links to.
    href: Option<String>,
    figures: Figures,
}

/// Query parameters. Empty ones mean the defaults.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct PageQuery {
    #[serde(default)]
    from: String,
    #[serde(default)]
    to: String,
    #[serde(default)]
    by: String,
    #[serde(default)]
    project: String,
    #[serde(default)]
    measure: String,
}

impl UsagePage {
    /// Ways to group, each with its text key.
    fn ways(&self) -> Vec<(&'static str, &'static str, bool)> {
        WAYS.iter().map(|(by, word)| (*word, words::way(*by), *by == self.by)).collect()
    }

    /// Text key of the grouping.
    fn way(&self) -> &'static str {
        words::way(self.by)
    }

    fn hours(&self, amount: f64) -> String {
        hours(amount)
    }

    fn money(&self, amount: Money) -> String {
        money(amount, self.currency.as_deref())
    }

    /// Whether any price is set.
    fn is_priced(&self) -> bool {
        !self.prices.is_empty() || self.total.cost.total().0 > 0
    }

    fn percent(&self, used: f64, asked: f64) -> String {
        percent(used, asked)
    }
}

pub(crate) async fn page(
    State(web): State<Web>,
    frame: Frame,
    caller: Caller,
    Query(query): Query<PageQuery>,
) -> ApiResult<Response> {
    let wanted = wanted(&web, &query)?;
    let by = wanted.by.first().copied().unwrap_or(By::Project);
    let by_day = if by == By::Day { vec![By::Day] } else { vec![by, By::Day] };
    let lines = report(&web, &caller, &Wanted { by: by_day, ..wanted.clone() }).await?;
    let total = total(lines.iter().map(|(_, figures)| figures));
    let measures = Measure::telling(&total);
    let measure = measures.iter().find(|measure| measure.as_str() == query.measure).or(measures.first());
    let measure = measure.copied().unwrap_or(Measure::Gpu);
    let currency = web.settings().currency.clone();
    let named = |line: &Line| words::name(&frame, by, line);
    let chart = Chart::new(&lines, wanted.period, measure, by, &named, &|bar| words::other(&frame, bar));
    let prices = web.store().prices().await?.into_iter();
    let prices = prices.map(|price| PriceView::new(price, today(&web))).collect();
    let page = UsagePage {
        rows: rows(&lines, by, &wanted, &named),
        period: wanted.period,
        periods: periods(&web, &query),
        csv: csv(&query, wanted.period),
        pools: pools(&web)?,
        asked: query,
        by,
        measure,
        measures,
        total,
        chart,
        prices,
        currency,
        frame,
    };
    html(&page)
}

/// Usage query for one grouping.
fn wanted(web: &Web, query: &PageQuery) -> ApiResult<Wanted> {
    let said = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let asked = Asked {
        from: said(&query.from),
        to: said(&query.to),
        by: said(&query.by),
        project: said(&query.project),
    };
    let wanted = asked.read(web)?;
    if wanted.by.len() > 1 {
        return Err(ApiError::field("/by", "enter one of them: the page groups by day anyway"));
    }
    Ok(wanted)
}

/// Groups by allocated amount, the largest first. Days in chronological order.
fn rows(lines: &[(Line, Figures)], by: By, wanted: &Wanted, name: &dyn Fn(&Line) -> String) -> Vec<Row> {
    let mut groups: BTreeMap<Line, Figures> = BTreeMap::new();
    for (line, figures) in lines {
        let sum = groups.entry(line.group(&[by])).or_default();
        *sum = sum.plus(*figures);
    }
    let mut groups: Vec<(Line, Figures)> = groups.into_iter().collect();
    if by != By::Day {
        groups.sort_by_key(|(_, of)| std::cmp::Reverse((of.cost.total(), of.gpu, of.cpu)));
    }
    let href = |line: &Line| match by {
        By::Project if wanted.project.is_none() => {
            let (first, last) = (wanted.period.first.to_string(), wanted.period.last.to_string());
            let pairs: [(&str, &str); 4] =
                [("from", first.as_str()), ("to", &last), ("by", "pipeline"), ("project", &line.project)];
            Some(with_query("/usage", &pairs))
        }
        _ => None,
    };
    groups
        .iter()
        .map(|(line, figures)| Row { name: name(line), href: href(line), figures: *figures })
        .collect()
}

/// This month, the previous month, the last 90 days and the last year.
fn periods(web: &Web, query: &PageQuery) -> Vec<(&'static str, String)> {
    let today = today(web);
    let month = today.month();
    let periods = [
        ("usage.present-month", month.first(), today),
        ("usage.last-month", month.before().first(), month.before().last()),
        ("usage.last-90-days", today.plus(-89), today),
        ("usage.last-year", today.plus(-364), today),
    ];
    let link = |(word, first, last): (&'static str, Day, Day)| {
        let (first, last) = (first.to_string(), last.to_string());
        let pairs: [(&str, &str); 5] = [
            ("from", first.as_str()),
            ("to", &last),
            ("by", &query.by),
            ("project", &query.project),
            ("measure", &query.measure),
        ];
        (word, with_query("/usage", &pairs))
    };
    periods.into_iter().map(link).collect()
}

fn csv(query: &PageQuery, period: Period) -> String {
    let (first, last) = (period.first.to_string(), period.last.to_string());
    let pairs: [(&str, &str); 5] = [
        ("format", "csv"),
        ("from", first.as_str()),
        ("to", &last),
        ("by", &query.by),
        ("project", &query.project),
    ];
    with_query("/api/v1/usage", &pairs)
}

/// Clusters and node groups, for a script.
fn pools(web: &Web) -> ApiResult<String> {
    let pools: BTreeMap<String, Vec<String>> = web
        .clusters()
        .all()
        .into_iter()
        .map(|(name, executor)| (name, executor.facts().node_groups))
        .collect();
    super::carried(&pools)
}
