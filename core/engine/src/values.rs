//! Plain values that know no policy: texts in one form, patterns, and lists that share what they hold.

pub mod canonical;
pub mod one_line;
pub mod glob;
pub mod shared_list;
pub mod by_version;

/// Whether a value is its type's default, so that it need not be written.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
