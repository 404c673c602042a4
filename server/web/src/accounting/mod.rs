//! Usage as it is asked for and told: by the API, as a table for other programs, and on pages.

pub(crate) mod csv;
pub(crate) mod report;
pub(crate) mod statement;

use cubeloom_domain::accounting::{Day, Month};

use crate::error::{ApiError, ApiResult};
use crate::state::Web;

/// Today, UTC.
pub(crate) fn today(web: &Web) -> Day {
    Day::of(web.now())
}

/// The month that a route names.
///
/// # Errors
/// When it names none.
pub(crate) fn month(text: &str) -> ApiResult<Month> {
    text.parse()
        .map_err(|error: cubeloom_domain::accounting::BadDay| ApiError::field("/month", error.to_string()))
}
