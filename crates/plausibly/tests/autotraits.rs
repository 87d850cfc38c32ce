use plausibly::{
    ActionSet, ArmMeans, ArmRidges, BetaThompson, Code, Design, Determinant, Elimination,
    EpsilonGreedy, Explanation, ExploreThenCommit, ForecastError, ForecastSums, Forecasts, Insured,
    Isa, Ledger, LedgerDigest, LedgerError, LinTs, LinUcb, MalformedLedger, Observation,
    ObservationError, OffGrid, Plausible, Quantised, Radius, Ridge, Scores, SharedDraws, Stream,
    Tally, TallyError, Thompson, Ucb1, spec, state,
};
use std::fmt::Debug;

fn ordinary<T: Send + Sync + Unpin + Debug + 'static>() {}

#[test]
fn public_types_cross_threads_and_print() {
    ordinary::<ActionSet>();
    ordinary::<ArmMeans>();
    ordinary::<ArmRidges>();
    ordinary::<Code<Ridge, Determinant>>();
    ordinary::<Design>();
    ordinary::<Elimination>();
    ordinary::<EpsilonGreedy<ArmMeans>>();
    ordinary::<Explanation>();
    ordinary::<ExploreThenCommit<Ridge>>();
    ordinary::<ForecastError>();
    ordinary::<ForecastSums>();
    ordinary::<Forecasts>();
    ordinary::<Insured<LinTs, Ridge, Determinant>>();
    ordinary::<Isa>();
    ordinary::<Ledger>();
    ordinary::<LedgerDigest>();
    ordinary::<LedgerError>();
    ordinary::<LinTs>();
    ordinary::<LinUcb<Ridge, Radius>>();
    ordinary::<MalformedLedger>();
    ordinary::<Observation>();
    ordinary::<ObservationError>();
    ordinary::<OffGrid>();
    ordinary::<Plausible>();
    ordinary::<Quantised<Determinant>>();
    ordinary::<Scores>();
    ordinary::<SharedDraws>();
    ordinary::<Stream>();
    ordinary::<Tally>();
    ordinary::<TallyError>();
    ordinary::<BetaThompson>();
    ordinary::<Thompson>();
    ordinary::<Ucb1>();
    ordinary::<spec::PolicySpec>();
    ordinary::<spec::FieldError>();
    ordinary::<state::PolicyState>();
    ordinary::<state::StateError>();
}
