//! Filters and order of user lists.

use cubeloom_domain::Timestamp;

use crate::conditions::Key;

/// Selects and orders users.
#[derive(Clone, Debug, Default)]
pub struct UserFilter {
    /// Only users whose name, address or display name contains this.
    pub text: Option<String>,
    /// The sort key, and the start of the page.
    pub order: UserOrder,
    pub descending: bool,
    pub limit: Option<usize>,
}

/// The sort key of a list of users. Each has the position of the previous page's last user: its sort value,
/// and the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserOrder {
    Name(Option<String>),
    /// By last activity; users without any come first, as if at moment 0.
    Seen(Option<(Timestamp, String)>),
    /// By creation time.
    Created(Option<(Timestamp, String)>),
}

impl Default for UserOrder {
    fn default() -> Self {
        Self::Name(None)
    }
}

impl UserOrder {
    pub(crate) fn columns(&self) -> &'static [&'static str] {
        match self {
            Self::Name(_) => &["u.name"],
            Self::Seen(_) => &["COALESCE(u.seen_at, 0)", "u.name"],
            Self::Created(_) => &["u.created_at", "u.name"],
        }
    }

    pub(crate) fn last(&self) -> Option<Vec<Key<'_>>> {
        match self {
            Self::Name(last) => last.as_ref().map(|name| vec![Key::Text(name)]),
            Self::Seen(last) | Self::Created(last) => {
                last.as_ref().map(|(at, name)| vec![Key::Int(at.0), Key::Text(name)])
            }
        }
    }
}
