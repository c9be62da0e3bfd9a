use super::*;

#[test]
fn base64_is_read_in_either_alphabet_whatever_stands_around_its_digits() {
    for (text, bytes) in [
        ("", &b""[..]),
        ("SGk=", b"Hi"),
        ("SGk", b"Hi"),
        ("SG\r\n k!", b"Hi"),
        ("SGl", b"Hi"),
        ("SGkh", b"Hi!"),
        ("SGkhA", b"Hi!"),
        ("=S=", b""),
        ("+/+/", b"\xfb\xff\xbf"),
        ("-_-_", b"\xfb\xff\xbf"),
    ] {
        assert_eq!(base64(text), bytes, "{text}");
    }
}
