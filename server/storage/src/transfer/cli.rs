//! The command `cubeloom transfer`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use futures::TryStreamExt;
use jiff::civil::DateTime;
use tokio::signal::unix::{SignalKind, signal};

use super::error::TransferError;
use super::input::Input;
use super::location::{Location, check_name};
use super::periods::{self, Every, Periods};
use super::progress::Report;
use super::reporter::Reporter;
use super::stores::{SILENCE, Stores};
use super::{Missing, Source, Stop, TransferSpec, manifest, memory, transfer};

/// Exit codes besides 0: the transfer failed, or a signal ended it. 2 is a usage error.
const FAILED: u8 = 1;
const STOPPED: u8 = 143;

/// Maximum size of a manifest; a larger file is not one.
const LARGEST_MANIFEST: u64 = 256 << 20;

/// Copy files between this machine, web servers, S3, COS, OSS and HDFS.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Source: a file, a folder (ending with `/`) or a pattern (`*`, `?`, `**`); can be repeated
    #[arg(long, value_name = "URL", num_args = 0.., required_unless_present = "manifest")]
    pub from: Vec<String>,
    /// Target: a file or a folder (ending with `/`); relative paths start at the run's folder
    #[arg(long, value_name = "URL")]
    pub to: String,
    /// SHA-256 checksum of the file; NAME=SUM if there are several files; can be repeated
    #[arg(long, value_name = "[NAME=]SUM", num_args = 0..)]
    pub sha256: Vec<String>,
    /// File that lists sources with their checksums: `sha256sum` output, YAML or JSON; relative paths start at the
    /// pipeline's folder
    #[arg(long, value_name = "FILE")]
    pub manifest: Option<String>,
    /// Number of ranges to read in parallel, over all files
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub parallel: u16,
    /// Size of a range, from 64KiB to 1GiB
    #[arg(long, value_name = "SIZE", default_value = "8MiB", value_parser = size)]
    pub chunk: u64,
    /// Maximum attempts per range
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub attempts: u32,
    /// Idle timeout of a connection before a retry, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = SILENCE.as_secs(), value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub silence: u64,
    #[command(flatten)]
    #[expect(missing_docs, reason = "it would be the help of the whole program")]
    pub partitions: Partitions,
    /// Skip files and folders whose names begin with `_` or `.`, like Hadoop tools
    #[arg(long)]
    pub skip_hidden: bool,
    /// Merge smaller files into files up to this size, like 128MiB: text files with lines, or compressed files
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub merge: Option<u64>,
    /// Keep the first line only once when merging; all files must begin with the same header
    #[arg(long, requires = "merge")]
    pub header: bool,
    /// Empty file to create in the target folders after all files are copied, like _SUCCESS
    #[arg(long, value_name = "NAME", value_parser = file_name)]
    pub write_marker: Option<String>,
}

/// The selected partitions, and how to handle missing ones.
#[derive(Debug, Clone, clap::Args)]
pub struct Partitions {
    /// Date of the first partition; partition dates replace %Y, %m, %d and %H in URLs
    #[arg(long, value_name = "DATE", value_parser = periods::moment)]
    pub first: Option<DateTime>,
    /// Date of the last partition [default: the first]
    #[arg(long, value_name = "DATE", requires = "first", value_parser = periods::moment)]
    pub last: Option<DateTime>,
    /// Length of a partition
    #[arg(long, value_enum, default_value = "day")]
    pub every: Every,
    /// File that marks a source folder as complete, like _SUCCESS
    #[arg(long, value_name = "NAME", value_parser = file_name)]
    pub marker: Option<String>,
    /// Maximum wait for missing or incomplete partitions, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    pub wait: u64,
    /// Action for partitions that are still missing or incomplete after the wait
    #[arg(long, value_enum, default_value = "fail")]
    pub missing: Missing,
}

#[derive(Parser)]
#[command(name = "cubeloom transfer", about, long_about = None)]
struct Call {
    #[command(flatten)]
    args: Args,
}

/// The whole command: parses `args` (the first is the program's name), copies, reports.
pub fn main_from_args<I, T>(args: I, env: &BTreeMap<String, String>) -> ExitCode
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    match Call::try_parse_from(args) {
        Ok(call) => run(&call.args, env),
        Err(error) => {
            let _ = error.print();
            ExitCode::from(error.exit_code() as u8)
        }
    }
}

/// Runs the transfer in `args`. `env` has credentials, CUBELOOM_RUN_DIR and CUBELOOM_OUTPUTS.
pub fn run(args: &Args, env: &BTreeMap<String, String>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let done = runtime
        .map_err(|source| TransferError::Io { path: PathBuf::from("runtime"), source })
        .and_then(|runtime| runtime.block_on(copy(args, env)));
    match done {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr().lock(), "cubeloom transfer: {error}");
            ExitCode::from(if matches!(error, TransferError::Stopped) { STOPPED } else { FAILED })
        }
    }
}

async fn copy(args: &Args, env: &BTreeMap<String, String>) -> Result<Report, TransferError> {
    let reporter =
        Reporter::new(env.get("CUBELOOM_OUTPUTS").filter(|path| !path.is_empty()).map(AsRef::as_ref))?;
    let stop = Stop::default();
    watch_signals(&stop)?;
    let spec = spec(args, env).await?;
    let report = transfer(&spec, &stop, &reporter).await?;
    reporter.finish(&report);
    Ok(report)
}

/// TERM and INT end the transfer cleanly: fetched ranges are recorded, unfinished uploads are aborted.
fn watch_signals(stop: &Stop) -> Result<(), TransferError> {
    for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
        let mut signals =
            signal(kind).map_err(|source| TransferError::Io { path: PathBuf::from("signals"), source })?;
        let stop = stop.clone();
        tokio::spawn(async move {
            signals.recv().await;
            stop.raise();
        });
    }
    Ok(())
}

async fn spec(args: &Args, env: &BTreeMap<String, String>) -> Result<TransferSpec, TransferError> {
    let place = |name: &str| env.get(name).filter(|path| !path.is_empty()).map_or(".", String::as_str);
    let base = place("CUBELOOM_RUN_DIR");
    let mut spec = TransferSpec::new(Vec::new(), &args.to, base);
    spec.parallel = args.parallel.into();
    spec.chunk = args.chunk;
    spec.memory = memory::of_this_process();
    spec.attempts = args.attempts;
    spec.env = env.clone();
    spec.from = match &args.manifest {
        Some(file) => {
            let folder = match &args.from[..] {
                [] => None,
                [folder] => Some(folder.as_str()),
                _ => {
                    return Err(TransferError::Manifest(
                        "manifest: it needs exactly one source, a folder".into(),
                    ));
                }
            };
            manifest::sources(manifest::parse(&read_text(file, place("CUBELOOM_CODE"), env).await?)?, folder)?
        }
        None => args.from.iter().map(|url| Source { url: url.clone(), ..Source::default() }).collect(),
    };
    spec.silence = Duration::from_secs(args.silence);
    (spec.skip_hidden, spec.merge, spec.header) = (args.skip_hidden, args.merge, args.header);
    spec.write_marker.clone_from(&args.write_marker);
    let Partitions { first, last, every, marker, wait, missing } = &args.partitions;
    (spec.marker, spec.wait, spec.missing) = (marker.clone(), Duration::from_secs(*wait), *missing);
    if let Some(first) = *first {
        if args.manifest.is_some() {
            return Err(TransferError::Partitions(
                "a manifest lists its files, and cannot be combined with dates".into(),
            ));
        }
        let periods = Periods { first, last: last.unwrap_or(first), every: *every };
        (spec.from, spec.to) = periods::expand(&args.from, &args.to, &periods)?;
    }
    add_sums(&mut spec, &args.sha256)?;
    Ok(spec)
}

fn file_name(text: &str) -> Result<String, String> {
    match check_name(text) {
        Ok(()) if !text.contains('/') => Ok(text.to_owned()),
        _ => Err(format!("{text:?} is not the name of a file")),
    }
}

fn add_sums(spec: &mut TransferSpec, given: &[String]) -> Result<(), TransferError> {
    for text in given {
        match (text.rsplit_once('='), &mut spec.from[..]) {
            (Some((name, sum)), _) => _ = spec.sums.insert(name.to_owned(), sum.to_owned()),
            (None, [only]) => only.sha256 = Some(text.clone()),
            (None, _) => {
                let why = format!("{text}: there are several sources; write NAME=SUM");
                return Err(TransferError::Manifest(why));
            }
        }
    }
    Ok(())
}

/// Reads a manifest from any supported source.
async fn read_text(url: &str, base: &str, env: &BTreeMap<String, String>) -> Result<String, TransferError> {
    let location = Location::parse(url, base.as_ref())?;
    let stores = Stores::new(env.clone());
    let input = Input::open_one(&stores, &location).await?;
    let mut content = input.read(0, input.identity.size).await?;
    let mut bytes = Vec::new();
    while let Some(block) = content.try_next().await? {
        bytes.extend_from_slice(&block);
        if bytes.len() as u64 > LARGEST_MANIFEST {
            return Err(TransferError::bad_url(&location, "this is too large for a manifest"));
        }
    }
    String::from_utf8(bytes).map_err(|_| TransferError::bad_url(&location, "a manifest must be UTF-8 text"))
}

/// `8MiB`, `1GiB`, `500KB` or plain bytes; between 64 KiB and 1 GiB.
fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim().find(|c: char| !c.is_ascii_digit()).unwrap_or(text.trim().len());
    let (number, unit) = text.trim().split_at(digits);
    let factor: u64 = match unit.trim() {
        "" | "B" => 1,
        "KB" | "K" | "k" => 1_000,
        "MB" | "M" => 1_000_000,
        "GB" | "G" => 1_000_000_000,
        "KiB" | "Ki" => 1 << 10,
        "MiB" | "Mi" => 1 << 20,
        "GiB" | "Gi" => 1 << 30,
        _ => return Err(format!("{text:?} is not a size; write one like 8MiB")),
    };
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    match bytes {
        Some(bytes) if (64 << 10..=1 << 30).contains(&bytes) => Ok(bytes),
        _ => Err(format!("{text:?} is not between 64KiB and 1GiB")),
    }
}
