use super::*;
use crate::keys::caller::no_experiment;
use crate::problem::{Code, Problem};

const ROLES: [Role; 4] = [Role::Decide, Role::Reward, Role::Read, Role::Admin];

fn caller(roles: &[Role], experiment: Option<&str>) -> Caller {
    Caller::with_key(&Key {
        id: "1".into(),
        name: "web".into(),
        roles: roles.to_vec(),
        experiment: experiment.map(Into::into),
        rate: None,
        sha256: Hash::of(b"plk_"),
        added: NOON,
        revoked: None,
    })
}

fn code(result: Result<(), Problem>) -> Option<Code> {
    result.err().map(|problem| problem.code)
}

#[test]
fn a_role_allows_itself_and_admin_allows_all() {
    for set in 1..16_u8 {
        let roles: Vec<Role> =
            ROLES.into_iter().filter(|&role| set >> role as u8 & 1 == 1).collect();
        for role in ROLES {
            let allowed = roles.contains(&role) || roles.contains(&Role::Admin);
            let expected = (!allowed).then_some(Code::WrongRole);
            let (all, one) = (caller(&roles, None), caller(&roles, Some("own")));
            assert_eq!(code(all.may(role)), expected, "{roles:?} {role:?}");
            assert_eq!(code(all.holds(role)), expected);
            assert_eq!(code(all.may_in(role, "any")), expected);
            assert_eq!(code(one.holds(role)), expected);
            assert_eq!(code(one.may_in(role, "own")), expected);
            // About all experiments, or about another.
            assert_eq!(code(one.may(role)), Some(Code::WrongRole));
            assert_eq!(code(one.may_in(role, "other")), Some(Code::NoExperiment));
        }
    }
}

#[test]
fn another_experiment_is_answered_like_one_that_does_not_exist() {
    let caller = caller(&[Role::Admin], Some("own"));
    for other in ["other", "Own", "own ", "ow", "owner", ""] {
        assert!(!caller.sees(other));
        let problem = caller.may_in(Role::Read, other).unwrap_err();
        let bytes = |problem: Problem| serde_json::to_string(&problem.body()).unwrap();
        assert_eq!(bytes(problem), bytes(no_experiment(other)));
    }
    assert!(caller.sees("own"));
    assert!(Caller::local().sees("own") && Caller::local().name.is_none());
}
