//! Samples as percentiles, and as ratios that one slow moment of the machine does not change.

/// How many blocks the samples are cut into; a ratio is the median over them.
const BLOCKS: usize = 10;

/// How much longer something takes than what it is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ratio {
    /// At the median.
    pub(super) p50: f64,
    /// At the 95th percentile.
    pub(super) p95: f64,
}

/// The value below which this share of the samples lies; 0 without any.
pub(super) fn percentile(samples: &[u64], share: usize) -> u64 {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len().saturating_sub(1) * share / 100).copied().unwrap_or_default()
}

/// The ratio of samples that were taken in turn with those of a base: in each block on its own, then the median.
pub(super) fn ratio(samples: &[u64], base: &[u64]) -> Ratio {
    let size = samples.len().min(base.len()).div_ceil(BLOCKS).max(1);
    let at = |share: usize| {
        let blocks = samples.chunks(size).zip(base.chunks(size));
        median(
            blocks.map(|(block, base)| as_float(percentile(block, share)) / as_float(percentile(base, share).max(1))),
        )
    };
    Ratio { p50: at(50), p95: at(95) }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |index: usize| sorted.get(index).copied().unwrap_or_default();
    f64::midpoint(at(sorted.len().saturating_sub(1) / 2), at(sorted.len() / 2))
}

#[expect(clippy::cast_precision_loss, reason = "microseconds of a process fit")]
fn as_float(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_samples() {
        let samples: Vec<u64> = (1..=101).rev().collect();
        assert_eq!([0, 50, 95, 100].map(|share| percentile(&samples, share)), [1, 51, 96, 101]);
        assert_eq!(percentile(&[], 50), 0);
    }

    #[test]
    fn a_slow_moment_of_the_machine_changes_no_ratio() {
        let base: Vec<u64> = vec![100; 100];
        let mut samples: Vec<u64> = vec![150; 100];
        assert_eq!(ratio(&samples, &base), Ratio { p50: 1.5, p95: 1.5 });
        samples.iter_mut().take(20).for_each(|sample| *sample = 9000);
        assert_eq!(ratio(&samples, &base), Ratio { p50: 1.5, p95: 1.5 });
    }
}
