//! The web.
