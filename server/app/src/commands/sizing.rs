//! `cubeloom sizing replay | generate`

use std::fs::File;
use std::io::{self, BufReader, Read};

use anyhow::Context;
use cubeloom_sizing::replay::{Decided, Score, replay};
use cubeloom_sizing::{Attempt, BOUNDS, BUILT_IN, built_in, generate, trace};
use serde_json::{Value, json};

use crate::cli;
use crate::exit::{Exit, Invalid};
use crate::show::{self, Align, Output, Styles, Table};

pub fn sizing(command: &cli::Sizing, output: Output) -> anyhow::Result<Exit> {
    match command {
        cli::Sizing::Replay(args) => score(args, output),
        cli::Sizing::Generate(args) => {
            let made = generate::trace(args.kind.into(), args.attempts, args.seed);
            trace::write(&made, io::stdout().lock()).context("the trace cannot be written")?;
            Ok(Exit::Ok)
        }
    }
}

fn score(args: &cli::Replay, output: Output) -> anyhow::Result<Exit> {
    let attempts = read(args)?;
    let is_named = |name: &&str| args.policy.iter().any(|wanted| wanted == name);
    let wanted = |name: &&str| args.policy.is_empty() || is_named(name);
    // The request and the true need are the same at every moment.
    let bound = |name| {
        let policy = &mut *built_in(name).context("a policy is missing")?;
        anyhow::Ok(replay(&attempts, policy, Decided::AtSubmission))
    };
    let (asked, oracle) = (bound("request")?, bound("oracle")?);
    let tells_starts = attempts.iter().any(|attempt| attempt.started.is_some());
    let moments = [Decided::AtSubmission, Decided::AtStart];
    let moments = &moments[..if tells_starts { 2 } else { 1 }];
    let names = BUILT_IN.into_iter().filter(wanted).chain(BOUNDS.into_iter().filter(is_named));
    let play = |name: &'static str, decided| {
        let score = replay(&attempts, built_in(name)?.as_mut(), decided);
        Some(Played { name, decided, score })
    };
    let scores: Vec<Played> =
        names.flat_map(|name| moments.iter().filter_map(move |decided| play(name, *decided))).collect();
    match output {
        Output::Json => {
            show::json(&scores.iter().map(|score| as_json(score, &asked, &oracle)).collect::<Vec<_>>())?
        }
        Output::Human => print(&scores, &asked, &oracle),
    }
    Ok(Exit::Ok)
}

fn read(args: &cli::Replay) -> anyhow::Result<Vec<Attempt>> {
    let from: Box<dyn Read> = if args.trace.as_os_str() == "-" {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(&args.trace);
        Box::new(BufReader::new(file.with_context(|| format!("{} cannot be read", args.trace.display()))?))
    };
    let invalid = |why: String| Invalid::error(format!("{}: {why}", args.trace.display()));
    let trace = trace::read(from).map_err(|error| invalid(error.to_string()))?;
    let name = args.trace.display();
    for (lines, one, many) in [
        (
            trace.passed_over,
            "line is not an attempt that ran and is skipped",
            "lines are not attempts that ran and are skipped",
        ),
        (
            trace.unclear,
            "line has an unknown status and counts as failed",
            "lines have an unknown status and count as failed",
        ),
    ] {
        if let Some(why) = lines.first {
            let what = if lines.count == 1 { one } else { many };
            show::note(format!("{name}: {} {what}; the first: {why}", lines.count));
        }
    }
    let attempts = trace.attempts;
    if attempts.is_empty() { Err(invalid("it contains no attempts".into())) } else { Ok(attempts) }
}

/// `amount` as a fraction of `of`.
fn part(amount: f64, of: f64) -> f64 {
    if of > 0.0 { amount / of } else { 1.0 }
}

/// The cost of one policy that decides at one moment.
struct Played {
    name: &'static str,
    decided: Decided,
    score: Score,
}

fn as_json(Played { name, decided, score }: &Played, asked: &Score, oracle: &Score) -> Value {
    json!({
        "policy": name,
        "decided": match decided {
            Decided::AtSubmission => "submission",
            Decided::AtStart => "start",
        },
        "attempts": score.attempts,
        "gb_hours": score.gb_hours,
        "gb_hours_of_request": part(score.gb_hours, asked.gb_hours),
        "gb_hours_of_oracle": part(score.gb_hours, oracle.gb_hours),
        "core_hours": score.core_hours,
        "core_hours_of_request": part(score.core_hours, asked.core_hours),
        "out_of_memory": score.out_of_memory,
        "out_of_memory_rate": score.out_of_memory_rate(),
    })
}

fn print(scores: &[Played], asked: &Score, oracle: &Score) {
    let columns = [
        ("RULE", Align::Left),
        ("DECIDED AT", Align::Left),
        ("GB-HOURS", Align::Right),
        ("OF REQUEST", Align::Right),
        ("OF ORACLE", Align::Right),
        ("OUT OF MEMORY", Align::Right),
        ("CORE-HOURS", Align::Right),
        ("OF REQUEST", Align::Right),
    ];
    let mut table = Table::new(&columns);
    for Played { name, decided, score } in scores {
        table.row([
            (*name).into(),
            match decided {
                Decided::AtSubmission => "submission".into(),
                Decided::AtStart => "start".into(),
            },
            format!("{:.1}", score.gb_hours).into(),
            format!("{:.3}", part(score.gb_hours, asked.gb_hours)).into(),
            format!("{:.2}", part(score.gb_hours, oracle.gb_hours)).into(),
            format!("{:.2} %", 100.0 * score.out_of_memory_rate()).into(),
            format!("{:.1}", score.core_hours).into(),
            format!("{:.3}", part(score.core_hours, asked.core_hours)).into(),
        ]);
    }
    show::line(table.render(Styles::detect()));
}
