//! Does what the tests tell it, so that they see the whole of matchfn.rs: a request
//! whose ticket 0 has the property "script" says what to propose; any other is
//! written to the log, number for number. vectors_test.go has the forms.

#[macro_use]
mod matchfn;
use matchfn::{log, sort_by, Answer, Field, Kind, Proposal, Request, Values};

register!(probe, "{}");

fn probe(r: &Request, answer: &mut Answer) -> Result<(), String> {
    match r.property("script").at(0) {
        Some(script) => play(r, script, answer),
        None => {
            describe(r);
            Ok(())
        }
    }
}

fn integers(what: &str, values: impl Iterator<Item = u64>) {
    log(&(what.to_string() + &values.map(|v| format!(" {v:016x}")).collect::<String>()));
}

fn numbers(what: &str, values: &[f64]) {
    let show = |v: &f64| match v.is_nan() {
        true => " -".to_string(),
        false => format!(" {:016x}", v.to_bits()),
    };
    log(&(what.to_string() + &values.iter().map(show).collect::<String>()));
}

fn values(what: &str, values: Values, n: usize) {
    let hex = |v: &[u8]| v.iter().map(|b| format!("{b:02x}")).collect::<String>();
    let show = |i| values.at(i).map_or(" -".into(), |v| format!(" .{}", hex(v)));
    log(&(what.to_string() + &(0..n).map(show).collect::<String>()));
}

fn pool(what: &str, pool: Option<&[u32]>) {
    integers(what, pool.unwrap_or_default().iter().map(|t| *t as u64));
}

fn describe(r: &Request) {
    let names = |kind| r.names(kind).chain(["nobody's"]);
    integers("now", [r.now as u64].into_iter());
    integers("seed", [r.seed].into_iter());
    integers("budget", [r.budget as u64].into_iter());
    log(&format!("config {}", String::from_utf8_lossy(r.config)));
    integers("left out", [r.left_out_attributes, r.left_out_properties].map(u64::from).into_iter());
    integers("tickets", [r.tickets as u64].into_iter());
    numbers("created", r.created);
    numbers("wait", r.wait);
    for name in names(Kind::Attribute) {
        numbers(&format!("attribute {name}"), &r.attribute(name));
    }
    for name in names(Kind::Property) {
        values(&format!("property {name}"), r.property(name), r.tickets);
    }
    for name in names(Kind::Pool) {
        pool(&format!("pool {name}"), r.pool(name));
    }
    for name in r.names(Kind::Attribute) {
        pool(&format!("order {name}"), Some(&sort_by(&r.attribute(name))));
    }
    integers("backfills", [r.backfills as u64].into_iter());
    numbers("backfill created", r.backfill_created);
    integers("backfill version", r.backfill_version.iter().map(|v| *v as u64));
    values("backfill connection", r.backfill_connection(), r.backfills);
    for name in names(Kind::BackfillAttribute) {
        numbers(&format!("backfill attribute {name}"), &r.backfill_attribute(name));
    }
    for name in names(Kind::BackfillProperty) {
        values(&format!("backfill property {name}"), r.backfill_property(name), r.backfills);
    }
    for name in names(Kind::BackfillPool) {
        pool(&format!("backfill pool {name}"), r.backfill_pool(name));
    }
    let starts = (0..r.tickets as u32).map(|t| r.players_of(t).start as u64);
    integers("player starts", starts.chain([r.players as u64]));
    integers("player handles", r.player_handles.iter().copied());
    values("player ids", r.player_id(), r.players);
    for name in names(Kind::PlayerAttribute) {
        numbers(&format!("player attribute {name}"), &r.player_attribute(name));
    }
    for name in names(Kind::PlayerProperty) {
        values(&format!("player property {name}"), r.player_property(name), r.players);
    }
    pool("player pool nobody's", None);
    let starts = (0..r.backfills as u32).map(|b| r.backfill_players_of(b).start as u64);
    integers("backfill player starts", starts.chain([r.backfill_players as u64]));
    integers("backfill player handles", r.backfill_player_handles.iter().copied());
    values("backfill player ids", r.backfill_player_id(), r.backfill_players);
    values("backfill player teams", r.backfill_player_team(), r.backfill_players);
    values("backfill player roles", r.backfill_player_role(), r.backfill_players);
    for name in names(Kind::BackfillPlayerAttribute) {
        numbers(&format!("backfill player attribute {name}"), &r.backfill_player_attribute(name));
    }
    pool("barred", Some(r.barred));
    pool("asked", Some(r.asked));
}

const FIELDS: [Field; 15] = [
    Field::TeamName,
    Field::Connection,
    Field::Error,
    Field::AssignmentProperties,
    Field::MatchProperties,
    Field::TicketProperties,
    Field::Region,
    Field::Fleet,
    Field::Profile,
    Field::BackfillCreate,
    Field::BackfillUpdate,
    Field::BackfillSetAttribute,
    Field::BackfillSetProperty,
    Field::BackfillRemove,
    Field::Measure,
];

const PROPOSE: u32 = 32;
const TEAM: u32 = 33;
const FAIL: u32 = 34;
const CRASH: u32 = 35;
const EXPLAIN: u32 = 36;

struct Step<'a> {
    what: u32,
    subject: u32,
    name: &'a str,
    value: &'a [u8],
}

fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes[..4].try_into().unwrap())
}

fn steps(mut script: &[u8]) -> Vec<Step> {
    let mut steps = Vec::new();
    while !script.is_empty() {
        let (what, subject) = (word(script), word(&script[4..]));
        let (name, value) = (word(&script[8..]) as usize, word(&script[12..]) as usize);
        let start = 16 + (name + 7) / 8 * 8;
        let text = std::str::from_utf8(&script[16..16 + name]).unwrap();
        steps.push(Step { what, subject, name: text, value: &script[start..start + value] });
        script = &script[start + (value + 7) / 8 * 8..];
    }
    steps
}

fn play(r: &Request, script: &[u8], answer: &mut Answer) -> Result<(), String> {
    let mut proposal: Option<Proposal> = None;
    for step in steps(script) {
        proposal = match step.what {
            PROPOSE => {
                drop(proposal);
                Some(answer.propose(f64::from_le_bytes(step.value.try_into().unwrap())))
            }
            TEAM => {
                let tickets: Vec<u32> = step.value.chunks_exact(4).map(word).collect();
                proposal.map(|p| p.team(&tickets))
            }
            FAIL => return Err(String::from_utf8_lossy(step.value).into()),
            CRASH => panic!("told to"),
            EXPLAIN => {
                drop(proposal);
                let candidates = i64::from_le_bytes(step.value.try_into().unwrap());
                answer.explain(r, step.subject, step.name, u32::try_from(candidates).ok());
                None
            }
            field => proposal.map(|p| p.set(FIELDS[field as usize - 1], step.subject, step.name, step.value)),
        };
    }
    Ok(())
}
