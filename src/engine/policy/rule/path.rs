//! Paths against the patterns of a `.gitignore`: `*` within a level, `**` over levels; a pattern without a slash inside
//! fits at any depth (to allow: of the place where the run works), one that names a folder fits what is in it. `//`
//! starts at the root, `~/` at the home, `/` and `./` where the run works. Neither home nor that place is known here.

use crate::engine::policy::rule::{matches, step};
use crate::engine::text::{parts, replaced};

/// Where a pattern starts.
#[derive(Clone, Copy, PartialEq)]
enum Start {
    Anywhere,
    Here,
    /// At the root or, for rules that allow, the home.
    Outside,
    /// For rules that deny or ask.
    Home,
}

/// `is_allowing`: however a system reads the path, it fits. Else: some system may read it as one that fits.
pub fn fits(pattern: &str, path: &str, is_allowing: bool) -> bool {
    let readings = [path.to_owned(), replaced(path, b'\\', b'/'), settled(path)];
    let does_fit = |reading: &String| {
        if is_allowing {
            reads_as(pattern, reading, false)
        } else {
            reads_as(&pattern.to_ascii_lowercase(), &reading.to_ascii_lowercase(), true)
        }
    };
    readings.iter().any(|reading| does_fit(reading) != is_allowing) != is_allowing
}

/// Names nothing outside the place where the run works, and nothing hidden in it: there lie the settings of shells,
/// repositories and editors.
pub fn stays_inside(path: &str) -> bool {
    let is_plain = |level: &&str| *level == "." || !level.starts_with('.');
    !path.is_empty()
        && !path.starts_with(['/', '\\', '~'])
        && !path.contains(':')
        && parts(path, b"/\\").iter().all(is_plain)
}

/// As Windows, or a reader of `file:` addresses, finds the file: no drive, no stream behind a colon, no dots or blanks at
/// the end of a name.
fn settled(path: &str) -> String {
    let mut path = replaced(
        parts(path, b"\0").first().copied().unwrap_or_default(),
        b'\\',
        b'/',
    );
    path.retain(|sign| !matches!(sign, '\t' | '\n' | '\r'));
    let mut rest = path.trim();
    let decoded;
    if let Some((scheme, address)) = rest.split_at_checked(5)
        && scheme.eq_ignore_ascii_case("file:")
    {
        let address = parts(address, b"?#").first().copied().unwrap_or_default();
        let host = |behind: &str| parts(behind, b"/").first().map_or(0, |host| host.len());
        let from = address.strip_prefix("//").map_or(0, |behind| 2 + host(behind));
        decoded = unescaped(address.get(from..).unwrap_or_default());
        rest = &decoded;
    }
    for prefix in ["//?/", "//./"] {
        rest = rest.strip_prefix(prefix).unwrap_or(rest);
    }
    let inside = rest.strip_prefix('/').unwrap_or(rest);
    let mut settled = String::new();
    if let [letter, b':', ..] = inside.as_bytes()
        && letter.is_ascii_alphabetic()
    {
        rest = inside.get(2..).unwrap_or_default();
        settled.push('/');
    }
    for (index, level) in parts(rest, b"/").into_iter().enumerate() {
        if index > 0 {
            settled.push('/');
        }
        let name = parts(level, b":").first().copied().unwrap_or_default();
        let name = name.trim_end_matches(' ');
        let short = match name {
            "." | ".." => name,
            name => name.trim_end_matches(['.', ' ']),
        };
        settled.push_str(if short.is_empty() { level } else { short });
    }
    settled
}

/// With every `%` and two digits as the byte that they stand for.
pub fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let digit = |at: usize| behind.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.extend(u8::try_from(high << 4 | low));
                rest = behind.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// `guess`: a path that may lie where the pattern says fits it.
fn reads_as(pattern: &str, path: &str, guess: bool) -> bool {
    let (pattern, start) = if let Some(rest) = pattern.strip_prefix("//") {
        (["/", rest].concat(), Start::Outside)
    } else if let Some(rest) = pattern.strip_prefix("~/") {
        if guess {
            (rest.to_owned(), Start::Home)
        } else {
            (pattern.to_owned(), Start::Outside)
        }
    } else {
        let rest = pattern.strip_prefix("./").or_else(|| pattern.strip_prefix('/'));
        let is_anchored = rest.is_some() || pattern.trim_end_matches('/').contains('/');
        let start = if is_anchored { Start::Here } else { Start::Anywhere };
        (rest.unwrap_or(pattern).to_owned(), start)
    };
    let wanted = parts(pattern.trim_end_matches('/'), b"/");
    let levels = clean(path);
    let first = levels.first().copied().unwrap_or(".");
    if guess && start != Start::Anywhere && levels.contains(&"..") {
        return true;
    }
    let is_elsewhere = first.is_empty() || first.starts_with('~');
    let is_deep = match start {
        Start::Anywhere if !guess && (is_elsewhere || first == "..") => return false,
        Start::Anywhere | Start::Home => true,
        Start::Here => guess && is_elsewhere,
        Start::Outside => {
            if guess && first.starts_with('~') {
                // How many levels the home takes.
                let home = match wanted.get(1).copied() {
                    Some("**") => 1,
                    Some("root") => 2,
                    Some("home" | "users" | "*") => 3.min(wanted.len()),
                    _ => return false,
                };
                return levels_fit(wanted.get(home..), levels.get(1..), false);
            }
            false
        }
    };
    levels_fit(Some(&wanted), Some(&levels), is_deep)
}

/// The levels without `.`, with `..` applied: `a/../b` must not pass as something in `a`.
pub fn clean(path: &str) -> Vec<&str> {
    let mut levels: Vec<&str> = Vec::new();
    for level in parts(path, b"/") {
        match (level, levels.last().copied()) {
            (".", _) | ("", Some(_)) | ("..", Some("")) => {}
            ("..", Some(last)) if last != ".." && !last.starts_with('~') => drop(levels.pop()),
            _ => levels.push(level),
        }
    }
    levels
}

/// The first levels fit, or at any depth. Only the last `**` is ever gone back to: whatever an earlier one could take
/// more, the last one can.
fn levels_fit(wanted: Option<&[&str]>, levels: Option<&[&str]>, is_deep: bool) -> bool {
    let (wanted, levels) = (wanted.unwrap_or_default(), levels.unwrap_or_default());
    let (mut at, mut from) = (0, 0);
    // What follows the last `**`, and the level where that was tried last.
    let mut deep = is_deep.then_some((0, 0));
    while let Some(want) = wanted.get(at) {
        step();
        if *want == "**" {
            at += 1;
            deep = Some((at, from));
            continue;
        }
        let Some(level) = levels.get(from) else {
            return false;
        };
        if want == level || (*level != ".." && matches(want, level)) {
            at += 1;
            from += 1;
            continue;
        }
        match deep {
            Some((behind, tried)) if is_deep || levels.get(tried) != Some(&"..") => {
                at = behind;
                from = tried + 1;
                deep = Some((behind, from));
            }
            _ => return false,
        }
    }
    true
}
