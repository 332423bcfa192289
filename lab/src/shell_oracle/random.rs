//! Numbers that look random and are the same everywhere.

/// A generator (`SplitMix64`): the same seed gives the same numbers on every machine.
pub(super) struct Random(u64);

impl Random {
    /// A generator with this seed.
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 where `end` is 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % end).unwrap_or(0)
    }

    /// Whether something happens that happens once in `times`.
    pub(super) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of these.
    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_the_same_everywhere() {
        let mut random = Random::new(4);
        let first: Vec<usize> = (0..4).map(|_| random.below(1000)).collect();
        let mut again = Random::new(4);
        assert_eq!(first, (0..4).map(|_| again.below(1000)).collect::<Vec<_>>());
        assert_eq!(random.pick::<u8>(&[]), None);
    }
}
