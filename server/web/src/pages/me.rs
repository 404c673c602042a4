//! `GET /me`: the reader's profile, password, tokens and sessions.

use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::{Frame, html};
use crate::api::me::SessionView;
use crate::api::tokens::TokenView;
use crate::api::users::UserView;
use crate::auth::{Caller, session};
use crate::error::ApiResult;
use crate::state::Web;

#[derive(Template)]
#[template(path = "me.html")]
struct MePage {
    frame: Frame,
    me: UserView,
    /// Whether the user has a local password.
    has_password: bool,
    /// Name of the OpenID Connect provider, if configured.
    provider: Option<String>,
    tokens: Vec<TokenView>,
    sessions: Vec<SessionView>,
}

pub(crate) async fn show(State(web): State<Web>, frame: Frame, caller: Caller) -> ApiResult<Response> {
    let (id, now) = (&caller.user.id, web.now());
    let found = web.store().sessions(id, now).await?.into_iter().filter(|found| session::live(found, now));
    let sessions = found.map(|found| SessionView::new(found, &caller)).collect();
    let tokens = web.store().tokens(id).await?.into_iter().map(TokenView::from).collect();
    let has_password = web.store().password_hash(id).await?.is_some();
    let provider = web.oidc().map(|provider| provider.settings.name.clone());
    let me = UserView::from(caller.user.as_ref().clone());
    html(&MePage { frame, me, has_password, provider, tokens, sessions })
}
