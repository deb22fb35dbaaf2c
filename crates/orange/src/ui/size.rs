//! Says how many bytes something takes, in few digits.

use orange_core::naming::counted;

/// A size in the unit that leaves few digits.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: &[(&str, u64)] = &[("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)];
    if bytes < 1000 {
        return counted(usize::try_from(bytes).unwrap_or_default(), "byte");
    }
    let fits = |(_, unit): &&(&str, u64)| bytes < 999 * unit + unit / 2;
    let fitting = UNITS.iter().find(fits).or(UNITS.last());
    let (name, unit) = fitting.copied().unwrap_or(("bytes", 1));
    // Rounded in tenths, so that no fraction is needed.
    match bytes.saturating_mul(10).saturating_add(unit / 2) / unit {
        small if small < 100 => format!("{}.{} {name}", small / 10, small % 10),
        _ => format!("{} {name}", bytes.saturating_add(unit / 2) / unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_two_or_three_digits() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1000, "1.0 kB"),
            (4096, "4.1 kB"),
            (12_345, "12 kB"),
            (999_499, "999 kB"),
            (999_999, "1.0 MB"),
            (1_254_000_000, "1.3 GB"),
            (2_000_000_000_000, "2000 GB"),
        ] {
            assert_eq!(size(bytes), text, "{bytes}");
        }
    }
}
