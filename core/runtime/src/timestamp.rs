//! Times as RFC 3339 writes them.

use jiff::Timestamp;

/// A time in milliseconds since 1970-01-01 UTC as RFC 3339 writes it, in UTC. Empty for a time outside of the years 0
/// to 9999.
pub fn timestamp(milliseconds: i64) -> String {
    let text = Timestamp::from_millisecond(milliseconds).map(|time| time.to_string()).unwrap_or_default();
    if text.starts_with('-') { String::new() } else { text }
}

/// The milliseconds since 1970-01-01 UTC of a time as RFC 3339 writes it. Parts of a millisecond are dropped.
pub(crate) fn milliseconds(text: &str) -> Option<i64> {
    let time = text.parse::<Timestamp>().ok()?;
    i64::try_from(time.as_nanosecond().div_euclid(1_000_000)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_without_needless_digits_and_read_again() {
        for (time, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400_120, "2000-02-29T00:00:00.12Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (-62_167_219_200_000, "0000-01-01T00:00:00Z"),
        ] {
            assert_eq!(timestamp(time), text);
            assert_eq!(milliseconds(text), Some(time));
        }
        assert_eq!(milliseconds("2026-01-01T01:00:60.9999+01:00"), milliseconds("2026-01-01T00:00:59.9999Z"));
        assert_eq!(timestamp(-62_167_219_200_001), "");
    }

    #[test]
    fn what_is_no_time_is_not_read() {
        for text in [
            "",
            "2026",
            "2026-01-01",
            "2026-01-01T00:00:00",
            "2026-02-29T00:00:00Z",
            "2026-01-01T00:00:00Zz",
            "yesterday",
        ] {
            assert_eq!(milliseconds(text), None, "{text}");
        }
        assert_eq!(timestamp(i64::MAX), "");
        assert_eq!(timestamp(i64::MIN), "");
    }
}
