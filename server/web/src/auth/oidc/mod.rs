//! Sign-in at an OpenID Connect provider: the authorization code flow with PKCE, a state and a nonce. The
//! browser keeps them in a signed cookie of ten minutes. Users are identified by issuer and subject, never by
//! an address.

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

/// How long the provider's metadata is cached: its keys change.
const BELIEVED: Duration = Duration::from_secs(10 * 60);

#[derive(Clone, Debug)]
pub struct Settings {
    pub issuer: String,
    /// Client ID of this server.
    pub client_id: String,
    /// Client secret, if the provider requires one.
    pub client_secret: Option<String>,
    /// Name of the provider on the sign-in page.
    pub name: String,
    /// Only users with a verified address in one of these domains may sign in. Empty allows all.
    pub allowed_domains: Vec<String>,
    /// Whether the first sign-in creates an account.
    pub auto_create: bool,
    /// Group of the platform administrators. Without one, the provider does not decide who is an
    /// administrator.
    pub admin_group: Option<String>,
    /// Claim that lists a user's groups.
    pub groups_claim: String,
    /// Scopes requested in addition to `openid`.
    pub scopes: Vec<String>,
}

/// The provider and its cached metadata.
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

    /// The provider's metadata: its endpoints and keys.
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

/// The provider is unreachable or its response is invalid.
fn away(error: impl std::error::Error + Send + Sync + 'static) -> ApiError {
    ApiError::unavailable("the sign-in provider is unreachable: try again in a moment").caused_by(error)
}
