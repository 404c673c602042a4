//! Cases with processes of this machine, each next to the same commands without Cubeloom.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use cubeloom_testkit::builders::{PipelineBuilder, pipeline};
use serde_json::json;

use super::Setting;
use super::figures::{Figure, median, p99};
use super::rig::Rig;

const TASKS: usize = 40;
/// A light Python process. `-I -S` would be lighter still, but users do not start Python like that.
const PYTHON: &[&str] = &["/usr/bin/python3", "-c", "pass"];

/// A static program that only exits: the smallest x86-64 ELF file that Linux starts. `mov eax, 60; xor edi,
/// edi; syscall` after a 64-byte file header and one 56-byte program header.
const STATIC_NOOP: &[u8] = &[
    0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0x3e, 0, 1, 0, 0, 0, 0x78, 0, 0x40, 0,
    0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0x38, 0, 1, 0, 0, 0,
    0, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0,
    0, 0, 0, 0x81, 0, 0, 0, 0, 0, 0, 0, 0x81, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0xb8, 60, 0, 0,
    0, 0x31, 0xff, 0x0f, 0x05,
];

/// 40 sequential Python processes.
pub async fn python(setting: Setting) -> anyhow::Result<Vec<Figure>> {
    let (bare, ours) = sequential(&setting.folder, PYTHON).await?;
    Ok(vec![
        Figure::baseline("bare loop", seconds(bare), "s"),
        Figure::new("cubeloom", seconds(ours), "s"),
        Figure::new("ratio", seconds(ours) / seconds(bare), "x").at_most(1.3),
    ])
}

/// 40 sequential static no-ops.
pub async fn noop(setting: Setting) -> anyhow::Result<Vec<Figure>> {
    let program = static_noop(&setting.folder)?;
    let (bare, ours) = sequential(&setting.folder, &[&program]).await?;
    let added = (seconds(ours) - seconds(bare)) * 1000.0 / TASKS as f64;
    Ok(vec![
        Figure::baseline("bare loop, a task", seconds(bare) * 1000.0 / TASKS as f64, "ms"),
        Figure::new("cubeloom, a task", seconds(ours) * 1000.0 / TASKS as f64, "ms"),
        Figure::new("added, a task", added, "ms").at_most(3.0),
    ])
}

/// 40 parallel Python processes.
pub async fn parallel(setting: Setting) -> anyhow::Result<Vec<Figure>> {
    let mut rig = Rig::local(&setting.folder).await?;
    let start = Instant::now();
    let children = (0..TASKS).map(|_| command(PYTHON).spawn()).collect::<std::io::Result<Vec<_>>>()?;
    for mut child in children {
        ensure!(child.wait()?.success(), "a command of the baseline failed");
    }
    let bare = start.elapsed();
    let doc = (0..TASKS).fold(pipeline("parallel"), |doc, n| add(doc, n, None, PYTHON));
    let ours = rig.run_pipeline(&doc).await?;
    Ok(vec![
        Figure::baseline("bare, started at once", seconds(bare), "s"),
        Figure::new("cubeloom", seconds(ours), "s"),
        Figure::new("ratio", seconds(ours) / seconds(bare), "x"),
    ])
}

/// A pipeline of 3 steps, repeatedly.
pub async fn flow(setting: Setting) -> anyhow::Result<Vec<Figure>> {
    let mut rig = Rig::local(&setting.folder).await?;
    let program = static_noop(&setting.folder)?;
    let doc = chain("flow", 3, &[&program]);
    let (mut bare, mut ours) = (Vec::new(), Vec::new());
    rig.run_pipeline(&doc).await?;
    for _ in 0..100 {
        bare.push(seconds(loop_of(3, &[&program])?) * 1000.0);
        ours.push(seconds(rig.run_pipeline(&doc).await?) * 1000.0);
    }
    Ok(vec![
        Figure::baseline("bare, median", median(&bare), "ms"),
        Figure::new("cubeloom, median", median(&ours), "ms").at_most(15.0),
        Figure::new("cubeloom, p99", p99(&ours), "ms").at_most(20.0),
    ])
}

/// 10 long tasks.
pub async fn long(setting: Setting) -> anyhow::Result<Vec<Figure>> {
    let mut rig = Rig::local(&setting.folder).await?;
    let doc = (0..10).fold(pipeline("long"), |doc, n| add(doc, n, None, &["/bin/sleep", "2"]));
    let ours = rig.run_pipeline(&doc).await?;
    Ok(vec![
        Figure::new("cubeloom", seconds(ours), "s"),
        Figure::new("over the 2 s of each", (seconds(ours) - 2.0) * 1000.0, "ms"),
    ])
}

async fn sequential(folder: &Path, argv: &[&str]) -> anyhow::Result<(Duration, Duration)> {
    let mut rig = Rig::local(folder).await?;
    rig.run_pipeline(&chain("warm", 2, argv)).await?;
    let bare = loop_of(TASKS, argv)?;
    let ours = rig.run_pipeline(&chain("sequential", TASKS, argv)).await?;
    Ok((bare, ours))
}

/// A plain fork+exec loop.
fn loop_of(count: usize, argv: &[&str]) -> anyhow::Result<Duration> {
    let start = Instant::now();
    for _ in 0..count {
        ensure!(command(argv).status()?.success(), "a command of the baseline failed");
    }
    Ok(start.elapsed())
}

fn command(argv: &[&str]) -> Command {
    let mut command = Command::new(argv[0]);
    command.args(&argv[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn chain(name: &str, count: usize, argv: &[&str]) -> PipelineBuilder {
    (0..count).fold(pipeline(name), |doc, n| add(doc, n, n.checked_sub(1), argv))
}

fn add(doc: PipelineBuilder, n: usize, need: Option<usize>, argv: &[&str]) -> PipelineBuilder {
    doc.task(&format!("t{n}"), |task| {
        let task = task.argument("command", json!(argv)).resources("1", "64Mi");
        need.map_or(task.clone(), |need| task.needs(&format!("t{need}")))
    })
}

/// The static no-op as a file; on other architectures the machine's own `true`, which is linked dynamically.
fn static_noop(folder: &Path) -> anyhow::Result<String> {
    if !cfg!(target_arch = "x86_64") {
        return Ok("/bin/true".into());
    }
    let path = folder.join("noop");
    fs::write(&path, STATIC_NOOP).context("the no-op program cannot be written")?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    Ok(path.display().to_string())
}

fn seconds(duration: Duration) -> f64 {
    duration.as_secs_f64()
}
