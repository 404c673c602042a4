//! Fills in values that only the nodes know: replaces the tokens in a job's processes.

use cubeloom_domain::lowered::LocalJob;
use cubeloom_domain::slurm::tokens;
use serde_json::Value;

use crate::places::Places;

/// The job from the view of one worker, with its tokens replaced. `cards` are the GPUs that Slurm allocated
/// to it; `image` is the path of its image.
///
/// # Errors
/// The end of a sentence: a replacement does not fit.
pub(crate) fn fill(job: &LocalJob, places: &Places, cards: &str, image: &str) -> Result<LocalJob, String> {
    if places.len() != job.workers.len() {
        return Err(format!("it has {} workers, but addresses for {}", job.workers.len(), places.len()));
    }
    let mut words =
        vec![(tokens::CARDS.to_owned(), cards.to_owned()), (tokens::IMAGE.to_owned(), image.to_owned())];
    words.extend(places.link_port().map(|port| (tokens::LINK.to_owned(), port.to_string())));
    for (rank, place) in (0u32..).map_while(|rank| Some((rank, places.of(rank)?))) {
        words.push((tokens::address(rank), place.address.clone()));
        words.push((tokens::port(rank), place.port.to_string()));
    }
    // The ports after those of the workers, up to the job's own.
    let more = (0u32..).map_while(|at| Some((tokens::more_port(at), places.more_port(at)?)));
    words.extend(more.map(|(token, port)| (token, port.to_string())));
    let mut value = serde_json::to_value(job).map_err(|error| error.to_string())?;
    replace(&mut value, &words);
    serde_json::from_value(value).map_err(|error| error.to_string())
}

/// Replaces in values, not in keys.
fn replace(value: &mut Value, words: &[(String, String)]) {
    match value {
        Value::String(text) if text.contains("@cubeloom-") => {
            for (token, word) in words {
                if text.contains(token) {
                    *text = text.replace(token, word);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, words)),
        Value::Object(items) => items.values_mut().for_each(|item| replace(item, words)),
        _ => {}
    }
}
