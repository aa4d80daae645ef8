// SPDX-License-Identifier: Apache-2.0

// matchfn.ts is all that a match function in AssemblyScript needs. It reads requests and writes answers as
// pkg/matchfn/block/FORMAT.md describes. A function is a file that imports this one, registers the function and exports
// what the host calls:
//
//	import { Request, Answer, register } from "./matchfn";
//	export { mm_abi, mm_alloc, mm_run, mm_manifest } from "./matchfn";
//
//	register((r: Request, a: Answer): string | null => null, '{"attributes":["skill"],"properties":[]}');
//
// The string is the error of the run, or null. The JSON is the manifest: what the function reads. Tickets are numbers
// from 0. Columns are views of the request: do not keep them after the run.

type Match = (r: Request, a: Answer) => string | null;

let match: Match = (_r: Request, _a: Answer): string | null => "this module registers no match function";
let manifest = new ArrayBuffer(0);

export function register(f: Match, wants: string): void {
  match = f;
  manifest = String.UTF8.encode(wants);
}

// log writes a line to the function's log.
export function log(line: string): void {
  const text = String.UTF8.encode(line + "\n");
  const said = new StaticArray<usize>(3);
  said[0] = changetype<usize>(text);
  said[1] = text.byteLength;
  const at = changetype<usize>(said);
  fdWrite(1, at, 1, at + 8);
}

@external("wasi_snapshot_preview1", "fd_write")
declare function fdWrite(file: i32, texts: usize, count: i32, written: usize): i32;

// Section is a section of a request.
@final
class Section {
  constructor(public kind: u32, public name: string, public start: usize, public size: u32) {}
}

// Column has a number for each ticket, NaN if it is missing.
@final
export class Column<T> {
  constructor(private start: usize, readonly length: i32) {}

  @operator("[]") at(i: i32): T {
    if (<u32>i >= <u32>this.length) throw new RangeError("no element " + i.toString() + " of " + this.length.toString());
    return load<T>(this.start + (<usize>i << alignof<T>()));
  }
}

// Values has an opaque value for each ticket, or none.
@final
export class Values {
  constructor(private start: usize, private size: u32, readonly length: i32) {}

  // bytes returns a copy of a value, or null if it is missing.
  bytes(i: i32): Uint8Array | null {
    if (<u32>i >= <u32>this.length) return null;
    const span = this.start + (<usize>i << 3), data = <u64>this.length * 8;
    const start = load<u32>(span), size = load<u32>(span, 4);
    if (start == u32.MAX_VALUE || data + start + size > this.size) return null;
    const value = new Uint8Array(size);
    memory.copy(value.dataStart, this.start + <usize>data + start, size);
    return value;
  }

  // text returns the value as UTF-8.
  text(i: i32): string | null {
    const value = this.bytes(i);
    return value ? String.UTF8.decode(value.buffer) : null;
  }
}

// Kind is the kind of a named section of a request.
export const enum Kind {
  Attribute = 5, Property, Pool, BackfillConnection = 10, BackfillAttribute, BackfillProperty, BackfillPool,
  PlayerID = 16, PlayerAttribute, PlayerProperty,
  BackfillPlayerID = 21, BackfillPlayerTeam, BackfillPlayerRole, BackfillPlayerAttribute,
}

@final
export class Request {
  now: i64; // Unix milliseconds: the sandbox has no clock
  seed: u64; // for random numbers: the sandbox has none
  budget: u32; // milliseconds that the run may take
  tickets: i32; // how many
  backfills: i32;
  // How many attributes and properties of the tickets are not in the request, at least: 0 if the manifest names what the
  // function reads.
  leftOutAttributes: u32;
  leftOutProperties: u32;
  config: string = ""; // the config's settings, a JSON object; empty if there are none
  created: Column<f64> = new Column(0, 0); // Unix milliseconds
  wait: Column<f64> = new Column(0, 0); // seconds
  players: u32; // how many the tickets have in all: see firstPlayer
  playerHandles: Column<u64> = new Column(0, 0); // empty unless the manifest asks for them
  backfillCreated: Column<f64> = new Column(0, 0);
  backfillVersion: Column<i64> = new Column(0, 0);
  backfillPlayers: u32 = 0; // how many the running games have in all, if known: see firstBackfillPlayer
  backfillPlayerHandles: Column<u64> = new Column(0, 0); // a player who waits has the same in playerHandles
  // Pairs of a backfill ticket and a ticket that must not join it, since one of its players is in the game, ascending.
  barred: Column<u32> = new Column(0, 0);
  // The tickets of which somebody wants to know why they are in no match, ascending; usually none. See Answer.explain.
  asked: Column<u32> = new Column(0, 0);
  private playerStarts: usize = 0;
  private backfillPlayerStarts: usize = 0;
  private sections: Section[] = [];
  private none: StaticArray<f64> = [];

  // names returns the names of the sections of a kind.
  names(kind: Kind): string[] {
    const names: string[] = [];
    for (let i = 0; i < this.sections.length; i++) if (this.sections[i].kind == kind) names.push(this.sections[i].name);
    return names;
  }

  attribute(name: string): Column<f64> { return this.column(Kind.Attribute, name, this.tickets); }
  property(name: string): Values { return this.values(Kind.Property, name, this.tickets); }
  // pool returns ticket numbers, ascending, or null if the config does not have the pool.
  pool(name: string): Column<u32> | null { return this.numbers(Kind.Pool, name); }

  // firstPlayer returns the number of a ticket's first player. Its last one is that before the first one of the next
  // ticket: a ticket t has firstPlayer(t + 1) - firstPlayer(t) players.
  firstPlayer(ticket: u32): u32 {
    if (ticket > <u32>this.tickets) throw new RangeError("no ticket " + ticket.toString());
    return this.playerStarts ? load<u32>(this.playerStarts + (<usize>ticket << 2)) : ticket;
  }
  playerID(): Values { return this.values(Kind.PlayerID, "", this.players); }
  playerAttribute(name: string): Column<f64> { return this.column(Kind.PlayerAttribute, name, this.players); }
  playerProperty(name: string): Values { return this.values(Kind.PlayerProperty, name, this.players); }

  // The same for backfill tickets. A connection is missing while the server is being allocated.
  backfillConnection(): Values { return this.values(Kind.BackfillConnection, "", this.backfills); }
  backfillAttribute(name: string): Column<f64> { return this.column(Kind.BackfillAttribute, name, this.backfills); }
  backfillProperty(name: string): Values { return this.values(Kind.BackfillProperty, name, this.backfills); }
  backfillPool(name: string): Column<u32> | null { return this.numbers(Kind.BackfillPool, name); }

  // firstBackfillPlayer returns the number of the first player in the game of a backfill ticket, as firstPlayer does.
  // A game may have none. Players who joined lately have no team and no role.
  firstBackfillPlayer(backfill: u32): u32 {
    if (backfill > <u32>this.backfills) throw new RangeError("no backfill ticket " + backfill.toString());
    return this.backfillPlayerStarts ? load<u32>(this.backfillPlayerStarts + (<usize>backfill << 2)) : 0;
  }
  backfillPlayerID(): Values { return this.values(Kind.BackfillPlayerID, "", this.backfillPlayers); }
  backfillPlayerTeam(): Values { return this.values(Kind.BackfillPlayerTeam, "", this.backfillPlayers); }
  backfillPlayerRole(): Values { return this.values(Kind.BackfillPlayerRole, "", this.backfillPlayers); }
  backfillPlayerAttribute(name: string): Column<f64> {
    return this.column(Kind.BackfillPlayerAttribute, name, this.backfillPlayers);
  }

  private column(kind: Kind, name: string, n: i32): Column<f64> {
    const s = this.find(kind, name);
    if (s) return new Column<f64>(s.start, n);
    // All absent columns share one that is long enough: they would not keep another one alive.
    if (this.none.length < n) {
      const games = max<u32>(<u32>this.backfills, this.backfillPlayers);
      this.none = new StaticArray<f64>(max<u32>(max<u32>(<u32>this.tickets, this.players), games)).fill(NaN);
    }
    return new Column<f64>(changetype<usize>(this.none), n);
  }

  private values(kind: Kind, name: string, n: i32): Values {
    const s = this.find(kind, name);
    return s ? new Values(s.start, s.size, n) : new Values(0, 0, 0);
  }

  private numbers(kind: Kind, name: string): Column<u32> | null {
    const s = this.find(kind, name);
    return s ? new Column<u32>(s.start, s.size >> 2) : null;
  }

  private find(kind: Kind, name: string): Section | null {
    for (let i = 0; i < this.sections.length; i++) {
      const s = this.sections[i];
      if (s.kind == kind && s.name == name) return s;
    }
    return null;
  }

  // read views a block as a request. It returns null, or what is wrong with the block.
  read(block: usize, length: u32): string | null {
    if (length < 24 || load<u32>(block) != 0x51524d4d || load<u32>(block, 4) != 1 || load<u32>(block, 8) != length || length % 8 != 0)
      return "the request is no block of version 1";
    const table = load<u32>(block, 12), count = load<u32>(block, 16);
    if (table % 8 != 0 || table < 24 || <u64>table + <u64>count * 24 > length) return "the request's table lies outside";
    let end: u64 = 24, has: u32 = 0;
    for (let i: u32 = 0; i < count; i++) {
      const entry = block + table + i * 24;
      const kind = load<u32>(entry), name = load<u32>(entry, 4), nameSize = load<u32>(entry, 8), start = load<u32>(entry, 12), size = load<u32>(entry, 16);
      if (<u64>name + nameSize > length || start % 8 != 0 || start < end || <u64>start + size > table)
        return "a section of the request is misaligned, overlaps or lies outside";
      end = <u64>start + size;
      const s = new Section(kind, String.UTF8.decodeUnsafe(block + name, nameSize), block + start, size);
      if (i == 0) {
        if (kind != 1 || size < 32) return "the request begins without its meta section";
        this.readMeta(s);
        continue;
      }
      if (!this.take(s)) return "section " + i.toString() + " of the request has another length than its kind";
      if (kind < 32) has |= 1 << kind;
    }
    if ((has & 0x18) != 0x18 || (this.backfills > 0 && (has & 0x700) != 0x700)) return "the request lacks a section";
    return null;
  }

  private readMeta(meta: Section): void {
    const start = meta.start;
    this.now = load<i64>(start);
    this.seed = load<u64>(start, 8);
    this.budget = load<u32>(start, 16);
    this.tickets = load<i32>(start, 20);
    this.players = this.tickets;
    this.backfills = load<i32>(start, 24);
    if (meta.size < 40) return;
    this.leftOutAttributes = load<u32>(start, 32);
    this.leftOutProperties = load<u32>(start, 36);
  }

  // take stores a section if its length is right for its kind.
  private take(s: Section): bool {
    const n = <u64>(<u32>this.tickets) * 8, m = <u64>(<u32>this.backfills) * 8, p = <u64>this.players * 8;
    const q = <u64>this.backfillPlayers * 8;
    switch (s.kind) {
      case 2: this.config = String.UTF8.decodeUnsafe(s.start, s.size); break;
      case 3: if (s.size != n) return false; this.created = new Column<f64>(s.start, this.tickets); break;
      case 4: if (s.size != n) return false; this.wait = new Column<f64>(s.start, this.tickets); break;
      case 5: if (s.size != n) return false; break;
      case 6: if (s.size < n) return false; break;
      case 8: if (s.size != m) return false; this.backfillCreated = new Column<f64>(s.start, this.backfills); break;
      case 9: if (s.size != m) return false; this.backfillVersion = new Column<i64>(s.start, this.backfills); break;
      case 11: if (s.size != m) return false; break;
      case 10: case 12: if (s.size < m) return false; break;
      case 7: case 13: if (s.size % 4 != 0) return false; break;
      case 14: if (s.size != n / 2 + 4 || !this.takePlayers(s.start)) return false; break;
      case 15: if (s.size != p) return false; this.playerHandles = new Column<u64>(s.start, this.players); break;
      case 17: if (s.size != p) return false; break;
      case 16: case 18: if (s.size < p) return false; break;
      case 19: if (s.size != m / 2 + 4 || !this.takeBackfillPlayers(s.start)) return false; break;
      case 20:
        if (s.size != q) return false;
        this.backfillPlayerHandles = new Column<u64>(s.start, this.backfillPlayers);
        break;
      case 24: if (s.size != q) return false; break;
      case 21: case 22: case 23: if (s.size < q) return false; break;
      case 25: if (s.size % 8 != 0 || !this.takeBarred(s)) return false; break;
      case 26: if (s.size % 4 != 0 || !this.takeAsked(s)) return false; break;
    }
    this.sections.push(s);
    return true;
  }

  // takePlayers stores which players the tickets have, if every ticket has one.
  private takePlayers(starts: usize): bool {
    if (load<u32>(starts) != 0) return false;
    for (let i = 0; i < this.sections.length; i++) if (this.sections[i].kind > 14 && this.sections[i].kind < 19) return false;
    for (let i: usize = 0; i < <usize>this.tickets; i++)
      if (load<u32>(starts + (i << 2), 4) <= load<u32>(starts + (i << 2))) return false;
    this.playerStarts = starts;
    this.players = load<u32>(starts + (<usize>this.tickets << 2));
    return true;
  }

  // takeBackfillPlayers stores which players the games have, if they do not end before they start.
  private takeBackfillPlayers(starts: usize): bool {
    if (load<u32>(starts) != 0) return false;
    for (let i = 0; i < this.sections.length; i++)
      if (this.sections[i].kind > 19 && this.sections[i].kind < 25) return false;
    for (let i: usize = 0; i < <usize>this.backfills; i++)
      if (load<u32>(starts + (i << 2), 4) < load<u32>(starts + (i << 2))) return false;
    this.backfillPlayerStarts = starts;
    this.backfillPlayers = load<u32>(starts + (<usize>this.backfills << 2));
    return true;
  }

  // takeBarred stores the pairs if there are such tickets and the pairs ascend.
  private takeBarred(s: Section): bool {
    for (let i: u32 = 0, last: u64 = 0; i < s.size; i += 8) {
      const backfill = load<u32>(s.start + i), ticket = load<u32>(s.start + i, 4), pair = <u64>backfill << 32 | ticket;
      if (backfill >= <u32>this.backfills || ticket >= <u32>this.tickets || (i > 0 && pair <= last)) return false;
      last = pair;
    }
    this.barred = new Column<u32>(s.start, s.size >> 2);
    return true;
  }

  // takeAsked stores the tickets if there are such and they ascend.
  private takeAsked(s: Section): bool {
    for (let i: u32 = 0; i < s.size; i += 4) {
      const ticket = load<u32>(s.start + i);
      if (ticket >= <u32>this.tickets || (i > 0 && ticket <= load<u32>(s.start + i - 4))) return false;
    }
    this.asked = new Column<u32>(s.start, s.size >> 2);
    return true;
  }
}

// Field is a field of a proposal.
export const enum Field {
  TeamName = 1, Connection, Error, AssignmentProperties, MatchProperties, TicketProperties, Region, Fleet, Profile,
  BackfillCreate, BackfillUpdate, BackfillSetAttribute, BackfillSetProperty, BackfillRemove, Measure,
}

@final
class Part {
  start: u32 = 0;
  size: u32 = 0;
  constructor(public proposal: u32, public field: u32, public subject: u32, public name: Uint8Array, public value: Uint8Array) {}

  // order compares two parts: negative if this one is first, 0 if they are equal.
  order(p: Part): i32 {
    if (this.field != p.field) return this.field < p.field ? -1 : 1;
    if (this.subject != p.subject) return this.subject < p.subject ? -1 : 1;
    const o = memory.compare(this.name.dataStart, p.name.dataStart, min(this.name.length, p.name.length));
    return o != 0 ? o : this.name.length - p.name.length;
  }
}

@final
export class Answer {
  private teams: u32[] = [];
  private proposals: u32[] = [];
  private tickets: u32[] = [];
  private scores: f64[] = [];
  private parts: Part[] = [];
  private first: i32 = 0; // the first part of the latest proposal
  private explanations: u32[] = [];
  private reasons: u8[] = [];
  private explained: Uint8Array = new Uint8Array(0); // how many reasons each asked ticket has; empty until one has

  // propose begins a proposal; ticket and team add its tickets. Its score is compared with those of all other
  // proposals: higher is better.
  propose(score: f64): Answer {
    this.proposals.push(this.teams.length);
    this.scores.push(score);
    this.first = this.parts.length;
    return this;
  }

  // ticket adds a ticket to the latest proposal. team ends a team of tickets.
  ticket(number: u32): Answer {
    this.tickets.push(number);
    return this;
  }
  team(): Answer {
    this.teams.push(this.tickets.length);
    if (this.proposals.length > 0) this.proposals[this.proposals.length - 1] = this.teams.length;
    return this;
  }

  // text sets a field of the latest proposal whose value is text or JSON.
  text(field: Field, value: string, subject: u32 = 0, name: string = ""): Answer {
    return this.bytes(field, utf8(value), subject, name);
  }
  // number sets an attribute of the backfill ticket, where NaN removes it, or a measure.
  number(field: Field, value: f64, name: string): Answer {
    const bytes = new Uint8Array(8);
    store<f64>(bytes.dataStart, value);
    return this.bytes(field, bytes, 0, name);
  }
  // bytes sets any field. FORMAT.md says which fields have a subject and a name, and what their values are. The last of
  // several values counts.
  bytes(field: Field, value: Uint8Array, subject: u32 = 0, name: string = ""): Answer {
    if (this.proposals.length == 0) return this;
    const part = new Part(this.proposals.length - 1, field, subject, utf8(name), value);
    let at = this.parts.length;
    while (at > this.first && this.parts[at - 1].order(part) > 0) at--;
    if (at > this.first && this.parts[at - 1].order(part) == 0) {
      this.parts[at - 1] = part;
      return this;
    }
    this.parts.push(part);
    for (let i = this.parts.length - 1; i > at; i--) this.parts[i] = this.parts[i - 1];
    this.parts[at] = part;
    return this;
  }

  // explain says why a ticket of Request.asked is in no match: a reason for people, such as the name of a rule, and how
  // many other tickets could be with it if it were not for that; -1 if nobody knows. A reason may have 1,024 bytes, a
  // ticket 16 reasons. What is more is left out, and so are other tickets.
  explain(r: Request, ticket: u32, reason: string, candidates: i64 = -1): Answer {
    let i = 0;
    for (let end = r.asked.length; i < end;) {
      const middle = (i + end) >> 1;
      if (r.asked[middle] < ticket) i = middle + 1;
      else end = middle;
    }
    if (i == r.asked.length || r.asked[i] != ticket || reason == "") return this;
    if (this.explained.length == 0) this.explained = new Uint8Array(r.asked.length);
    if (this.explained[i] == 16) return this;
    this.explained[i]++;
    const text = utf8(reason), size = cut(text, 1024);
    this.explanations.push(ticket);
    this.explanations.push(candidates < 0 ? u32.MAX_VALUE : <u32>min<i64>(candidates, u32.MAX_VALUE - 1));
    this.explanations.push(this.reasons.length);
    this.explanations.push(size);
    for (let at = 0; at < size; at++) this.reasons.push(text[at]);
    return this;
  }

  // finish returns all proposals as a block.
  finish(): StaticArray<u8> {
    const parts: u32[] = [];
    let data: u32 = 0;
    for (let i = 0; i < this.parts.length; i++) {
      const p = this.parts[i], size = <u32>(p.name.length + p.value.length);
      parts.push(p.proposal); parts.push(p.field); parts.push(p.subject); parts.push(p.name.length); parts.push(data); parts.push(size);
      data += size;
    }
    const words = this.teams.length + this.proposals.length + this.tickets.length + parts.length + this.explanations.length;
    const block = new Block(8, words * 4 + this.scores.length * 8 + data + this.reasons.length);
    block.section(1, this.teams.dataStart, this.teams.length * 4);
    block.section(2, this.proposals.dataStart, this.proposals.length * 4);
    block.section(3, this.tickets.dataStart, this.tickets.length * 4);
    block.section(4, this.scores.dataStart, this.scores.length * 8);
    block.section(5, parts.dataStart, parts.length * 4);
    const bytes = new Uint8Array(data);
    let at = bytes.dataStart;
    for (let i = 0; i < this.parts.length; i++) {
      const p = this.parts[i];
      memory.copy(at, p.name.dataStart, p.name.length);
      memory.copy(at + p.name.length, p.value.dataStart, p.value.length);
      at += p.name.length + p.value.length;
    }
    block.section(6, bytes.dataStart, data);
    block.section(8, this.explanations.dataStart, this.explanations.length * 4);
    block.section(9, this.reasons.dataStart, this.reasons.length);
    return block.bytes;
  }
}

function utf8(text: string): Uint8Array { return Uint8Array.wrap(String.UTF8.encode(text)); }

// failed returns the answer of a run that failed.
function failed(reason: string): StaticArray<u8> {
  const text = utf8(reason == "" ? "failed without saying why" : reason), size = cut(text, 4096);
  const block = new Block(1, size);
  block.section(7, text.dataStart, size);
  return block.bytes;
}

// cut returns how many bytes of a text to take, at most so many, between two characters.
function cut(text: Uint8Array, most: i32): i32 {
  if (text.length <= most) return text.length;
  while (most > 0 && (text[most] & 0xc0) == 0x80) most--;
  return most;
}

// Block writes a block. Its table comes after its sections.
@final
class Block {
  bytes: StaticArray<u8>;
  private end: u32 = 24;
  private entry: usize;

  constructor(count: u32, data: u32) {
    const table = 24 + ((data + 7 * count + 7) & ~7), length = table + count * 24;
    this.bytes = new StaticArray<u8>(length);
    const at = changetype<usize>(this.bytes);
    store<u32>(at, 0x4e414d4d); // MMAN
    store<u32>(at, 1, 4);
    store<u32>(at, length, 8);
    store<u32>(at, table, 12);
    store<u32>(at, count, 16);
    this.entry = at + table;
  }

  section(kind: u32, data: usize, size: u32): void {
    store<u32>(this.entry, kind);
    store<u32>(this.entry, this.end, 12);
    store<u32>(this.entry, size, 16);
    memory.copy(changetype<usize>(this.bytes) + this.end, data, size);
    this.entry += 24;
    this.end = (this.end + size + 7) & ~7;
  }
}

// sortBy returns the numbers of all elements, sorted by their values: ascending, equal values by number, NaN last. It
// is a radix sort, about four times as fast as Array.sort with a comparison.
export function sortBy(values: Column<f64>): StaticArray<u32> {
  const n = values.length;
  let keys = new StaticArray<u64>(n), otherKeys = new StaticArray<u64>(n);
  let numbers = new StaticArray<u32>(n), otherNumbers = new StaticArray<u32>(n);
  const counts = new StaticArray<u32>(6 << 11); // of digits of 11 bits
  for (let i = 0; i < n; i++) {
    const value = values[i], bits = reinterpret<u64>(value + 0.0); // -0 becomes 0
    const key = isNaN(value) ? u64.MAX_VALUE : bits >> 63 ? ~bits : bits | (1 << 63);
    unchecked(keys[i] = key);
    unchecked(numbers[i] = i);
    for (let d = 0; d < 6; d++) unchecked(counts[(d << 11) + <i32>((key >> (11 * d)) & 2047)]++);
  }
  for (let d = 0; d < 6; d++) {
    const count = d << 11;
    if (n == 0 || counts[count + <i32>((keys[0] >> (11 * d)) & 2047)] == n) continue; // all have the same digit
    for (let i = 0, sum: u32 = 0; i < 2048; i++) {
      const c = unchecked(counts[count + i]);
      unchecked(counts[count + i] = sum);
      sum += c;
    }
    for (let i = 0; i < n; i++) {
      const key = unchecked(keys[i]), digit = count + <i32>((key >> (11 * d)) & 2047), at = unchecked(counts[digit]++);
      unchecked(otherKeys[at] = key);
      unchecked(otherNumbers[at] = numbers[i]);
    }
    const k = keys, m = numbers;
    keys = otherKeys; otherKeys = k;
    numbers = otherNumbers; otherNumbers = m;
  }
  return numbers;
}

// What the host calls

let room: usize = 0; // for the request, outside of the garbage collector
let answer: StaticArray<u8> = [];

export function mm_abi(): u32 { return 1; }

export function mm_manifest(): u64 { return (<u64>changetype<usize>(manifest) << 32) | manifest.byteLength; }

export function mm_alloc(size: u32): usize {
  if (room) heap.free(room);
  room = heap.alloc(size);
  return room;
}

export function mm_run(length: u32): u64 {
  const r = new Request(), a = new Answer();
  let failure = r.read(room, length);
  if (failure === null) failure = match(r, a);
  answer = failure === null ? a.finish() : failed(failure);
  return (<u64>changetype<usize>(answer) << 32) | answer.length;
}
