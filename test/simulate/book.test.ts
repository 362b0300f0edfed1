import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { History } from '../../local/simulate/book/history.ts';
import { judge } from '../../local/simulate/book/judge.ts';
import { type SimulatedHost, SimulatedService } from '../../local/simulate/runtime/host.ts';
import { Random } from '../../local/simulate/runtime/random.ts';
import { play } from '../../local/simulate/world/play.ts';
import { SETTINGS } from '../../local/simulate/world/settings.ts';

const SEED = 12;
const SIZE = { actors: 12, steps: 140 };

let service: SimulatedService;
let host: SimulatedHost | null = null;

beforeAll(async () => {
  service = await SimulatedService.load();
});

afterEach(() => {
  host?.end();
  host = null;
});

/** Plays a history without faults. `plant` then changes what the service or the world says of it. */
async function judgeAfter(plant: (host: SimulatedHost, history: History) => void): Promise<string[]> {
  host = service.begin({ seed: SEED, variables: SETTINGS });
  const history = await play(host, new Random(SEED, 'people').next, SIZE);
  expect(await judge(host, history)).toEqual([]);
  plant(host, history);
  return judge(host, history);
}

const LIVE = "livemode = 1 AND status = 'CONFIRMED'";

const LIES: [lie: string, plant: (host: SimulatedHost, history: History) => void, finding: RegExp][] = [
  ['a payment that the chain lacks', (at) => at.rows(`UPDATE payments SET tx_signature = 'x' WHERE ${LIVE}`), /neither booked/],
  ['a payment taken back', (at) => at.rows(`UPDATE payments SET orphaned_at = 1 WHERE ${LIVE}`), /summary/],
  ['unmatched money that is gone', (at) => at.rows('DELETE FROM unmatched_payments'), /neither booked nor unmatched/],
  ['a unit too many', (at) => at.rows('UPDATE entitlements SET remaining = remaining + 1'), /has \d+ units left/],
  ['a receipt out of its chain', (at) => at.rows("UPDATE receipts SET link_prev_hash = 'x'"), /does not follow/],
  ['events that never arrived', (_, { received }) => received.splice(0).length, /never reached/],
  [
    'a delivery with another signature',
    (_, { received }) => received.map((one) => Object.assign(one, { body: one.body.replace('{', '{ ') })),
    /no valid signature/,
  ],
  ['a settlement answered twice', (_, { settled }) => settled.push(...settled), /as new to/],
];

describe('the book', () => {
  it.each(LIES)('finds %s', async (_, plant, finding) => {
    expect((await judgeAfter(plant)).join('\n')).toMatch(finding);
  });
});
