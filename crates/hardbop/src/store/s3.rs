//! A bucket of an object store that speaks S3's protocol.
//!
//! The place is `s3://BUCKET/PREFIX`. Where the server is and who asks comes from the environment,
//! by the names that every tool for S3 uses: `AWS_ENDPOINT_URL`, `AWS_REGION`,
//! `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`.

use super::Kept;
use crate::failure::Failure;
use rusty_s3::actions::ListObjectsV2;
use rusty_s3::{Credentials, S3Action, UrlStyle};
use std::io::{self, ErrorKind};
use std::time::{Duration, SystemTime};
use ureq::Agent;

/// How long a request may take, and how long its signature holds.
const PATIENCE: Duration = Duration::from_secs(60);
/// How many times something is asked for.
const TRIES: u32 = 3;

/// A bucket, or a part of one.
pub struct Bucket {
    bucket: rusty_s3::Bucket,
    credentials: Option<Credentials>,
    prefix: String,
    agent: Agent,
}

impl Bucket {
    /// The bucket at `s3://BUCKET/PREFIX`.
    pub fn open(place: &str) -> Result<Bucket, Failure> {
        let bad = |what: String| Failure::message(format!("the store `{place}`: {what}"));
        let path = place.trim_start_matches("s3://");
        let (name, prefix) = path.split_once('/').unwrap_or((path, ""));
        if name.is_empty() {
            return Err(bad("name a bucket: `s3://BUCKET/PREFIX`".to_owned()));
        }
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let region = variable("AWS_REGION").or_else(|| variable("AWS_DEFAULT_REGION"));
        let region = region.unwrap_or_else(|| "us-east-1".to_owned());
        let endpoint = variable("AWS_ENDPOINT_URL_S3").or_else(|| variable("AWS_ENDPOINT_URL"));
        // Servers of one's own rarely have a name for each bucket.
        let style = match endpoint {
            Some(_) => UrlStyle::Path,
            None => UrlStyle::VirtualHost,
        };
        let endpoint = endpoint.unwrap_or_else(|| format!("https://s3.{region}.amazonaws.com"));
        let url = endpoint
            .parse()
            .map_err(|error| bad(format!("AWS_ENDPOINT_URL is `{endpoint}`: {error}")))?;
        let bucket = rusty_s3::Bucket::new(url, style, name.to_owned(), region)
            .map_err(|error| bad(error.to_string()))?;
        let credentials = match (
            variable("AWS_ACCESS_KEY_ID"),
            variable("AWS_SECRET_ACCESS_KEY"),
        ) {
            (Some(key), Some(secret)) => Some(match variable("AWS_SESSION_TOKEN") {
                Some(token) => Credentials::new_with_token(key, secret, token),
                None => Credentials::new(key, secret),
            }),
            _ => None,
        };
        let config = Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            .http_status_as_error(false)
            .build();
        let prefix = prefix.trim_end_matches('/');
        Ok(Bucket {
            bucket,
            credentials,
            prefix: match prefix {
                "" => String::new(),
                prefix => format!("{prefix}/"),
            },
            agent: config.into(),
        })
    }

    /// Where it is, for people.
    pub fn shown(&self) -> String {
        format!("s3://{}/{}", self.bucket.name(), self.prefix)
    }

    fn object(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    /// What is under a key.
    pub fn get(&self, key: &str) -> io::Result<Option<Vec<u8>>> {
        let object = self.object(key);
        let action = self.bucket.get_object(self.credentials.as_ref(), &object);
        let url = action.sign(PATIENCE);
        let answer = again(|| self.agent.get(url.as_str()).call())?;
        if answer.status().as_u16() == 404 {
            return Ok(None);
        }
        Ok(Some(body(answer)?))
    }

    /// Writes something, in one request: it is there as a whole or not at all.
    pub fn put(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        let object = self.object(key);
        let action = self.bucket.put_object(self.credentials.as_ref(), &object);
        let url = action.sign(PATIENCE);
        let answer = again(|| self.agent.put(url.as_str()).send(bytes))?;
        body(answer).map(|_| ())
    }

    /// Takes something out.
    pub fn remove(&self, key: &str) -> io::Result<()> {
        let object = self.object(key);
        let credentials = self.credentials.as_ref();
        let url = self
            .bucket
            .delete_object(credentials, &object)
            .sign(PATIENCE);
        let answer = again(|| self.agent.delete(url.as_str()).call())?;
        match answer.status().as_u16() {
            404 => Ok(()),
            _ => body(answer).map(|_| ()),
        }
    }

    /// What is under keys that begin so.
    pub fn list(&self, begin: &str) -> io::Result<Vec<Kept>> {
        let begin = self.object(begin);
        let mut found = Vec::new();
        let mut token: Option<String> = None;
        loop {
            let mut action = self.bucket.list_objects_v2(self.credentials.as_ref());
            action.with_prefix(begin.as_str());
            if let Some(token) = &token {
                action.with_continuation_token(token.as_str());
            }
            let url = action.sign(PATIENCE);
            let bytes = body(again(|| self.agent.get(url.as_str()).call())?)?;
            let text = String::from_utf8_lossy(&bytes);
            let listed = ListObjectsV2::parse_response(&text)
                .map_err(|error| io::Error::other(format!("its list cannot be read: {error}")))?;
            for object in listed.contents {
                let Some(key) = object.key.strip_prefix(&self.prefix) else {
                    continue;
                };
                found.push(Kept {
                    key: key.to_owned(),
                    bytes: object.size.unwrap_or(0),
                    age: age(object.last_modified.as_deref().unwrap_or_default()),
                });
            }
            token = listed.next_continuation_token;
            if token.is_none() {
                return Ok(found);
            }
        }
    }
}

/// How long ago a time was, as S3 writes it: `2026-11-17T06:00:00.000Z`.
fn age(time: &str) -> Duration {
    let seconds = seconds_since_1970(time).unwrap_or(0);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_secs());
    Duration::from_secs(now.saturating_sub(seconds))
}

fn seconds_since_1970(time: &str) -> Option<u64> {
    let number = |range: std::ops::Range<usize>| time.get(range)?.parse::<u64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    // Days since 1970, by the civil calendar with years that begin in March.
    let (y, m) = if month > 2 {
        (year, month - 3)
    } else {
        (year.checked_sub(1)?, month + 9)
    };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day;
    let days = days.checked_sub(719_469)?;
    Some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

type Answer = ureq::http::Response<ureq::Body>;

/// Asks again where the server is busy or the connection is lost.
fn again(ask: impl Fn() -> Result<Answer, ureq::Error>) -> io::Result<Answer> {
    let mut last = io::Error::other("it was not asked");
    for number in 0..TRIES {
        std::thread::sleep(Duration::from_millis(200) * number);
        match ask() {
            Ok(answer) if answer.status().is_server_error() => {
                last = io::Error::other(format!("the server says {}", answer.status()));
            }
            Ok(answer) => return Ok(answer),
            Err(error) => last = io::Error::other(error.to_string()),
        }
    }
    Err(last)
}

fn body(mut answer: Answer) -> io::Result<Vec<u8>> {
    let status = answer.status();
    let bytes = answer.body_mut().with_config().limit(1 << 30).read_to_vec();
    let bytes = bytes.map_err(|error| io::Error::other(error.to_string()))?;
    match status.is_success() {
        true => Ok(bytes),
        false if status.as_u16() == 403 => Err(io::Error::new(
            ErrorKind::PermissionDenied,
            format!("the server says {status}"),
        )),
        false => Err(io::Error::other(format!("the server says {status}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        assert_eq!(seconds_since_1970("1970-01-01T00:00:00.000Z"), Some(0));
        assert_eq!(
            seconds_since_1970("2000-03-01T00:00:00Z"),
            Some(951_868_800)
        );
        assert_eq!(
            seconds_since_1970("2026-11-17T06:00:00.000Z"),
            Some(1_794_895_200)
        );
        assert_eq!(seconds_since_1970("soon"), None);
    }
}
