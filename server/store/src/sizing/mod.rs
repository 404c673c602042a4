//! Sizing: what attempts used, kept in the transaction of their end; what their workers got, in that of their beginning; and
//! what people took back.

mod changes;
mod past;
mod reverts;

pub(crate) use changes::{change_from, is_new, note};
pub(crate) use past::add;
