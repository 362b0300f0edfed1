// @module-tag volume
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { History } from '../../local/simulate/book/history.ts';
import { judge } from '../../local/simulate/book/judge.ts';
import { type SimulatedHost, SimulatedService } from '../../local/simulate/runtime/host.ts';
import { Random } from '../../local/simulate/runtime/random.ts';
import { Agent } from '../../local/simulate/world/actors/agent.ts';
import { Buyer } from '../../local/simulate/world/actors/buyer.ts';
import { Owner } from '../../local/simulate/world/actors/owner.ts';
import { Streamer } from '../../local/simulate/world/actors/streamer.ts';
import { Subscriber } from '../../local/simulate/world/actors/subscriber.ts';
import { Tester } from '../../local/simulate/world/actors/tester.ts';
import { Administrator } from '../../local/simulate/world/merchants/administrator.ts';
import { Cashier } from '../../local/simulate/world/merchants/cashier.ts';
import { play, type Role } from '../../local/simulate/world/play.ts';
import { SETTINGS } from '../../local/simulate/world/settings.ts';

const SEED = 12;
const SIZE = { actors: 12, steps: 140 };
const SUBSCRIPTION_SEED = 20;

let service: SimulatedService;
let host: SimulatedHost | null = null;

beforeAll(async () => {
  service = await SimulatedService.load();
});

afterEach(() => {
  host?.end();
  host = null;
});

type Plant = (host: SimulatedHost, history: History) => void;

/** Plays a history without faults. `plant` then changes what the service or the world says of it. */
async function judgeAfter(
  plant: Plant,
  { seed = SEED, size = SIZE, roles = [Buyer, Agent, Owner] }: Partial<Played> = {},
): Promise<string[]> {
  host = service.begin({ seed, variables: SETTINGS });
  const history = await play(host, new Random(seed, 'people').next, size, roles);
  expect(await judge(host, history)).toEqual([]);
  plant(host, history);
  return judge(host, history);
}

interface Played {
  seed: number;
  size: typeof SIZE;
  roles: readonly Role[];
}

const LIVE = "livemode = 1 AND status = 'CONFIRMED'";

const LIES: [lie: string, plant: Plant, finding: RegExp][] = [
  ['a payment that the chain lacks', (at) => at.rows(`UPDATE payments SET tx_signature = 'x' WHERE ${LIVE}`), /neither booked/],
  ['a payment taken back', (at) => at.rows(`UPDATE payments SET orphaned_at = 1 WHERE ${LIVE}`), /summary/],
  ['unmatched money that is gone', (at) => at.rows('DELETE FROM unmatched_payments'), /neither booked nor unmatched/],
  ['a unit too many', (at) => at.rows('UPDATE entitlements SET remaining = remaining + 1'), /has \d+ units left/],
  ['a receipt out of its chain', (at) => at.rows("UPDATE receipts SET anchor_hash = 'x'"), /does not follow/],
  ['a receipt with another signature', (at) => at.rows(`UPDATE receipts SET signature = '${'2'.repeat(88)}'`), /not signed by/],
  ['a receipt above what was paid', (_, history) => payMore(history), /proves \d+ to/],
  ['events that never arrived', (_, { received }) => received.splice(0).length, /never reached/],
  [
    'a delivery with another signature',
    (_, { received }) => received.map((one) => Object.assign(one, { body: one.body.replace('{', '{ ') })),
    /no valid signature/,
  ],
  ['a settlement answered twice', (_, { settled }) => settled.push(...settled), /as new to/],
];

/** Makes the chain show a unit more in each transaction. */
function payMore(history: History): void {
  const { landed } = history;
  history.landed = (wallet) => landed(wallet).map((one) => ({ ...one, units: one.units + 1n }));
}

describe('the book', () => {
  it.each(LIES)('finds %s', async (_, plant, finding) => {
    expect((await judgeAfter(plant)).join('\n')).toMatch(finding);
  });
});

const METERED = "SELECT subject_id FROM tx_claims WHERE kind = 'metered' AND livemode = 1";
const STREAM_LIES: typeof LIES = [
  ['a voucher that was forgotten', (_, { streams }) => raise(streams, { acknowledged: 10n ** 7n }), /acknowledged/],
  ['more than a buyer signed', (_, { streams }) => raise(streams, { signed: 0n }), /the buyer signed 0/],
  ['a settlement in no payment', (at) => at.rows(`UPDATE payments SET price_amount = '1' WHERE id IN (${METERED})`), /has payments of/],
  ['a payout that did not arrive', (_, history) => Object.assign(history, { moved: () => [] }), /the merchant got 0/],
];

function raise(list: object[], change: object): void {
  for (const one of list) Object.assign(one, change);
}

describe('the book of metered sessions', () => {
  it.each(STREAM_LIES)('finds %s', async (_, plant, finding) => {
    const played = { seed: 1, size: { actors: 3, steps: 40 }, roles: [Streamer] };
    expect((await judgeAfter(plant, played)).join('\n')).toMatch(finding);
  });
});

const DAY_MS = 86_400_000;
const SUBSCRIPTION_LIES: typeof LIES = [
  [
    'access that lasts too long',
    (at) => at.rows(`UPDATE subscription_authorizations SET paid_through = paid_through + ${3 * DAY_MS}`),
    /was last paid/,
  ],
  [
    'access that ends early',
    (at) => at.rows(`UPDATE subscription_authorizations SET paid_through = paid_through - ${DAY_MS}`),
    /was last paid/,
  ],
  ['a membership with another end', (at) => at.rows('UPDATE memberships SET paid_through = paid_through - 60000'), /at different times/],
  ['a collection in no payment', (at) => at.rows(`UPDATE payments SET tx_signature = 'x' WHERE ${LIVE}`), /is in no payment/],
  ['a subscription that was never collected', (at) => at.rows(`UPDATE payments SET orphaned_at = 1 WHERE ${LIVE}`), /never collected/],
  ['a period that was collected twice', (_, history) => collectTwice(history), /collected twice/],
];

function collectTwice(history: History): void {
  const { landed } = history;
  history.landed = (wallet) => landed(wallet).flatMap((one) => [one, one]);
}

describe('the book of subscriptions', () => {
  it.each(SUBSCRIPTION_LIES)('finds %s', async (_, plant, finding) => {
    const played = { seed: SUBSCRIPTION_SEED, size: { actors: 3, steps: 40 }, roles: [Subscriber] };
    expect((await judgeAfter(plant, played)).join('\n')).toMatch(finding);
  });
});

const OTHER_LIES: typeof LIES = [
  ['a facilitated payment of another amount', (_, { facilitated }) => raise(facilitated, { units: 1n }), /brought \d+/],
  ['a closed account that was not paid', (_, { closed }) => raise(closed, { signature: 'x' }), /and was paid by x/],
  ['a webhook after the end of an account', (at, history) => sendLate(at, history), /webhooks after its end/],
  ['a scenario without its events', (at) => at.rows("UPDATE sandbox_sessions SET steps = '[]'"), /had no/],
  ['a scenario that runs for ever', (at) => at.rows("UPDATE sandbox_sessions SET status = 'running', moved_at = 9e14"), /runs for ever/],
];

function sendLate(at: SimulatedHost, { closed, received }: History): void {
  for (const { shop } of closed) received.push({ box: shop.endpoints[0]!.box, at: at.now(), headers: {}, body: '{}', answered: 200 });
}

describe('the book of servers, accounts and scenarios', () => {
  it.each(OTHER_LIES)('finds %s', async (_, plant, finding) => {
    const played = { seed: 5, size: { actors: 6, steps: 90 }, roles: [Cashier, Administrator, Tester] };
    expect((await judgeAfter(plant, played)).join('\n')).toMatch(finding);
  });
});
