//! The format of alerts for each kind of receiver, and when they are sent. Pure: it returns requests and
//! texts as values, which `web` sends.

pub mod address;
pub mod answer;
pub mod call;
pub mod email;
pub mod message;
pub mod quiet;
pub mod retry;
pub mod sign;

pub use call::{Call, call};
pub use message::Message;
