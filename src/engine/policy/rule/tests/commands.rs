//! Tests of command lines against rules.

use crate::engine::model::config::permission::Rule;
use crate::engine::model::config::permission::{PermissionMode, Permissions};
use crate::engine::model::json::named;
use crate::engine::policy::rule::tests::{allows, denies, guarded, input, judge, tool};

#[test]
fn s001_29_however_a_command_is_spelt_a_rule_that_denies_it_keeps_it_from_running_unasked() {
    let shell = tool("Bash");
    let rows = [
        ("rm -rf /", "deny"),
        ("rm\t-rf /", "deny"),
        ("rm  -rf /", "deny"),
        ("\n rm\u{a0}x", "deny"),
        ("ls; rm x", "deny"),
        ("ls|rm x", "deny"),
        ("ls &rm x", "deny"),
        ("echo $(rm x)", "deny"),
        ("{ rm x; }", "deny"),
        ("\\rm -rf /", "deny"),
        ("'rm' -rf /", "deny"),
        ("/bin/rm x", "deny"),
        ("A=1 rm x", "deny"),
        ("sudo -u root rm x", "deny"),
        ("echo rm", "deny"),
        ("git rm x", "deny"),
        ("git commit -m \"fix; rm x\"", "deny"),
        ("r''m x", "ask"),
        ("r\\\nm x", "ask"),
        ("$X x", "ask"),
        ("git commit -m \"x\"", "ask"),
        ("npm test", "run"),
        ("rmdir x", "run"),
        ("npm run rm-all", "run"),
    ];
    for (command, expected) in rows {
        let call = input("command", command);
        assert_eq!(guarded("Bash(rm *)", &shell, &call), expected, "{command}");
        assert_eq!(
            guarded("Read(rm *)", &shell, &call),
            "run",
            "no rule is about it: {command}"
        );
    }
    let call = input("command", "git  push --force origin");
    assert!(denies("Bash(git push *)", &shell, &call) && denies("Bash(*--force*)", &shell, &call));
    assert!(
        denies("Bash(git push)", &shell, &call),
        "it begins as the rule says"
    );
}

#[test]
fn s001_29_a_line_with_other_characters_runs_only_where_everything_does() {
    let shell = tool("Bash");
    let permissions = |mode, allow: &str, deny: &str| Permissions {
        mode,
        allow: Rule::parse(allow).into_iter().collect(),
        deny: Rule::parse(deny).into_iter().collect(),
        can_use_tool: true,
        ..Permissions::default()
    };
    use PermissionMode::{AcceptEdits, BypassPermissions, Default, DontAsk};
    for (mode, allow, deny, expected) in [
        (Default, "Bash(git *)", "", "ask"),
        (Default, "Bash(*\")", "", "ask"),
        (Default, "Bash", "", "run"),
        (Default, "Bash", "Bash(rm *)", "ask"),
        (Default, "Bash", "Read(*.env)", "run"),
        (DontAsk, "Bash", "Bash(rm *)", "deny"),
        (AcceptEdits, "", "", "ask"),
        (BypassPermissions, "", "", "run"),
        (BypassPermissions, "", "Bash(rm *)", "ask"),
        (BypassPermissions, "", "Read(*.env)", "run"),
    ] {
        let permissions = permissions(mode, allow, deny);
        for line in [
            "git commit -m \"x\"",
            "git status > f",
            "touch a; touch b",
            "git log\n",
        ] {
            let found = judge(&permissions, &shell, &input("command", line));
            assert_eq!(found, expected, "{mode:?} {allow} {deny} {line}");
        }
    }
    let asking = Permissions {
        mode: BypassPermissions,
        ask: vec![Rule::parse("Bash(git push *)").unwrap()],
        can_use_tool: true,
        ..Permissions::default()
    };
    let judged = |line| judge(&asking, &shell, &input("command", line));
    assert_eq!(judged("cd a && git push"), "ask");
    assert_eq!(
        judged("git commit -m \"x\""),
        "run",
        "only rules that deny leave a doubt"
    );
}

#[test]
fn s001_29_a_rule_that_allows_a_command_allows_nothing_beside_it() {
    let shell = tool("Bash");
    for sign in (0..=0x2ff).filter_map(char::from_u32) {
        let line = ["npm test", &sign.to_string(), "x"].concat();
        let is_plain = sign.is_ascii_alphanumeric() || " _-./:@%+,=".contains(sign);
        assert_eq!(
            allows("Bash(npm *)", &shell, &input("command", &line)),
            is_plain,
            "{sign:?}"
        );
    }
    for line in [
        "npm test x",
        "npm  test",
        " npm ",
        "npm run a -- --b=c",
        "npm i @a/b:c,d+e%f",
    ] {
        assert!(allows("Bash(npm *)", &shell, &input("command", line)), "{line}");
    }
    for line in ["A=1 npm test", "npm=x npm test", "", " ", "=npm x"] {
        assert!(!allows("Bash(*n*)", &shell, &input("command", line)), "{line}");
    }
}

#[test]
fn s001_29_a_rule_that_could_never_allow_a_line_is_refused() {
    for (list, text, expected) in [
        ("allow", "Bash(npm * > log)", false),
        ("allow", "Bash(echo \"a\" *)", false),
        ("allow", "Bash(CI=1 npm *)", false),
        ("allow", "Bash(npm *)", true),
        ("allow", "Bash(npm run *:test)", true),
        ("deny", "Bash(* > *)", true),
        ("ask", "Bash(CI=1 *)", true),
    ] {
        let mut permissions = Permissions::default();
        let kind = named(list).unwrap();
        permissions.rules(kind).push(Rule::parse(text).unwrap());
        let checked = permissions.check(&[tool("Bash")]);
        assert_eq!(checked.is_ok(), expected, "{text}");
        assert!(
            checked
                .err()
                .is_none_or(|error| error.field == "permissions.allow")
        );
    }
}
