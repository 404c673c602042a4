//! Usage reports: for the API, as CSV files, and for pages.

pub(crate) mod csv;
pub(crate) mod report;
pub(crate) mod statement;

use cubeloom_domain::accounting::{Day, Month};

use crate::error::{ApiError, ApiResult};
use crate::state::Web;

/// Current day in UTC.
pub(crate) fn today(web: &Web) -> Day {
    Day::of(web.now())
}

/// The month in a route.
///
/// # Errors
/// It is not a month.
pub(crate) fn month(text: &str) -> ApiResult<Month> {
    text.parse()
        .map_err(|error: cubeloom_domain::accounting::BadDay| ApiError::field("/month", error.to_string()))
}
