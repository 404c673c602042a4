//! The program as people and programs use it.

mod control;
mod documents;
mod examples;
mod faults;
mod flow;
mod logs;
mod processes;
mod rules;
mod secrets;
