//! Texts that know their own hash: what was cut off, changed or half written is found out.

use sha2::{Digest, Sha256};

/// The SHA-256 of bytes, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The SHA-256 of parts: the same text cut elsewhere is something else.
pub fn sha256_of<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    let digest = hash.finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What is wrong with a sealed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// It does not begin as a sealed text of that kind does.
    Foreign,
    /// Its hash is not the one that it says.
    Broken,
}

/// A text with its kind and its hash before it.
pub fn seal(kind: &str, body: &str) -> String {
    format!("hardbop {kind} 1 {}\n{body}", sha256(body.as_bytes()))
}

/// The text that was sealed.
pub fn open<'a>(kind: &str, text: &'a str) -> Result<&'a str, Damage> {
    let (head, body) = text.split_once('\n').ok_or(Damage::Foreign)?;
    let hash = head
        .strip_prefix("hardbop ")
        .and_then(|rest| rest.strip_prefix(kind))
        .and_then(|rest| rest.strip_prefix(" 1 "))
        .ok_or(Damage::Foreign)?;
    match hash == sha256(body.as_bytes()) {
        true => Ok(body),
        false => Err(Damage::Broken),
    }
}

/// How many digits of the hash a line carries: it guards against accidents.
const DIGITS: usize = 16;

/// A line with its hash before it, and its end.
pub fn seal_line(body: &str) -> String {
    let hash = sha256(body.as_bytes());
    format!("{} {body}\n", &hash[..DIGITS])
}

/// What a line without its end says, if it is whole.
pub fn open_line(line: &str) -> Option<&str> {
    let (hash, body) = line.split_once(' ')?;
    (hash.len() == DIGITS && sha256(body.as_bytes()).starts_with(hash)).then_some(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sealed_is_opened_and_nothing_else() {
        let text = seal("entry", "{\"answer\":1}");
        assert_eq!(open("entry", &text), Ok("{\"answer\":1}"));
        assert_eq!(open("run", &text), Err(Damage::Foreign));
        for cut in 0..text.len() {
            assert!(open("entry", &text[..cut]).is_err(), "cut at {cut}");
        }
        let changed = text.replace('1', "2");
        assert!(open("entry", &changed).is_err());
        assert_eq!(open("entry", ""), Err(Damage::Foreign));
    }

    #[test]
    fn a_line_is_whole_or_nothing() {
        let line = seal_line("{\"item\":7}");
        let whole = line.trim_end_matches('\n');
        assert_eq!(open_line(whole), Some("{\"item\":7}"));
        for cut in 0..whole.len() {
            assert_eq!(open_line(&whole[..cut]), None, "cut at {cut}");
        }
    }

    #[test]
    fn parts_are_not_their_concatenation() {
        assert_ne!(sha256_of(["ab", "c"]), sha256_of(["a", "bc"]));
        assert_ne!(sha256_of(["ab"]), sha256_of(["ab", ""]));
    }
}
