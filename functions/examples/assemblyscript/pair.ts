// pair matches neighbours in skill. The allowed difference grows by a point for each second that both have waited.
import { Answer, Request, register, sortBy } from "./matchfn";
export { mm_abi, mm_alloc, mm_manifest, mm_run } from "./matchfn";

register((r: Request, answer: Answer): string | null => {
  const skill = r.attribute("skill"), wait = r.wait;
  const order = sortBy(skill);
  for (let i = 0; i + 1 < r.tickets; i++) {
    const a = order[i], b = order[i + 1];
    const gap = skill[b] - skill[a];
    if (gap <= 25 + min(wait[a], wait[b])) {
      answer.propose(-gap).ticket(a).ticket(b).team();
      i++; // both are matched
    }
  }
  return null;
}, '{"attributes":["skill"],"properties":[]}');
