//! Lowering of a job with an image if a cluster can run images.

use cubeloom_compiler::lower::Refusal;
use cubeloom_compiler::lower::slurm::{lower, read_facts};
use cubeloom_domain::slurm::SlurmJob;
use cubeloom_domain::{Code, JsonMap};

use super::{BARE, job_of};
use crate::support::{repository, templates, try_plan};

const REFERENCE: &str = "ghcr.io/cubeloom/echo:1.0.0";

/// A task with an image and a GPU, on a cluster with this container runtime.
fn in_image(containers: &str, image: &str) -> Result<SlurmJob, Vec<Refusal>> {
    let cluster = format!("{}, cards: {{}}, {containers}}}", BARE.strip_suffix('}').unwrap());
    let (facts, slurm) = read_facts(&cluster).unwrap();
    let task = "template: echo, arguments: {words: [a, $(CUBELOOM_RANK)]}, resources: {gpu: {count: 1}}, \
                volumes: [], env: {PATH: /opt/bin:/bin}, secrets: [s3-key]";
    let mut job = job_of(task, &facts);
    job.image = Some(image.into());
    job.writable_root = true;
    job.setup = vec!["prepare".into(), "it".into()];
    lower(&job, &slurm)
}

#[test]
fn apptainer() {
    let made =
        in_image("containers: {by: apptainer, images: \"/shared/images/{project}\"}", REFERENCE).unwrap();
    insta::assert_snapshot!(made.script);
    insta::assert_yaml_snapshot!("apptainer_worker", (&made.job.workers[0].argv, &made.job.workers[0].setup));
    assert_eq!(made.pulled.as_deref(), Some("/shared/vision/.images"));
}

#[test]
fn a_template_that_runs_any_image_needs_a_program_for_containers() {
    let text = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\ntasks:\n  - {name: a, template: container, \
                arguments: {image: 'docker.io/library/busybox:1', command: [echo]}}\n";
    let set = templates(&repository().join("task-templates"));
    let planned = |more: &str| {
        let (facts, _) = read_facts(&format!("{}{more}}}", BARE.strip_suffix('}').unwrap())).unwrap();
        try_plan(text, JsonMap::new(), &set, &facts).map(|planned| planned.plan.tasks.len())
    };
    let refused = planned("").unwrap_err();
    let told: Vec<_> = refused.iter().map(|problem| (problem.code, problem.path.as_str())).collect();
    assert_eq!(told, [(Code::MissingSoftware, "/tasks/0/template")]);
    assert_eq!(planned(", containers: {by: apptainer}"), Ok(1));
}

/// The differences: the lines about the image, and the words that enter it.
fn summary(made: &SlurmJob) -> String {
    let from = made.script.find("# The image in").unwrap();
    let lines: Vec<&str> = made.script[from..].lines().take_while(|line| !line.is_empty()).collect();
    format!("{}\n\n{}\n", lines.join("\n"), made.job.workers[0].argv.join("\n"))
}

#[test]
fn enroot() {
    let made = in_image("containers: {by: enroot, program: /opt/bin/enroot}", REFERENCE).unwrap();
    insta::assert_snapshot!(summary(&made));
}

#[test]
fn charliecloud() {
    let made = in_image("containers: {by: charliecloud, images: /shared/images}", REFERENCE).unwrap();
    assert!(made.decisions.iter().any(|said| said.contains("ch-fromhost")), "{:?}", made.decisions);
    insta::assert_snapshot!(summary(&made));
}

/// In the node's own shell: an unavailable image ends the script, and is named.
#[test]
fn an_image_that_is_not_there_ends_the_script() {
    let made = in_image("containers: {by: charliecloud, images: /nonexistent}", REFERENCE).unwrap();
    let lines = summary(&made).split("\n\n").next().unwrap().to_owned();
    let mut bash = std::process::Command::new("bash");
    let folder = env!("CARGO_TARGET_TMPDIR");
    let done = bash.args(["-euc", &lines]).current_dir(folder).output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(!done.status.success() && said.contains("there is no image /shared/vision/.images/"), "{said}");
}

/// In the node's own shell, with a program that refuses to pull to an existing target.
#[test]
fn what_a_pull_that_was_cut_off_has_left_is_in_nobodys_way() {
    use std::os::unix::fs::PermissionsExt;
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("cut-off");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join("apptainer");
    std::fs::write(&program, "#!/bin/sh\n[ ! -e \"$2\" ] && echo \"$3\" >\"$2\"\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let containers = format!("containers: {{by: apptainer, program: {}}}", program.display());
    let lines = summary(&in_image(&containers, REFERENCE).unwrap()).split("\n\n").next().unwrap().to_owned();
    let lines = lines.replace("/shared/vision/.images", folder.to_str().unwrap());
    let image = folder.join("ghcr.io+cubeloom+echo++1.0.0.sif");
    let part = folder.join("ghcr.io+cubeloom+echo++1.0.0.sif.part");
    let halves: [fn(&std::path::Path); 2] = [
        |part| std::fs::write(part, "half").unwrap(),
        |part| std::fs::create_dir_all(part.join("half")).unwrap(),
    ];
    for leave in halves {
        leave(&part);
        let mut bash = std::process::Command::new("bash");
        let done = bash.args(["-euc", &lines]).current_dir(&folder).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        assert_eq!(std::fs::read_to_string(&image).unwrap(), format!("docker://{REFERENCE}\n"));
        assert!(!part.exists());
        std::fs::remove_file(&image).unwrap();
    }
}

#[test]
fn an_image_that_is_a_path_is_taken_from_nowhere() {
    let made = in_image("containers: {by: apptainer}", "/shared/own/echo.sif").unwrap();
    assert!(made.script.contains("\nimage=/shared/own/echo.sif\n"), "{}", made.script);
    assert!(made.pulled.is_none() && !made.script.contains("docker://"));
}

#[test]
fn an_image_that_would_be_text_of_the_shell_is_refused() {
    let refused = in_image("containers: {by: apptainer}", "$(id)").unwrap_err();
    assert_eq!(refused[0].place, "image");
}

#[test]
fn without_a_program_for_images_it_runs_on_the_nodes_and_says_so() {
    let made = in_image("env: {}", REFERENCE).unwrap();
    assert!(made.decisions.iter().any(|said| said.contains("without its image")), "{:?}", made.decisions);
    assert_eq!(made.job.workers[0].setup, ["prepare", "it"]);
}

#[test]
fn a_program_that_is_not_known_is_named() {
    let why = read_facts(&format!("{}, containers: {{by: docker}}}}", BARE.strip_suffix('}').unwrap()))
        .unwrap_err();
    assert!(why.contains("docker") && why.contains("apptainer"), "{why}");
}
