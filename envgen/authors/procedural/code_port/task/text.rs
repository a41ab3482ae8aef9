/// A text, cut at its first space.
pub fn pair(text: &[u8]) -> (&[u8], &[u8]) {
    match text.iter().position(|&b| b == b' ') {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, b""),
    }
}

/// As many digits as there are.
pub fn number(text: &[u8]) -> i32 {
    let (minus, digits) = match text.first() {
        Some(b'-') => (true, &text[1..]),
        _ => (false, text),
    };
    let mut value: u32 = 0;
    for &b in digits {
        if !b.is_ascii_digit() {
            break;
        }
        value = value.wrapping_mul(10).wrapping_add(u32::from(b - b'0'));
    }
    let signed = value as i32;
    if minus { signed.wrapping_neg() } else { signed }
}
