//! Runs, what they leave, logs, live events.
