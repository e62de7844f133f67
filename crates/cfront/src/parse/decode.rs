//! Bytes as text: C files may hold bytes that are not UTF-8, our source texts are.
//!
//! A byte that is not part of a UTF-8 character becomes the Latin-1 character of its value, which
//! takes two bytes; a table of where that happened maps offsets from bytes to text.

/// A file's bytes as text, and the way from byte offsets to text offsets.
#[derive(Clone, Debug, Default)]
pub(super) struct Decoded {
    pub(super) text: String,
    /// The offsets of the bytes that became two.
    widened: Vec<u32>,
}

pub(super) fn decode(bytes: &[u8]) -> Decoded {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Decoded {
            text: text.to_owned(),
            widened: Vec::new(),
        };
    }
    let mut out = Decoded::default();
    let mut offset = 0;
    for chunk in bytes.utf8_chunks() {
        out.text.push_str(chunk.valid());
        offset += chunk.valid().len();
        for &byte in chunk.invalid() {
            out.widened.push(offset as u32);
            out.text.push(char::from(byte));
            offset += 1;
        }
    }
    out
}

impl Decoded {
    /// The offset in the text of a byte offset, moved back to the start of a character.
    pub(super) fn offset(&self, byte: u32) -> u32 {
        let widened = self.widened.partition_point(|&at| at < byte) as u32;
        let mut offset = (byte.saturating_add(widened)).min(self.text.len() as u32);
        while !self.text.is_char_boundary(offset as usize) {
            offset -= 1;
        }
        offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latin_1_bytes_become_characters_and_offsets_follow() {
        let decoded = decode(b"a\xe9b\xffc");
        assert_eq!(decoded.text, "a\u{e9}b\u{ff}c");
        let at = |byte| &decoded.text[decoded.offset(byte) as usize..];
        assert_eq!(at(0), "a\u{e9}b\u{ff}c");
        assert_eq!(at(1), "\u{e9}b\u{ff}c");
        assert_eq!(at(2), "b\u{ff}c");
        assert_eq!(at(4), "c");
        assert_eq!(at(9), "");
    }

    #[test]
    fn an_offset_inside_of_a_character_is_its_start() {
        let decoded = decode("\u{20ac}x".as_bytes());
        assert_eq!(decoded.offset(1), 0);
        assert_eq!(decoded.offset(3), 3);
    }
}
