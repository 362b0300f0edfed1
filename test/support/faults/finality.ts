import { sweepFinality } from '#features/finality/watch.ts';
import { newCtx } from '#platform/context.ts';
import { testEnv } from '../runner/env.ts';
import type { World } from '../world.ts';
import { type Faults, withFaults } from './faults.ts';

/** Seconds after a confirmation at which its transaction is first looked for, and then the second proof of an absence is believed. */
export const FIRST_LOOK = 61;
export const SECOND_PROOF = 31;

/** What the cluster needs to make a block final, and no more: a chain far ahead of our clock would find every session over. */
const FINAL_SECONDS = 14;

/** Time passes for whatever the service watches, and on the chain as far as it matters. */
export async function letTimePass(w: World, seconds: number): Promise<void> {
  await w.chain.call('local_warp', Math.min(seconds, FINAL_SECONDS));
  const earlier = (columns: string[]) => columns.map((column) => `${column} = ${column} - ${seconds * 1000}`).join();
  const watched = ['next_look_at', 'doubted_at', 'dropped_at', 'created_at'];
  await testEnv.DB.batch([
    testEnv.DB.prepare(`UPDATE tx_claims SET ${earlier([...watched, 'confirmed_at'])} WHERE next_look_at > 0`),
    testEnv.DB.prepare(`UPDATE unmatched_payments SET ${earlier(watched)} WHERE next_look_at > 0`),
  ]);
}

/** The looks after which what the chain dropped is believed to be gone. */
export async function sweepUntilBelieved(w: World): Promise<void> {
  for (const seconds of [FIRST_LOOK, SECOND_PROOF]) {
    await letTimePass(w, seconds);
    await w.sweepAlone('finality');
  }
}

/** The sweep of fates alone, over a database that may be cut. Answers how many trips it made. */
export async function watchOnce(w: World, faults: Faults = {}): Promise<number> {
  const { env, trips } = withFaults(w.env, faults);
  const work: Promise<unknown>[] = [];
  await sweepFinality(newCtx(env, { requestId: 'req_watch', defer: (one) => work.push(one) })).catch(() => null);
  await Promise.all(work);
  return trips.length;
}

export interface Fate {
  kind: string;
  slot: number | null;
  final_at: number | null;
  doubted_at: number | null;
  dropped_at: number | null;
  next_look_at: number | null;
  answered_by: string | null;
}

/** What became of what a transaction paid. */
export async function fateOf(subjectId: string): Promise<Fate> {
  return (await testEnv.DB.prepare('SELECT * FROM tx_claims WHERE subject_id = ?').bind(subjectId).first<Fate>())!;
}
