use super::*;

fn text(args: &[&str]) -> Option<String> {
    let mut partial = PartialArgs::default();
    let mut text = Vec::new();
    for arg in args {
        partial.write(arg, &mut text)?;
    }
    partial.close(&mut text);
    String::from_utf8(text).ok()
}

#[test]
fn values_are_written_where_their_paths_say() {
    let args = [
        r#"{"jsonPath":"$.list[0].name","stringValue":"a\n","willContinue":true}"#,
        r#"{"jsonPath":"$.list[0].name","stringValue":"\"b","willContinue":true}"#,
        r#"{"jsonPath":"$.list[0].name","stringValue":""}"#,
        r#"{"jsonPath":"$.list[0].price","numberValue":0.50}"#,
        r#"{"jsonPath":"$.list[1].tags[0]","boolValue":true}"#,
        r#"{"jsonPath":"$.list[1].tags[1]","nullValue":"NULL_VALUE"}"#,
        r#"{"jsonPath":"$['it\\'s \"x\"'].y","stringValue":"z"}"#,
        r#"{"jsonPath":"$[\"last]\"]","numberValue":-1}"#,
    ];
    assert_eq!(
        text(&args).unwrap(),
        r#"{"list":[{"name":"a\n\"b","price":0.50},{"tags":[true,null]}],"it's \"x\"":{"y":"z"},"last]":-1}"#
    );
    assert_eq!(text(&[]).unwrap(), "");
}

#[test]
fn a_path_that_leads_back_or_is_none_fits_nowhere() {
    let first = r#"{"jsonPath":"$.a.b","numberValue":1}"#;
    for second in [
        r#"{"jsonPath":"$.a.b","numberValue":2}"#,
        r#"{"jsonPath":"$.a","numberValue":2}"#,
        r#"{"jsonPath":"$.a.b.c","numberValue":2}"#,
        r#"{"jsonPath":"$.a[0]","numberValue":2}"#,
        r#"{"jsonPath":"$[0]","numberValue":2}"#,
        r#"{"jsonPath":"$.c[1]","numberValue":2}"#,
        r#"{"jsonPath":"$","numberValue":2}"#,
        r#"{"jsonPath":"$['open","numberValue":2}"#,
        r#"{"numberValue":2}"#,
    ] {
        assert_eq!(text(&[first, second]), None, "{second}");
    }
    let back = [first, r#"{"jsonPath":"$.c","numberValue":2}"#, first];
    assert_eq!(text(&back), None);
}

/// Each key is looked for among those before it. A search that reads them all would take hours here.
#[test]
fn a_call_of_200_000_arguments_is_written_in_one_pass() {
    let mut partial = PartialArgs::default();
    let mut text = Vec::new();
    for key in 0..200_000 {
        let arg = format!(r#"{{"jsonPath":"$.k{key}","numberValue":1}}"#);
        partial.write(&arg, &mut text).unwrap();
    }
    partial.close(&mut text);
    let read: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(read.as_object().unwrap().len(), 200_000);
}
