//! The store of answers that machines share: a directory, or a bucket of an object store.
//!
//! Whatever is written is written once and whole: in a directory, beside and then moved; in a
//! bucket, by one request. What two write under one key says the same. What is read is looked at by
//! its hash, and thrown away if it is damaged.

mod s3;

use crate::failure::Failure;
use hardbop_cluster::seal::sha256;
use hardbop_cluster::store::{ANSWERS, CLAIMS, Entry, Question, claims_key, is_whole};
use s3::Bucket;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

/// A store.
pub struct Store {
    place: Place,
    damaged: AtomicUsize,
}

enum Place {
    Directory(PathBuf),
    Bucket(Box<Bucket>),
}

/// A thing in a store.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Where.
    pub key: String,
    /// How large.
    pub bytes: u64,
    /// How long ago it was written.
    pub age: Duration,
}

/// Where answers are kept unless told, beside the project file.
pub const USUAL: &str = ".hardbop/cache";

impl Store {
    /// The store at a place: `s3://BUCKET/PREFIX`, or a directory, from another one.
    pub fn open(place: &str, from: &Path) -> Result<Store, Failure> {
        let place = if place.starts_with("s3://") {
            Place::Bucket(Box::new(Bucket::open(place)?))
        } else {
            Place::Directory(from.join(place))
        };
        let damaged = AtomicUsize::new(0);
        Ok(Store { place, damaged })
    }

    /// What is under a key.
    fn get(&self, key: &str) -> io::Result<Option<Vec<u8>>> {
        match &self.place {
            Place::Directory(root) => match std::fs::read(root.join(key)) {
                Ok(bytes) => Ok(Some(bytes)),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                Err(error) => Err(error),
            },
            Place::Bucket(bucket) => bucket.get(key),
        }
    }

    fn put(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        match &self.place {
            Place::Directory(root) => write_whole(&root.join(key), bytes),
            Place::Bucket(bucket) => bucket.put(key, bytes),
        }
    }

    /// Takes something out.
    pub fn remove(&self, key: &str) -> io::Result<()> {
        match &self.place {
            Place::Directory(root) => match std::fs::remove_file(root.join(key)) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            },
            Place::Bucket(bucket) => bucket.remove(key),
        }
    }

    /// Everything under a folder, in the order of keys.
    pub fn list(&self, folder: &str) -> io::Result<Vec<Kept>> {
        let mut found = match &self.place {
            Place::Directory(root) => files(root, folder)?,
            Place::Bucket(bucket) => bucket.list(&format!("{folder}/"))?,
        };
        found.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(found)
    }

    /// The answer to a question, if every file that it depends on is still the same.
    pub fn known(&self, question: &Question, hashes: &Hashes) -> Option<(String, Entry)> {
        // A store that cannot be read knows nothing: then the work is done.
        let entries = self.list(&question.folder()).ok()?;
        let mut entries = entries.into_iter();
        entries.find_map(|Kept { key, .. }| {
            let entry = self.entry(&key)?;
            entry.stands(hashes).then_some((key, entry))
        })
    }

    /// An entry, if it is whole; what is not is thrown away.
    fn entry(&self, key: &str) -> Option<Entry> {
        let bytes = self.get(key).ok()??;
        let name = key.rsplit('/').next().unwrap_or_default();
        let text = std::str::from_utf8(&bytes).ok();
        match text.map(|text| Entry::read(name, text)) {
            Some(Ok(entry)) => Some(entry),
            _ => {
                self.throw_away(key);
                None
            }
        }
    }

    fn throw_away(&self, key: &str) {
        self.damaged.fetch_add(1, Ordering::Relaxed);
        // Where that cannot be done, it is found damaged again.
        let _ = self.remove(key);
    }

    /// How many damaged things were found.
    pub fn damaged(&self) -> usize {
        self.damaged.load(Ordering::Relaxed)
    }

    /// Keeps an answer.
    pub fn keep(&self, question: &Question, entry: &Entry) -> io::Result<()> {
        let key = format!("{}/{}", question.folder(), entry.name());
        self.put(&key, entry.text().as_bytes())
    }

    /// Keeps claims. Gives back their hash.
    pub fn keep_claims(&self, bytes: &[u8]) -> io::Result<String> {
        let hash = sha256(bytes);
        self.put(&claims_key(&hash), bytes)?;
        Ok(hash)
    }

    /// Claims, if they are there and whole.
    pub fn claims(&self, sha256: &str) -> Option<Vec<u8>> {
        let key = claims_key(sha256);
        let bytes = self.get(&key).ok()??;
        if is_whole(&key, &bytes) {
            return Some(bytes);
        }
        self.throw_away(&key);
        None
    }

    /// Looks at everything in the store: the entries that are whole, with their keys. What is
    /// damaged is thrown away and counted.
    pub fn entries(&self) -> io::Result<Vec<(Kept, Entry)>> {
        let kept = self.list(ANSWERS)?.into_iter();
        Ok(kept
            .filter_map(|kept| self.entry(&kept.key).map(|entry| (kept, entry)))
            .collect())
    }

    /// The claims in the store.
    pub fn all_claims(&self) -> io::Result<Vec<Kept>> {
        self.list(CLAIMS)
    }

    /// Where it is, for people.
    pub fn shown(&self) -> String {
        match &self.place {
            Place::Directory(root) => root.display().to_string(),
            Place::Bucket(bucket) => bucket.shown(),
        }
    }
}

/// Whether what an entry depends on is as it was.
trait Stands {
    fn stands(&self, hashes: &Hashes) -> bool;
}

impl Stands for Entry {
    fn stands(&self, hashes: &Hashes) -> bool {
        let mut files = self.files.iter();
        let same = files.all(|(file, hash)| hashes.of(file).as_ref() == Some(hash));
        let mut absent = self.absent.iter();
        same && absent.all(|file| !hashes.directory.join(file).exists())
    }
}

/// The hashes of files, each looked at once.
pub struct Hashes {
    directory: PathBuf,
    known: Mutex<BTreeMap<String, Option<String>>>,
}

impl Hashes {
    /// Of files from a directory.
    pub fn new(directory: &Path) -> Hashes {
        Hashes {
            directory: directory.to_path_buf(),
            known: Mutex::new(BTreeMap::new()),
        }
    }

    /// The hash of a file; `None` if it cannot be read.
    pub fn of(&self, file: &str) -> Option<String> {
        let known = self.known.lock().ok();
        if let Some(hash) = known.as_ref().and_then(|known| known.get(file)) {
            return hash.clone();
        }
        drop(known);
        let hash = std::fs::read(self.directory.join(file)).ok();
        let hash = hash.map(|bytes| sha256(&bytes));
        if let Ok(mut known) = self.known.lock() {
            known.insert(file.to_owned(), hash.clone());
        }
        hash
    }
}

/// Writes a file beside and moves it, so that nobody ever reads half of it.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory)?;
    let mut half = tempfile::Builder::new()
        .prefix(".half-")
        .tempfile_in(directory)?;
    half.write_all(bytes)?;
    half.as_file().sync_data()?;
    let readable = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    half.as_file().set_permissions(readable)?;
    half.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// The files under a folder of a directory; what was left half written long ago is removed.
fn files(root: &Path, folder: &str) -> io::Result<Vec<Kept>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = match std::fs::read_dir(root.join(&folder)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let key = format!("{folder}/{name}");
            // What is gone by now was taken out by somebody else.
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            if metadata.is_dir() {
                open.push(key);
                continue;
            }
            let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let age = SystemTime::now()
                .duration_since(modified)
                .unwrap_or_default();
            if name.starts_with(".half-") {
                if age > Duration::from_secs(3600) {
                    let _ = std::fs::remove_file(entry.path());
                }
                continue;
            }
            let bytes = metadata.len();
            found.push(Kept { key, bytes, age });
        }
    }
    Ok(found)
}
