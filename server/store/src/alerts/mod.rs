//! Alerts: the channels of projects, and their messages from the event to the delivery.
//!
//! A message is written in the transaction of its event, so that none is lost. Its key is unique per channel,
//! so that none is duplicated. The sender leases it; after a crash it is sent again, under the same id.
//! Alerts about a user's run also go to the user by mail, in the same way.

mod channels;
mod hangs;
mod history;
mod idle;
mod late;
mod nodes;
mod outbox;
mod person;
mod queued;
mod raise;
mod used;
mod waiting;

pub(crate) use channels::listening;
pub(crate) use hangs::hanging;
pub use idle::IdleCards;
pub(crate) use nodes::node_aside;
pub use outbox::{Batch, Receiver, Settled};
pub(crate) use raise::{ended, raise, resized};
pub use used::QuotaUse;
