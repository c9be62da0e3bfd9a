//! Compares paths with patterns like in a `.gitignore`.
//!
//! `*` matches within a level and `**` across levels. A pattern without a slash matches at any depth. In an allow
//! rule it matches only within the working folder. A pattern that names a folder matches everything inside it. `//`
//! starts at the root, `~/` at the home, `/` and `./` at the working folder. The engine does not know the home. If it
//! does not know the working folder either, it compares only texts. Otherwise it compares the resolved path. A path
//! with a second reading on some system is never covered by an allow rule.

use crate::engine::policy::rule::{matches, protected, step};

/// The place where a pattern starts.
#[derive(Clone, Copy, PartialEq)]
enum Start {
    Anywhere,
    Here,
    /// The root or, for allow rules, the home.
    Outside,
    /// The home, for deny and ask rules.
    Home,
}

/// For allow rules: true if the path matches as written and as every system reads it.
pub fn covers(pattern: &str, path: &str, cwd: Option<&str>) -> bool {
    reads_as(pattern, path, cwd, false) && reads_as(pattern, &settled(path), cwd, false)
}

/// For deny and ask rules: true if some system may read the path as one that matches. `composed` is the path in
/// Unicode's NFC, which patterns always have.
pub fn touches(pattern: &str, path: &str, composed: Option<&str>, cwd: Option<&str>) -> bool {
    let pattern = folded(pattern);
    let cwd = cwd.map(folded);
    let reads = |path: &str| reads_as(&pattern, &folded(path), cwd.as_deref(), true);
    let is_hit = |path: &str| reads(path) || reads(&settled(path));
    is_hit(path) || composed.is_some_and(is_hit)
}

/// The folders where a run works.
pub struct Folders<'a> {
    /// The folder of relative paths; `None` if it is unknown.
    pub cwd: Option<&'a str>,
    pub more: &'a [String],
}

impl Folders<'_> {
    /// True if the path names something below one of the folders on every system. An unknown folder contains nothing.
    pub fn hold(&self, path: &str) -> bool {
        self.below(path, |_| true)
    }

    /// True when an edit of this path is accepted: it is inside, and neither hidden nor something that agents obey.
    pub fn may_edit(&self, path: &str) -> bool {
        match self.cwd {
            Some(_) => self.below(path, |levels| {
                !levels.is_empty() && levels.iter().all(|level| is_plain(level))
            }),
            None => stays_inside(path),
        }
    }

    /// The path relative to the folder that contains it. `None` if none does.
    pub fn inside(&self, path: &str) -> Option<String> {
        let cwd = self.cwd?;
        let place = placed(path, cwd);
        let levels = clean(&place);
        let mut folders = self.more.iter().map(String::as_str).chain([cwd]);
        folders.find_map(|folder| {
            let folder = placed(folder, cwd);
            let rest = levels.strip_prefix(&clean(&folder)[..])?;
            Some(rest.join("/"))
        })
    }

    fn below(&self, path: &str, is_fine: impl Fn(&[&str]) -> bool) -> bool {
        let Some(cwd) = self.cwd else {
            return false;
        };
        let is_odd = path.is_empty()
            || path.starts_with('~')
            || path.contains(['\\', ':'])
            || path.split('/').any(|level| level == "..")
            || settled(path) != path;
        let place = placed(path, cwd);
        let levels = clean(&place);
        let folders = self.more.iter().map(String::as_str).chain([cwd]);
        let mut inside = folders.map(|folder| placed(folder, cwd));
        !is_odd && inside.any(|folder| levels.strip_prefix(&clean(&folder)[..]).is_some_and(&is_fine))
    }
}

/// The path from the root on.
pub fn placed(path: &str, cwd: &str) -> String {
    if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("{cwd}/{path}")
    }
}

/// True if the path names nothing outside the working folder, and nothing in it that is hidden or that agents obey.
/// Hidden files contain the settings of shells, repositories and editors.
pub fn stays_inside(path: &str) -> bool {
    !path.is_empty()
        && !path.starts_with(['/', '\\', '~'])
        && !path.contains(':')
        && path.split(['/', '\\']).all(is_plain)
}

/// True for a level that is neither hidden nor protected.
fn is_plain(level: &str) -> bool {
    level == "." || !(folded(level).starts_with('.') || protected::of_level(level).is_some())
}

/// The text without case, as file systems compare names. The way leads through upper case, where letters meet that
/// have more than one small form: `ſ` and `s`, `ς` and `σ`, `ß` and `ss`, the ligature `ﬁ` and `fi`.
///
/// HFS+ does not see some invisible letters at all.
pub fn folded(text: &str) -> String {
    let is_seen = |sign: &char| !matches!(sign, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    text.chars()
        .filter(is_seen)
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect()
}

/// The normal form of a path, like Windows or a reader of `file:` addresses finds the file. It has no drive, no
/// stream after a colon, and no dots or blanks at the end of a name.
pub fn settled(path: &str) -> String {
    let path = path.split('\0').next().unwrap_or_default().replace('\\', "/");
    let path = path.replace(['\t', '\n', '\r'], "");
    let mut rest = path.trim();
    let decoded;
    if let Some((scheme, address)) = rest.split_at_checked(5)
        && scheme.eq_ignore_ascii_case("file:")
    {
        let address = address.split(['?', '#']).next().unwrap_or_default();
        let behind = address.strip_prefix("//");
        decoded = unescaped(behind.map_or(address, |behind| behind.trim_start_matches(|sign| sign != '/')));
        rest = &decoded;
    }
    for prefix in ["//?/", "//./"] {
        rest = rest.strip_prefix(prefix).unwrap_or(rest);
    }
    let inside = rest.strip_prefix('/').unwrap_or(rest);
    let mut root = "";
    if let [letter, b':', ..] = inside.as_bytes()
        && letter.is_ascii_alphabetic()
    {
        (root, rest) = ("/", inside.get(2..).unwrap_or_default());
    }
    let names: Vec<&str> = rest.split('/').map(settled_name).collect();
    format!("{root}{}", names.join("/"))
}

/// The name without what Windows leaves out.
pub fn settled_name(level: &str) -> &str {
    let name = level.split(':').next().unwrap_or_default().trim_end_matches(' ');
    match name {
        "." | ".." => name,
        name => match name.trim_end_matches(['.', ' ']) {
            "" => level,
            short => short,
        },
    }
}

/// The text with every `%` and two digits replaced by their byte.
fn unescaped(text: &str) -> String {
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

/// True if the path matches. With `guess`, a path matches if it may be at the pattern's location.
fn reads_as(pattern: &str, path: &str, cwd: Option<&str>, guess: bool) -> bool {
    let may_be_home = path.starts_with('~');
    match cwd {
        Some(cwd) if !may_be_home || (guess && reads_at(pattern, path, cwd, guess)) => {
            return reads_at(pattern, path, cwd, guess);
        }
        _ => {}
    }
    let root;
    let (pattern, start) = if let Some(rest) = pattern.strip_prefix("//") {
        root = format!("/{rest}");
        (root.as_str(), Start::Outside)
    } else if let Some(rest) = pattern.strip_prefix("~/") {
        if guess {
            (rest, Start::Home)
        } else {
            (pattern, Start::Outside)
        }
    } else {
        let rest = pattern.strip_prefix("./").or_else(|| pattern.strip_prefix('/'));
        let is_anchored = rest.is_some() || pattern.trim_end_matches('/').contains('/');
        let start = if is_anchored { Start::Here } else { Start::Anywhere };
        (rest.unwrap_or(pattern), start)
    };
    let wanted: Vec<&str> = pattern.trim_end_matches('/').split('/').collect();
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
        Start::Outside if guess && first.starts_with('~') => {
            // The number of levels that the home takes.
            let home = match wanted.get(1).copied() {
                Some("**") => 1,
                Some("root") => 2,
                Some("home" | "users" | "*") => 3.min(wanted.len()),
                _ => return false,
            };
            return levels_fit(wanted.get(home..), levels.get(1..), false);
        }
        Start::Outside => false,
    };
    levels_fit(Some(&wanted), Some(&levels), is_deep)
}

/// True if the path matches when it is resolved in this working folder. With `guess` the home may be anywhere, and a
/// single slash may mean the root.
fn reads_at(pattern: &str, path: &str, cwd: &str, guess: bool) -> bool {
    let (place, folder) = (placed(path, cwd), placed(cwd, "/"));
    let (levels, folder) = (clean(&place), clean(&folder));
    let here = levels.strip_prefix(&folder[..]);
    let fits = |pattern: &str, levels: Option<&[&str]>, is_deep: bool| {
        let wanted: Vec<&str> = pattern.trim_end_matches('/').split('/').collect();
        levels.is_some_and(|levels| levels_fit(Some(&wanted), Some(levels), is_deep))
    };
    let from_root = |rest: &str| fits(&format!("/{rest}"), Some(&levels), false);
    if let Some(rest) = pattern.strip_prefix("//") {
        return from_root(rest);
    }
    if let Some(rest) = pattern.strip_prefix("~/") {
        return guess && fits(rest, Some(&levels), true);
    }
    if let Some(rest) = pattern.strip_prefix('/') {
        return fits(rest, here, false) || (guess && from_root(rest));
    }
    if let Some(rest) = pattern.strip_prefix("./") {
        return fits(rest, here, false);
    }
    if pattern.trim_end_matches('/').contains('/') {
        return fits(pattern, here, false);
    }
    fits(pattern, if guess { Some(&levels) } else { here }, true)
}

/// The levels without `.`, with `..` applied: `a/../b` must not pass as something in `a`.
pub fn clean(path: &str) -> Vec<&str> {
    let mut levels: Vec<&str> = Vec::new();
    for level in path.split('/') {
        match (level, levels.last().copied()) {
            (".", _) | ("", Some(_)) | ("..", Some("")) => {}
            ("..", Some(last)) if last != ".." && !last.starts_with('~') => drop(levels.pop()),
            _ => levels.push(level),
        }
    }
    levels
}

/// True if the first levels match, or levels at any depth. The search only returns to the last `**`, because it can
/// match any level that an earlier one could.
fn levels_fit(wanted: Option<&[&str]>, levels: Option<&[&str]>, is_deep: bool) -> bool {
    let (wanted, levels) = (wanted.unwrap_or_default(), levels.unwrap_or_default());
    let (mut at, mut from) = (0, 0);
    // The pattern after the last `**`, and the level at which it was last tried.
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
