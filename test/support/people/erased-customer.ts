import { expect } from 'vitest';
import { dumpTable, listTables } from '../fixtures/database-dump.ts';
import { testEnv } from '../runner/env.ts';
import type { World } from '../world.ts';

/** Lets the times pass that an erasure waits for. */
const skipWaits = () =>
  testEnv.DB.prepare(
    "UPDATE customers SET erase_at = 0, erasure = json_set(erasure, '$.takenAt', 0, '$.callsEndAt', 0) WHERE erase_at IS NOT NULL",
  ).run();

/** Expires unpaid checkouts that have ended. */
async function endCheckouts(w: World): Promise<void> {
  await testEnv.DB.prepare("UPDATE payments SET expires_at = 0 WHERE status = 'PENDING_SIGNATURE' AND expires_at <= ?")
    .bind(Date.now())
    .run();
  await w.sweepAlone('expired');
}

export const erasuresLeft = async (): Promise<number> =>
  (await testEnv.DB.prepare('SELECT count(*) AS n FROM customers WHERE erase_at IS NOT NULL').first<number>('n'))!;

/** Runs the sweep until every erasure has ended, or `runs` times. */
export async function completeErasures(w: World, env = w.env, runs = 10): Promise<void> {
  for (let run = 0; run < runs && (await erasuresLeft()) > 0; run++) {
    await skipWaits();
    await endCheckouts(w);
    await w.sweepAlone('erasedCustomers', env).catch(() => null);
    while (w.queue.sent.length > 0) await w.deliver();
  }
  if (runs > 1) expect(await erasuresLeft()).toBe(0);
}

/** Lists the tables and columns of the database that hold a text. */
export async function findWord(word: string): Promise<string[]> {
  const found: string[] = [];
  for (const table of await listTables(testEnv.DB))
    for (const row of await dumpTable(testEnv.DB, table))
      for (const [column, value] of Object.entries(row))
        if (typeof value === 'string' && value.toLowerCase().includes(word)) found.push(`${table}.${column}`);
  return [...new Set(found)].sort();
}
