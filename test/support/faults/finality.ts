import { sweepFinality } from '#features/finality/watch.ts';
import { testEnv } from '../runner/env.ts';
import { inEach } from '../runner/shards.ts';
import type { World } from '../world.ts';
import { type Faults, withFaults } from './faults.ts';

/** Seconds after a confirmation until the first check of its transaction, and from there to the second proof of absence. */
export const FIRST_CHECK = 61;
export const SECOND_PROOF = 31;

/** Seconds until a block is final. A chain further ahead of our clock would find every session over. */
const FINAL_SECONDS = 14;

/** Moves the time for watched rows, and on the chain as far as needed. */
export async function letTimePass(w: World, seconds: number): Promise<void> {
  await w.chain.call('local_warp', Math.min(seconds, FINAL_SECONDS));
  const earlier = (columns: string[]) => columns.map((column) => `${column} = ${column} - ${seconds * 1000}`).join();
  const watched = ['next_check_at', 'doubted_at', 'dropped_at'];
  await testEnv.DB.batch([
    testEnv.DB.prepare(`UPDATE tx_claims SET ${earlier([...watched, 'confirmed_at'])} WHERE next_check_at > 0`),
    testEnv.DB.prepare(`UPDATE unmatched_payments SET ${earlier([...watched, 'created_at'])} WHERE next_check_at > 0`),
  ]);
}

/** Runs the checks after which a dropped transaction is accepted as gone. */
export async function sweepUntilBelieved(w: World): Promise<void> {
  for (const seconds of [FIRST_CHECK, SECOND_PROOF]) {
    await letTimePass(w, seconds);
    await w.sweepAlone('finality');
  }
}

/** Runs the finality sweep alone over a faulty database. Returns its number of trips. */
export async function watchOnce(w: World, faults: Faults = {}): Promise<number> {
  const { env, trips } = withFaults(w.env, faults);
  const work: Promise<unknown>[] = [];
  await inEach(env, (shard) => sweepFinality(shard).catch(() => null), { defer: (one) => work.push(one) });
  await Promise.all(work);
  return trips.length;
}

export interface OutcomeRow {
  kind: string;
  slot: number | null;
  final_at: number | null;
  doubted_at: number | null;
  dropped_at: number | null;
  next_check_at: number | null;
  answered_by: string | null;
}

export async function readOutcome(subjectId: string): Promise<OutcomeRow> {
  return (await testEnv.DB.prepare('SELECT * FROM tx_claims WHERE subject_id = ?').bind(subjectId).first<OutcomeRow>())!;
}
