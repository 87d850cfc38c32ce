use plausibly::Stream;

/// A change of any of these must be intended, and needs a line in CHANGELOG.md.
#[test]
fn samplers_are_value_stable() {
    let line = |name: &str, draw: &dyn Fn(&mut Stream) -> String| {
        let mut stream = Stream::new(42, 7, "samplers");
        let values: Vec<String> = (0..6).map(|_| draw(&mut stream)).collect();
        format!("{name}: {}\n", values.join(" "))
    };
    let seen = [
        line("bits", &|stream| format!("{:016x}", stream.bits())),
        line("uniform", &|stream| stream.uniform().to_string()),
        line("below 10", &|stream| stream.below(10).to_string()),
        line("normal", &|stream| stream.normal().to_string()),
        // Enough draws to reach wedges and the tail.
        line("sum of 100000 normals", &|stream| {
            (0..100_000).map(|_| stream.normal()).sum::<f64>().to_string()
        }),
    ]
    .concat();
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/samplers.txt");
    plausibly_testkit::assert_golden(&path, &seen);
}
