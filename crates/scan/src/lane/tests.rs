use super::*;

const KEYS: Keys = Keys {
    text: &["text", "delta"],
    noise: &["padding", "number"],
};

/// The string of `event` for a lane that has learnt `frame`.
fn read<'a>(frame: &str, event: &'a str) -> Option<&'a str> {
    let mut lane = Lane::new(Some(&KEYS));
    lane.learn(b"", frame.as_bytes());
    lane.text(b"", event.as_bytes())?.plain()
}

#[test]
fn an_event_with_the_frame_gives_its_string() {
    let frame = r#"{"number":7,"a":"text","text":"x","padding":""}"#;
    for (event, text) in [
        (
            r#"{"number":123,"a":"text","text":"other","padding":"abc"}"#,
            Some("other"),
        ),
        (frame, Some("x")),
        (r#"{"number":7,"a":"text","text":"","padding":""}"#, None),
        (r#"{"number":-7,"a":"text","text":"x","padding":""}"#, None),
        (r#"{"number":7,"a":"test","text":"x","padding":""}"#, None),
        (r#"{"number":7,"a":"text","text":"x","padding":""} "#, None),
        (r#"{"number":7,"a":"text","text":"x","padding":""},"#, None),
        (r#"{"number":7,"a":"text","text":"x","padding":"}"#, None),
        (r#"{"number":7,"a":"text","text":null,"padding":""}"#, None),
    ] {
        assert_eq!(read(frame, event), text, "{event}");
    }
}

#[test]
fn blanks_differ_only_among_closing_brackets() {
    let frame = r#"{"b":[{"text":"x"}],"c":"a b"}"#;
    assert_eq!(read(frame, r#"{"b":[{"text":"y"}  ],"c":"a b"}"#), Some("y"));
    assert_eq!(read(frame, r#"{"b":[{"text":"y"}],"c":"ab"}"#), None);
    assert_eq!(read(r#"{"b":{"text":"x"} }"#, r#"{"b":{"text":"y"}}"#), Some("y"));
    assert_eq!(
        read(r#"{"b":{"text":"x"}}"#, r#"{"b":{"text":"y"}  }"#),
        Some("y")
    );
    assert_eq!(read(r#"{"b":{"text":"x"}}"#, r#"{"b":{"text":"y"}]"#), None);
}

#[test]
fn an_event_without_exactly_one_string_to_append_has_no_frame() {
    for frame in [
        r#"{"a":"text"}"#,
        r#"{"text":""}"#,
        r#"{"text":5}"#,
        r#"{"text":"x","delta":"y"}"#,
        r#"{"a":"\"text\":\"x\""}"#,
        r#"{"text":"x"#,
    ] {
        assert_eq!(read(frame, frame), None, "{frame}");
    }
    assert_eq!(
        read(r#"{"text":"","delta":"y"}"#, r#"{"text":"","delta":"z"}"#),
        Some("z")
    );
}

#[test]
fn the_next_event_of_a_stream_is_read_with_its_lines() {
    let mut lane = Lane::new(Some(&KEYS));
    lane.learn(b"tick", br#"{"text":"x"}"#);
    let next = |bytes: &'static str| {
        let (text, rest) = lane.next(bytes.as_bytes())?;
        Some((text.plain()?, std::str::from_utf8(rest).unwrap()))
    };
    let event = "event: tick\ndata: {\"text\":\"y\"}\n\nevent";
    assert_eq!(next(event), Some(("y", "event")));
    for other in [
        "event: tock\ndata: {\"text\":\"y\"}\n\n",
        "data: {\"text\":\"y\"}\n\n",
        "event: tick\ndata: {\"text\":\"y\"}\n",
        "event: tick\ndata: {\"text\":\"y\"}\ndata: 1\n\n",
        "event: tick\ndata: {\"text\":\"y",
    ] {
        assert_eq!(next(other), None, "{other:?}");
    }
    lane.learn(b"", br#"{"text":"x"}"#);
    assert!(lane.next(b"data: {\"text\":\"y\"}\n\n").is_some());
}

#[test]
fn learning_stops_when_no_frame_is_ever_trusted() {
    let mut lane = Lane::new(Some(&KEYS));
    let event = br#"{"text":"x"}"#;
    for _ in 0..MAX_VAIN_FRAMES {
        lane.learn(b"", event);
        assert!(lane.text(b"", event).is_some());
    }
    lane.trust(1);
    assert_eq!(lane.part(), Some(1));
    for _ in 0..MAX_VAIN_FRAMES {
        lane.learn(b"", event);
    }
    assert!(lane.text(b"", event).is_some());
    lane.learn(b"", event);
    assert!(lane.text(b"", event).is_none());
    let mut off = Lane::default();
    off.learn(b"", event);
    assert!(off.text(b"", event).is_none());
}
