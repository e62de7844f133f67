use hardbop_budget::Budget;
use hardbop_leap::prover::Prover;
use hardbop_logic::{Limits, Sort, Terms};
#[test]
fn speed() {
    let mut terms = Terms::new();
    let x = terms.constant("x", Sort::BitVec(32));
    let y = terms.constant("y", Sort::BitVec(32));
    let lt = terms.bv_slt(x, y);
    let one = terms.bv(1, 32);
    let s = terms.bv_add(x, one);
    let le = terms.bv_sle(s, y);
    let nle = terms.not(le);
    for (name, limits) in [("none", Limits::default()), ("time", Limits{time: Some(std::time::Duration::from_secs(5)), steps: None}), ("steps", Limits{time:None, steps: Some(10_000_000)})] {
      for general in [false, true] {
        let mut p = Prover::new(Budget::unlimited(), limits);
        if general { p.procedure = hardbop_leap::prover::Procedure::General; }
        let t = std::time::Instant::now();
        for _ in 0..100 { assert!(p.unsatisfiable(&terms, &[lt, nle]).unwrap()); }
        println!("{name} {general} {:?}", t.elapsed() / 100);
      }
    }
}
#[test]
fn persistent() {
    use hardbop_logic::{Session, Z3Options, Z3Solver};
    let mut terms = Terms::new();
    let x = terms.constant("x", Sort::BitVec(32));
    let y = terms.constant("y", Sort::BitVec(32));
    let lt = terms.bv_slt(x, y);
    for logic in [None, Some("QF_BV")] {
        let solver = Z3Solver::new(Z3Options { seed: 0, memory: None, logic });
        let mut s = Session::new(Box::new(solver), Budget::unlimited());
        let t = std::time::Instant::now();
        for i in 0..100 {
            let one = terms.bv(i + 1, 32);
            let sum = terms.bv_add(x, one);
            let le = terms.bv_sle(sum, y);
            let nle = terms.not(le);
            s.push(); s.assert(&terms, lt); s.assert(&terms, nle);
            let _ = s.check(&terms, &[]);
            s.pop();
        }
        println!("persistent {logic:?} {:?}", t.elapsed() / 100);
        let t = std::time::Instant::now();
        for i in 0..100 {
            let one = terms.bv(i + 1000, 32);
            let three = terms.bv(3, 32);
            let sum = terms.bv_add(x, one);
            let m = terms.bv_mul(three, sum);
            let le = terms.bv_sle(m, y);
            let nle = terms.not(le);
            s.push(); s.assert(&terms, lt); s.assert(&terms, nle);
            let _ = s.check(&terms, &[]);
            s.pop();
        }
        println!("persistent mul {logic:?} {:?}", t.elapsed() / 100);
    }
}
