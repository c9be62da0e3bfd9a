use serde_json::json;

use super::*;
use crate::engine::model::message::Json;

fn suggested(tool: &str, field: &str, value: &str) -> Option<String> {
    let schema = json!({"type": "object", "properties": {field: {"type": "string"}}}).to_string();
    let tool = ToolConfig::new(tool, Json::parse(&schema).unwrap());
    let input = json!({ field: value }).to_string();
    let permissions = Permissions {
        can_use_tool: true,
        ..Permissions::default()
    };
    let call = RuledCall {
        tool: &tool,
        input: &input,
        readings: crate::engine::policy::rule::tests::readings(),
        leads_elsewhere: false,
    };
    permissions.suggestion(&call).as_ref().map(Rule::to_text)
}

#[test]
fn the_rule_that_is_suggested_allows_the_call_and_little_else() {
    for (tool, field, value, rule) in [
        ("act", "x", "1", Some("act")),
        ("Bash", "command", "npm test", Some("Bash(npm test)")),
        ("Bash", "command", " npm  test ", Some("Bash(npm test)")),
        ("Bash", "command", "echo '(a)'", None),
        ("Bash", "command", "CI=1 npm test", None),
        ("Bash", "command", "rm *", None),
        ("Bash", "command", "echo `id`", None),
        ("Bash", "command", "npm test && id", None),
        ("Bash", "command", "echo (a", None),
        ("Bash", "other", "ls", None),
        ("Read", "path", "a.txt", Some("Read(./a.txt)")),
        ("Read", "path", "/etc/hosts", Some("Read(//etc/hosts)")),
        ("Read", "path", "~/a", Some("Read(~/a)")),
        ("Read", "path", "src/../b", None),
        (
            "WebFetch",
            "url",
            "https://a.example/x?y",
            Some("WebFetch(domain:a.example)"),
        ),
        (
            "WebFetch",
            "url",
            "https://A.example:8080",
            Some("WebFetch(domain:a.example)"),
        ),
        ("WebFetch", "url", "https://me@a.example/", None),
        ("WebFetch", "url", "//a.example", None),
        ("WebFetch", "url", "https://[::1]/", None),
    ] {
        assert_eq!(suggested(tool, field, value).as_deref(), rule, "{value}");
    }
}

#[test]
fn nothing_is_suggested_where_no_rule_helps() {
    let tool = ToolConfig::new("act", Json::empty_object());
    let rule = |text| Rule::parse(text).unwrap();
    let asked = Permissions {
        ask: vec![rule("act")],
        ..Permissions::default()
    };
    let call = RuledCall {
        tool: &tool,
        input: "{}",
        readings: &[],
        leads_elsewhere: false,
    };
    assert_eq!(asked.suggestion(&call), None);
    assert_eq!(asked.asking(&call), Some(&rule("act")));
    let planning = Permissions {
        mode: PermissionMode::Plan,
        can_use_tool: true,
        ..Permissions::default()
    };
    assert_eq!(planning.suggestion(&call), None);
}
