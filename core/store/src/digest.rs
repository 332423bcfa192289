//! SHA-256, as bytes and as lower-case hexadecimal digits.

use sha2::{Digest as _, Sha256};

/// A SHA-256 digest.
pub type Digest = [u8; 32];

/// The digest of several parts, one after the other.
pub fn sha256(parts: &[&[u8]]) -> Digest {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// The digest of `bytes` as 64 hexadecimal digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&sha256(&[bytes]))
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for [high, low] in bytes.iter().map(|byte| digits(*byte)) {
        text.push(char::from(high));
        text.push(char::from(low));
    }
    text
}

/// Whether these are the 64 lower-case hexadecimal digits of the digest.
pub fn is_hex_of(digest: &Digest, text: &[u8]) -> bool {
    text.len() == 64 && digest.iter().zip(text.chunks_exact(2)).all(|(byte, pair)| digits(*byte) == *pair)
}

/// The digest that 64 lower-case hexadecimal digits stand for; `None` for anything else.
pub fn from_hex(text: &[u8]) -> Option<Digest> {
    let mut digest = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (byte, pair) in digest.iter_mut().zip(text.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = (value(*high)? << 4) | value(*low)?;
    }
    Some(digest)
}

fn digits(byte: u8) -> [u8; 2] {
    [digit(byte >> 4), digit(byte & 15)]
}

fn digit(nibble: u8) -> u8 {
    if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 }
}

fn value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_digits_come_back_as_the_same_digest() {
        let digest = sha256(&[b"ab", b"c"]);
        assert_eq!(hex(&digest), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(from_hex(hex(&digest).as_bytes()), Some(digest));
        assert!(is_hex_of(&digest, hex(&digest).as_bytes()));
        assert!(!is_hex_of(&digest, hex(&digest).to_uppercase().as_bytes()) && !is_hex_of(&digest, b"ba78"));
        assert_eq!(from_hex(&[b'A'; 64]), None);
        assert_eq!(from_hex(b"00"), None);
    }
}
