/** Invocation as the coverage sees it. */
interface Stepping {
  readonly name: string;
  readonly subjects: readonly string[];
  readonly calls: number;
  readonly isAlive: boolean;
  readonly isolate: { readonly running: ReadonlySet<unknown> };
}

interface Open {
  invocation: Stepping;
  /** Verbs that made a step on its subject since its own last one. */
  others: Set<string>;
}

const NAMED_ID = /"(?:\w*_ids?|\w*Ids?|wallet_address|customer_ref)":\[?"([^"]+)"/g;
const isId = (part: string): boolean => /\d/.test(part) && !/^v\d$/.test(part);

/** Ids in a path and in a JSON body. */
export function subjectsOf(path: string, text: string | undefined): string[] {
  const parts = path.replace(/\?.*$/, '').split('/');
  const named = text === undefined ? [] : [...text.matchAll(NAMED_ID)].map(([, id]) => id!);
  return [...new Set([...parts.filter((part, index) => isId(part) || parts[index - 1] === 'p'), ...named])];
}

/** Counts which verbs made a step on a subject while another verb on that subject waited, by the await at which it waited. */
export class Interleavings {
  readonly #open = new Map<string, Open[]>();
  /** Times by `verb @ await | other verb`. */
  readonly counts = new Map<string, number>();

  step(invocation: Stepping): void {
    const { name, calls } = invocation;
    for (const subject of invocation.subjects) {
      const known = this.#open.get(subject) ?? [];
      const open = known.filter(({ invocation: one }) => one === invocation || (one.isAlive && one.isolate.running.has(one)));
      const own = open.find((one) => one.invocation === invocation) ?? { invocation, others: new Set() };
      if (!open.includes(own)) open.push(own);
      for (const other of own.others) this.#count(`${name} @ ${calls} | ${other}`);
      own.others.clear();
      for (const one of open) if (one !== own) one.others.add(name);
      this.#open.set(subject, open);
    }
  }

  #count(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }
}
