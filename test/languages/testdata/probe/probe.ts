// probe does what the tests tell it, so that they see the whole of matchfn.ts: a
// request whose ticket 0 has the property "script" says what to propose; any
// other is written to the log, number for number. vectors_test.go has the forms.
import { Answer, Column, Field, Kind, Request, Values, log, register, sortBy } from "./matchfn";
export { mm_abi, mm_alloc, mm_manifest, mm_run } from "./matchfn";

const PROPOSE = 32, TEAM = 33, FAIL = 34, CRASH = 35, EXPLAIN = 36;

register((r: Request, a: Answer): string | null => {
  const script = r.property("script").bytes(0);
  if (script) return play(r, script, a);
  describe(r);
  return null;
}, "{}");

function hex(digits: i32, v: u64): string {
  let s = "";
  for (let i = digits - 1; i >= 0; i--) s += "0123456789abcdef".charAt(<i32>((v >> (4 * i)) & 15));
  return s;
}

function integer(what: string, v: u64): void { log(what + " " + hex(16, v)); }

function numbers<T>(what: string, column: Column<T> | null): void {
  if (column) {
    for (let i = 0; i < column.length; i++) {
      const v = column[i];
      if (isFloat<T>()) what += v != v ? " -" : " " + hex(16, reinterpret<u64>(<f64>v));
      else what += " " + hex(16, <u64>v);
    }
  }
  log(what);
}

// values prints n values, which may be more than there are.
function values(what: string, values: Values, n: i32): void {
  for (let i = 0; i < n; i++) {
    const v = values.bytes(i);
    what += v ? " ." : " -";
    if (v) for (let j = 0; j < v.length; j++) what += hex(2, v[j]);
  }
  log(what);
}

function describe(r: Request): void {
  integer("now", r.now);
  integer("seed", r.seed);
  integer("budget", r.budget);
  log("config " + r.config);
  log("left out " + hex(16, r.leftOutAttributes) + " " + hex(16, r.leftOutProperties));
  integer("tickets", r.tickets);
  numbers("created", r.created);
  numbers("wait", r.wait);
  let names = r.names(Kind.Attribute).concat(["nobody's"]);
  for (let i = 0; i < names.length; i++) numbers("attribute " + names[i], r.attribute(names[i]));
  names = r.names(Kind.Property).concat(["nobody's"]);
  for (let i = 0; i < names.length; i++) values("property " + names[i], r.property(names[i]), r.tickets);
  names = r.names(Kind.Pool).concat(["nobody's"]);
  for (let i = 0; i < names.length; i++) numbers("pool " + names[i], r.pool(names[i]));
  names = r.names(Kind.Attribute);
  for (let i = 0; i < names.length; i++) {
    const order = sortBy(r.attribute(names[i]));
    numbers("order " + names[i], new Column<u32>(changetype<usize>(order), order.length));
  }
  integer("backfills", r.backfills);
  numbers("backfill created", r.backfillCreated);
  numbers("backfill version", r.backfillVersion);
  values("backfill connection", r.backfillConnection(), r.backfills);
  names = r.names(Kind.BackfillAttribute).concat(["nobody's"]);
  for (let i = 0; i < names.length; i++) numbers("backfill attribute " + names[i], r.backfillAttribute(names[i]));
  names = r.names(Kind.BackfillProperty).concat(["nobody's"]);
  for (let i = 0; i < names.length; i++) values("backfill property " + names[i], r.backfillProperty(names[i]), r.backfills);
  names = r.names(Kind.BackfillPool).concat(["nobody's"]);
  for (let i = 0; i < names.length; i++) numbers("backfill pool " + names[i], r.backfillPool(names[i]));
  let starts = "player starts";
  for (let i = 0; i <= r.tickets; i++) starts += " " + hex(16, r.firstPlayer(i));
  log(starts);
  numbers("player handles", r.playerHandles);
  values("player ids", r.playerID(), r.players);
  names = r.names(Kind.PlayerAttribute).concat(["nobody's"]);
  for (let i = 0; i < names.length; i++) numbers("player attribute " + names[i], r.playerAttribute(names[i]));
  names = r.names(Kind.PlayerProperty).concat(["nobody's"]);
  for (let i = 0; i < names.length; i++) values("player property " + names[i], r.playerProperty(names[i]), r.players);
  log("player pool nobody's");
  starts = "backfill player starts";
  for (let i = 0; i <= r.backfills; i++) starts += " " + hex(16, r.firstBackfillPlayer(i));
  log(starts);
  numbers("backfill player handles", r.backfillPlayerHandles);
  values("backfill player ids", r.backfillPlayerID(), r.backfillPlayers);
  values("backfill player teams", r.backfillPlayerTeam(), r.backfillPlayers);
  values("backfill player roles", r.backfillPlayerRole(), r.backfillPlayers);
  names = r.names(Kind.BackfillPlayerAttribute).concat(["nobody's"]);
  for (let i = 0; i < names.length; i++)
    numbers("backfill player attribute " + names[i], r.backfillPlayerAttribute(names[i]));
  numbers("barred", r.barred);
  numbers("asked", r.asked);
}

function play(r: Request, script: Uint8Array, a: Answer): string | null {
  for (let at = 0; at < script.length;) {
    const head = script.dataStart + at; // what, subject, length of the name, of the value
    const what = load<u32>(head), subject = load<u32>(head, 4), nameSize = load<i32>(head, 8), size = load<i32>(head, 12);
    const name = String.UTF8.decodeUnsafe(head + 16, nameSize), start = at + 16 + ((nameSize + 7) & ~7);
    const value = script.slice(start, start + size);
    at = start + ((size + 7) & ~7);
    switch (what) {
      case PROPOSE: a.propose(load<f64>(value.dataStart)); break;
      case TEAM:
        for (let i = 0; i < size; i += 4) a.ticket(load<u32>(value.dataStart + i));
        a.team();
        break;
      case FAIL: return String.UTF8.decode(value.buffer);
      case CRASH: throw new Error("told to");
      case EXPLAIN: a.explain(r, subject, name, load<i64>(value.dataStart)); break;
      default:
        if (what == Field.BackfillSetAttribute || what == Field.Measure) a.number(what, load<f64>(value.dataStart), name);
        else a.bytes(what, value, subject, name);
    }
  }
  return null;
}
