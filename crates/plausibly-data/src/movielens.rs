//! Ratings of films, and their factorisation into vectors of users and films.

use crate::catalogue::MOVIELENS;
use crate::error::DataError;
use crate::store::Store;
use plausibly::{Ridge, Stream};

/// A user's rating of a film.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rating {
    /// Number of the user, from 1.
    pub user: u32,
    /// Number of the film, from 1, with gaps.
    pub movie: u32,
    /// One to five.
    pub stars: f64,
}

/// All ratings, in the order of the file.
///
/// # Errors
/// If the data set is not in the cache or damaged.
pub fn movielens(store: &Store) -> Result<Vec<Rating>, DataError> {
    let member = &MOVIELENS.members[0];
    let bytes = store.read(&MOVIELENS, member)?;
    let text = String::from_utf8_lossy(&bytes);
    let rating = |(index, line): (usize, &str)| {
        let mut cells = line.split("::");
        let mut next = || cells.next()?.parse::<u32>().ok();
        let parsed =
            (|| Some(Rating { user: next()?, movie: next()?, stars: f64::from(next()?) }))();
        parsed.ok_or_else(|| DataError::Form {
            member: member.path,
            line: index + 1,
            text: line.into(),
        })
    };
    text.lines().enumerate().map(rating).collect()
}

/// `rating ≈ ⟨user, movie⟩`: one vector per user and per rated movie.
#[derive(Clone, Debug, PartialEq)]
pub struct Factors {
    /// Length of a vector.
    pub rank: usize,
    /// Vectors of the users, by ascending id, one after the other.
    pub users: Vec<f64>,
    /// Vectors of the movies that were rated, by ascending id.
    pub movies: Vec<f64>,
    /// Ids of those movies.
    pub movie_ids: Vec<u32>,
    /// Root of the mean squared error: an estimate of the noise.
    pub residual: f64,
}

/// Ridge of each least-squares problem. With this and [`SWEEPS`] the residual at rank 5 is that of
/// the paper.
const RIDGE: f64 = 2.0;
const SWEEPS: usize = 12;

/// Alternating least squares: films fixed, solve for users; users fixed, solve for films; twelve
/// times.
///
/// Deterministic: starting values come from a fixed stream, and sums run in the order of the
/// ratings. A second for MovieLens 1M at rank 5.
///
/// # Panics
/// If there are no ratings or `rank` is zero.
pub fn factorise(ratings: &[Rating], rank: usize) -> Factors {
    assert!(!ratings.is_empty() && rank > 0, "nothing to factorise");
    let user_ids = sorted_ids(ratings.iter().map(|rating| rating.user));
    let movie_ids = sorted_ids(ratings.iter().map(|rating| rating.movie));
    let position =
        |ids: &[u32], id: u32| ids.binary_search(&id).expect("collected from the ratings");
    let cells: Vec<Cell> = ratings
        .iter()
        .map(|rating| Cell {
            user: position(&user_ids, rating.user),
            movie: position(&movie_ids, rating.movie),
            stars: rating.stars,
        })
        .collect();
    let by_user = ByRow::new(user_ids.len(), &cells, |cell| (cell.user, cell.movie));
    let by_movie = ByRow::new(movie_ids.len(), &cells, |cell| (cell.movie, cell.user));
    let mut rng = Stream::new(0, 0, "movielens factors");
    let mut movies: Vec<f64> =
        (0..movie_ids.len() * rank).map(|_| 0.5 + 0.1 * rng.normal()).collect();
    let mut users = Vec::new();
    for _ in 0..SWEEPS {
        users = by_user.solve(rank, &movies);
        movies = by_movie.solve(rank, &users);
    }
    let error = |cell: &Cell| {
        let (user, movie) =
            (&users[cell.user * rank..][..rank], &movies[cell.movie * rank..][..rank]);
        (cell.stars - user.iter().zip(movie).map(|(u, v)| u * v).sum::<f64>()).powi(2)
    };
    let residual = (cells.iter().map(error).sum::<f64>() / cells.len() as f64).sqrt();
    Factors { rank, users, movies, movie_ids, residual }
}

/// A rating by the positions of its user and movie.
struct Cell {
    user: usize,
    movie: usize,
    stars: f64,
}

/// Ratings grouped by row, in their order within a row, so that a row's sums stay in cache while
/// they are computed.
struct ByRow {
    /// End of each row's ratings.
    ends: Vec<usize>,
    /// The column and the stars of each.
    entries: Vec<(usize, f64)>,
}

impl ByRow {
    fn new(rows: usize, cells: &[Cell], place: impl Fn(&Cell) -> (usize, usize)) -> Self {
        let mut ends = vec![0; rows + 1];
        for cell in cells {
            ends[place(cell).0 + 1] += 1;
        }
        for row in 0..rows {
            ends[row + 1] += ends[row];
        }
        // Starts at the beginning of each row and moves to its end.
        let mut entries = vec![(0, 0.0); cells.len()];
        for cell in cells {
            let (row, column) = place(cell);
            entries[ends[row]] = (column, cell.stars);
            ends[row] += 1;
        }
        ends.truncate(rows);
        Self { ends, entries }
    }

    /// For each row, the ridge solution of its ratings against the other side's vectors.
    fn solve(&self, rank: usize, other: &[f64]) -> Vec<f64> {
        // A loop over five numbers costs more than its work; with a constant rank the compiler
        // unrolls it.
        if rank == 5 { self.solve_of::<5>(rank, other) } else { self.solve_of::<0>(rank, other) }
    }

    /// Solves at rank `R` if that is not zero, otherwise at `rank`.
    fn solve_of<const R: usize>(&self, rank: usize, other: &[f64]) -> Vec<f64> {
        let rank = if R > 0 { R } else { rank };
        let mut solutions = Vec::with_capacity(self.ends.len() * rank);
        let (mut gram, mut moment, mut begin) = (vec![0.0; rank * rank], vec![0.0; rank], 0);
        for &end in &self.ends {
            gram.fill(0.0);
            moment.fill(0.0);
            for &(column, stars) in &self.entries[begin..end] {
                let vector = &other[column * rank..(column + 1) * rank];
                for (entries, x) in gram.chunks_exact_mut(rank).zip(vector) {
                    for (entry, y) in entries.iter_mut().zip(vector) {
                        *entry += x * y;
                    }
                }
                for (entry, x) in moment.iter_mut().zip(vector) {
                    *entry += x * stars;
                }
            }
            for i in 0..rank {
                gram[i * rank + i] += RIDGE;
            }
            let model = Ridge::from_statistics(rank, RIDGE, &gram, &moment, 0)
                .expect("a ridge makes it positive definite");
            solutions.extend_from_slice(model.theta_hat());
            begin = end;
        }
        solutions
    }
}

fn sorted_ids(ids: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut ids: Vec<u32> = ids.collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}
