use super::*;

fn bindings() -> Vec<Binding> {
    vec![
        Binding {
            field: "user".into(),
            input: "userId".into(),
        },
        Binding {
            field: "locale".into(),
            input: "missing".into(),
        },
    ]
}

fn json(text: &str) -> Json {
    Json::parse(text).unwrap()
}

#[test]
fn inputs_override_what_the_model_wrote_however_often_it_wrote_it() {
    let inputs = json(r#"{"userId":"u1","other":1}"#);
    let rows = [
        ("{}", r#"{"user":"u1"}"#),
        (r#"{"city":"x"}"#, r#"{"city":"x","user":"u1"}"#),
        (
            r#"{"user":"evil","city":"x","user":"worse"}"#,
            r#"{"city":"x","user":"u1"}"#,
        ),
        (r#"{"us\u0065r":"evil"}"#, r#"{"user":"u1"}"#),
        (r#"{"locale":"de"}"#, r#"{"locale":"de","user":"u1"}"#),
    ];
    for (written, expected) in rows {
        let bound = bound_input(&json(written), &bindings(), Some(&inputs));
        assert_eq!(bound.as_str(), expected, "{written}");
    }
}

#[test]
fn without_inputs_what_the_model_wrote_stays() {
    let written = json(r#"{"user":"a"}"#);
    assert_eq!(
        bound_input(&written, &bindings(), None).as_str(),
        r#"{"user":"a"}"#
    );
    assert_eq!(
        bound_input(&json(r#""text""#), &bindings(), None).as_str(),
        r#""text""#
    );
}
