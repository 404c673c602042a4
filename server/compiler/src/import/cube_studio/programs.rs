//! The program of a task: one of our templates if it matches Cube Studio's job template, else a command.

use serde_json::{Map, Value, json};

use super::context::Context;
use super::launchers::{self, Launcher};
use super::ledger::At;
use super::recipe::Recipe;
use crate::import::Fate;

/// Templates that run a user's image.
const CUSTOM: [&str; 2] = ["自定义镜像", "custom-image"];
/// Templates that call services of Cube Studio itself.
const OF_THE_PLATFORM: [&str; 4] = ["dataset", "model-download", "model-register", "deploy-service"];
/// A program in our task's terms.
pub struct Program {
    pub template: &'static str,
    pub arguments: Map<String, Value>,
    /// The image that the program ran in.
    pub image: Option<String>,
}

/// The program of a task that uses the job template `name`.
pub fn program(context: &Context<'_>, task: &At<'_>, name: &str, recipe: Option<&Recipe>) -> Program {
    let args = task.get("args");
    let own = own_command(context, task, recipe);
    let launcher = launchers::find(name);
    let mut program = match (&args, launcher) {
        _ if own.is_some() => own.unwrap_or_else(|| failing(name)),
        (Some(args), _) if CUSTOM.contains(&name) => custom(context, args),
        (args, Some(launcher)) => launched(context, task, args.as_ref(), launcher),
        _ if name == "logical" => shell("command", "true".into(), None),
        (args, None) => plain(context, task, args.as_ref(), name, recipe),
    };
    if OF_THE_PLATFORM.contains(&name) {
        let message =
            format!("`{name}` calls services of Cube Studio, which do not exist here: replace this task");
        task.note(Fate::Problem, message);
    }
    // A launcher's own image contains the launcher, not the job that it started.
    let recipe = recipe.filter(|_| launcher.is_none());
    program.image = program.image.or_else(|| recipe.and_then(|recipe| recipe.image.clone()));
    program
}

/// A task's own command, which takes precedence over its template's.
fn own_command(context: &Context<'_>, task: &At<'_>, recipe: Option<&Recipe>) -> Option<Program> {
    let command = task.get("command").map(|at| context.text(&at))?;
    let folder = task.get("working_dir").map(|at| context.text(&at));
    let folder = folder.or_else(|| recipe.and_then(|recipe| recipe.folder.clone()));
    if let Some(args) = task.get("args") {
        args.tell(Fate::LeftOut, "the task has its own command, which does not read the arguments");
    }
    Some(shell("command", in_folder(folder.as_deref(), &command), None))
}

fn custom(context: &Context<'_>, args: &At<'_>) -> Program {
    let image = args.first(&["images", "image", "--images", "--image"]).and_then(|at| at.text());
    let folder = args.first(&["workdir", "working_dir", "--workdir"]).map(|at| context.text(&at));
    let command = args.first(&["command", "--command"]).map(|at| context.text(&at)).unwrap_or_default();
    shell("command", in_folder(folder.as_deref(), &command), image)
}

/// The program that a launcher would have started.
fn launched(context: &Context<'_>, task: &At<'_>, args: Option<&At<'_>>, launcher: &Launcher) -> Program {
    let name = launcher.name;
    let command = args.and_then(|args| Some((args, args.first(&["--command", "command"])?)));
    let Some((args, command)) = command else {
        task.note(
            Fate::Problem,
            format!(
                "`{name}` created its own job, and the task does not contain its command: write the command"
            ),
        );
        if let Some(args) = args {
            args.tell(Fate::LeftOut, format!("arguments of `{name}`, whose program is unknown"));
        }
        return failing(name);
    };
    let image = args.first(&["--image", "--images", "images", "image"]).and_then(|at| at.text());
    let folder =
        args.first(&["--working_dir", "--workdir", "--work_dir", "workdir"]).map(|at| context.text(&at));
    let command = in_folder(folder.as_deref(), &context.text(&command));
    let workers = args.first(&["--num_worker", "--num_workers", "--worker_num", "num_worker"]);
    let count = workers.as_ref().and_then(|at| at.text()?.trim().parse::<u32>().ok()).filter(|n| *n > 0);
    if let (Some(workers), None) = (&workers, count) {
        workers.tell(Fate::Problem, "is not a number of workers: set `arguments.workers`");
    }
    let Some(template) = launcher.template else {
        let many = count.map(|count| format!(" and not {count} times")).unwrap_or_default();
        args.note(
            Fate::Problem,
            format!(
                "there is no template for `{name}` here: its program runs once{many}, as a plain command"
            ),
        );
        return shell("command", command, image);
    };
    let mut program = shell(template, command, image);
    program.arguments.insert("workers".into(), json!(count.unwrap_or(1)));
    args.note(Fate::Changed, format!("`{name}` created its own job; it now uses the template `{template}`"));
    if let Some(missing) = launcher.missing {
        args.note(
            Fate::Problem,
            format!("set the arguments that the template `{template}` requires: `{missing}`"),
        );
    }
    program
}

/// A template's program with its arguments as words.
fn plain(
    context: &Context<'_>,
    task: &At<'_>,
    args: Option<&At<'_>>,
    name: &str,
    recipe: Option<&Recipe>,
) -> Program {
    let Some(recipe) = recipe.filter(|recipe| !recipe.command.is_empty()) else {
        task.note(Fate::Problem, format!("the program of the job template `{name}` is unknown: import it with its file of templates, or write the command"));
        if let Some(args) = args {
            args.tell(Fate::LeftOut, format!("arguments of `{name}`, whose program is unknown"));
        }
        return failing(name);
    };
    let words = recipe.command.iter().map(|word| context.convert(word, task));
    let mut words: Vec<String> = words.collect();
    for (key, at) in args.map(At::entries).unwrap_or_default() {
        words.extend(option(context, &key, &at));
    }
    let command = match &recipe.folder {
        // The words reach the program unchanged; the shell only changes the folder.
        Some(folder) => {
            let start = ["sh", "-c", "cd \"$0\" && exec \"$@\""].map(str::to_owned);
            start.into_iter().chain([context.convert(folder, task)]).chain(words).collect()
        }
        None => words,
    };
    let arguments = [("command".to_owned(), json!(command))].into_iter().collect();
    Program { template: "command", arguments, image: None }
}

/// An argument as words, as Cube Studio builds them: none for an empty one, only the name for a true one.
fn option(context: &Context<'_>, name: &str, at: &At<'_>) -> Vec<String> {
    let value = match at.value {
        Value::Bool(true) => {
            at.used();
            return vec![name.to_owned()];
        }
        Value::Bool(false) | Value::Null => {
            at.used();
            return Vec::new();
        }
        Value::Array(_) | Value::Object(_) => {
            at.used();
            context.convert(&at.value.to_string(), at)
        }
        _ => context.text(at),
    };
    if value.is_empty() { Vec::new() } else { vec![name.to_owned(), value] }
}

fn shell(template: &'static str, command: String, image: Option<String>) -> Program {
    let words = if command == "true" { json!(["true"]) } else { json!(["bash", "-c", command]) };
    Program { template, arguments: [("command".to_owned(), words)].into_iter().collect(), image }
}

fn in_folder(folder: Option<&str>, command: &str) -> String {
    match folder.map(str::trim).filter(|folder| !folder.is_empty()) {
        Some(folder) => format!("mkdir -p \"{folder}\" && cd \"{folder}\" && {command}"),
        None => command.to_owned(),
    }
}

/// A program that fails with a message, because the task's original work is unknown.
fn failing(name: &str) -> Program {
    let name = name.replace(['\'', '{', '}'], "");
    shell(
        "command",
        format!("echo 'import: the program of the job template {name} is unknown' >&2; exit 1"),
        None,
    )
}
