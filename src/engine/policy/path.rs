//! Paths against the patterns of a `.gitignore`: `*` within a level, `**` over levels; a pattern without a slash inside
//! fits at any depth, one that names a folder fits what is in it. `//` starts at the root, `~/` at the home, `/` and `./`
//! where the run works, which is not known here.

use super::super::text::{parts, replaced};
use super::rule::matches;

/// Where a pattern starts.
#[derive(Clone, Copy, PartialEq)]
enum Start {
    Anywhere,
    Here,
    /// At the root or the home.
    Outside,
}

/// However a system reads the path, it fits.
pub fn covers(pattern: &str, path: &str) -> bool {
    fits(pattern, path, false) && fits(pattern, &replaced(path, b'\\', b'/'), false)
}

/// Some system may read the path as one that fits.
pub fn touches(pattern: &str, path: &str) -> bool {
    let (pattern, path) = (pattern.to_ascii_lowercase(), path.to_ascii_lowercase());
    fits(&pattern, &path, true) || fits(&pattern, &replaced(&path, b'\\', b'/'), true)
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

/// `guess`: a path that may lie where the pattern says fits it.
fn fits(pattern: &str, path: &str, guess: bool) -> bool {
    let (pattern, start) = match pattern.strip_prefix("//") {
        Some(rest) => (["/", rest].concat(), Start::Outside),
        None if pattern.starts_with("~/") => (pattern.to_owned(), Start::Outside),
        None => {
            let rest = pattern.strip_prefix("./").or_else(|| pattern.strip_prefix('/'));
            let is_anchored = rest.is_some() || pattern.trim_end_matches('/').contains('/');
            let start = if is_anchored { Start::Here } else { Start::Anywhere };
            (rest.unwrap_or(pattern).to_owned(), start)
        }
    };
    let wanted = parts(pattern.trim_end_matches('/'), b"/");
    let levels = clean(path);
    let is_elsewhere = levels
        .first()
        .is_some_and(|level| level.is_empty() || level.starts_with('~'));
    if guess && start != Start::Anywhere && levels.contains(&"..") {
        return true;
    }
    if start == Start::Anywhere || (guess && start == Start::Here && is_elsewhere) {
        return (0..levels.len()).any(|from| levels_fit(&wanted, levels.get(from..).unwrap_or_default()));
    }
    levels_fit(&wanted, &levels)
}

/// The levels without `.`, with `..` applied: `a/../b` must not pass as something in `a`.
fn clean(path: &str) -> Vec<&str> {
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

fn levels_fit(wanted: &[&str], levels: &[&str]) -> bool {
    match (wanted.split_first(), levels.split_first()) {
        (None, _) => true,
        (Some((&"**", rest)), Some((level, deeper))) => {
            levels_fit(rest, levels) || (*level != ".." && levels_fit(wanted, deeper))
        }
        (Some((want, rest)), Some((level, deeper))) => {
            (want == level || (*level != ".." && matches(want, level))) && levels_fit(rest, deeper)
        }
        (Some((want, rest)), None) => *want == "**" && rest.is_empty(),
    }
}
