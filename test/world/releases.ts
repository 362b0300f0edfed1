import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import type { EntitlementKey, EntitlementSnapshot } from '#rules/balance.ts';
import type { Entitlement } from '../../durable-objects/entitlement.ts';
import { testEnv } from './env.ts';
import { Entitlement as Released } from './releases/7839a4d/entitlement.js';
import described from './releases/7839a4d/objects.json';
import sql from './releases/7839a4d/objects.sql?raw';

/** What a release before this one left behind, and its code: how both were made is said in releases/7839a4d/make.mjs. */
export interface Left {
  label: string;
  name: string;
  identity: EntitlementKey;
  alarmAt: number | null;
  readings: { at: number; snapshot: EntitlementSnapshot | null }[];
  replays: { verb: 'consume' | 'grant' | 'refund' | 'credit'; input: object; answer: object }[];
}

export const MADE_AT: number = described.madeAt;
export const LEFT = described.objects as unknown as Left[];

const statements = new Map(
  sql.split('-- object: ').flatMap((part) => {
    const [label = '', ...lines] = part.trim().split('\n');
    return lines.length > 0 ? [[label, lines] as const] : [];
  }),
);

type Stub = ReturnType<typeof testEnv.ENTITLEMENT.getByName>;
export type Release = Pick<Entitlement, 'consume' | 'grant' | 'refund' | 'credit' | 'revoke' | 'read' | 'alarm'>;

/** An object that holds what the release left in it. Each caller gets one of its own, by another merchant's name. */
export async function openLeft({ label, alarmAt }: Left): Promise<Stub> {
  const stub = testEnv.ENTITLEMENT.getByName(crypto.randomUUID());
  await runInDurableObject(stub, async (_, { storage }) => {
    for (const line of statements.get(label)!) storage.sql.exec(line);
    if (alarmAt !== null) await storage.setAlarm(alarmAt);
  });
  await evictDurableObject(stub);
  return stub;
}

/** Goes back to that release for a while: its code works on the object's storage, and this release's begins anew after it. */
export async function withReleased<T>(stub: Stub, work: (object: Release) => Promise<T>, env: object = testEnv): Promise<T> {
  await runInDurableObject(stub, () => {});
  await evictDurableObject(stub);
  const answer = await runInDurableObject(stub, (_, state) => work(new Released(state, env as typeof testEnv)));
  await evictDurableObject(stub);
  return answer;
}

/** One of its calls, as a replay describes it. */
export const ask = (object: Release, verb: Left['replays'][number]['verb'], call: object): Promise<{ ok?: boolean }> =>
  (object[verb] as (call: object) => Promise<{ ok?: boolean }>)(call);

/** Everything in the object's own tables, as text. */
export const contentOf = (stub: Stub, table: string): Promise<string[]> =>
  runInDurableObject(stub, (_, { storage }) =>
    storage.sql
      .exec(`SELECT * FROM ${table}`)
      .toArray()
      .map((row) => JSON.stringify(row)),
  );
