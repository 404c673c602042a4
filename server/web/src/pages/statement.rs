//! `GET /projects/{project}/statements/{month}`: a project's monthly usage and cost, for printing.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use cubeloom_domain::accounting::statement::Position;
use cubeloom_domain::accounting::{Figures, Line, Money};

use super::usage::{hours, money, percent};
use super::{Frame, html};
use crate::accounting::statement::{Statement, statement};
use crate::accounting::{month, today};
use crate::error::{ApiError, ApiResult};
use crate::extract::Path;
use crate::state::Web;

#[derive(Template)]
#[template(path = "statement.html")]
struct StatementPage {
    frame: Frame,
    /// Label of the project.
    label: String,
    made: Statement,
    /// Previous and next month, if they have statements.
    before: String,
    after: Option<String>,
    currency: Option<String>,
}

impl StatementPage {
    fn hours(&self, amount: f64) -> String {
        hours(amount)
    }

    fn percent(&self, used: f64, asked: f64) -> String {
        percent(used, asked)
    }

    fn money(&self, amount: Money) -> String {
        money(amount, self.currency.as_deref())
    }

    fn budget(&self) -> Option<String> {
        let amount = self.made.budget.as_ref().and_then(|budget| budget.amount);
        amount.map(|amount| self.money(amount))
    }

    fn who(&self, line: &Line) -> String {
        if line.user.is_empty() { self.frame.t("usage.unknown").to_owned() } else { line.user.clone() }
    }

    /// The three kinds of a position: text key, hours, price and cost.
    fn kinds(&self, position: &Position) -> [(&'static str, String, String, String); 3] {
        let (of, rates) = (&position.figures, &position.rates);
        let kind = |word, amount: f64, rate: Money, cost: Money| {
            (word, hours(amount), rate.to_string(), self.money(cost))
        };
        [
            kind("usage.gpu-hours", of.gpu_hours(), rates.gpu, of.cost.gpu),
            kind("usage.cpu-hours", of.cpu_hours(), rates.cpu, of.cost.cpu),
            kind("usage.memory-hours", of.memory_hours(), rates.memory, of.cost.memory),
        ]
    }

    fn cost(&self, figures: &Figures) -> String {
        self.money(figures.cost.total())
    }
}

pub(crate) async fn page(
    State(web): State<Web>,
    frame: Frame,
    Path((project, text)): Path<(String, String)>,
) -> ApiResult<Response> {
    let missing = || ApiError::not_found("project", &project);
    let label = web.store().project(&project).await?.ok_or_else(missing)?.label;
    let month = month(&text)?;
    let made = statement(&web, &project, month).await?;
    let after = (month < today(&web).month()).then(|| month.next().to_string());
    let currency = web.settings().currency.clone();
    html(&StatementPage { frame, label, made, before: month.before().to_string(), after, currency })
}
