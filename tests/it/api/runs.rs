//! Runs, their files, logs and live events.

mod away;
mod back;
mod compare;
mod control;
mod critical_path;
mod decisions;
mod disk;
mod effective;
mod files;
mod giving_back;
mod hangs;
pub mod help;
mod language;
mod lists;
mod live;
mod logs;
mod marks;
pub mod pages;
mod parts;
mod resume_with;
mod search;
mod start;
mod sub_runs;
pub mod terminals;
