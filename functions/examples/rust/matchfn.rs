// SPDX-License-Identifier: Apache-2.0

//! All that a match function in Rust needs. It reads requests and writes answers as pkg/matchfn/block/FORMAT.md
//! describes, with only the standard library. A function is a file that includes this module and registers the
//! function:
//!
//!     #[macro_use]
//!     mod matchfn;
//!
//!     register!(my_match, r#"{"attributes":["skill"],"properties":[]}"#);
//!
//! my_match is a `fn(&Request, &mut Answer) -> Result<(), String>`. An error fails the run. The JSON is the function's
//! manifest: what the function reads. Tickets are numbers from 0.
#![allow(dead_code)] // no function needs all of it

use std::borrow::Cow;
use std::cell::RefCell;

/// A view of the request of one run.
#[derive(Default)]
pub struct Request<'a> {
    /// Unix milliseconds: the sandbox has no clock.
    pub now: i64,
    /// For random numbers: the sandbox has none.
    pub seed: u64,
    /// Milliseconds that the run may take.
    pub budget: u32,
    /// The numbers of tickets and backfill tickets.
    pub tickets: usize,
    pub backfills: usize,
    /// How many attributes and properties of the tickets are not in the request, at least: 0 if the manifest names what
    /// the function reads.
    pub left_out_attributes: u32,
    pub left_out_properties: u32,
    /// The config's settings, a JSON object; empty if there are none.
    pub config: &'a [u8],
    /// Of the tickets: in Unix milliseconds, and in seconds.
    pub created: &'a [f64],
    pub wait: &'a [f64],
    /// How many players the tickets have in all: see `players_of`. The handles are empty unless the manifest asks for them.
    pub players: usize,
    pub player_handles: &'a [u64],
    player_starts: &'a [u32],
    pub backfill_created: &'a [f64],
    pub backfill_version: &'a [i64],
    /// How many players the running games have in all, as far as they are known: see `backfill_players_of`. The handles are
    /// empty unless the manifest asks for them.
    pub backfill_players: usize,
    pub backfill_player_handles: &'a [u64],
    backfill_player_starts: &'a [u32],
    /// Pairs of a backfill ticket and a ticket that must not join it, since it has a player of the game. They ascend.
    pub barred: &'a [u32],
    /// The tickets of which somebody wants to know why they are in no match, ascending; usually none. See
    /// `Answer::explain`.
    pub asked: &'a [u32],
    sections: Vec<Section<'a>>,
}

struct Section<'a> {
    kind: u32,
    name: &'a str,
    data: &'a [u8],
}

/// The kinds of named sections of a request.
#[derive(Clone, Copy)]
pub enum Kind {
    Attribute = 5,
    Property,
    Pool,
    BackfillConnection = 10,
    BackfillAttribute,
    BackfillProperty,
    BackfillPool,
    PlayerId = 16,
    PlayerAttribute,
    PlayerProperty,
    BackfillPlayerId = 21,
    BackfillPlayerTeam,
    BackfillPlayerRole,
    BackfillPlayerAttribute,
}

impl<'a> Request<'a> {
    /// The names of the sections of a kind.
    pub fn names(&self, kind: Kind) -> impl Iterator<Item = &'a str> + '_ {
        self.sections.iter().filter(move |s| s.kind == kind as u32).map(|s| s.name)
    }

    /// A number for each ticket, NaN if it is missing.
    pub fn attribute(&self, name: &str) -> Cow<'a, [f64]> {
        self.numbers(Kind::Attribute, name).map_or_else(|| vec![f64::NAN; self.tickets].into(), Cow::Borrowed)
    }

    /// An opaque value for each ticket, or none.
    pub fn property(&self, name: &str) -> Values<'a> {
        self.values(Kind::Property, name, self.tickets)
    }

    /// Ticket numbers, ascending; None if the config does not have the pool.
    pub fn pool(&self, name: &str) -> Option<&'a [u32]> {
        self.numbers(Kind::Pool, name)
    }

    /// The numbers of a ticket's players.
    pub fn players_of(&self, ticket: u32) -> std::ops::Range<u32> {
        match self.player_starts {
            [] => ticket..ticket + 1,
            starts => starts[ticket as usize]..starts[ticket as usize + 1],
        }
    }

    pub fn player_id(&self) -> Values<'a> {
        self.values(Kind::PlayerId, "", self.players)
    }

    /// A number for each player, NaN if it is missing.
    pub fn player_attribute(&self, name: &str) -> Cow<'a, [f64]> {
        self.numbers(Kind::PlayerAttribute, name).map_or_else(|| vec![f64::NAN; self.players].into(), Cow::Borrowed)
    }

    pub fn player_property(&self, name: &str) -> Values<'a> {
        self.values(Kind::PlayerProperty, name, self.players)
    }

    /// `ip:port` for each backfill ticket; missing while the server is being allocated.
    pub fn backfill_connection(&self) -> Values<'a> {
        self.values(Kind::BackfillConnection, "", self.backfills)
    }

    pub fn backfill_attribute(&self, name: &str) -> Cow<'a, [f64]> {
        self.numbers(Kind::BackfillAttribute, name).map_or_else(|| vec![f64::NAN; self.backfills].into(), Cow::Borrowed)
    }

    pub fn backfill_property(&self, name: &str) -> Values<'a> {
        self.values(Kind::BackfillProperty, name, self.backfills)
    }

    pub fn backfill_pool(&self, name: &str) -> Option<&'a [u32]> {
        self.numbers(Kind::BackfillPool, name)
    }

    /// The numbers of the players in a backfill ticket's game; there may be none.
    pub fn backfill_players_of(&self, backfill: u32) -> std::ops::Range<u32> {
        match self.backfill_player_starts {
            [] => 0..0,
            starts => starts[backfill as usize]..starts[backfill as usize + 1],
        }
    }

    pub fn backfill_player_id(&self) -> Values<'a> {
        self.values(Kind::BackfillPlayerId, "", self.backfill_players)
    }

    /// Text for each player in a game; missing if the server names no team.
    pub fn backfill_player_team(&self) -> Values<'a> {
        self.values(Kind::BackfillPlayerTeam, "", self.backfill_players)
    }

    pub fn backfill_player_role(&self) -> Values<'a> {
        self.values(Kind::BackfillPlayerRole, "", self.backfill_players)
    }

    pub fn backfill_player_attribute(&self, name: &str) -> Cow<'a, [f64]> {
        let missing = || vec![f64::NAN; self.backfill_players].into();
        self.numbers(Kind::BackfillPlayerAttribute, name).map_or_else(missing, Cow::Borrowed)
    }

    fn numbers<T: Number>(&self, kind: Kind, name: &str) -> Option<&'a [T]> {
        self.find(kind, name).map(column)
    }

    fn values(&self, kind: Kind, name: &str, count: usize) -> Values<'a> {
        let (spans, data) = self.find(kind, name).map_or((&[][..], &[][..]), |data| data.split_at(8 * count));
        Values { spans: column(spans), data }
    }

    fn find(&self, kind: Kind, name: &str) -> Option<&'a [u8]> {
        self.sections.iter().find(|s| s.kind == kind as u32 && s.name == name).map(|s| s.data)
    }

    /// Views a block as a request, or says what is wrong with the block.
    pub fn read(block: &'a [u8]) -> Result<Request<'a>, String> {
        let head: &[u32] = block.get(..24).map(column).ok_or("the request is shorter than a header")?;
        if &block[..4] != b"MMRQ" || head[1] != 1 || head[2] as usize != block.len() || block.len() % 8 != 0 {
            return Err("the request is no block of version 1".into());
        }
        let (table, count) = (head[3] as usize, head[4] as usize);
        let entries = count.checked_mul(24).and_then(|size| part(block, table, size));
        let entries: &[u32] = entries.filter(|_| table % 8 == 0 && table >= 24).map(column).ok_or("the request's table lies outside")?;
        let mut r = Request::default();
        let mut end = 24;
        for (i, e) in entries.chunks_exact(6).enumerate() {
            let (start, size) = (e[3] as usize, e[4] as usize);
            let data = part(&block[..table], start, size).filter(|_| start % 8 == 0 && start >= end);
            let data = data.ok_or_else(|| format!("section {i} of the request is misaligned, overlaps or lies outside"))?;
            let name = part(block, e[1] as usize, e[2] as usize).and_then(|name| std::str::from_utf8(name).ok());
            let name = name.ok_or_else(|| format!("section {i} of the request has no name"))?;
            end = start + size;
            if i == 0 {
                r.read_meta(e[0], data)?;
            } else {
                r.take(Section { kind: e[0], name, data })?;
            }
        }
        let has = |kind| r.sections.iter().any(|s| s.kind == kind);
        if r.sections.is_empty() || ![3, 4].into_iter().all(has) || r.backfills > 0 && ![8, 9, 10].into_iter().all(has) {
            return Err("the request lacks a section".into());
        }
        Ok(r)
    }

    fn read_meta(&mut self, kind: u32, data: &'a [u8]) -> Result<(), String> {
        if kind != 1 || data.len() < 32 {
            return Err("the request begins without its meta section".into());
        }
        let words: &[u32] = column(&data[16..]);
        self.now = column::<i64>(data)[0];
        self.seed = column::<u64>(data)[1];
        (self.budget, self.tickets, self.backfills) = (words[0], words[1] as usize, words[2] as usize);
        self.players = self.tickets;
        if words.len() >= 6 {
            (self.left_out_attributes, self.left_out_properties) = (words[4], words[5]);
        }
        Ok(())
    }

    /// Stores a section if its length is right for its kind.
    fn take(&mut self, s: Section<'a>) -> Result<(), String> {
        // Lengths are compared as 64 bits: usize has 32 bits here.
        let (size, n, m) = (s.data.len() as u64, 8 * self.tickets as u64, 8 * self.backfills as u64);
        let (p, q) = (8 * self.players as u64, 8 * self.backfill_players as u64);
        let fits = match s.kind {
            3..=5 => size == n,
            6 => size >= n,
            8 | 9 | 11 => size == m,
            10 | 12 => size >= m,
            7 | 13 => size % 4 == 0,
            14 => size == n / 2 + 4 && self.has_players(column(s.data)),
            15 | 17 => size == p,
            16 | 18 => size >= p,
            19 => size == m / 2 + 4 && self.has_games(column(s.data)),
            20 | 24 => size == q,
            21..=23 => size >= q,
            25 => size % 8 == 0 && self.has_barred(column(s.data)),
            26 => size % 4 == 0 && self.has_asked(column(s.data)),
            _ => true, // unknown: from a later version of the format
        };
        if !fits {
            return Err(format!("the request's section of kind {} has {} bytes", s.kind, size));
        }
        match s.kind {
            2 => self.config = s.data,
            3 => self.created = column(s.data),
            4 => self.wait = column(s.data),
            8 => self.backfill_created = column(s.data),
            9 => self.backfill_version = column(s.data),
            14 => {
                self.player_starts = column(s.data);
                self.players = self.player_starts[self.tickets] as usize;
            }
            15 => self.player_handles = column(s.data),
            19 => {
                self.backfill_player_starts = column(s.data);
                self.backfill_players = self.backfill_player_starts[self.backfills] as usize;
            }
            20 => self.backfill_player_handles = column(s.data),
            25 => self.barred = column(s.data),
            26 => self.asked = column(s.data),
            _ => {}
        }
        self.sections.push(s);
        Ok(())
    }

    /// Whether every ticket has a player, and no column of players came before.
    fn has_players(&self, starts: &[u32]) -> bool {
        starts[0] == 0 && starts.windows(2).all(|w| w[0] < w[1]) && !self.sections.iter().any(|s| (15..=18).contains(&s.kind))
    }

    /// Whether no game's players end before they start, and no column of players in games came before.
    fn has_games(&self, starts: &[u32]) -> bool {
        starts[0] == 0 && starts.windows(2).all(|w| w[0] <= w[1]) && !self.sections.iter().any(|s| (20..=24).contains(&s.kind))
    }

    /// Whether there are the backfill tickets and tickets of the pairs, and the pairs ascend.
    fn has_barred(&self, pairs: &[u32]) -> bool {
        pairs.chunks_exact(2).all(|p| (p[0] as usize) < self.backfills && (p[1] as usize) < self.tickets)
            && pairs.windows(4).step_by(2).all(|w| w[..2] < w[2..])
    }

    /// Whether there are these tickets, and they ascend.
    fn has_asked(&self, tickets: &[u32]) -> bool {
        tickets.iter().all(|t| (*t as usize) < self.tickets) && tickets.windows(2).all(|w| w[0] < w[1])
    }
}

/// An opaque value for each ticket, or none.
pub struct Values<'a> {
    spans: &'a [u32],
    data: &'a [u8],
}

impl<'a> Values<'a> {
    pub fn at(&self, number: usize) -> Option<&'a [u8]> {
        let start = *self.spans.get(2 * number)?;
        if start == u32::MAX {
            return None;
        }
        part(self.data, start as usize, self.spans[2 * number + 1] as usize)
    }
}

fn part(block: &[u8], start: usize, size: usize) -> Option<&[u8]> {
    block.get(start..start.checked_add(size)?)
}

/// Element types of columns. Every bit pattern is a valid value.
trait Number: Copy {}
impl Number for u32 {}
impl Number for u64 {}
impl Number for i64 {}
impl Number for f64 {}

/// Views bytes as numbers. The bytes begin at a multiple of 8, see `Module`.
fn column<T: Number>(bytes: &[u8]) -> &[T] {
    let (before, numbers, _) = unsafe { bytes.align_to::<T>() };
    debug_assert!(before.is_empty());
    numbers
}

/// The inverse of column.
fn bytes<T: Number>(numbers: &[T]) -> &[u8] {
    unsafe { numbers.align_to::<u8>().1 }
}

/// The fields of a proposal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    TeamName = 1,
    Connection,
    Error,
    AssignmentProperties,
    MatchProperties,
    TicketProperties,
    Region,
    Fleet,
    Profile,
    BackfillCreate,
    BackfillUpdate,
    BackfillSetAttribute,
    BackfillSetProperty,
    BackfillRemove,
    Measure,
}

/// The proposals of one run.
#[derive(Default)]
pub struct Answer {
    teams: Vec<u32>,
    proposals: Vec<u32>,
    tickets: Vec<u32>,
    scores: Vec<f64>,
    parts: Vec<Part>,
    explanations: Vec<u32>,
    reasons: Vec<u8>,
    /// How many reasons each asked ticket has; empty until one has.
    explained: Vec<u8>,
}

struct Part {
    proposal: u32,
    field: Field,
    subject: u32,
    name: String,
    value: Vec<u8>,
}

impl Part {
    fn key(&self) -> (u32, Field, u32, &str) {
        (self.proposal, self.field, self.subject, &self.name)
    }
}

impl Answer {
    /// Begins a proposal. Its score is compared with those of all other proposals: higher is better.
    pub fn propose(&mut self, score: f64) -> Proposal<'_> {
        self.proposals.push(self.teams.len() as u32);
        self.scores.push(score);
        Proposal(self)
    }

    /// Says why a ticket of `Request::asked` is in no match: a reason for people, such as the name of a rule, and how many
    /// other tickets could be with it if it were not for that, if that is known. A reason may have 1,024 bytes, a ticket 16
    /// reasons. What is more is left out, and so are other tickets.
    pub fn explain(&mut self, r: &Request, ticket: u32, reason: &str, candidates: Option<u32>) {
        let i = match r.asked.binary_search(&ticket) {
            Ok(i) if !reason.is_empty() => i,
            _ => return,
        };
        self.explained.resize(r.asked.len(), 0);
        if self.explained[i] == 16 {
            return;
        }
        self.explained[i] += 1;
        let reason = cut(reason, 1024);
        let candidates = candidates.map_or(u32::MAX, |c| c.min(u32::MAX - 1));
        self.explanations.extend([ticket, candidates, self.reasons.len() as u32, reason.len() as u32]);
        self.reasons.extend(reason.as_bytes());
    }

    fn finish(mut self) -> Vec<u8> {
        self.parts.sort_by(|p, q| p.key().cmp(&q.key())); // stable
        let (mut parts, mut data) = (Vec::new(), Vec::new());
        for (i, p) in self.parts.iter().enumerate() {
            if self.parts.get(i + 1).map_or(false, |next| next.key() == p.key()) {
                continue; // set again
            }
            let size = p.name.len() + p.value.len();
            parts.extend([p.proposal, p.field as u32, p.subject, p.name.len() as u32, data.len() as u32, size as u32]);
            data.extend(p.name.as_bytes());
            data.extend(&p.value);
        }
        write(&[
            (1, bytes(&self.teams)),
            (2, bytes(&self.proposals)),
            (3, bytes(&self.tickets)),
            (4, bytes(&self.scores)),
            (5, bytes(&parts)),
            (6, &data),
            (8, bytes(&self.explanations)),
            (9, &self.reasons),
        ])
    }
}

/// A proposal before it is finished.
pub struct Proposal<'a>(&'a mut Answer);

impl Proposal<'_> {
    /// Adds a team.
    pub fn team(self, tickets: &[u32]) -> Self {
        self.0.tickets.extend(tickets);
        self.0.teams.push(self.0.tickets.len() as u32);
        *self.0.proposals.last_mut().unwrap() = self.0.teams.len() as u32;
        self
    }

    /// Sets a field whose value is text or JSON.
    pub fn text(self, field: Field, value: &str) -> Self {
        self.set(field, 0, "", value.as_bytes())
    }

    /// Sets an attribute of the backfill ticket; NaN removes it.
    pub fn number(self, name: &str, value: f64) -> Self {
        self.set(Field::BackfillSetAttribute, 0, name, &value.to_le_bytes())
    }

    /// Says how good the match is, for people; the value is finite.
    pub fn measure(self, name: &str, value: f64) -> Self {
        self.set(Field::Measure, 0, name, &value.to_le_bytes())
    }

    /// Sets any field. FORMAT.md says which fields have a subject and a name, and what their values are. The last of
    /// several values counts.
    pub fn set(self, field: Field, subject: u32, name: &str, value: &[u8]) -> Self {
        let proposal = self.0.proposals.len() as u32 - 1;
        self.0.parts.push(Part { proposal, field, subject, name: name.into(), value: value.into() });
        self
    }
}

/// The answer of a run that failed.
fn failed(reason: &str) -> Vec<u8> {
    let reason = if reason.is_empty() { "failed without saying why" } else { cut(reason, 4096) };
    write(&[(7, reason.as_bytes())])
}

/// Cuts a text to so many bytes, between two characters.
fn cut(text: &str, most: usize) -> &str {
    let mut size = text.len().min(most);
    while !text.is_char_boundary(size) {
        size -= 1;
    }
    &text[..size]
}

/// Writes sections as a block.
fn write(sections: &[(u32, &[u8])]) -> Vec<u8> {
    let mut block = vec![0; 24];
    let mut table = Vec::new();
    for (kind, data) in sections {
        table.extend([*kind, 0, 0, block.len() as u32, data.len() as u32, 0]);
        block.extend_from_slice(data);
        block.resize((block.len() + 7) / 8 * 8, 0);
    }
    let start = block.len() as u32;
    block.extend_from_slice(bytes(&table));
    let length = block.len() as u32;
    block[..4].copy_from_slice(b"MMAN");
    block[4..24].copy_from_slice(bytes(&[1, length, start, sections.len() as u32, 0]));
    block
}

/// The numbers of all values, sorted by their values: ascending, equal values by number, NaN last. It is a radix sort,
/// which is faster than sorting with comparisons.
pub fn sort_by(values: &[f64]) -> Vec<u32> {
    let key = |value: f64| {
        let bits = (value + 0.0).to_bits(); // -0 becomes 0
        match (value.is_nan(), bits >> 63) {
            (true, _) => u64::MAX,
            (_, 0) => bits | 1 << 63,
            _ => !bits,
        }
    };
    let digit = |key: u64, d: usize| (key >> (11 * d)) as usize & 2047;
    let mut items: Vec<(u64, u32)> = values.iter().enumerate().map(|(i, v)| (key(*v), i as u32)).collect();
    let mut other = vec![(0, 0); items.len()];
    let mut counts = vec![[0u32; 2048]; 6];
    for (key, _) in &items {
        for (d, count) in counts.iter_mut().enumerate() {
            count[digit(*key, d)] += 1;
        }
    }
    for (d, count) in counts.iter_mut().enumerate() {
        if count.contains(&(items.len() as u32)) {
            continue; // all have the same digit, or there are none
        }
        let mut sum = 0;
        for c in count.iter_mut() {
            sum += std::mem::replace(c, sum);
        }
        for item in &items {
            let at = &mut count[digit(item.0, d)];
            other[*at as usize] = *item;
            *at += 1;
        }
        std::mem::swap(&mut items, &mut other);
    }
    items.into_iter().map(|(_, number)| number).collect()
}

/// Writes a line to the function's log.
pub fn log(line: &str) {
    #[link(wasm_import_module = "wasi_snapshot_preview1")]
    extern "C" {
        fn fd_write(file: i32, texts: *const [usize; 2], count: i32, written: *mut u32) -> i32;
    }
    let line = format!("{line}\n");
    unsafe { fd_write(1, &[line.as_ptr() as usize, line.len()], 1, &mut 0) };
}

pub type Match = fn(&Request, &mut Answer) -> Result<(), String>;

thread_local! {
    static MODULE: RefCell<Module> = RefCell::default();
}

/// The state between calls. The request is in words, so that it begins at a multiple of 8.
#[derive(Default)]
struct Module {
    request: Vec<u64>,
    answer: Vec<u8>,
}

pub fn alloc(size: u32) -> *mut u64 {
    MODULE.with(|m| {
        let request = &mut m.borrow_mut().request;
        let words = size as usize / 8 + 1;
        if words > request.len() {
            request.clear();
            if request.try_reserve(words).is_err() {
                return std::ptr::null_mut();
            }
            request.resize(words, 0);
        }
        request.as_mut_ptr()
    })
}

pub fn run(length: u32, f: Match) -> u64 {
    std::panic::set_hook(Box::new(|panic| log(&panic.to_string())));
    MODULE.with(|m| {
        let Module { request, answer } = &mut *m.borrow_mut();
        let block = &bytes(request)[..length as usize];
        let mut proposals = Answer::default();
        *answer = match Request::read(block).and_then(|r| f(&r, &mut proposals)) {
            Ok(()) => proposals.finish(),
            Err(reason) => failed(&reason),
        };
        place(answer)
    })
}

/// Returns the address of bytes in the upper half and their length in the lower half.
pub fn place(bytes: &[u8]) -> u64 {
    (bytes.as_ptr() as u64) << 32 | bytes.len() as u64
}

/// Makes a function the function of this module: exports what the host calls.
#[macro_export]
macro_rules! register {
    ($match:path, $manifest:expr) => {
        #[no_mangle]
        pub extern "C" fn mm_abi() -> u32 {
            1
        }
        #[no_mangle]
        pub extern "C" fn mm_manifest() -> u64 {
            let manifest: &'static str = $manifest;
            matchfn::place(manifest.as_bytes())
        }
        #[no_mangle]
        pub extern "C" fn mm_alloc(size: u32) -> *mut u64 {
            matchfn::alloc(size)
        }
        #[no_mangle]
        pub extern "C" fn mm_run(length: u32) -> u64 {
            matchfn::run(length, $match)
        }
    };
}
