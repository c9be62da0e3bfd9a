use super::*;

fn written(id: &str, max: usize) -> String {
    let mut out = b"{".to_vec();
    push_id(&mut out, "id", id, Some(PLAIN), max);
    String::from_utf8(out).unwrap().split_off(6)
}

const LEGAL: fn(char) -> bool = |c| c.is_ascii_alphanumeric() || "_-".contains(c);

#[test]
fn a_mark_that_the_vendor_takes_stays() {
    let mut out = b"{".to_vec();
    push_id(&mut out, "id", "functions.add:0/a", Some("_.:-"), 64);
    let id = String::from_utf8(out).unwrap();
    assert!(id.starts_with("{\"id\":\"functions.add:0_a_"), "{id}");
}

#[test]
fn an_id_becomes_legal_and_different_ids_stay_different() {
    assert_eq!(written("toolu_01-a", 64), "\"toolu_01-a\"");
    let kimi = written("functions.add:0é", 64);
    assert!(kimi.trim_matches('"').chars().all(LEGAL), "{kimi}");
    for (one, two) in [("a.b", "a_46b"), ("a.b", "a:b"), ("a.b", "a_b"), ("", "_")] {
        assert_ne!(written(one, 64), written(two, 64));
    }
    let (long, other) = ("a".repeat(70), "a".repeat(69) + "b");
    assert_eq!(written(&long, 70), format!("\"{long}\""));
    assert!(written(&long, 64).len() <= 66 && written(&long, 64).starts_with("\"aaaaaaaa"));
    assert_ne!(written(&long, 64), written(&other, 64));
}
