//! HTTP client for the provider.

use std::pin::Pin;
use std::time::Duration;

use openidconnect::{AsyncHttpClient, HttpRequest, HttpResponse};
use thiserror::Error;

/// Request timeout.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum response size, in bytes.
const LONGEST: usize = 1 << 20;

/// A client that does not follow redirects.
pub(super) struct Http(reqwest::Client);

/// Why a request failed.
#[derive(Debug, Error)]
pub(super) enum Failure {
    #[error("the provider cannot be reached")]
    Request(#[from] reqwest::Error),
    #[error("the provider's response is longer than {LONGEST} bytes")]
    TooLong,
    #[error("the provider's response cannot be read")]
    Unreadable(#[from] axum::http::Error),
}

impl Http {
    pub(super) fn new() -> reqwest::Result<Self> {
        // A second call fails because the first one installed the provider, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let begin =
            || reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).timeout(PATIENCE);
        // Minimal machines have no CA certificates. Plain HTTP must still work there.
        begin().build().or_else(|_| begin().tls_certs_only([]).build()).map(Self)
    }

    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, Failure> {
        let mut answer = self.0.execute(request.try_into()?).await?;
        let mut response = axum::http::Response::builder().status(answer.status());
        if let Some(headers) = response.headers_mut() {
            headers.clone_from(answer.headers());
        }
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await? {
            body.extend_from_slice(&chunk);
            if body.len() > LONGEST {
                return Err(Failure::TooLong);
            }
        }
        Ok(response.body(body)?)
    }
}

impl<'c> AsyncHttpClient<'c> for Http {
    type Error = Failure;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, Failure>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.send(request))
    }
}
