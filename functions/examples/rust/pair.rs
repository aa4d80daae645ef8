//! Matches neighbours in skill. The allowed difference grows by a point for each second that both have waited.

#[macro_use]
mod matchfn;
use matchfn::{sort_by, Answer, Request};

register!(pair, r#"{"attributes":["skill"],"properties":[]}"#);

fn pair(r: &Request, answer: &mut Answer) -> Result<(), String> {
    let (skill, wait) = (r.attribute("skill"), r.wait);
    let order = sort_by(&skill);
    let mut i = 0;
    while i + 1 < order.len() {
        let (a, b) = (order[i], order[i + 1]);
        let gap = skill[b as usize] - skill[a as usize];
        if gap <= 25.0 + wait[a as usize].min(wait[b as usize]) {
            answer.propose(-gap).team(&[a, b]);
            i += 1; // both are matched
        }
        i += 1;
    }
    Ok(())
}
