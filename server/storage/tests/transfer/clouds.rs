//! Tencent's COS and Alibaba's OSS. Neither has a server to run locally: a fake keeps objects in memory and
//! checks the signature of every request. It implements the vendor's documentation separately, verified by
//! the vendor's published examples.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, Response, StatusCode, Uri};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cubeloom_storage::transfer::{TransferError, TransferSpec};
use hmac::{Hmac, Mac};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use sha1::{Digest, Sha1};

use crate::helpers::{content, copy, names, spec, write};

/// Characters that both vendors encode: all but letters, digits and these.
const ENCODED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
const MIB: usize = 1 << 20;

type Pairs = BTreeMap<String, String>;

fn hmac_sha1(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha1>::new_from_slice(key).unwrap();
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// <https://cloud.tencent.com/document/product/436/7778>
fn cos_signature(
    secret: &str,
    time: &str,
    method: &str,
    path: &str,
    query: &Pairs,
    headers: &Pairs,
) -> String {
    let encode = |text: &str| utf8_percent_encode(text, &ENCODED).to_string();
    let joined = |pairs: &Pairs| {
        let pairs =
            pairs.iter().map(|(name, value)| format!("{}={}", encode(&name.to_lowercase()), encode(value)));
        pairs.collect::<Vec<_>>().join("&")
    };
    let request = format!("{}\n{path}\n{}\n{}\n", method.to_lowercase(), joined(query), joined(headers));
    let text = format!("sha1\n{time}\n{}\n", hex(&Sha1::digest(request.as_bytes())));
    let key = hex(&hmac_sha1(secret.as_bytes(), time));
    hex(&hmac_sha1(key.as_bytes(), &text))
}

/// <https://help.aliyun.com/zh/oss/developer-reference/include-signatures-in-the-authorization-header>;
/// `resource` has the bucket, the key and the sub-resources.
fn oss_signature(secret: &str, method: &str, headers: &Pairs, resource: &str) -> String {
    let of = |name: &str| headers.get(name).map(String::as_str).unwrap_or_default();
    let own = headers.iter().filter(|(name, _)| name.starts_with("x-oss-"));
    let own: String = own.map(|(name, value)| format!("{name}:{value}\n")).collect();
    let text =
        format!("{method}\n{}\n{}\n{}\n{own}{resource}", of("content-md5"), of("content-type"), of("date"));
    STANDARD.encode(hmac_sha1(secret.as_bytes(), &text))
}

fn pairs<const N: usize>(pairs: [(&str, &str); N]) -> Pairs {
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

#[test]
fn the_published_examples_of_cos() {
    let (secret, path) = ("BQYIM75p8x0iWVFSIgqEKwFprpRSVHlz", "/exampleobject(腾讯云)");
    let host = ("host", "examplebucket-1250000000.cos.ap-beijing.myqcloud.com");
    let headers = pairs([
        ("content-length", "13"),
        ("content-md5", "mQ/fVh815F3k6TAUm8m0eg=="),
        ("content-type", "text/plain"),
        ("date", "Thu, 16 May 2019 06:45:51 GMT"),
        host,
        ("x-cos-acl", "private"),
        ("x-cos-grant-read", "uin=\"100000000011\""),
    ]);
    let put = cos_signature(secret, "1557989151;1557996351", "PUT", path, &Pairs::new(), &headers);
    assert_eq!(put, "3b8851a11a569213c17ba8fa7dcf2abec6935172");
    let query = pairs([
        ("response-content-type", "application/octet-stream"),
        ("response-cache-control", "max-age=600"),
    ]);
    let headers = pairs([("date", "Thu, 16 May 2019 06:55:53 GMT"), host]);
    let get = cos_signature(secret, "1557989753;1557996953", "GET", path, &query, &headers);
    assert_eq!(get, "01681b8c9d798a678e43b685a9f1bba0f6c0e012");
}

#[test]
fn the_published_example_of_oss() {
    let headers = pairs([
        ("content-md5", "ODBGOERFMDMzQTczRUY3NUE3NzA5QzdFNUYzMDQxNEM="),
        ("content-type", "text/html"),
        ("date", "Thu, 17 Nov 2005 18:49:58 GMT"),
        ("x-oss-magic", "abracadabra"),
        ("x-oss-meta-author", "foo@bar.com"),
    ]);
    let put =
        oss_signature("OtxrzxIsfpFjA7SwPzILwy8Bw21TLhquhboDYROV", "PUT", &headers, "/oss-example/nelson");
    assert_eq!(put, "26NBxoKdsyly4EDv6inkoDft/yA=");
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Vendor {
    Cos,
    Oss,
}

const SECRET: &str = "of this test: +/=";
const ID: &str = "id-of-this-test";
const BUCKET: &str = "examples-1250000000";

/// The fake store. Requests arrive as at a proxy, since the bucket is part of the host's name.
#[derive(Clone)]
struct Cloud {
    vendor: Vendor,
    objects: Arc<Mutex<BTreeMap<String, (Bytes, Pairs)>>>,
    parts: Arc<Mutex<BTreeMap<(String, u32), Bytes>>>,
    /// Requests, in order.
    asked: Arc<Mutex<Vec<String>>>,
}

fn query_of(uri: &Uri) -> Pairs {
    let decode = |text: &str| percent_decode_str(text).decode_utf8().unwrap().into_owned();
    let all = uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    all.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).map(|(a, b)| (decode(a), decode(b))).collect()
}

fn headers_of(headers: &HeaderMap) -> Pairs {
    headers
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), value.to_str().unwrap().to_owned()))
        .collect()
}

fn answer(status: u16, body: impl Into<Body>) -> Response<Body> {
    Response::builder().status(StatusCode::from_u16(status).unwrap()).body(body.into()).unwrap()
}

impl Cloud {
    async fn start(vendor: Vendor) -> (Self, BTreeMap<String, String>) {
        let cloud = Self { vendor, objects: Arc::default(), parts: Arc::default(), asked: Arc::default() };
        let app = Router::new().fallback(serve).with_state(cloud.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        let (names, endpoint) = match vendor {
            Vendor::Cos => {
                (["COS_SECRET_ID", "COS_SECRET_KEY", "COS_ENDPOINT"], "http://cos.ap-test.example")
            }
            Vendor::Oss => {
                (["OSS_ACCESS_KEY_ID", "OSS_ACCESS_KEY_SECRET", "OSS_ENDPOINT"], "http://oss-test.example")
            }
        };
        let values = [ID, SECRET, endpoint];
        let env = names.into_iter().zip(values).chain([("HTTP_PROXY", &*proxy)]);
        (cloud, env.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    /// Whether the request is signed with the secret.
    fn is_signed(&self, method: &Method, path: &str, query: &Pairs, headers: &Pairs) -> bool {
        let given = headers.get("authorization").map(String::as_str).unwrap_or_default();
        match self.vendor {
            Vendor::Cos => {
                let fields: BTreeMap<&str, &str> =
                    given.split('&').filter_map(|pair| pair.split_once('=')).collect();
                let of = |name: &str| fields.get(name).copied().unwrap_or_default();
                let chosen = |all: &Pairs, list: &str| {
                    let names = list.split(';').filter(|name| !name.is_empty());
                    let pick = |name: &str| {
                        let name = percent_decode_str(name).decode_utf8().unwrap().into_owned();
                        let found = all.iter().find(|(one, _)| one.to_lowercase() == name.to_lowercase());
                        (name, found.map(|(_, value)| value.clone()).unwrap_or_default())
                    };
                    names.map(pick).collect::<Pairs>()
                };
                let (query, headers) =
                    (chosen(query, of("q-url-param-list")), chosen(headers, of("q-header-list")));
                let wanted = cos_signature(SECRET, of("q-key-time"), method.as_str(), path, &query, &headers);
                of("q-ak") == ID && of("q-signature") == wanted && of("q-sign-time") == of("q-key-time")
            }
            Vendor::Oss => {
                let own = ["uploads", "uploadId", "partNumber", "continuation-token"];
                let own = query.iter().filter(|(name, _)| own.contains(&name.as_str()));
                let own: Vec<String> = own
                    .map(
                        |(name, value)| {
                            if value.is_empty() { name.clone() } else { format!("{name}={value}") }
                        },
                    )
                    .collect();
                let mark = if own.is_empty() { "" } else { "?" };
                let resource = format!("/{BUCKET}{path}{mark}{}", own.join("&"));
                given == format!("OSS {ID}:{}", oss_signature(SECRET, method.as_str(), headers, &resource))
            }
        }
    }

    fn get(&self, key: &str, headers: &Pairs, with_body: bool) -> Response<Body> {
        let Some((bytes, notes)) = self.objects.lock().unwrap().get(key).cloned() else {
            return answer(404, "<Error><Code>NoSuchKey</Code></Error>");
        };
        let range = headers.get("range").and_then(|range| {
            let (start, end) = range.strip_prefix("bytes=")?.split_once('-')?;
            Some((start.parse().ok()?, end.parse::<usize>().map_or(bytes.len(), |end| end + 1)))
        });
        let (start, end) = range.unwrap_or((0, bytes.len()));
        let mut response = Response::builder()
            .status(if range.is_some() { 206 } else { 200 })
            .header("etag", format!("\"{}\"", hex(&Sha1::digest(&bytes))))
            .header("last-modified", "Thu, 16 May 2019 06:45:51 GMT")
            .header("content-range", format!("bytes {start}-{}/{}", end.saturating_sub(1), bytes.len()))
            .header("content-length", end - start);
        for (name, value) in notes {
            response = response.header(name, value);
        }
        response.body(if with_body { bytes.slice(start..end).into() } else { Body::empty() }).unwrap()
    }

    fn list(&self, query: &Pairs) -> Response<Body> {
        let prefix = query.get("prefix").map(String::as_str).unwrap_or_default();
        let objects = self.objects.lock().unwrap();
        let found = objects.iter().filter(|(key, _)| key.starts_with(prefix)).map(|(key, (bytes, _))| {
            format!(
                "<Contents><Key>{key}</Key><Size>{}</Size><ETag>\"1\"</ETag>\
                 <LastModified>2019-05-16T06:45:51.000Z</LastModified></Contents>",
                bytes.len()
            )
        });
        let found: String = found.collect();
        answer(200, format!("<ListBucketResult><IsTruncated>false</IsTruncated>{found}</ListBucketResult>"))
    }

    fn complete(&self, key: &str) -> Response<Body> {
        let parts = std::mem::take(&mut *self.parts.lock().unwrap());
        let whole: Vec<u8> = parts.into_values().flatten().collect();
        let notes = self
            .objects
            .lock()
            .unwrap()
            .remove(&format!("{key}?notes"))
            .map_or_else(Pairs::new, |(_, notes)| notes);
        self.objects.lock().unwrap().insert(key.to_owned(), (whole.into(), notes));
        answer(200, "<CompleteMultipartUploadResult><ETag>\"1\"</ETag></CompleteMultipartUploadResult>")
    }
}

async fn serve(State(cloud): State<Cloud>, request: Request) -> Response<Body> {
    let (head, body) = request.into_parts();
    let path = percent_decode_str(head.uri.path()).decode_utf8().unwrap().into_owned();
    let (query, headers) = (query_of(&head.uri), headers_of(&head.headers));
    cloud.asked.lock().unwrap().push(format!("{} {path} {query:?}", head.method));
    if !cloud.is_signed(&head.method, &path, &query, &headers) {
        return answer(403, "<Error><Code>SignatureDoesNotMatch</Code><Message>wrong</Message></Error>");
    }
    let body = to_bytes(body, 64 << 20).await.unwrap();
    let key = path.trim_start_matches('/').to_owned();
    let notes = || headers.clone().into_iter().filter(|(name, _)| name.contains("-meta-")).collect::<Pairs>();
    match (head.method.as_str(), query.get("uploadId"), query.get("partNumber")) {
        ("GET", None, None) if key.is_empty() => cloud.list(&query),
        ("GET", None, None) => cloud.get(&key, &headers, true),
        ("HEAD", None, None) => cloud.get(&key, &headers, false),
        ("PUT", None, None) => {
            cloud.objects.lock().unwrap().insert(key, (body, notes()));
            answer(200, "")
        }
        ("POST", None, None) if query.contains_key("uploads") => {
            cloud.objects.lock().unwrap().insert(format!("{key}?notes"), (Bytes::new(), notes()));
            answer(
                200,
                "<InitiateMultipartUploadResult><UploadId>one/+=</UploadId></InitiateMultipartUploadResult>",
            )
        }
        ("PUT", Some(_), Some(part)) => {
            cloud.parts.lock().unwrap().insert((key, part.parse().unwrap()), body);
            Response::builder().header("etag", format!("\"{part}\"")).body(Body::empty()).unwrap()
        }
        ("POST", Some(_), None) => cloud.complete(&key),
        other => answer(400, format!("{other:?}")),
    }
}

fn cloud_spec(env: &BTreeMap<String, String>, from: &str, to: &str) -> TransferSpec {
    let mut spec = spec(&[from], to);
    (spec.env, spec.chunk, spec.attempts) = (env.clone(), MIB as u64, 2);
    spec
}

async fn there_and_back(vendor: Vendor, scheme: &str) {
    let (cloud, env) = Cloud::start(vendor).await;
    let dir = tempfile::tempdir().unwrap();
    let large = content(11 * MIB, 3);
    write(dir.path().join("in/large.bin"), &large);
    write(dir.path().join("in/with space+(腾讯云)/small.csv"), b"a,b\n");
    let (from, folder) =
        (format!("{}/", dir.path().join("in").display()), format!("{scheme}://{BUCKET}/data/"));
    copy(&cloud_spec(&env, &from, &folder)).await.unwrap();
    let asked = cloud.asked.lock().unwrap().clone();
    assert!(asked.iter().filter(|one| one.contains("partNumber")).count() >= 2, "in parts: {asked:?}");
    let back = dir.path().join("back");
    copy(&cloud_spec(&env, &folder, &format!("{}/", back.display()))).await.unwrap();
    assert_eq!(names(&back), ["large.bin", "with space+(腾讯云)/small.csv"]);
    assert!(std::fs::read(back.join("large.bin")).unwrap() == large);
    assert_eq!(copy(&cloud_spec(&env, &from, &folder)).await.unwrap().skipped(), 2, "what is there is known");
    // A wrong secret is refused, and the error names the variables to check.
    let mut wrong = env.clone();
    for (name, value) in &mut wrong {
        if name.ends_with("KEY") || name.ends_with("SECRET") {
            *value = "another".into();
        }
    }
    let error =
        copy(&cloud_spec(&wrong, &format!("{folder}large.bin"), dir.path().join("x").to_str().unwrap()))
            .await;
    assert!(matches!(error, Err(TransferError::Credentials { .. })), "{error:?}");
    assert!(!dir.path().join("x").exists());
    // The same for writes: the existing object stays.
    let other = write(dir.path().join("other.bin"), b"other");
    let error = copy(&cloud_spec(&wrong, other.to_str().unwrap(), &format!("{folder}large.bin"))).await;
    assert!(matches!(error, Err(TransferError::Credentials { .. })), "{error:?}");
    let (there, target) = (format!("{folder}large.bin"), dir.path().join("large.bin"));
    copy(&cloud_spec(&env, &there, target.to_str().unwrap())).await.unwrap();
    assert!(std::fs::read(target).unwrap() == large);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_request_to_cos_is_signed_as_it_documents() {
    there_and_back(Vendor::Cos, "cos").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_request_to_oss_is_signed_as_it_documents() {
    there_and_back(Vendor::Oss, "oss").await;
}
