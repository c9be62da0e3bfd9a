use super::*;

/// A message with these headers, all text.
fn message(headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in headers {
        block.push(name.len() as u8);
        block.extend_from_slice(name.as_bytes());
        block.push(TEXT);
        block.extend_from_slice(&(value.len() as u16).to_be_bytes());
        block.extend_from_slice(value.as_bytes());
    }
    framed(&block, payload)
}

fn framed(headers: &[u8], payload: &[u8]) -> Vec<u8> {
    let total = (headers.len() + payload.len() + 16) as u32;
    let mut out = total.to_be_bytes().to_vec();
    out.extend_from_slice(&(headers.len() as u32).to_be_bytes());
    out.extend_from_slice(&crc32(&out).to_be_bytes());
    out.extend_from_slice(headers);
    out.extend_from_slice(payload);
    out.extend_from_slice(&crc32(&out).to_be_bytes());
    out
}

fn decode(chunks: &[&[u8]]) -> Result<Vec<(String, String)>, Failure> {
    let mut decoder = EventStreamDecoder::default();
    let mut found = Vec::new();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    for chunk in chunks {
        decoder.feed(chunk, &mut |name, payload| {
            found.push((text(name), text(payload)))
        })?;
    }
    decoder.finish()?;
    Ok(found)
}

#[test]
fn the_checksum_is_that_of_gzip() {
    assert_eq!(crc32(b""), 0);
    assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    assert_eq!(crc32(&[0, 0, 0, 16, 0, 0, 0, 0]), 0x05C2_48EB);
}

#[test]
fn messages_come_whole_wherever_they_are_cut() {
    let mut body = message(
        &[
            (":event-type", "messageStart"),
            (":content-type", "application/json"),
            (":message-type", "event"),
        ],
        b"{}",
    );
    // Every type of header, before the one that matters.
    let mut headers = b"\x01a\0\x01b\x01\x01c\x02\0\x01d\x03\0\0\x01e\x04\0\0\0\0\x01f\x05........".to_vec();
    headers.extend_from_slice(b"\x01g\x06\0\x03\0\0\0\x01h\x08........\x01i\x09................");
    headers.extend_from_slice(b"\x0b:event-type\x07\0\x04late");
    body.extend(framed(&headers, b"1"));
    body.extend(framed(b"\x01x\xff", b""));
    body.extend(message(
        &[
            (":message-type", "exception"),
            (":exception-type", "throttlingException"),
        ],
        b"{\"message\":\"Slow down\"}",
    ));
    body.extend(message(
        &[
            (":message-type", "error"),
            (":error-code", "InternalError"),
            (":error-message", "Oh"),
        ],
        b"",
    ));
    let whole = decode(&[&body]).unwrap();
    let pairs = [
        ("messageStart", "{}"),
        ("late", "1"),
        ("", ""),
        ("!throttlingException", "{\"message\":\"Slow down\"}"),
        ("!InternalError", "Oh"),
    ];
    assert_eq!(
        whole,
        pairs.map(|(name, data)| (name.to_owned(), data.to_owned()))
    );
    for at in 0..=body.len() {
        let (head, tail) = body.split_at(at);
        assert_eq!(decode(&[head, tail]).unwrap(), whole, "cut at {at}");
    }
    let bytes: Vec<&[u8]> = body.chunks(1).collect();
    assert_eq!(decode(&bytes).unwrap(), whole);
}

#[test]
fn no_flipped_bit_goes_unnoticed_and_no_missing_byte() {
    let body = message(&[(":event-type", "metadata")], b"{\"usage\":{}}");
    for bit in 0..body.len() * 8 {
        let mut broken = body.clone();
        *broken.get_mut(bit / 8).unwrap() ^= 1 << (bit % 8);
        assert!(decode(&[&broken]).is_err(), "bit {bit}");
    }
    for length in 1..body.len() {
        let cut = body.get(..length).unwrap();
        assert!(
            decode(&[cut]).unwrap_err().message.contains("ended within"),
            "{length} bytes"
        );
    }
}

#[test]
fn a_message_that_is_too_long_or_too_short_is_refused_at_its_prelude() {
    for (total, headers) in [
        (64 * 1024 * 1024 + 1, 0),
        (15, 0),
        (20, 5),
        (u32::MAX, u32::MAX),
        (16, u32::MAX),
    ] {
        let mut prelude = total.to_be_bytes().to_vec();
        prelude.extend_from_slice(&u32::to_be_bytes(headers));
        prelude.extend_from_slice(&crc32(&prelude).to_be_bytes());
        let failure = decode(&[&prelude]).unwrap_err();
        assert!(
            failure.message.contains("impossible") || failure.message.contains("answers.maxEventBytes"),
            "{total} {headers}: {failure:?}"
        );
    }
}
