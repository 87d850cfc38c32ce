use crate::{mirror, store_with};
use plausibly_data::{
    DATA_SETS, HEART, MOVIELENS, Rating, Status, Store, WINE, factorise, heart, movielens, wine,
};
use std::fs;

#[test]
fn the_facts_of_the_tables() {
    let Some(mirror) = mirror() else { return };
    let (_folder, store) = store_with(&[WINE, HEART], &mirror);
    let wine = wine(&store).unwrap();
    assert_eq!((wine.target.len(), wine.columns.len(), wine.features.len()), (4898, 11, 4898 * 11));
    assert_eq!((wine.columns[0].as_str(), wine.columns[10].as_str()), ("fixed acidity", "alcohol"));
    let mean = wine.target.iter().sum::<f64>() / 4898.0;
    assert!((mean - 5.877_909).abs() < 1e-6, "{mean}");
    let heart = heart(&store).unwrap();
    assert_eq!((heart.target.len(), heart.columns.len()), (299, 12));
    assert!((heart.target.iter().sum::<f64>() - 96.0).abs() < 1e-9, "96 deaths");
}

#[test]
fn the_facts_of_the_ratings_and_their_factorisation() {
    let Some(mirror) = mirror() else { return };
    let (_folder, store) = store_with(&[MOVIELENS], &mirror);
    let ratings = movielens(&store).unwrap();
    assert_eq!(ratings.len(), 1_000_209);
    assert_eq!(ratings[0], Rating { user: 1, movie: 1193, stars: 5.0 });
    let mean = ratings.iter().map(|rating| rating.stars).sum::<f64>() / ratings.len() as f64;
    assert!((mean - 3.58156).abs() < 1e-5, "{mean}");
    assert!(
        ratings
            .iter()
            .all(|rating| (1..=6040).contains(&rating.user) && (1..=3952).contains(&rating.movie))
    );
    let factors = factorise(&ratings, 5);
    assert_eq!((factors.users.len(), factors.movies.len()), (6040 * 5, 3706 * 5));
    assert!((0.805..0.820).contains(&factors.residual), "{}", factors.residual);
    assert!(factorise(&ratings, 5) == factors, "the same every time");
}

#[test]
fn a_factorisation_finds_factors() {
    // Ratings that are a product of two small vectors, nearly all of them known.
    let stars = |user: u32, movie: u32| {
        (1.0 + 0.1 * f64::from(user % 7)) * (1.0 + 0.2 * f64::from(movie % 5))
    };
    let pairs = (1..=60).flat_map(|user| (1..=40).map(move |movie| (user, movie)));
    let known = pairs.filter(|(user, movie)| (user * movie) % 11 != 3);
    let ratings: Vec<Rating> = known
        .map(|(user, movie)| Rating { user, movie: 3 * movie, stars: stars(user, movie) })
        .collect();
    let factors = factorise(&ratings, 1);
    assert_eq!((factors.movie_ids.len(), factors.movie_ids[39]), (40, 120));
    // The ridge of 2 takes a few hundredths off; without the movies the error would be the spread
    // of their factor.
    assert!(factors.residual < 0.1, "{}", factors.residual);
}

#[test]
fn damage_in_the_cache_is_seen() {
    let Some(mirror) = mirror() else { return };
    let (_folder, store) = store_with(&[WINE], &mirror);
    assert_eq!(store.status(&WINE).unwrap(), Status::Ready);
    let path = store.path(&WINE, &WINE.members[0]);
    let mut bytes = fs::read(&path).unwrap();
    bytes[1000] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert_eq!(store.status(&WINE).unwrap(), Status::Damaged { path: path.clone() });
    let error = wine(&store).unwrap_err().to_string();
    assert!(error.contains("damaged, or another version") && error.contains("76c3f809"), "{error}");
}

#[test]
fn an_empty_cache_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().join("not there yet"));
    assert!(DATA_SETS.iter().all(|set| store.status(set).unwrap() == Status::Missing));
    let error = heart(&store).unwrap_err().to_string();
    assert_eq!(
        error,
        "the data set heart is not in the cache; `plausibly data fetch heart` gets it"
    );
}
