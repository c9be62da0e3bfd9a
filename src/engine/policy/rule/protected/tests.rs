use super::*;

fn of(line: &str) -> Option<Protection> {
    let folders = Folders {
        cwd: Some("/app"),
        more: &[],
    };
    of_line(line, &folders)
}

#[test]
fn a_command_that_names_settings_is_protected_unless_it_only_reads_or_runs_them() {
    for line in [
        "cp s.json .claude/settings.json",
        "mv s.json /app/.CLAUDE/settings.local.json",
        "rm CLAUDE.md",
        "tee .mcp.json",
        "echo x > .claude/settings.json",
        "cd .claude && cp ../s.json settings.json",
        "cp s.json \".claude/settings.json\"",
        "sh -c 'cp a .claude/settings.json'",
        "python x.py --out=.claude/settings.json",
        "python .claude/skills/a.py .claude/settings.json",
        "cp -r conf/. .",
        "cp -rT conf /app",
        "ls; rm -r .claude",
        "cp s.json -t.claude",
        "cp s.json -ft.claude/",
        "curl -sLoCLAUDE.md x",
        "tar -xf a.tar -C.CLAUDE",
        "unzip a.zip -d.claude/skills",
        "tree -J -o .claude/settings.json",
        "less -o .claude/settings.json a",
        "file -C -m .claude/a",
        "docker run -v a:.claude b",
        "rsync --exclude=a,.claude x y",
        "cp -rt . conf/.",
        "cp -r -t. conf/.",
        "cp -r --target-directory=. conf/.",
        "cp -rt /app conf/",
        "rsync -a conf/ ./",
    ] {
        assert_eq!(of(line), Some(Protection::Settings), "{line}");
    }
    for line in [
        "cp hook .git/hooks/pre-commit",
        "touch /home/a/.bashrc",
        "ln a .vscode",
    ] {
        assert_eq!(of(line), Some(Protection::Rules), "{line}");
    }
    for line in [
        "cat .claude/settings.json",
        "ls -la .git | head",
        "wc -l < .claude/settings.json",
        "python .claude/skills/pdf/extract.py a.pdf > out.txt",
        ".claude/skills/run.sh a",
        "git commit -m x",
        "cp a .gitignore",
        "cp -r src/. build",
        "cp a .",
        "cp a ./",
        "cp -rt build src/.",
        "git log -n5 --format=%H",
        "npm test",
    ] {
        assert_eq!(of(line), None, "{line}");
    }
}

#[test]
fn a_letter_that_a_file_system_does_not_see_hides_no_name() {
    for level in [
        ".cl\u{200d}aude",
        "\u{feff}.mcp.json",
        ".GIT\u{200c}",
        ".hu\u{17f}\u{212a}y",
        "CLAUDE.md. ",
    ] {
        assert!(of_level(level).is_some(), "{level:?}");
    }
    for level in [".claude2", "claude", "a.git"] {
        assert_eq!(of_level(level), None, "{level}");
    }
}

#[test]
fn the_folder_where_the_run_works_may_have_a_protected_name() {
    let folders = Folders {
        cwd: Some("/app/.claude/worktrees/a"),
        more: &[],
    };
    assert_eq!(of_path("src/a", &folders), None);
    assert_eq!(of_path("/app/.claude/worktrees/a/b", &folders), None);
    assert_eq!(
        of_path("../../settings.json", &folders),
        Some(Protection::Settings)
    );
}
