//! Escapes of half a character, which JavaScript writes where a text is cut in the middle of an emoji.

/// The text with `\ufffd` for every escape of a surrogate that has no partner; `None` if there is none.
///
/// The client cuts long texts by UTF-16 units and writes the half that is left as it is. No Unicode text can hold it, so
/// nothing that could be meant is lost. Characters are left alone, and so is what follows an escaped backslash.
pub(crate) fn mended(json: &str) -> Option<String> {
    let mut text = String::with_capacity(json.len());
    let mut rest = json;
    let mut halves = false;
    while let Some((before, escape)) = rest.split_once('\\') {
        text.push_str(before);
        let units = (unit(escape), escape.get(DIGITS + 1..).and_then(|next| unit(next.strip_prefix('\\')?)));
        let length = match units {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 2 * (DIGITS + 1) + 1,
            (Some(0xd800..=0xdfff), _) => {
                halves = true;
                text.push_str("\\ufffd");
                rest = escape.get(DIGITS + 1..).unwrap_or_default();
                continue;
            }
            _ => escape.chars().next().map_or(0, char::len_utf8),
        };
        let (escape, after) = escape.split_at_checked(length).unwrap_or((escape, ""));
        text.push('\\');
        text.push_str(escape);
        rest = after;
    }
    text.push_str(rest);
    halves.then_some(text)
}

/// How many digits an escape of a UTF-16 unit has.
const DIGITS: usize = 4;

/// The UTF-16 unit that an escape stands for, given without its backslash.
fn unit(escape: &str) -> Option<u16> {
    let digits = escape.strip_prefix('u')?.get(..DIGITS)?;
    digits.chars().all(|c| c.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::mended;

    #[test]
    fn only_halves_are_replaced() {
        for (json, expected) in [
            (r#""\ud83d""#, Some(r#""\ufffd""#)),
            (r#""a\uDE00b""#, Some(r#""a\ufffdb""#)),
            (r#""\ud83d\ude00""#, None),
            (r#""\ud83d\ud83d\ude00""#, Some(r#""\ufffd\ud83d\ude00""#)),
            (r#""\ude00\ud83d""#, Some(r#""\ufffd\ufffd""#)),
            (r#""\\ud83d""#, None),
            (r#""\\\ud83d""#, Some(r#""\\\ufffd""#)),
            (r#""\ud83d\\ude00""#, Some(r#""\ufffd\\ude00""#)),
            (r#""\ud83dé\n""#, Some(r#""\ufffdé\n""#)),
            (r#""\u+83d \ud83 \é"#, None),
            (r#""\ud83d"#, Some(r#""\ufffd"#)),
            ("\\", None),
        ] {
            assert_eq!(mended(json).as_deref(), expected, "{json}");
        }
    }

    proptest! {
        /// A text of any UTF-16 units, written as JavaScript writes it, is read as JavaScript would read it with the
        /// halves replaced.
        #[test]
        fn any_units_can_be_read(units in prop::collection::vec(prop_oneof![0xd7f0_u16..0xe010, 0x20_u16..0x80], 0..12)) {
            let escaped: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            let json = format!("\"{escaped}\"");
            let text = mended(&json).unwrap_or(json);
            prop_assert_eq!(serde_json::from_str::<String>(&text).unwrap(), String::from_utf16_lossy(&units));
        }

        /// Whatever the text is, mending it twice changes nothing more.
        #[test]
        fn what_is_mended_stays(text in r#"[\\u\ddacfe8é"]{0,40}"#) {
            if let Some(once) = mended(&text) {
                prop_assert_eq!(mended(&once), None);
            }
        }
    }
}
