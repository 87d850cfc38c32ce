use plausibly_report::figure::{Curves, Series};

#[test]
fn figures_are_drawn_by_class_and_carry_their_numbers() {
    let series = |label: &'static str, style, points: &[(f64, Option<f64>)]| Series {
        label: label.into(),
        style,
        points: points.to_vec(),
    };
    let curves = Curves {
        description: "Two policies.".into(),
        y_name: "regret",
        label_room: Curves::LABEL_ROOM,
        rounds: &[1, 10, 100, 1000],
        series: vec![
            series(
                "CODE",
                0,
                &[(1.0, Some(0.1)), (8.0, Some(1.0)), (20.0, Some(2.0)), (40.0, Some(4.0))],
            ),
            // Touches zero, which a logarithmic axis does not have, and ends beside the other.
            series(
                "</script>\"B\"",
                1,
                &[(0.0, None), (4.0, Some(3.0)), (19.0, None), (41.0, None)],
            ),
        ],
    };
    insta::assert_snapshot!("figure", curves.svg().into_string().replace("><", ">\n<"));
}
