//! Where a body is cut, chosen by the body itself.

/// The body in up to nine pieces, some of which may be empty.
pub fn pieces(body: &[u8], salt: u64) -> Vec<&[u8]> {
    let mut state = body.iter().fold(0xcbf2_9ce4_8422_2325 ^ salt, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 29)) as usize
    };
    let mut places: Vec<usize> = (0..1 + next() % 8).map(|_| next() % (body.len() + 1)).collect();
    places.extend([0, body.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &body[pair[0]..pair[1]]).collect()
}

/// The body in ways that must make no difference: the byte-by-byte one only for what is short.
pub fn ways(body: &[u8]) -> Vec<Vec<&[u8]>> {
    let mut ways = vec![pieces(body, 1), pieces(body, 2)];
    if body.len() <= 2048 {
        ways.push(body.chunks(1).collect());
    }
    ways
}
