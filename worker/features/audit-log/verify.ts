import type { Scope } from '#platform/context.ts';
import type { AuditEntry } from '#platform/db/tables/office/audit-log.ts';
import { entryHash, GENESIS_HASH } from './entry.ts';
import { listStoredAfter, readBegin } from './store.ts';

interface Verification {
  checked: number;
  head: { seq: number; hash: string };
  /** Number of the first entry that is missing or differs. */
  brokenAt: number | null;
}

const PAGE = 1000;
/**
 * Recomputes the chain of the account, in both modes, from the entry after the archived ones. An erased entry is verified by its links
 * alone, if a later entry records the erasure of the account, a customer, the entry's author or its invitation. Entries since the last run of the
 * chain are not checked yet.
 */
export async function verifyLog({ db, merchantId }: Scope): Promise<Verification> {
  const begin = await readBegin(db, merchantId, PAGE);
  let head: Verification['head'] = begin.archived ?? { seq: 0, hash: GENESIS_HASH };
  let [checked, isOver, last] = [0, false, head.seq];
  const erased = new Unexplained();
  // The archive leaves the newest entry.
  if (begin.archived && begin.entries.length === 0) return { checked, head, brokenAt: last + 1 };
  for (let { entries } = begin; ; entries = await listStoredAfter(db, merchantId, last, PAGE)) {
    for (const entry of entries) {
      isOver ||= entry.hash === null;
      if (entry.seq !== last + 1) return { checked, head, brokenAt: Math.min(entry.seq, last + 1) };
      last = entry.seq;
      if (isOver && entry.hash === null) continue;
      if (isOver || !follows(entry, head)) return { checked, head, brokenAt: entry.seq };
      head = { seq: entry.seq, hash: entry.hash! };
      checked++;
      if (entry.isErased) erased.add(entry);
      else erased.explain(entry);
    }
    if (entries.length < PAGE) return { checked, head, brokenAt: erased.first() };
  }
}

type StoredEntry = Awaited<ReturnType<typeof listStoredAfter>>[number];

type Erased = Pick<StoredEntry, 'seq' | 'actorId' | 'subjectType' | 'subjectId'>;

const ERASURES: Record<string, (entry: Erased, id: string) => boolean> = {
  'account.erased': () => true,
  'member.erased': ({ actorId }, id) => actorId === id,
  'invitation.erased': ({ subjectId }, id) => subjectId === id,
  // Names the customer that absorbed others, of which the entries are erased too.
  'customer.erased': ({ subjectType }) => subjectType === 'customer',
};

/** Erased entries, the first of each author, kind of subject and invitation, until the entry of their erasure is found. */
class Unexplained {
  #entries = new Map<string, Erased>();

  add({ seq, actorId, subjectType, subjectId }: StoredEntry): void {
    const key = `${actorId} ${subjectType} ${subjectType === 'invitation' ? subjectId : ''}`;
    if (!this.#entries.has(key)) this.#entries.set(key, { seq, actorId, subjectType, subjectId });
  }

  explain({ action, subjectId: id }: StoredEntry): void {
    const isMeant = ERASURES[action];
    if (!isMeant) return;
    for (const [key, entry] of this.#entries) if (isMeant(entry, id)) this.#entries.delete(key);
  }

  first(): number | null {
    return this.#entries.size === 0 ? null : Math.min(...[...this.#entries.values()].map(({ seq }) => seq));
  }
}

const follows = ({ isWellFormed, ...entry }: StoredEntry, head: Verification['head']): boolean =>
  isWellFormed === 1 &&
  entry.seq === head.seq + 1 &&
  entry.prevHash === head.hash &&
  (entry.isErased || entry.hash === findHash(entry, head.hash));

/** Hash of an entry. Null: details that are no JSON, or a time that is no instant. */
function findHash(entry: Omit<StoredEntry, 'isWellFormed'>, prevHash: string): string | null {
  try {
    return entryHash({ ...entry, details: JSON.parse(entry.details) as AuditEntry['details'] }, prevHash);
  } catch {
    return null;
  }
}
