//! Times as RFC 3339 writes them.

const MILLISECONDS_OF_DAY: i64 = 86_400_000;
/// Days between 0000-03-01 and 1970-01-01.
const DAYS_TO_EPOCH: i64 = 719_468;
/// Days in 400 years.
const DAYS_OF_ERA: i64 = 146_097;

/// A time in milliseconds since 1970-01-01 UTC as RFC 3339 writes it, in UTC. Empty for a time outside of the years 0
/// to 9999.
#[must_use]
pub fn timestamp(milliseconds: i64) -> String {
    let (days, rest) = (milliseconds.div_euclid(MILLISECONDS_OF_DAY), milliseconds.rem_euclid(MILLISECONDS_OF_DAY));
    let (year, month, day) = date_of(days);
    if !(0..=9999).contains(&year) {
        return String::new();
    }
    let (seconds, fraction) = (rest / 1000, rest % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let fraction = if fraction == 0 { String::new() } else { format!(".{fraction:03}") };
    let fraction = fraction.trim_end_matches('0');
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

/// The milliseconds since 1970-01-01 UTC of a time as RFC 3339 writes it. Parts of a millisecond are dropped.
pub(crate) fn milliseconds(text: &str) -> Option<i64> {
    let mut rest = text;
    let year = number(&mut rest, 4)?;
    mark(&mut rest, "-")?;
    let month = number(&mut rest, 2).filter(|month| (1..=12).contains(month))?;
    mark(&mut rest, "-")?;
    let day = number(&mut rest, 2).filter(|day| (1..=days_of(year, month)).contains(day))?;
    mark(&mut rest, "Tt ")?;
    let hour = number(&mut rest, 2).filter(|hour| *hour < 24)?;
    mark(&mut rest, ":")?;
    let minute = number(&mut rest, 2).filter(|minute| *minute < 60)?;
    mark(&mut rest, ":")?;
    // A leap second counts as the second before.
    let second = number(&mut rest, 2).filter(|second| *second <= 60)?.min(59);
    let fraction = if mark(&mut rest, ".").is_some() { thousandths(&mut rest)? } else { 0 };
    let behind = offset(&mut rest)?;
    if !rest.is_empty() {
        return None;
    }
    let minutes = (days_since_epoch(year, month, day) * 24 + hour) * 60 + minute - behind;
    Some((minutes * 60 + second) * 1000 + fraction)
}

/// Takes so many digits off the text.
fn number(text: &mut &str, digits: usize) -> Option<i64> {
    let (head, tail) = text.split_at_checked(digits)?;
    *text = tail;
    head.bytes().all(|byte| byte.is_ascii_digit()).then(|| head.parse().ok())?
}

/// Takes one of these characters off the text.
fn mark(text: &mut &str, choices: &str) -> Option<char> {
    let first = text.chars().next().filter(|first| choices.contains(*first))?;
    *text = text.strip_prefix(first)?;
    Some(first)
}

/// Takes the digits after a point off the text, as thousandths.
fn thousandths(text: &mut &str) -> Option<i64> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (digits, tail) = text.split_at_checked(end)?;
    *text = tail;
    if digits.is_empty() {
        None
    } else {
        digits
            .bytes()
            .chain(*b"00")
            .take(3)
            .try_fold(0, |sum, byte| Some(sum * 10 + i64::from(byte.checked_sub(b'0')?)))
    }
}

/// Takes a distance from UTC off the text, in minutes.
fn offset(text: &mut &str) -> Option<i64> {
    let sign = match mark(text, "Zz+-")? {
        '+' => 1,
        '-' => -1,
        _ => return Some(0),
    };
    let hours = number(text, 2).filter(|hours| *hours < 24)?;
    mark(text, ":")?;
    let minutes = number(text, 2).filter(|minutes| *minutes < 60)?;
    Some(sign * (hours * 60 + minutes))
}

/// The date so many days after 1970-01-01: year, month, day. The years begin in March here, so that a leap day is the
/// last day of its year.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + DAYS_TO_EPOCH;
    let (era, day) = (days.div_euclid(DAYS_OF_ERA), days.rem_euclid(DAYS_OF_ERA));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + later, month, day)
}

/// Days from 1970-01-01 to a date.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    era * DAYS_OF_ERA + 365 * year + year / 4 - year / 100 + (153 * month + 2) / 5 + day - 1 - DAYS_TO_EPOCH
}

fn days_of(year: i64, month: i64) -> i64 {
    let next = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    days_since_epoch(next.0, next.1, 1) - days_since_epoch(year, month, 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn times_are_written_and_read_as_by_a_library_of_dates(time in -62_167_219_200_000_i64..=253_402_207_200_000) {
            let expected = jiff::Timestamp::from_millisecond(time).unwrap().to_string();
            prop_assert_eq!(timestamp(time), expected.clone());
            prop_assert_eq!(milliseconds(&expected), Some(time));
        }

        #[test]
        fn a_text_is_read_as_by_a_library_of_dates(
            text in "[0-2][0-9]{3}-[01][0-9]-[0-3][0-9][T ][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{1,9})?(Z|[+-][01][0-9]:[0-5][0-9])",
        ) {
            let expected = text.parse::<jiff::Timestamp>().ok();
            prop_assert_eq!(milliseconds(&text), expected.map(|time| time.as_nanosecond().div_euclid(1_000_000) as i64));
        }
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
