//! What JavaScript calls. Only numbers cross the boundary, one byte at a time, so that nobody
//! hands out addresses: a program has some hundred bytes, and a call costs nanoseconds.

use std::cell::RefCell;

thread_local! {
    /// The text so far, and the last answer: between two calls there is no other place for them.
    static TEXT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Adds a byte to the text.
#[expect(unsafe_code, reason = "an exported name; nothing else here is")]
#[unsafe(no_mangle)]
pub extern "C" fn hardbop_playground_add(byte: u32) {
    TEXT.with_borrow_mut(|text| text.push(byte as u8));
}

/// Takes the text, checks it, and gives the number of bytes of the answer.
#[expect(unsafe_code, reason = "an exported name; nothing else here is")]
#[unsafe(no_mangle)]
pub extern "C" fn hardbop_playground_run() -> u32 {
    let text = TEXT.with_borrow_mut(std::mem::take);
    let answer = crate::answer(&String::from_utf8_lossy(&text)).into_bytes();
    let length = answer.len() as u32;
    ANSWER.with_borrow_mut(|last| *last = answer);
    length
}

/// A byte of the last answer.
#[expect(unsafe_code, reason = "an exported name; nothing else here is")]
#[unsafe(no_mangle)]
pub extern "C" fn hardbop_playground_byte(index: u32) -> u32 {
    ANSWER.with_borrow(|answer| answer.get(index as usize).copied().map_or(0, u32::from))
}
