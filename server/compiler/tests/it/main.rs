//! The compiler from outside: documents, templates and facts in; plans, jobs and lowered data out.

#![allow(clippy::unwrap_used)]

mod argo;
mod argo_crd;
mod argo_form;
mod argo_read;
mod arrivals;
mod caching;
mod canvas;
mod crds;
mod cube_studio;
mod documents;
mod expressions;
mod hostile;
mod kubernetes;
mod late;
mod lowering;
mod planning;
mod preflight;
mod previews;
mod problems;
mod processes;
mod refusals;
mod repository;
mod schedule;
mod schemas;
mod search;
mod shared;
mod sizing;
mod slurm;
mod speed;
mod support;
mod templates;
