//! Authentication and permissions: browser sessions, API tokens and roles.

pub mod accounts;
mod address;
mod caller;
pub(crate) mod cookie;
pub(crate) mod csrf;
pub(crate) mod device;
mod fresh;
mod identify;
mod in_name;
pub mod links;
pub mod oidc;
pub(crate) mod password;
mod people;
mod rights;
pub mod secret;
pub(crate) mod session;
pub(crate) mod sign_in;
mod throttle;
pub mod tokens;

pub use caller::{Caller, Via};
pub use links::first_link;
pub use rights::{projects_of, still_valid};

pub(crate) use address::{network, of_client};
pub(crate) use device::Polls;
pub(crate) use identify::identify;
pub(crate) use in_name::in_name_of;
pub(crate) use people::People;
pub(crate) use rights::{project_of_run, role_in, visible};
pub(crate) use sign_in::Visitor;
pub(crate) use throttle::Throttle;

use crate::error::{ApiError, Kind};

/// The error of a request without valid credentials.
#[must_use]
pub fn not_signed_in() -> ApiError {
    ApiError::new(Kind::NotSignedIn, "sign in, or send an API token in the header Authorization: Bearer ...")
}
