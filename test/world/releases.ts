import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import type { EntitlementKey, EntitlementSnapshot } from '#rules/balance.ts';
import { Entitlement } from '../../durable-objects/entitlement.ts';
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
export type Later = Release & Pick<Entitlement, 'reinstate' | 'finalize'>;

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

type Code<R> = (state: DurableObjectState, env: typeof testEnv) => R;

/** Lets a release's code work on the object's storage for a while; this release's begins anew after it. No alarm is left behind, because that would be this release's. */
async function withCode<T, R>(stub: Stub, code: Code<R>, work: (object: R) => Promise<T>, env: object): Promise<T> {
  await runInDurableObject(stub, () => {});
  await evictDurableObject(stub);
  const answer = await runInDurableObject(stub, async (_, state) => {
    const result = await work(code(state, env as typeof testEnv));
    await state.storage.deleteAlarm();
    return result;
  });
  await evictDurableObject(stub);
  return answer;
}

/** Goes back to the release that was recorded, which knows form 1. */
export const withReleased = <T>(stub: Stub, work: (object: Release) => Promise<T>, env: object = testEnv): Promise<T> =>
  withCode<T, Release>(stub, (state, own) => new Released(state, own), work, env);

/** The release between that one and this: it reads both forms, and writes the first. */
export const withReader = <T>(stub: Stub, work: (object: Later) => Promise<T>, env: object = testEnv): Promise<T> =>
  withCode<T, Later>(stub, (state, own) => new Entitlement(state, own, 1), work, env);

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
