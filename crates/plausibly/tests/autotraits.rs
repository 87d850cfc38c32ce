use plausibly::{
    ActionSet, ArmMeans, Code, Design, Determinant, Elimination, EpsilonGreedy, Explanation,
    ExploreThenCommit, Isa, LinTs, LinUcb, Plausible, Radius, Ridge, Scores, Stream, Thompson, Ucb1, spec,
};
use std::fmt::Debug;

fn ordinary<T: Send + Sync + Unpin + Debug + 'static>() {}

#[test]
fn public_types_cross_threads_and_print() {
    ordinary::<ActionSet>();
    ordinary::<ArmMeans>();
    ordinary::<Code<Ridge, Determinant>>();
    ordinary::<Design>();
    ordinary::<Elimination>();
    ordinary::<EpsilonGreedy<ArmMeans>>();
    ordinary::<Explanation>();
    ordinary::<ExploreThenCommit<Ridge>>();
    ordinary::<Isa>();
    ordinary::<LinTs>();
    ordinary::<LinUcb<Ridge, Radius>>();
    ordinary::<Plausible>();
    ordinary::<Scores>();
    ordinary::<Stream>();
    ordinary::<Thompson>();
    ordinary::<Ucb1>();
    ordinary::<spec::PolicySpec>();
    ordinary::<spec::Problem>();
}
