//! Signing in at an OpenID Connect provider: the authorization code flow with PKCE, a state and a nonce, which the
//! browser keeps in a signed cookie of ten minutes. People are known by issuer and subject, never by an address.

mod account;
mod claims;
mod flow;
mod http;

use std::sync::OnceLock;
use std::time::Duration;

use cubeloom_domain::Timestamp;
use openidconnect::IssuerUrl;
use openidconnect::core::CoreProviderMetadata;
use tokio::sync::Mutex;

pub(crate) use flow::{Answer, Back, begin, done, finish};

use self::http::Http;
use crate::error::{ApiError, ApiResult};

/// How long what a provider says of itself is believed: its keys change now and then.
const BELIEVED: Duration = Duration::from_secs(10 * 60);

/// The provider that is configured.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Its issuer URL.
    pub issuer: String,
    /// The name of this server there.
    pub client_id: String,
    /// This server's password there, when it has one.
    pub client_secret: Option<String>,
    /// What people call the provider.
    pub name: String,
    /// Only people with a verified address of one of these domains; everybody when empty.
    pub allowed_domains: Vec<String>,
    /// Whether somebody who comes for the first time is given an account.
    pub auto_create: bool,
    /// The group whose members administer the platform; without one the provider says nothing about that.
    pub admin_group: Option<String>,
    /// The claim that lists a person's groups.
    pub groups_claim: String,
    /// What it is asked for beside `openid`.
    pub scopes: Vec<String>,
}

/// The provider, and what is known of it.
pub(crate) struct Provider {
    pub(crate) settings: Settings,
    http: OnceLock<Http>,
    metadata: Mutex<Option<(CoreProviderMetadata, Timestamp)>>,
}

impl Provider {
    pub(crate) fn new(settings: Settings) -> Self {
        Self { settings, http: OnceLock::new(), metadata: Mutex::default() }
    }

    fn http(&self) -> ApiResult<&Http> {
        if let Some(http) = self.http.get() {
            return Ok(http);
        }
        let made = Http::new().map_err(ApiError::internal)?;
        Ok(self.http.get_or_init(|| made))
    }

    /// What the provider says of itself: where to sign in, and its keys.
    async fn metadata(&self, now: Timestamp) -> ApiResult<CoreProviderMetadata> {
        let mut known = self.metadata.lock().await;
        if let Some((metadata, at)) = known.as_ref()
            && now.since(*at) < BELIEVED
        {
            return Ok(metadata.clone());
        }
        let issuer = IssuerUrl::new(self.settings.issuer.clone()).map_err(ApiError::internal)?;
        let found = CoreProviderMetadata::discover_async(issuer, self.http()?).await.map_err(away)?;
        *known = Some((found.clone(), now));
        Ok(found)
    }
}

/// The provider does not answer, or not as one does.
fn away(error: impl std::error::Error + Send + Sync + 'static) -> ApiError {
    ApiError::unavailable("the provider at which you sign in does not answer: try again in a moment")
        .caused_by(error)
}
