//! One HTTP call per connection: a server polls about once a second, and slurmrestd may restart at any time.

use cubeloom_domain::slurm::RestPlace;
use http_body_util::{BodyExt, Full, Limited};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

use crate::commands::LIMIT;

/// Maximum size of a response: a job takes some KiB.
const LONGEST: usize = 512 << 20;

/// A request.
pub struct Call<'a> {
    /// `GET`, `POST`, `DELETE`.
    pub method: &'static str,
    /// Including the query.
    pub path: &'a str,
    /// The account of the caller.
    pub account: &'a str,
    /// The account's token.
    pub token: &'a str,
    /// JSON; empty for none.
    pub body: String,
}

/// Sends the request; returns the status and body of the response.
///
/// # Errors
/// No response: the end of a sentence.
pub async fn talk(place: RestPlace<'_>, call: Call<'_>) -> Result<(u16, String), String> {
    let talk = async {
        match place {
            RestPlace::Port(place) => {
                let stream = TcpStream::connect(place).await.map_err(|error| error.to_string())?;
                over(stream, place, call).await
            }
            RestPlace::Socket(path) => {
                let stream = UnixStream::connect(path).await.map_err(|error| error.to_string())?;
                over(stream, "localhost", call).await
            }
        }
    };
    let late = |_| format!("it took longer than {} seconds", LIMIT.as_secs());
    tokio::time::timeout(LIMIT, talk).await.map_err(late)?
}

async fn over<S>(stream: S, host: &str, call: Call<'_>) -> Result<(u16, String), String>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let request = Request::builder()
        .method(call.method)
        .uri(call.path)
        .header("Host", host)
        .header("Accept", "application/json")
        .header("Content-Type", "application/json")
        .header("Connection", "close")
        .header("X-SLURM-USER-NAME", call.account)
        .header("X-SLURM-USER-TOKEN", call.token)
        .body(Full::new(Bytes::from(call.body)))
        .map_err(|error| error.to_string())?;
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
    let ask = async {
        let answer = sender.send_request(request).await.map_err(|error| error.to_string())?;
        let status = answer.status().as_u16();
        let body = Limited::new(answer.into_body(), LONGEST).collect().await;
        let body = body.map_err(|error| error.to_string())?.to_bytes();
        let text = String::from_utf8(body.into()).map_err(|_| "its response is not UTF-8".to_owned())?;
        Ok((status, text))
    };
    // The caller's future drives the connection: dropping it leaves nothing behind.
    tokio::pin!(ask);
    tokio::pin!(connection);
    tokio::select! {
        done = &mut ask => done,
        ended = &mut connection => match ended {
            Ok(()) => ask.await,
            // The response may have been complete before.
            Err(error) => ask.await.map_err(|_| error.to_string()),
        },
    }
}
