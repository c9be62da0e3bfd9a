use crate::sse::*;
use proptest::prelude::*;

type Events = Vec<(String, String)>;

/// The decoded form of one stream, equal for all chunks.
#[derive(Debug, PartialEq)]
struct Decoded {
    events: Vec<(Vec<u8>, Vec<u8>)>,
    result: Result<(), SseError>,
    id: Vec<u8>,
    retry_ms: Option<u64>,
    saw_field: bool,
}

fn decode<'a>(limit: usize, chunks: impl IntoIterator<Item = &'a [u8]>) -> Decoded {
    let mut decoder = SseDecoder {
        max_event_bytes: limit,
        ..SseDecoder::default()
    };
    let mut events = Vec::new();
    let mut collect = |event: SseEvent<'_>| {
        events.push((event.event.to_vec(), event.data.to_vec()));
        0
    };
    let mut result = chunks
        .into_iter()
        .try_for_each(|chunk| decoder.feed(chunk, &mut collect));
    if result.is_ok() {
        result = decoder.finish(&mut collect);
    }
    Decoded {
        events,
        result,
        id: decoder.last_event_id().to_vec(),
        retry_ms: decoder.retry_ms(),
        saw_field: decoder.saw_field(),
    }
}

fn whole(bytes: &[u8]) -> Decoded {
    decode(usize::MAX, [bytes])
}

fn events(bytes: &[u8]) -> Events {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let decoded = whole(bytes);
    assert_eq!(decode(usize::MAX, bytes.chunks(1)), decoded, "byte by byte");
    for cut in 0..=bytes.len() {
        assert_eq!(
            decode(usize::MAX, [&bytes[..cut], &bytes[cut..]]),
            decoded,
            "cut at {cut}"
        );
    }
    decoded
        .events
        .iter()
        .map(|(event, data)| (text(event), text(data)))
        .collect()
}

/// Reads the grammar line by line, without regard for speed or chunks.
fn reference(bytes: &[u8]) -> Decoded {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut lines = vec![Vec::new()];
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'\r' => {
                rest = rest.strip_prefix(b"\n").unwrap_or(rest);
                lines.push(Vec::new());
            }
            b'\n' => lines.push(Vec::new()),
            other => lines.last_mut().unwrap().push(*other),
        }
    }
    // The end of the stream ends its last line and delivers its last event.
    lines.push(Vec::new());
    let mut decoded = Decoded {
        events: Vec::new(),
        result: Ok(()),
        id: Vec::new(),
        retry_ms: None,
        saw_field: false,
    };
    let (mut name, mut data) = (Vec::new(), None::<Vec<u8>>);
    for line in lines {
        if line.is_empty() {
            if let Some(data) = data.take() {
                decoded.events.push((name.clone(), data));
            }
            name.clear();
            continue;
        }
        let colon = line.iter().position(|&byte| byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        decoded.saw_field |= [&b"data"[..], b"event", b"id", b"retry", b""].contains(&&line[..colon]);
        match &line[..colon] {
            b"data" => match &mut data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => data = Some(value.to_vec()),
            },
            b"event" => name = value.to_vec(),
            b"id" if !value.contains(&0) => decoded.id = value.to_vec(),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                decoded.retry_ms = std::str::from_utf8(value)
                    .unwrap()
                    .parse()
                    .ok()
                    .or(decoded.retry_ms)
            }
            _ => {}
        }
    }
    decoded
}

fn expected(list: &[(&str, &str)]) -> Events {
    list.iter()
        .map(|(event, data)| (event.to_string(), data.to_string()))
        .collect()
}

#[test]
fn every_rule_of_the_grammar_holds_wherever_the_bytes_are_cut() {
    let rows: &[(&str, &[(&str, &str)])] = &[
        ("", &[]),
        ("data: a\n\n", &[("", "a")]),
        ("data:a\n\n", &[("", "a")]),
        ("data:  a\n\n", &[("", " a")]),
        ("data\n\n", &[("", "")]),
        ("data:\n\n", &[("", "")]),
        ("data: \n\n", &[("", "")]),
        ("data:\ndata:\n\n", &[("", "\n")]),
        ("data: a\ndata: b\ndata\n\n", &[("", "a\nb\n")]),
        ("data: a\r\ndata: b\r\n\r\n", &[("", "a\nb")]),
        ("data: a\rdata: b\r\r", &[("", "a\nb")]),
        ("data: a\r\r\ndata: b\n\r\n", &[("", "a"), ("", "b")]),
        ("event: x\ndata: a\n\ndata: b\n\n", &[("x", "a"), ("", "b")]),
        ("data: a\nevent: x\nevent: y\n\n", &[("y", "a")]),
        ("event: x\nevent\ndata: a\n\n", &[("", "a")]),
        ("event: x\n\ndata: a\n\n", &[("", "a")]),
        ("event: x\n\n", &[]),
        ("\n\n\n", &[]),
        (
            ": comment\n:\n:data: no\ndata: a\n: in between\ndata: b\n\n",
            &[("", "a\nb")],
        ),
        (
            "data: a: b\nfoo: c\nfoo\n dat: d\ndata : e\nDATA: f\ndatax: g\n\n",
            &[("", "a: b")],
        ),
        ("\u{feff}data: a\n\n\u{feff}data: b\n\n", &[("", "a")]),
        ("\u{feff}\u{feff}data: a\n\ndata: b\n\n", &[("", "b")]),
        ("data: a\u{feff}é🦀\n\n", &[("", "a\u{feff}é🦀")]),
        ("data: \ta\u{0}\u{b}b\n\n", &[("", "\ta\u{0}\u{b}b")]),
        ("data: a\n\ndata: b", &[("", "a"), ("", "b")]),
        ("data: a\nevent: x", &[("x", "a")]),
        ("data: a\n\ndata", &[("", "a"), ("", "")]),
        ("data: a\n\ndata:", &[("", "a"), ("", "")]),
        ("data: a\n\neve", &[("", "a")]),
        ("{\"error\": {\"data\": 1}}", &[]),
    ];
    for (stream, list) in rows {
        assert_eq!(events(stream.as_bytes()), expected(list), "{stream:?}");
        assert_eq!(
            whole(stream.as_bytes()).events,
            reference(stream.as_bytes()).events,
            "{stream:?}"
        );
    }
}

#[test]
fn half_a_byte_order_mark_is_a_line_of_unknown_name() {
    assert_eq!(events(b"\xef\xbbdata: a\n\ndata: b\n\n"), expected(&[("", "b")]));
    assert_eq!(events(b"\xef\ndata: a\n\n"), expected(&[("", "a")]));
    assert_eq!(events(b"\xef\xbb"), expected(&[]));
}

#[test]
fn id_and_retry_are_kept_when_valid() {
    let decoded =
        whole(b"id: 7\nretry: 10\n\nid: a\0b\nretry: 1x\nretry:\nretry: 99999999999999999999999\n\n");
    assert_eq!(decoded.id, b"7");
    assert_eq!(decoded.retry_ms, Some(10));
    assert_eq!(whole(b"id: 7\nid\n\n").id, b"");
}

#[test]
fn an_event_stream_is_told_from_other_bodies() {
    for (body, is_stream) in [
        ("data: a\n\n", true),
        ("event: ping", true),
        (": keepalive\n\n", true),
        ("retry: 3\n", true),
        ("id", true),
        ("", false),
        ("<!doctype html>\n<html>\ndatabase: none\n</html>\n", false),
        ("{\n\"error\": \"no\",\n\"data\": 1\n}", false),
        ("upstream timed out", false),
    ] {
        assert_eq!(whole(body.as_bytes()).saw_field, is_stream, "{body:?}");
        assert_eq!(
            decode(usize::MAX, body.as_bytes().chunks(1)).saw_field,
            is_stream,
            "{body:?}"
        );
    }
}

#[test]
fn an_event_at_the_limit_passes_and_one_beyond_it_fails_for_good() {
    for (stream, fits) in [
        ("data: 1234567\n\n", true),
        ("data: 12345678\n\n", true),
        ("data: 123456789\n\n", false),
        ("data: 1234\ndata: 123\n\n", true),
        ("data: 1234\ndata: 1234\n\n", false),
        ("event: 12345678\ndata:\n\n", true),
        ("event: 123456789\ndata:\n\n", false),
        ("id: 123456789\ndata:\n\n", false),
        (": 123456789012345\nunknown: 123456789012345\ndata:\n\n", true),
    ] {
        let stream = ["data: ok\n\n", stream, "data: more"].concat();
        let expected = if fits {
            Ok(())
        } else {
            Err(SseError::EventTooLong { limit: 8 })
        };
        let decoded = decode(8, [stream.as_bytes()]);
        assert_eq!(decoded.result, expected, "{stream:?}");
        assert_eq!(decoded.events.len(), if fits { 3 } else { 1 }, "{stream:?}");
        assert_eq!(decode(8, stream.as_bytes().chunks(1)), decoded, "{stream:?}");
    }
    let mut decoder = SseDecoder {
        max_event_bytes: 3,
        ..SseDecoder::default()
    };
    assert!(decoder.feed(b"data: 1234", &mut |_| 0).is_err());
    assert!(
        decoder
            .feed(b"\n\ndata: 1\n\n", &mut |_| panic!("delivered"))
            .is_err()
    );
    assert!(decoder.finish(&mut |_| panic!("delivered")).is_err());
}

#[test]
fn an_event_within_one_chunk_is_borrowed_from_it() {
    let chunk = b"event: delta\ndata: {\"text\":\"hello\"}\n\ndata: [DONE]\n\n";
    let within = chunk.as_ptr_range();
    let mut seen = 0;
    let mut decoder = SseDecoder::default();
    decoder
        .feed(chunk, &mut |event| {
            assert!(within.contains(&event.data.as_ptr()));
            seen += 1;
            0
        })
        .unwrap();
    assert_eq!(seen, 2);
    assert_eq!(
        decoder.data.capacity() + decoder.event.capacity() + decoder.line_value.capacity(),
        0
    );
}

#[test]
fn events_that_the_caller_has_read_itself_are_passed_over() {
    let mut decoder = SseDecoder::default();
    let mut seen = Vec::new();
    decoder
        .feed(b"data: 1\n\ndata: 2\n\ndata: 3\n\n", &mut |event| {
            seen.push((event.data.to_vec(), event.rest.len()));
            if event.data == b"1" { 9 } else { 0 }
        })
        .unwrap();
    assert_eq!(seen, [(b"1".to_vec(), 18), (b"3".to_vec(), 0)]);
}

#[test]
fn between_events_is_where_the_next_byte_begins_one() {
    for (bytes, expected) in [
        ("data: a\n\n", true),
        ("data: a\n\n: ping\n", true),
        ("data: a\n", false),
        ("data: a\n\nda", false),
        ("data: a\n\n: pi", false),
        ("data: a\n\nid: 4", false),
        ("data: a\n\nevent: b\n", false),
        ("data: a\r\n\r", false),
        ("", false),
    ] {
        let mut decoder = SseDecoder::default();
        decoder.feed(bytes.as_bytes(), &mut |_| 0).unwrap();
        assert_eq!(decoder.is_between_events(), expected, "{bytes:?}");
    }
}

#[test]
fn comments_without_end_take_no_memory() {
    let mut decoder = SseDecoder::default();
    for _ in 0..1000 {
        decoder.feed(&[b':'; 4096], &mut |_| 0).unwrap();
    }
    assert!(decoder.line_value.capacity() < 64 && decoder.data.capacity() == 0);
}

#[test]
fn a_line_of_ten_megabytes_arrives_whole_in_small_chunks() {
    let mut stream = b"data: ".to_vec();
    stream.resize(10 << 20, b'x');
    stream.extend_from_slice(b"\n\n");
    for size in [50, 1000, 1 << 16] {
        let decoded = decode(usize::MAX, stream.chunks(size));
        assert_eq!(decoded.events.len(), 1);
        assert_eq!(decoded.events[0].1.len(), (10 << 20) - 6);
    }
}

fn streams() -> impl Strategy<Value = Vec<u8>> {
    let pieces: Vec<&[u8]> = vec![
        b"data:",
        b"data: ",
        b"data",
        b"event:",
        b"event: ",
        b"id: ",
        b"id",
        b"retry: 1",
        b"retry:",
        b":",
        b" ",
        b"\n",
        b"\n",
        b"\n",
        b"\n\n",
        b"\r",
        b"\r\n",
        b"\r\n\r\n",
        b"x",
        b"delta",
        b"{\"text\":\"a b c d e f\"}",
        b"\xc3\xa9",
        b"\xff",
        b"\0",
        b"\t",
        b"\xef\xbb\xbf",
        b"\xef",
        b"unknown: y",
        b"dat",
        b"1",
    ];
    let known = proptest::collection::vec(proptest::sample::select(pieces), 0..40);
    prop_oneof![9 => known.prop_map(|pieces| pieces.concat()), 1 => proptest::collection::vec(any::<u8>(), 0..60)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_stream_decodes_as_the_reference_does(stream in streams()) {
        prop_assert_eq!(whole(&stream), reference(&stream));
    }

    #[test]
    fn chunks_never_change_what_a_stream_means(
        stream in streams(),
        limit in prop_oneof![Just(usize::MAX), 0usize..12],
        sizes in proptest::collection::vec(0usize..9, 1..60),
    ) {
        let expected = decode(limit, [&stream[..]]);
        prop_assert_eq!(&decode(limit, stream.chunks(1)), &expected);
        for cut in 0..=stream.len() {
            prop_assert_eq!(&decode(limit, [&stream[..cut], &stream[cut..]]), &expected);
        }
        let (mut rest, mut chunks) = (&stream[..], Vec::new());
        for size in sizes {
            let (chunk, after) = rest.split_at(size.min(rest.len()));
            chunks.push(chunk);
            rest = after;
        }
        chunks.push(rest);
        prop_assert_eq!(&decode(limit, chunks), &expected);
    }

    #[test]
    fn the_fast_scan_finds_the_first_line_end(bytes in proptest::collection::vec(0u8..20, 0..40)) {
        prop_assert_eq!(line_end(&bytes), bytes.iter().position(|byte| b"\r\n".contains(byte)));
    }
}
