//! One listener: its position in a room, and no other state.

use std::sync::Arc;

use bytes::Bytes;
use cubeloom_domain::RunId;
use tokio::sync::watch;

use super::frame;
use super::keep_run::Present;
use super::keep_runs::{self, Known};
use super::room::{Found, Room};
use crate::auth::{self, Caller};
use crate::error::ApiResult;
use crate::state::Web;
use crate::texts::Lang;
use crate::time::Time;
use crate::told::told;

/// A position in a room. `None` before the first snapshot.
struct Place<P> {
    room: Arc<Room<P>>,
    changed: watch::Receiver<u64>,
    seen: Option<u64>,
}

impl<P> Place<P> {
    /// Starts after the event with this id, if the room still has all later events.
    fn new(room: Arc<Room<P>>, changed: watch::Receiver<u64>, after: Option<&str>) -> Self {
        let seen = after.and_then(|id| room.number(id));
        Self { room, changed, seen }
    }

    /// Waits for the next event.
    async fn next(&mut self) -> Found {
        loop {
            // Mark as seen first: later events wake this listener again.
            self.changed.borrow_and_update();
            let Some(seen) = self.seen else { return Found::Behind };
            match self.room.after(seen) {
                Found::Nothing => {
                    if self.changed.changed().await.is_err() {
                        return Found::Closed;
                    }
                }
                other => return other,
            }
        }
    }
}

/// A listener of one run.
pub(crate) struct OfRun {
    web: Web,
    lang: Lang,
    place: Place<Present>,
    told_end: bool,
}

impl OfRun {
    /// Starts after the event with this id, or with a snapshot.
    pub(crate) async fn new(web: &Web, lang: Lang, run: &RunId, after: Option<&str>) -> ApiResult<Self> {
        let (room, changed) = web.live().run(web, run).await?;
        Ok(Self { web: web.clone(), lang, place: Place::new(room, changed, after), told_end: false })
    }

    /// The next event. `None` after the last one.
    pub(crate) async fn next(&mut self) -> ApiResult<Option<Bytes>> {
        Ok(match self.place.next().await {
            Found::Event(entry) => {
                self.place.seen = Some(entry.id);
                Some(entry.frame.text(self.lang))
            }
            Found::Behind | Found::Nothing => {
                let at = Time(self.web.now());
                let (last, frame) = self.place.room.snapshot(self.lang, |present| present.snapshot(at));
                self.place.seen = Some(last);
                Some(frame)
            }
            Found::Closed if self.told_end => None,
            // The run was deleted: clients need not reconnect.
            Found::Closed => {
                self.told_end = true;
                Some(frame::named("end", &serde_json::json!({}), ""))
            }
        })
    }
}

/// A listener of the runs of a project, or of all visible projects.
pub(crate) struct OfRuns {
    web: Web,
    lang: Lang,
    caller: Caller,
    /// Only this project.
    project: Option<String>,
    place: Place<Known>,
}

impl OfRuns {
    /// Starts after the event with this id, or with a snapshot.
    pub(crate) async fn new(
        web: &Web,
        lang: Lang,
        caller: Caller,
        project: Option<String>,
        after: Option<&str>,
    ) -> ApiResult<Self> {
        let (room, changed) = web.live().all(web).await?;
        Ok(Self { web: web.clone(), lang, caller, project, place: Place::new(room, changed, after) })
    }

    /// The next event. `None` after the last one.
    pub(crate) async fn next(&mut self) -> ApiResult<Option<Bytes>> {
        loop {
            match self.place.next().await {
                Found::Event(entry) => {
                    let sees = match &entry.project {
                        Some(project) => self.sees(project).await?,
                        None => true,
                    };
                    self.place.seen = Some(entry.id);
                    if sees {
                        return Ok(Some(entry.frame.text(self.lang)));
                    }
                }
                Found::Behind | Found::Nothing => {
                    // Take the number before reading: concurrent changes are sent twice rather than lost.
                    let last = self.place.room.last();
                    let event = keep_runs::snapshot(&self.web, self.projects().await?).await?;
                    self.place.seen = Some(last);
                    return Ok(Some(frame::of(&told(self.lang, event), &self.place.room.id(last))));
                }
                Found::Closed => return Ok(None),
            }
        }
    }

    async fn projects(&self) -> ApiResult<Option<Vec<String>>> {
        match &self.project {
            Some(project) => Ok(Some(vec![project.clone()])),
            None => auth::projects_of(&self.web, &self.caller).await,
        }
    }

    async fn sees(&self, project: &str) -> ApiResult<bool> {
        let mine = self.projects().await?;
        Ok(mine.is_none_or(|mine| mine.iter().any(|name| name == project)))
    }
}
