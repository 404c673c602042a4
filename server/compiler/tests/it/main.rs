//! The compiler from outside: documents, templates and facts in, plans, jobs and lowered data out.

mod repository;
mod support;
