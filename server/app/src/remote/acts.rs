//! Commands on a run with a server: `watch`, `cancel`, `resume`, `rerun`, `decide` and `mark`.

use cubeloom_web::api::runs::view::RunView;
use cubeloom_web::api::tasks::view::TaskView;
use serde_json::{Value, json};

use super::Remote;
use super::follow::await_run;
use crate::cli::{Answer, Decide, Following, Mark, MarkedAs, OfRun, Rerun, Watch};
use crate::exit::Exit;
use crate::show::{self, Output};

/// Follows a run.
pub async fn watch(remote: &Remote, args: &Watch) -> anyhow::Result<Exit> {
    let run = remote.find_run(&args.run).await?;
    let follow = Following { watch: true, junit: args.junit.clone(), ..Following::default() };
    await_run(remote, run, &follow).await
}

/// Cancels a run, and waits until none of its tasks runs any more.
pub async fn cancel(remote: &Remote, args: &OfRun) -> anyhow::Result<Exit> {
    let run = remote.find_run(&args.run).await?;
    match on_run(remote, &run, "cancel", &Value::Null, &args.follow).await? {
        // The user requested the cancellation, so it is a success.
        Exit::Cancelled => Ok(Exit::Ok),
        other => Ok(other),
    }
}

/// Reruns failed tasks.
pub async fn resume(remote: &Remote, args: &OfRun) -> anyhow::Result<Exit> {
    let run = remote.find_run(&args.run).await?;
    on_run(remote, &run, "resume", &Value::Null, &args.follow).await
}

/// Reruns chosen tasks and everything downstream.
pub async fn rerun(remote: &Remote, args: &Rerun) -> anyhow::Result<Exit> {
    let run = remote.find_run(&args.run).await?;
    on_run(remote, &run, "rerun", &json!({"from": args.from}), &args.follow).await
}

/// Approves or rejects a task.
pub async fn decide(remote: &Remote, args: &Decide) -> anyhow::Result<Exit> {
    let body = json!({"approved": args.answer == Answer::Yes, "comment": args.comment});
    on_task(remote, (&args.run, &args.task, args.instance), "decision", &body, &args.follow).await
}

/// Sets the outcome of a task.
pub async fn mark(remote: &Remote, args: &Mark) -> anyhow::Result<Exit> {
    let outcome = match args.outcome {
        MarkedAs::Succeeded => "succeeded",
        MarkedAs::Failed => "failed",
        MarkedAs::Skipped => "skipped",
    };
    let body = json!({"as": outcome, "reason": args.reason});
    on_task(remote, (&args.run, &args.task, args.instance), "mark", &body, &args.follow).await
}

async fn on_run(
    remote: &Remote,
    run: &RunView,
    verb: &str,
    body: &Value,
    follow: &Following,
) -> anyhow::Result<Exit> {
    let run: RunView = remote.client.post(&["runs", &run.id, verb], body).await?;
    then(remote, run, follow).await
}

async fn on_task(
    remote: &Remote,
    (run, task, instance): (&str, &str, u32),
    verb: &str,
    body: &Value,
    follow: &Following,
) -> anyhow::Result<Exit> {
    let run = remote.find_run(run).await?;
    let instance = instance.to_string();
    let path = ["runs", run.id.as_str(), "tasks", task, "instances", instance.as_str(), verb];
    let _: TaskView = remote.client.post(&path, body).await?;
    let run = remote.client.get(&["runs", &run.id], &[]).await?;
    then(remote, run, follow).await
}

/// Follows the run after a command, unless it is left to the server.
async fn then(remote: &Remote, run: RunView, follow: &Following) -> anyhow::Result<Exit> {
    if !follow.detach {
        return await_run(remote, run, follow).await;
    }
    if remote.output == Output::Json {
        show::json(&json!({"run": run.id}))?;
    }
    Ok(Exit::Ok)
}
