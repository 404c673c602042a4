//! What `cubeloom sizing` is called with.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use cubeloom_sizing::generate::Kind;
use cubeloom_sizing::{BOUNDS, BUILT_IN};

/// `sizing`
#[derive(Debug, Subcommand)]
pub enum Sizing {
    /// Score rules on a trace of attempts, beside what people asked for and what would have been enough
    Replay(Replay),
    /// Write a trace to try rules on, made from a seed
    Generate(Generate),
}

/// `sizing replay`
#[derive(Debug, Args)]
#[command(after_help = "\
The trace is CSV with the columns task, submitted, finished, requested_cpu, requested_memory_bytes, peak_memory_bytes,
cpu_used, input_bytes (may be empty) and status. Times are seconds, or moments like 2026-01-31T06:00:00Z.

Example:
  cubeloom sizing generate mixed > trace.csv && cubeloom sizing replay trace.csv")]
pub struct Replay {
    /// The trace; `-` for standard input
    pub trace: PathBuf,
    /// Only these rules; `known-after-first`, which is a bound and no rule, is played only where it is named
    #[arg(long, value_delimiter = ',', value_name = "NAMES",
        value_parser = clap::builder::PossibleValuesParser::new(BUILT_IN.into_iter().chain(BOUNDS)))]
    pub policy: Vec<String>,
}

/// `sizing generate`
#[derive(Debug, Args)]
pub struct Generate {
    /// What it is mostly made of
    #[arg(value_enum, default_value = "mixed")]
    pub kind: KindWord,
    /// How many attempts
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    pub attempts: usize,
    /// Another seed is another trace
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
}

/// A kind of trace.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum KindWord {
    /// A bit of everything
    Mixed,
    /// Nightly pipelines: nearly the same peaks, now and then another version
    Pipelines,
    /// Science workflows: many short tasks whose memory follows their input
    Workflows,
    /// Training: few, long and large, with two modes or growth
    Training,
    /// Notebooks and one-off programs: few attempts of each task, a wide spread
    Adhoc,
}

impl From<KindWord> for Kind {
    fn from(word: KindWord) -> Self {
        match word {
            KindWord::Mixed => Self::Mixed,
            KindWord::Pipelines => Self::Pipelines,
            KindWord::Workflows => Self::Workflows,
            KindWord::Training => Self::Training,
            KindWord::Adhoc => Self::Adhoc,
        }
    }
}
