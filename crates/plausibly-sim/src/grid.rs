//! The rounds at which curves are recorded.

/// Ten rounds per decade, evenly spaced on a logarithmic scale (the preferred numbers R10), from 1
/// to the horizon.
///
/// ```
/// assert_eq!(plausibly_sim::log_grid(30), [1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 30]);
/// ```
pub fn log_grid(horizon: u64) -> Vec<u64> {
    // Integers only: a rounded power could differ between platforms.
    const R10: [u64; 10] = [100, 125, 160, 200, 250, 315, 400, 500, 630, 800];
    let mut grid: Vec<u64> = Vec::new();
    let mut decade: u64 = 1;
    'grow: loop {
        for step in R10 {
            let Some(scaled) = decade.checked_mul(step) else { break 'grow };
            let round = (scaled + 50) / 100;
            if round >= horizon {
                break 'grow;
            }
            if grid.last() != Some(&round) {
                grid.push(round);
            }
        }
        decade *= 10;
    }
    grid.push(horizon);
    grid
}

#[cfg(test)]
mod tests {
    use super::log_grid;

    #[test]
    fn the_grid_ends_at_the_horizon_and_only_grows() {
        for horizon in [1, 2, 9, 10, 11, 999, 1000, 10_000, u64::MAX] {
            let grid = log_grid(horizon);
            assert!(grid.windows(2).all(|pair| pair[0] < pair[1]), "{grid:?}");
            assert_eq!(grid.last(), Some(&horizon));
        }
    }
}
