//! From a specification to one job a file: sources listed, targets named, sums assigned. Nothing is written yet.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use super::error::TransferError;
use super::listing::{Found, expand, parent};
use super::location::{Location, StorePath, check_name};
use super::records::Records;
use super::stores::Stores;
use super::{Source, TransferSpec, sums};

/// One file to copy.
pub(crate) struct Job {
    /// Position in the report.
    pub order: usize,
    /// The source.
    pub from: Location,
    /// Its name below the target folder.
    pub name: String,
    /// What its content must be, in lower case.
    pub sha256: Option<String>,
    /// Where it goes.
    pub target: Target,
}

/// Where a file goes.
pub(crate) enum Target {
    /// To this machine; `records` are those of the target folder.
    Local { path: PathBuf, records: Arc<Records> },
    /// Into a store.
    Store(StorePath),
}

pub(crate) async fn plan(spec: &TransferSpec, stores: &Stores) -> Result<Vec<Job>, TransferError> {
    if spec.from.is_empty() {
        return Err(TransferError::bad_url("transfer", "there is no source; name at least one"));
    }
    let to = Location::parse(&spec.to, &spec.base)?;
    if let Location::Http(_) = to {
        return Err(TransferError::bad_url(&to, "a web server cannot be written to"));
    }
    let mut files = Vec::new();
    let mut many = spec.from.len() > 1;
    for source in &spec.from {
        let (found, several) = list(source, spec, stores).await?;
        many |= several;
        files.extend(found);
    }
    assign_sums(&mut files, spec)?;
    jobs(files, &to, many)
}

/// A file, the sum that was given with its source, and that source as the user wrote it if it is this one file.
struct Listed {
    found: Found,
    sha256: Option<String>,
    written: Option<String>,
}

async fn list(
    source: &Source,
    spec: &TransferSpec,
    stores: &Stores,
) -> Result<(Vec<Listed>, bool), TransferError> {
    let location = Location::parse(&source.url, &spec.base)?;
    let sha256 = source.sha256.as_deref().map(sums::check).transpose()?;
    if let Some(name) = &source.name {
        check_name(name)?;
        let found = Found { location, name: name.clone() };
        return Ok((vec![Listed { found, sha256, written: Some(source.url.clone()) }], true));
    }
    let listing = super::retry::retry(spec.attempts, || expand(stores, &location)).await?;
    if sha256.is_some() && listing.many {
        return Err(TransferError::bad_url(
            &location,
            "one sum was given for several files; give one for each, by name",
        ));
    }
    let written = (!listing.many).then(|| source.url.clone());
    let listed = |found| Listed { found, sha256: sha256.clone(), written: written.clone() };
    Ok((listing.files.into_iter().map(listed).collect(), listing.many))
}

/// Gives each file the sum that was named for it, and refuses sums that belong to no file.
fn assign_sums(files: &mut [Listed], spec: &TransferSpec) -> Result<(), TransferError> {
    let mut left: BTreeSet<&str> = spec.sums.keys().map(String::as_str).collect();
    for file in files {
        let address = match &file.found.location {
            Location::Http(url) => url.to_string(),
            other => other.to_string(),
        };
        for key in [Some(&file.found.name), Some(&address), file.written.as_ref()].into_iter().flatten() {
            if let Some(sum) = spec.sums.get(key) {
                file.sha256 = Some(sums::check(sum)?);
                left.remove(key.as_str());
            }
        }
    }
    match left.first() {
        Some(name) => {
            Err(TransferError::bad_url(name, "a sum was given for this, but it is not among the files"))
        }
        None => Ok(()),
    }
}

fn jobs(files: Vec<Listed>, to: &Location, many: bool) -> Result<Vec<Job>, TransferError> {
    let existing = matches!(to, Location::Local(path) if path.is_dir());
    let folder = many || to.is_folder() || existing;
    let records = match to {
        Location::Local(path) if folder => Some(Arc::new(Records::load(path))),
        Location::Local(path) => Some(Arc::new(Records::load(&parent(path)))),
        _ => None,
    };
    let mut taken: HashMap<String, String> = HashMap::new();
    let mut jobs = Vec::with_capacity(files.len());
    for (order, Listed { found, sha256, .. }) in files.into_iter().enumerate() {
        let (place, name) =
            if folder { (to.join(&found.name)?, found.name) } else { (to.clone(), to.file_name()?) };
        if let Some(first) = taken.insert(place.to_string(), found.location.to_string()) {
            let second = found.location.to_string();
            return Err(TransferError::Collision { first, second, target: place.to_string() });
        }
        let target = match (place, &records) {
            (Location::Local(path), Some(records)) => Target::Local { path, records: records.clone() },
            (Location::Store(path), _) => Target::Store(path),
            (place, _) => return Err(TransferError::bad_url(place, "this cannot be written to")),
        };
        jobs.push(Job { order, from: found.location, name, sha256, target });
    }
    Ok(jobs)
}
