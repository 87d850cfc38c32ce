//! Ratings of films, and their factorisation into taste and character.

use crate::catalogue::MOVIELENS;
use crate::error::DataError;
use crate::store::Store;
use plausibly::{Ridge, Stream};

/// What a user thought of a film.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rating {
    /// Who, from 1.
    pub user: u32,
    /// Of which film, from 1, with gaps.
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
        let parsed = (|| Some(Rating { user: next()?, movie: next()?, stars: f64::from(next()?) }))();
        parsed.ok_or_else(|| DataError::Form { member: member.path, line: index + 1, text: line.into() })
    };
    text.lines().enumerate().map(rating).collect()
}

/// `rating ≈ ⟨user, movie⟩`: a vector for everybody who rated and everything that was rated.
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

/// Ridge of each least-squares problem. With it and [`SWEEPS`] the residual of rank 5 is that of the paper's problem.
const RIDGE: f64 = 2.0;
const SWEEPS: usize = 12;

/// Alternating least squares: films fixed, solve for users; users fixed, solve for films; twelve times.
///
/// Deterministic: starting values come from a fixed stream, and sums run in the order of the ratings. A second for MovieLens 1M at
/// rank 5.
///
/// # Panics
/// If there are no ratings or `rank` is zero.
pub fn factorise(ratings: &[Rating], rank: usize) -> Factors {
    assert!(!ratings.is_empty() && rank > 0, "nothing to factorise");
    let user_ids = sorted_ids(ratings.iter().map(|rating| rating.user));
    let movie_ids = sorted_ids(ratings.iter().map(|rating| rating.movie));
    let position = |ids: &[u32], id: u32| ids.binary_search(&id).expect("collected from the ratings");
    let cells: Vec<Cell> = ratings
        .iter()
        .map(|rating| Cell {
            user: position(&user_ids, rating.user),
            movie: position(&movie_ids, rating.movie),
            stars: rating.stars,
        })
        .collect();
    let mut rng = Stream::new(0, 0, "movielens factors");
    let mut movies: Vec<f64> = (0..movie_ids.len() * rank).map(|_| 0.5 + 0.1 * rng.normal()).collect();
    let mut users = vec![0.0; user_ids.len() * rank];
    for _ in 0..SWEEPS {
        users = solve(
            user_ids.len(),
            rank,
            &movies,
            cells.iter().map(|cell| (cell.user, cell.movie, cell.stars)),
        );
        movies = solve(
            movie_ids.len(),
            rank,
            &users,
            cells.iter().map(|cell| (cell.movie, cell.user, cell.stars)),
        );
    }
    let error = |cell: &Cell| {
        let (user, movie) = (&users[cell.user * rank..][..rank], &movies[cell.movie * rank..][..rank]);
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

fn sorted_ids(ids: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut ids: Vec<u32> = ids.collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// For each of `count` rows, the ridge solution of its ratings against the other side's vectors.
fn solve(
    count: usize,
    rank: usize,
    other: &[f64],
    ratings: impl Iterator<Item = (usize, usize, f64)>,
) -> Vec<f64> {
    let mut grams = vec![0.0; count * rank * rank];
    let mut moments = vec![0.0; count * rank];
    for (row, column, stars) in ratings {
        let vector = &other[column * rank..(column + 1) * rank];
        let gram = &mut grams[row * rank * rank..(row + 1) * rank * rank];
        for (entries, x) in gram.chunks_exact_mut(rank).zip(vector) {
            for (entry, y) in entries.iter_mut().zip(vector) {
                *entry += x * y;
            }
        }
        for (entry, x) in moments[row * rank..(row + 1) * rank].iter_mut().zip(vector) {
            *entry += x * stars;
        }
    }
    let mut solutions = Vec::with_capacity(count * rank);
    for (gram, moment) in grams.chunks_exact_mut(rank * rank).zip(moments.chunks_exact(rank)) {
        for i in 0..rank {
            gram[i * rank + i] += RIDGE;
        }
        let model =
            Ridge::from_statistics(rank, RIDGE, gram, moment, 0).expect("a ridge makes it positive definite");
        solutions.extend_from_slice(model.theta_hat());
    }
    solutions
}
