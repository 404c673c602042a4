//! Cube Studio's mounts: `name(pvc):/mnt,/data(hostpath):/data,4G(memory):/dev/shm,settings(configmap):/etc/x`.

use serde_json::{Value, json};

use super::ledger::At;
use super::names::label;
use crate::import::Fate;

/// The volume shared by all users of Cube Studio; here it is the project's shared storage.
const SHARED: &str = "kubeflow-user-workspace";

/// The mounts of a task.
#[derive(Debug, Default)]
pub struct Mounts {
    /// As our `volumes`.
    pub volumes: Vec<Value>,
    /// Shared memory, as `resources.shm`.
    pub shm: Option<String>,
    /// The shared volume's mount paths; paths below them are in the project's shared storage.
    pub shared: Vec<String>,
}

impl Mounts {
    /// Reads a list of mounts, and reports the outcome for each.
    pub fn read(&mut self, at: &At<'_>) {
        match at.text() {
            Some(text) => self.read_text(at, &text),
            None => at.tell(Fate::Problem, "is not a list of mounts: set `volumes`"),
        }
    }

    /// The same for a text from elsewhere; the outcome is reported at `at`.
    pub fn read_text(&mut self, at: &At<'_>, text: &str) {
        for mount in text.split([',', '\n']).map(str::trim).filter(|mount| !mount.is_empty()) {
            if !self.one(at, mount) {
                at.note(
                    Fate::Problem,
                    format!(
                        "the mount `{mount}` has no counterpart here: give the task its files in another way"
                    ),
                );
            }
        }
    }

    fn one(&mut self, at: &At<'_>, mount: &str) -> bool {
        let Some((name, kind, place)) = parts(mount) else { return false };
        let place = place.trim_end_matches('/');
        match kind {
            "pvc" if name == SHARED => {
                if !self.shared.iter().any(|known| known == place) {
                    self.shared.push(place.to_owned());
                }
                at.note(
                    Fate::Changed,
                    format!("`{place}` of {SHARED} is the project's shared storage here, `workspace` in expressions"),
                );
            }
            "pvc" | "hostpath" => {
                let volume = label(name);
                if volume.is_empty() || !place.starts_with('/') {
                    return false;
                }
                at.note(
                    Fate::Problem,
                    format!(
                        "`{mount}` became the volume `{volume}`: ask an owner of the project to create it"
                    ),
                );
                let volume = json!({"name": volume, "mount": place});
                if !self.volumes.contains(&volume) {
                    self.volumes.push(volume);
                }
            }
            "memory" => self.shm = Some(name.to_owned()),
            _ => return false,
        }
        true
    }

    /// A text in which paths below the shared mount lead into the project's shared storage.
    pub fn moved(&self, text: &str) -> String {
        self.shared
            .iter()
            .filter(|place| place.len() > 1)
            .fold(text.to_owned(), |text, place| moved(&text, place))
    }
}

fn parts(mount: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = mount.split_once('(')?;
    let (kind, place) = rest.split_once(')')?;
    Some((name.trim(), kind.trim(), place.strip_prefix(':')?.trim()))
}

/// `/mnt/x` becomes `{{ workspace }}/x`, but neither `/mntx` nor `/a/mnt`.
fn moved(text: &str, place: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(place) {
        let (before, found) = rest.split_at(start);
        let after = &found[place.len()..];
        let joins = |c: char| c.is_alphanumeric() || "_.-/}".contains(c);
        let begins = !before.chars().next_back().or_else(|| out.chars().next_back()).is_some_and(joins);
        let ends = !after.chars().next().is_some_and(|c| c.is_alphanumeric() || "_.-".contains(c));
        out.push_str(before);
        out.push_str(if begins && ends { "{{ workspace }}" } else { place });
        rest = after;
    }
    out.push_str(rest);
    out
}
