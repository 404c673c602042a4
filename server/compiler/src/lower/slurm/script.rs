//! The script: the Slurm options, then the workers' nodes, then the workers.
//!
//! No text of a document becomes a word of the shell. The script contains only checked names
//! (`SlurmFacts::mistakes`, labels, ids) and numbers. The programs and their arguments are in a separate
//! file.

use std::time::Duration;

use cubeloom_domain::slurm::{FIRST_PORT, LINK_PORT, PORTS, RANGES, files};

use super::Frame;
use super::component::Component;

/// Writes the script of a job; `image` are the lines that find its image.
pub fn write(
    frame: &Frame<'_>,
    components: &[Component],
    folder: &str,
    image: &[String],
    decisions: &[String],
) -> String {
    let mut lines = vec!["#!/bin/bash".to_owned()];
    let of_job = of_job(frame, folder);
    for (at, component) in components.iter().enumerate() {
        lines.extend((at > 0).then(|| "#SBATCH hetjob".to_owned()));
        lines.extend(of_job.iter().chain(&component.asked).map(|options| format!("#SBATCH {options}")));
    }
    lines.push(String::new());
    lines.extend(comments(frame, components, decisions));
    lines.extend(beginning(frame, folder));
    lines.extend(image.iter().cloned());
    lines.extend(places(components, frame.job.workers()));
    lines.extend(workers(components));
    lines.join("\n") + "\n"
}

/// Options common to all components. Slurm passes few options from one component to the next.
fn of_job(frame: &Frame<'_>, folder: &str) -> Vec<String> {
    let (job, facts) = (frame.job, frame.facts);
    let mut options = vec![
        format!("--job-name={}", job.key.object_name()),
        format!("--comment={}", job.key),
        format!("--output={folder}/{}", files::LOG),
        // A requeued job would find the attempt's folder in use; Cubeloom retries under the next number.
        "--no-requeue".into(),
        // A resubmitted script appends its log to the first one's.
        "--open-mode=append".into(),
    ];
    options.extend(facts.account.as_ref().map(|account| format!("--account={account}")));
    options.extend(facts.qos.as_ref().map(|qos| format!("--qos={qos}")));
    options.extend(job.timeout.map(|timeout| format!("--time={}", limit(timeout.0))));
    options
}

/// `days-hours:minutes:seconds`, rounded up to Slurm's unit, minutes.
fn limit(timeout: Duration) -> String {
    let minutes = u64::try_from(timeout.as_millis().div_ceil(60_000)).unwrap_or(u64::MAX).max(1);
    let (days, hours) = (minutes / 1440, minutes / 60 % 24);
    format!("{days}-{hours:02}:{:02}:00", minutes % 60)
}

fn comments(frame: &Frame<'_>, components: &[Component], decisions: &[String]) -> Vec<String> {
    let key = &frame.job.key;
    let roles: Vec<&str> = components.iter().map(|component| component.roles.as_str()).collect();
    let (pipeline, framework) = (&frame.job.pipeline, &frame.job.framework);
    let mut lines =
        vec![format!("# {} of the pipeline {pipeline}: {} ({framework}).", key.task, roles.join(" + "))];
    // A line break would end the comment.
    lines.extend(decisions.iter().map(|decision| format!("# - {}", decision.replace(['\n', '\r'], " "))));
    lines.push(format!(
        "# The programs, with arguments and variables, are in {} beside this script.",
        files::JOB
    ));
    lines
}

fn beginning(frame: &Frame<'_>, folder: &str) -> Vec<String> {
    let (token, secrets, submitted) = (files::TOKEN, files::SECRETS, files::SUBMITTED);
    [
        "set -euo pipefail",
        "umask 027",
        &format!("attempt={folder}"),
        &format!("cubeloom={}", frame.facts.program),
        "cd \"$attempt\"",
        "",
        "# An attempt is executed at most once: what ran, or still runs, keeps its files.",
        &format!(
            "mkdir {submitted} || {{ echo 'this attempt was submitted before: nothing runs' >&2; exit 1; }}"
        ),
        "",
        "# By the token the workers know each other; it goes with the job, as the secrets do.",
        &format!("trap 'rm -f {token} {secrets}' EXIT"),
        &format!("(umask 077 && od -An -N32 -tx1 /dev/urandom | tr -d ' \\n' >{token})"),
        "",
    ]
    .map(ToOwned::to_owned)
    .into()
}

/// Determines the workers' nodes. A step with the same layout finds the nodes of the workers. A single worker
/// is on the node of the script, and needs no step.
fn places(components: &[Component], workers: u32) -> Vec<String> {
    let places = files::PLACES;
    let mut lines: Vec<String> = [
        "# Where the workers are, a line each: rank, node, address, port. Ids of jobs follow each other, so that jobs which run",
        "# at the same time have ports of their own; the last of a job's is the one on which its programs meet.",
        "step() { srun --input=none --mpi=none --wait=0 \"$@\"; }",
    ]
    .map(ToOwned::to_owned)
    .into();
    if workers == 1 {
        lines.push("echo \"0 $SLURMD_NODENAME\" >nodes".into());
    } else {
        lines.extend(["where='echo \"$((FIRST + SLURM_PROCID)) $SLURMD_NODENAME\"'", "{"].map(Into::into));
        lines.extend(layouts(components).map(|(component, layout)| {
            format!("  FIRST={} step {layout} /bin/sh -c \"$where\"", component.first_rank)
        }));
        lines.push("} | sort -n >nodes".into());
    }
    lines.push(format!("awk -v base=$(({FIRST_PORT} + SLURM_JOB_ID % {RANGES} * {PORTS})) '"));
    if workers <= LINK_PORT {
        lines.push("  FILENAME == \"nodes\" { print $1, $2, at[$2], base + $1; next }".into());
    } else {
        lines.extend(by_node());
    }
    lines.push(
        "  { for (i = 2; i <= NF; i++) if (sub(/^NodeAddr=/, \"\", $i)) at[substr($1, 10)] = $i }".into(),
    );
    lines.push(format!(
        "' <(scontrol -o show node \"$(cut -d ' ' -f 2 nodes | sort -u | paste -sd ,)\") nodes >{places}"
    ));
    lines.push(String::new());
    lines
}

/// More workers than ports: they are numbered per node, because two on one node could not share a port.
fn by_node() -> [String; 3] {
    [
        format!("  FILENAME == \"nodes\" && on[$2] == {LINK_PORT} {{"),
        format!(
            "    print \"more than {LINK_PORT} workers are on \" $2 \": there are no more ports\" >\"/dev/stderr\"; exit 1 }}"
        ),
        "  FILENAME == \"nodes\" { print $1, $2, at[$2], base + on[$2]++; next }".into(),
    ]
}

fn workers(components: &[Component]) -> Vec<String> {
    let mut lines =
        vec!["# The workers. A step that ends without having written down how stops the others.".to_owned()];
    lines.extend(layouts(components).map(|(component, layout)| {
        let first = component.first_rank;
        format!(
            "step {layout} --kill-on-bad-exit=1 \"$cubeloom\" __slurm-worker \"$attempt\" {first} || touch stop &"
        )
    }));
    lines.extend(["wait", "", "\"$cubeloom\" __slurm-verdict \"$attempt\""].map(ToOwned::to_owned));
    lines
}

/// The components with the options of their steps.
fn layouts(components: &[Component]) -> impl Iterator<Item = (&Component, String)> {
    let several = components.len() > 1;
    components.iter().enumerate().map(move |(at, component)| {
        let group = several.then(|| format!("--het-group={at}"));
        let options: Vec<&str> = group.iter().chain(&component.layout).map(String::as_str).collect();
        (component, options.join(" "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_rounded_up_to_minutes() {
        for (seconds, expected) in
            [(1, "0-00:01:00"), (61, "0-00:02:00"), (3_600, "0-01:00:00"), (90_060, "1-01:01:00")]
        {
            assert_eq!(limit(Duration::from_secs(seconds)), expected);
        }
    }
}
