//! Whole numbers of 64 bits: what operators and functions give. An error is the reason for which the rule rejects.

/// How many arguments a function of numbers takes: the least and the most.
pub(super) fn arity(name: &str) -> Option<[usize; 2]> {
    Some(match name {
        "min" | "max" => [1, 8],
        "abs" | "isqrt" | "ilog2" => [1, 1],
        "cap" | "diminishing" | "bps_mul" | "bps_div" => [2, 2],
        "clamp" => [3, 3],
        "decay" => [2, 3],
        _ => return None,
    })
}

/// The number, if 64 bits hold it.
pub(super) fn fitting(number: i128) -> Result<i64, String> {
    i64::try_from(number).map_err(|_| if number < 0 { "underflow" } else { "overflow" }.to_owned())
}

/// Division cuts off what is after the point.
fn divided(number: i128, by: i128) -> Result<i64, String> {
    fitting(number.checked_div(by).ok_or("division_by_zero")?)
}

/// What an operator of arithmetic gives.
pub(super) fn operate(operator: &str, left: i64, right: i64) -> Result<i64, String> {
    let (left, right) = (i128::from(left), i128::from(right));
    match operator {
        "+" => fitting(left + right),
        "-" => fitting(left - right),
        "*" => fitting(left * right),
        "/" => divided(left, right),
        _ => fitting(left.checked_rem(right).ok_or("division_by_zero")?),
    }
}

/// What an operator of comparison says.
pub(super) fn compare<T: PartialOrd>(operator: &str, left: &T, right: &T) -> bool {
    match operator {
        "==" => left == right,
        "!=" => left != right,
        "<" => left < right,
        ">" => left > right,
        "<=" => left <= right,
        _ => left >= right,
    }
}

/// How many operations a call is: one, or one for each epoch.
pub(super) fn operations(name: &str, arguments: &[i64]) -> u64 {
    match (name, arguments) {
        ("decay", [_, _, epochs]) => u64::try_from(*epochs).unwrap_or(1),
        _ => 1,
    }
}

/// What a function gives for so many arguments as it takes.
pub(super) fn call(name: &str, arguments: &[i64]) -> Result<i64, String> {
    let wide: Vec<i128> = arguments.iter().map(|argument| i128::from(*argument)).collect();
    match (name, wide.as_slice()) {
        ("min" | "cap", all) => fitting(all.iter().copied().min().unwrap_or_default()),
        ("max", all) => fitting(all.iter().copied().max().unwrap_or_default()),
        ("abs", [value]) => fitting(value.abs()),
        ("isqrt", [value]) if *value >= 0 => fitting(value.isqrt()),
        ("ilog2", [value]) if *value >= 1 => fitting(i128::from(value.ilog2())),
        ("isqrt" | "ilog2", _) => Err("out_of_range".to_owned()),
        ("clamp", [_, low, high]) if low > high => Err("inverted_range".to_owned()),
        ("clamp", [value, low, high]) => fitting(*value.clamp(low, high)),
        ("bps_mul", [value, points]) => divided(value * points, 10_000),
        ("bps_div", [value, points]) => divided(value * 10_000, *points),
        ("diminishing", [value, half]) => divided(value * half, value + half),
        ("decay", [value, points]) => divided(value * (10_000 - points), 10_000),
        ("decay", [value, points, epochs]) => {
            let mut left = fitting(*value)?;
            for _ in 0..*epochs {
                left = divided(i128::from(left) * (10_000 - points), 10_000)?;
            }
            Ok(left)
        }
        _ => Err("arity".to_owned()),
    }
}
