use super::{ledger_of, observation};
use plausibly::{Ledger, MalformedLedger};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

fn sample() -> Ledger {
    ledger_of(2, &[observation(&[0.5, -0.25], 1.5), observation(&[1.0, 2.0], -1.0)])
}

/// The body with its digest, as a forger who knows the form would write it.
fn sealed(body: &[u8]) -> Vec<u8> {
    [body, &Sha256::digest(body)[..]].concat()
}

fn body(dim: u32, observations: u64, sums: &[i128]) -> Vec<u8> {
    let mut bytes = b"ledger\x01\x00".to_vec();
    bytes.extend(dim.to_le_bytes());
    bytes.extend(observations.to_le_bytes());
    for sum in sums {
        bytes.extend(sum.to_le_bytes());
    }
    bytes
}

fn refusal(bytes: &[u8]) -> MalformedLedger {
    Ledger::from_bytes(bytes).unwrap_err()
}

#[test]
fn the_form_is_what_its_page_says() {
    let unit = 1_i128 << 48;
    // By hand: 0.25 + 1, −0.125 + 2, 0.75 − 1; 0.0625 + 4, −0.375 − 2; 2.25 + 1.
    let sums =
        [5 * unit / 4, 15 * unit / 8, -unit / 4, 65 * unit / 16, -19 * unit / 8, 13 * unit / 4];
    assert_eq!(sample().to_bytes(), sealed(&body(2, 2, &sums)));
    assert_eq!(Ledger::from_bytes(&sample().to_bytes()), Ok(sample()));
    let empty = Ledger::new(1).unwrap();
    assert_eq!(empty.to_bytes(), sealed(&body(1, 0, &[0; 3])));
    assert_eq!(empty.to_bytes()[68..], *empty.digest().as_bytes());
    // Computed by another program (sha256sum) from the documented form.
    assert_eq!(
        empty.digest().to_string(),
        "107a0ac568aa8031b4eda92861d11adda666720de56a8dfadbc4693bcac70965"
    );
    assert_eq!(
        sample().digest().to_string(),
        "52c17ce9408eebc741937dcc88a5f2c08ef92e213aa718800ade0a384d80e487"
    );
}

#[test]
fn every_cut_every_extension_and_every_flipped_bit_is_refused() {
    let bytes = sample().to_bytes();
    for cut in 0..bytes.len() {
        let error = refusal(&bytes[..cut]);
        assert!(
            matches!(error, MalformedLedger::Length { found, .. } if found == cut),
            "{cut}: {error}"
        );
    }
    for extra in 1..200 {
        let longer = [&bytes[..], &vec![0; extra]].concat();
        let expected =
            MalformedLedger::Length { dim: 2, expected: bytes.len(), found: bytes.len() + extra };
        assert_eq!(refusal(&longer), expected);
    }
    for bit in 0..8 * bytes.len() {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let error = refusal(&flipped);
        let as_expected = match bit / 8 {
            0..6 => matches!(error, MalformedLedger::Name { at, .. } if at == bit / 8),
            6..8 => matches!(error, MalformedLedger::Version { .. }),
            8..12 => matches!(error, MalformedLedger::Length { .. } | MalformedLedger::Dim { .. }),
            _ => error == MalformedLedger::Damaged { at: bytes.len() - 32 },
        };
        assert!(as_expected, "bit {bit}: {error}");
    }
}

#[test]
fn a_fitting_digest_does_not_make_nonsense_a_ledger() {
    let square = 1_i128 << 68;
    let ok = body(1, 1, &[square, -square, square]);
    assert!(Ledger::from_bytes(&sealed(&ok)).is_ok(), "the largest observation");

    let mut versioned = ok.clone();
    versioned[6] = 3;
    assert_eq!(refusal(&sealed(&versioned)), MalformedLedger::Version { found: 3 });
    for dim in [0, 4097, u32::MAX] {
        assert_eq!(refusal(&sealed(&body(dim, 1, &[0; 3]))), MalformedLedger::Dim { found: dim });
    }
    assert_eq!(
        refusal(&sealed(&body(4096, 1, &[0; 3]))),
        MalformedLedger::Length { dim: 4096, expected: 52 + 16 * (4097 * 4098 / 2), found: 100 }
    );
    for found in [(1 << 58) + 1, u64::MAX] {
        assert_eq!(
            refusal(&sealed(&body(1, found, &[0; 3]))),
            MalformedLedger::Observations { found }
        );
    }
    let impossible = |observations, sums: [i128; 3], (row, column, at)| {
        let expected = MalformedLedger::Impossible { row, column, at, observations };
        assert_eq!(refusal(&sealed(&body(1, observations, &sums))), expected, "{sums:?}");
    };
    impossible(0, [1, 0, 0], (0, 0, 20));
    impossible(0, [0, 1, 0], (0, 1, 36));
    impossible(1, [square + 1, 0, 0], (0, 0, 20));
    impossible(1, [0, 0, -1], (1, 1, 52));
    impossible(5, [4, 5, 5], (0, 1, 36));
    impossible(5, [i128::MIN, 0, 0], (0, 0, 20));
    impossible(5, [0, i128::MIN, 0], (0, 1, 36));
    impossible(1 << 58, [0, 0, i128::MAX], (1, 1, 52));
    assert_eq!(
        refusal(&sealed(&body(1, 5, &[4, 5, 5]))).to_string(),
        "the sum (0, 1), at byte 36, is impossible for 5 observations"
    );
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        named in any::<bool>(),
    ) {
        let bytes = if named { [b"ledger\x01\x00".as_slice(), &bytes].concat() } else { bytes };
        prop_assert!(
            Ledger::from_bytes(&bytes).is_err(),
            "random bytes end with their own SHA-256",
        );
    }

    #[test]
    fn what_is_accepted_is_written_back_and_can_be_used(
        observations in 0..1_u64 << 59,
        squares in [0..1_i128 << 126, 0..1_i128 << 126],
        shift in 0..128_u32,
        product in any::<i128>(),
    ) {
        let sums = [squares[0] >> shift, product >> shift, squares[1] >> shift];
        let bytes = sealed(&body(1, observations, &sums));
        if let Ok(mut ledger) = Ledger::from_bytes(&bytes) {
            prop_assert_eq!(ledger.to_bytes(), bytes);
            // No later step may overflow, whatever the ledger holds.
            let copy = ledger.clone();
            let largest = observation(&[1024.0], -1024.0);
            let _ = ledger.retract(&largest);
            let _ = ledger.add(&largest);
            let _ = ledger.merge(&copy);
            let _ = ledger.ridge(1.0);
        }
    }
}
