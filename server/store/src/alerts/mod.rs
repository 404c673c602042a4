//! Alerts: the channels of projects, and their messages from the moment in which something happens to the one in which the
//! receiver has taken them.
//!
//! A message is written in the transaction of what it tells, so that none is lost, and under a key that its channel has
//! once, so that none is doubled. What sends it takes it by lease; after a crash it is sent again, under the same id. What
//! concerns the person whose run it is goes to them, too, by mail, in the same way.

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
