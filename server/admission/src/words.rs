//! Why a job waits, in words.

use cubeloom_domain::quota::Resource;
use cubeloom_domain::waiting::{Explanation, Shortage, WaitRule};

/// The sentence beside the data: English, to be put into the reader's language where it is shown. `person` is whom the job
/// runs for.
#[must_use]
pub fn sentence(why: &Explanation, person: &str) -> String {
    let ahead = why.behind.as_deref().unwrap_or_default();
    let queue = why.queue.as_ref().map_or("", |queue| queue.name());
    let Some(short) = worst(&why.shortages) else {
        return match why.rule {
            WaitRule::Apart => format!("must not share its node with `{ahead}` of the same run"),
            WaitRule::NamedLimit => {
                format!("the limit `{}` is used up", why.named.as_deref().unwrap_or_default())
            }
            WaitRule::CoolDown => {
                "it had to give back what was borrowed, and borrows again only after a while".to_owned()
            }
            WaitRule::Leaving => "there is room as soon as jobs that were told to stop have ended".to_owned(),
            _ => format!("`{ahead}` is ahead and waits for room"),
        };
    };
    let what = amount(&short.resource, short.asked);
    let word = |amount: u64| short.resource.written(amount);
    let (held, limit) = (word(short.held), word(short.limit.unwrap_or_default()));
    match why.rule {
        WaitRule::NeverFits if why.queue.is_some() => {
            format!("asks for {what}, and `{queue}` may never hold more than {limit}")
        }
        WaitRule::NeverFits => format!("asks for {what}, {limit} are all there is"),
        WaitRule::NotLent => {
            format!(
                "asks for {what}, and what is free beyond {} is guaranteed to others, who do not lend it",
                word(short.free)
            )
        }
        WaitRule::Limit => format!("asks for {what}, and `{queue}` holds {held} of the {limit} that it may"),
        WaitRule::NoBorrowing => {
            format!(
                "asks for {what}, and `{queue}` holds {held} of the {limit} that are its own, and may not borrow"
            )
        }
        WaitRule::PersonsCap => {
            format!("asks for {what}, and jobs of {person} hold {held} of the {limit} that one person's may")
        }
        _ => format!("asks for {what}, {} are free", word(short.free)),
    }
}

/// The shortage that is told: of cards first, as these are what is waited for longest.
fn worst(shortages: &[Shortage]) -> Option<&Shortage> {
    let is_of_cards = |short: &&Shortage| matches!(short.resource, Resource::Gpus | Resource::GpusOf(_));
    shortages.iter().find(is_of_cards).or(shortages.first())
}

fn amount(resource: &Resource, amount: u64) -> String {
    let written = resource.written(amount);
    match resource {
        Resource::Cpu => format!("{written} CPU"),
        Resource::Memory => format!("{written} of memory"),
        Resource::Gpus => format!("{written} GPUs"),
        Resource::GpusOf(kind) => format!("{written} {kind} GPUs"),
        Resource::Pods => format!("{written} workers"),
        Resource::Runs => format!("{written} runs"),
    }
}
