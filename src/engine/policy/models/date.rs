//! A day of the calendar, in UTC.

use std::fmt;

/// A day, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date(pub u16, pub u8, pub u8);

impl Date {
    /// Its beginning, in milliseconds since 1970. <https://howardhinnant.github.io/date_algorithms.html>
    pub fn ms(self) -> u64 {
        let Date(year, month, day) = self;
        let (year, month, day) = (u64::from(year), u64::from(month), u64::from(day));
        // The year begins in March, so that a leap day is its last.
        let year = year - u64::from(month <= 2);
        let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let days = year * 365 + year / 4 - year / 100 + year / 400 + of_year - 719_468;
        days * 86_400_000
    }
}

impl fmt::Display for Date {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Date(year, month, day) = self;
        write!(out, "{year:04}-{month:02}-{day:02}")
    }
}
