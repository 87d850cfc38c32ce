//! Places labels at the ends of lines.

use super::Frame;

/// Smallest distance between two labels.
const LABEL_STEP: f64 = 13.5;

/// The height that this many labels take.
pub(super) fn room(labels: usize) -> f64 {
    LABEL_STEP * labels as f64
}

/// Moves labels apart as little as necessary, without changing their order.
pub(super) fn spread(wanted: &[f64], frame: &Frame) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
    // Groups of touching labels, each centred on the mean of its members' wishes.
    let mut groups: Vec<(f64, Vec<usize>)> = Vec::new();
    for index in order {
        groups.push((wanted[index], vec![index]));
        while let [.., (above, upper), (below, lower)] = groups.as_slice()
            && below - above < LABEL_STEP * f64::midpoint(upper.len() as f64, lower.len() as f64)
        {
            let members: Vec<usize> = upper.iter().chain(lower).copied().collect();
            let centre =
                members.iter().map(|member| wanted[*member]).sum::<f64>() / members.len() as f64;
            groups.truncate(groups.len() - 2);
            groups.push((centre, members));
        }
    }
    let mut places = vec![0.0; wanted.len()];
    for (centre, members) in groups {
        let first = centre - LABEL_STEP * (members.len() as f64 - 1.0) / 2.0;
        let last_first = frame.height - frame.bottom - LABEL_STEP * (members.len() as f64 - 1.0);
        let first = first.clamp(frame.top, last_first);
        for (position, member) in members.into_iter().enumerate() {
            places[member] = first + LABEL_STEP * position as f64;
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::{Frame, LABEL_STEP, spread};

    #[test]
    fn labels_keep_their_order_and_their_distance() {
        let wanted = [100.0, 101.0, 300.0, 99.0, 310.0, 10.0];
        let frame =
            Frame { width: 440.0, height: 350.0, left: 50.0, right: 100.0, top: 9.0, bottom: 36.0 };
        let places = spread(&wanted, &frame);
        for i in 0..wanted.len() {
            for j in 0..wanted.len() {
                if wanted[i] < wanted[j] {
                    assert!(places[j] - places[i] > LABEL_STEP - 1e-9, "{places:?}");
                }
            }
        }
        assert!((places[0] - 100.0).abs() < 1e-9, "the middle of three stays");
    }
}
