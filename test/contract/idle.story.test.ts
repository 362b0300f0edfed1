import { beforeAll, describe, expect, it } from 'vitest';
import { HOUR, MINUTE } from '#core/time.ts';
import { setNoon, setTime } from '../support/runner/clock.ts';
import { rowsOf, withRowCount, worstOf, writtenBy } from '../support/runner/rows-read.ts';
import { World } from '../support/world.ts';

const ROWS_MAX = 45;
/** Scheduled sweeps: the scan of the reference, the fee payers' balances, idempotency records and seals. */
const WRITTEN_AN_HOUR_MAX = 140;

describe('idle database', () => {
  const w = new World();
  beforeAll(async () => {
    await w.purchase(await w.product(await w.merchant()), await w.chain.wallet());
    await w.env.DB.prepare('UPDATE acts SET fanned_out_at = 1').run();
    await w.env.DB.prepare('DELETE FROM mails').run();
    await w.env.DB.prepare('UPDATE tx_claims SET next_check_at = NULL').run();
    setNoon();
    setTime(Date.now() + HOUR);
    await w.sweepAll();
  });

  /** Runs the minutes of `count`, each with a cron and all that it causes. */
  async function minutes(count: number) {
    const each: { rows: number; written: number; messages: string[]; worst: string }[] = [];
    for (let i = 0; i < count; i++) {
      setTime(Date.now() + MINUTE);
      const { env, readings } = withRowCount(w.env);
      const messages = await w.cron(env);
      const sent = messages.map(({ sweep }) => sweep);
      for (let next = messages.shift(); next; next = messages.shift()) {
        const caused = await w.runSweep(next, env);
        sent.push(...caused.map(({ sweep }) => sweep));
        messages.push(...caused);
      }
      each.push({ rows: rowsOf(readings), written: writtenBy(readings), messages: sent, worst: worstOf(readings) });
    }
    return each;
  }

  it('a minute reads at most 45 rows, writes none and takes one message, and scheduled sweeps write little in an hour', async () => {
    const hour = await minutes(60);
    const idle = hour.filter(({ messages }) => messages.length === 1);
    expect(idle.length).toBeGreaterThan(35);
    for (const { rows, written, worst } of idle) {
      expect(rows, worst).toBeLessThanOrEqual(ROWS_MAX);
      expect(written).toBe(0);
    }
    // The others run by their schedule, whether there is work or not.
    const scheduled = [...new Set(hour.flatMap(({ messages }) => messages.slice(1)))];
    expect(['candidates', 'expired', 'feePayer', 'idempotency', 'reference', 'seals']).toEqual(expect.arrayContaining(scheduled));
    expect(hour.reduce((sum, { written }) => sum + written, 0)).toBeLessThanOrEqual(WRITTEN_AN_HOUR_MAX);
  });
});
