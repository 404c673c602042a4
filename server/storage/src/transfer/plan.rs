//! Turns a specification into one job per file: lists sources, names targets, assigns checksums. Writes
//! nothing yet.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use super::error::TransferError;
use super::input::Input;
use super::joined::{self, Joined, Origin};
use super::listing::{Found, Listing, expand, parent};
use super::location::{Location, StorePath, check_name};
use super::records::Records;
use super::{Asking, Missing, Source, TransferSpec, glob, marker, sums};

/// One file to copy.
pub(crate) struct Job {
    /// Position in the report.
    pub order: usize,
    /// The source, or several that are joined.
    pub from: Origin,
    /// Its name below the target folder.
    pub name: String,
    /// Its expected checksum, in lower case.
    pub sha256: Option<String>,
    pub target: Target,
}

/// The target of a file.
pub(crate) enum Target {
    /// On this machine; `records` are those of the target folder.
    Local { path: PathBuf, records: Arc<Records> },
    /// In a store.
    Store(StorePath),
}

pub(crate) struct Plan {
    /// One per target.
    pub jobs: Vec<Job>,
    /// The target folders of the sources' files.
    pub folders: Vec<Location>,
    /// Missing partitions.
    pub left_out: Vec<String>,
}

pub(crate) async fn plan(asking: &Asking<'_>) -> Result<Plan, TransferError> {
    let spec = asking.spec;
    if spec.from.is_empty() {
        return Err(TransferError::bad_url("transfer", "there is no source; set at least one"));
    }
    let to = Location::parse(&spec.to, &spec.base)?;
    if let Location::Http(_) = to {
        return Err(TransferError::bad_url(&to, "a web server cannot be written to"));
    }
    let (mut files, mut folders, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    let mut many = spec.from.len() > 1 || spec.merge.is_some() || spec.write_marker.is_some();
    for source in &spec.from {
        match list(asking, source).await {
            Ok((found, several)) => {
                many |= several || source.partition;
                files.extend(found);
                let folder = target_folder(&to, source)?;
                if !folders.contains(&folder) {
                    folders.push(folder);
                }
            }
            Err(error) if source.partition && spec.missing == Missing::Skip && error.is_absence() => {
                asking.listener.says(&format!("skipped: {error}"));
                left_out.push(source.url.clone());
            }
            Err(error) => return Err(error),
        }
    }
    assign_sums(&mut files, spec)?;
    let groups = match spec.merge {
        Some(limit) => merge(files, limit, spec.header)?,
        None => files.into_iter().map(Group::from).collect(),
    };
    Ok(Plan { jobs: jobs(groups, &to, many)?, folders, left_out })
}

fn target_folder(to: &Location, source: &Source) -> Result<Location, TransferError> {
    let named = source.name.as_deref().and_then(|name| name.rsplit_once('/')).map(|(folder, _)| folder);
    match named.unwrap_or(source.under.trim_end_matches('/')) {
        "" => Ok(to.clone()),
        under => to.join(under),
    }
}

/// A file, the checksum given with its source, and that source as the user wrote it if it is this one file.
struct Listed {
    found: Found,
    sha256: Option<String>,
    written: Option<String>,
}

async fn list(asking: &Asking<'_>, source: &Source) -> Result<(Vec<Listed>, bool), TransferError> {
    let spec = asking.spec;
    let location = Location::parse(&source.url, &spec.base)?;
    let sha256 = source.sha256.as_deref().map(sums::check).transpose()?;
    if spec.marker.is_some() {
        marker::wait(asking, &location.folder()).await?;
    }
    if let Some(name) = &source.name {
        check_name(name)?;
        if glob::is_pattern(&source.url) || location.is_folder() {
            return Err(TransferError::bad_url(
                &location,
                "several files cannot be written to one file name",
            ));
        }
        if source.partition {
            marker::until_there(asking, &location).await?;
        }
        let found = Found { location, name: name.clone(), size: None };
        return Ok((vec![Listed { found, sha256, written: Some(source.url.clone()) }], true));
    }
    let listing =
        marker::patiently(asking, &location, async || wanted(asking, source, &location).await).await?;
    if sha256.is_some() && listing.many {
        return Err(TransferError::bad_url(
            &location,
            "one checksum was set for several files; set one per file, by name",
        ));
    }
    let written = (!listing.many).then(|| source.url.clone());
    let listed = |found: Found| {
        let found = Found { name: format!("{}{}", source.under, found.name), ..found };
        Listed { found, sha256: sha256.clone(), written: written.clone() }
    };
    Ok((listing.files.into_iter().map(listed).collect(), listing.many))
}

/// The files of a source, without those that are not copied.
async fn wanted(asking: &Asking<'_>, source: &Source, location: &Location) -> Result<Listing, TransferError> {
    let Asking { spec, stores, .. } = asking;
    let mut listing = expand(stores, location).await?;
    if !listing.many && (source.partition || spec.merge.is_some()) {
        let size = Input::open_one(stores, location).await?.identity.size;
        listing.files.iter_mut().for_each(|found| found.size = size);
    }
    if listing.many {
        // Markers are read and written separately.
        let markers = [&spec.marker, &spec.write_marker];
        let is_marker = |found: &Found| {
            let last = found.name.rsplit('/').next();
            markers.into_iter().any(|marker| marker.is_some() && marker.as_deref() == last)
        };
        listing.files.retain(|found| !(is_marker(found) || spec.skip_hidden && found.is_hidden()));
        if source.partition && listing.files.is_empty() && spec.marker.is_none() {
            return Err(TransferError::Missing { url: location.to_string() });
        }
    }
    Ok(listing)
}

/// The files of one target.
struct Group {
    origin: Origin,
    name: String,
    sha256: Option<String>,
}

impl From<Listed> for Group {
    fn from(listed: Listed) -> Self {
        Self { origin: Origin::One(listed.found.location), name: listed.found.name, sha256: listed.sha256 }
    }
}

/// Joins small files of one folder and kind into files of at most `limit` bytes, by name.
fn merge(files: Vec<Listed>, limit: u64, header: bool) -> Result<Vec<Group>, TransferError> {
    let (mut groups, mut small) = (Vec::new(), BTreeMap::<(String, String), Vec<(Listed, u64)>>::new());
    for file in files {
        match file.found.size.filter(|size| *size < limit && file.sha256.is_none()) {
            Some(size) => {
                joined::check(&file.found.name, header)?;
                let folder = file.found.name.rfind('/').map_or("", |slash| &file.found.name[..=slash]);
                let key = (folder.to_owned(), joined::suffix(&file.found.name).to_owned());
                small.entry(key).or_default().push((file, size));
            }
            None => groups.push(Group::from(file)),
        }
    }
    for ((folder, suffix), files) in small {
        let mut batches: Vec<(Vec<Listed>, u64)> = Vec::new();
        for (file, size) in files {
            let fits = |(batch, total): &&mut (Vec<Listed>, u64)| {
                total + size <= limit && batch.len() < joined::MOST
            };
            match batches.last_mut().filter(fits) {
                Some((batch, total)) => {
                    batch.push(file);
                    *total += size;
                }
                None => batches.push((vec![file], size)),
            }
        }
        groups.extend(batches.into_iter().enumerate().map(|(number, (batch, _))| {
            let name = format!("{folder}merged-{number:05}{suffix}");
            let parts = batch.into_iter().map(|file| file.found.location).collect();
            Group { origin: Origin::Joined(Joined { parts, header }), name, sha256: None }
        }));
    }
    Ok(groups)
}

/// Assigns the given checksums to files, and refuses those that match no file.
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
        Some(name) => Err(TransferError::bad_url(
            name,
            "a checksum was set for this file, but it is not among the sources",
        )),
        None => Ok(()),
    }
}

fn jobs(files: Vec<Group>, to: &Location, many: bool) -> Result<Vec<Job>, TransferError> {
    let existing = matches!(to, Location::Local(path) if path.is_dir());
    let folder = many || to.is_folder() || existing;
    let records = match to {
        Location::Local(path) if folder => Some(Arc::new(Records::load(path))),
        Location::Local(path) => Some(Arc::new(Records::load(&parent(path)))),
        _ => None,
    };
    let mut taken: HashMap<String, String> = HashMap::new();
    let mut jobs = Vec::with_capacity(files.len());
    for (order, Group { origin, name, sha256 }) in files.into_iter().enumerate() {
        let (place, name) = if folder { (to.join(&name)?, name) } else { (to.clone(), to.file_name()?) };
        if let Some(first) = taken.insert(place.to_string(), origin.to_string()) {
            let second = origin.to_string();
            return Err(TransferError::Collision { first, second, target: place.to_string() });
        }
        let target = match (place, &records) {
            (Location::Local(path), Some(records)) => Target::Local { path, records: records.clone() },
            (Location::Store(path), _) => Target::Store(path),
            (place, _) => return Err(TransferError::bad_url(place, "this cannot be written to")),
        };
        jobs.push(Job { order, from: origin, name, sha256, target });
    }
    Ok(jobs)
}
