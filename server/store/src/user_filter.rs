//! Which people a list shows, and in which order.

use cubeloom_domain::Timestamp;

use crate::conditions::Key;

/// Which people are wanted, and in which order.
#[derive(Clone, Debug, Default)]
pub struct UserFilter {
    /// Only those whose name, address or display name contains this.
    pub text: Option<String>,
    /// By what they are sorted, and from where on.
    pub order: UserOrder,
    /// The last one first.
    pub descending: bool,
    /// At most this many.
    pub limit: Option<usize>,
}

/// By what a list of people is sorted. Each has the place of the last person of the page before: what it is sorted by,
/// and the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserOrder {
    /// By name.
    Name(Option<String>),
    /// By when they last did something; those who never did come before all others, as if at moment 0.
    Seen(Option<(Timestamp, String)>),
    /// By since when they are known.
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
