//! Arguments of `cubeloom sizing`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use cubeloom_sizing::generate::Kind;
use cubeloom_sizing::{BOUNDS, BUILT_IN};

/// `sizing`
#[derive(Debug, Subcommand)]
pub enum Sizing {
    /// Score right-sizing rules on a trace, compared with the request and the true need
    Replay(Replay),
    /// Print a synthetic trace
    Generate(Generate),
}

/// `sizing replay`
#[derive(Debug, Args)]
#[command(after_help = "\
The trace is CSV with the columns task, submitted, finished, requested_cpu, requested_memory_bytes,
peak_memory_bytes, cpu_used, input_bytes (can be empty) and status. Times are seconds, or timestamps
like 2026-01-31T06:00:00Z.

Example:
  cubeloom sizing generate mixed > trace.csv && cubeloom sizing replay trace.csv")]
pub struct Replay {
    /// Trace file (CSV); `-` for standard input
    pub trace: PathBuf,
    /// Rules to score, comma-separated [default: all except the bound `known-after-first`]
    #[arg(long, value_delimiter = ',', value_name = "NAMES",
        value_parser = clap::builder::PossibleValuesParser::new(BUILT_IN.into_iter().chain(BOUNDS)))]
    pub policy: Vec<String>,
}

/// `sizing generate`
#[derive(Debug, Args)]
pub struct Generate {
    /// Kind of workload
    #[arg(value_enum, default_value = "mixed")]
    pub kind: KindWord,
    /// Number of attempts
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    pub attempts: usize,
    /// Seed of the random generator
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
}

/// The kinds of workloads.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum KindWord {
    /// A mix of the other kinds
    Mixed,
    /// Nightly pipelines: nearly constant peaks, sometimes changed by a new version
    Pipelines,
    /// Scientific workflows: many short tasks; memory depends on the input size
    Workflows,
    /// Training: few, long and large attempts, some with two modes or growth
    Training,
    /// Notebooks and one-off programs: few attempts of each task, with varying peaks
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
