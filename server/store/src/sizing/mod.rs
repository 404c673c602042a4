//! Right-sizing: usage of attempts, stored in the transaction of their end; resource adjustments, stored in
//! that of their start; and reverts by users.

mod changes;
mod past;
mod reverts;

pub(crate) use changes::{change_from, is_new, note};
pub(crate) use past::add;
