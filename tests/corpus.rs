//! Every input that fuzzing found worth keeping, through the function that found it: `fuzz/seeds` and our fixtures.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

#[path = "../fuzz/src/lib.rs"]
mod targets;

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn what_fuzzing_found_stays_right() {
    let seeds = folder("fuzz/seeds");
    let mut bytes = 0;
    for (name, check) in targets::TARGETS {
        let files = files(&seeds.join(name));
        assert!(!files.is_empty(), "{name} has no seeds");
        bytes += replay(&files, *check);
    }
    assert!(
        bytes < 300_000,
        "{bytes} bytes of seeds are too many for the repository"
    );
}

#[test]
fn the_fixtures_keep_what_the_fuzz_targets_promise() {
    for (name, check) in targets::TARGETS {
        let fixtures = fixtures(name);
        assert!(fixtures.len() >= 5, "{name} has {} fixtures", fixtures.len());
        replay(&fixtures, *check);
    }
}

/// The fixtures of a target: its own folder, or those of all protocols that are written in what it reads.
fn fixtures(target: &str) -> Vec<PathBuf> {
    let ending = match target {
        "sse" => "sse",
        "eventstream" => "events",
        "json_readers" => "json",
        _ => return files(&folder("tests/fixtures").join(target)),
    };
    let folders = files(&folder("tests/fixtures"));
    let mut all: Vec<PathBuf> = folders.iter().flat_map(|folder| files(folder)).collect();
    all.retain(|file| file.extension().is_some_and(|found| found == ending));
    all
}

/// Returns how many bytes they were.
fn replay(files: &[PathBuf], check: fn(&[u8])) -> usize {
    let mut bytes = 0;
    for file in files {
        let data = fs::read(file).unwrap();
        bytes += data.len();
        if let Err(panic) = std::panic::catch_unwind(|| check(&data)) {
            println!("{} fails", file.display());
            std::panic::resume_unwind(panic);
        }
    }
    bytes
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}
