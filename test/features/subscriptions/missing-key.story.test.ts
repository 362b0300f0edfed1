import { afterAll, beforeAll, expect, it } from 'vitest';
import { base64url } from '#core/encoding.ts';
import { findTrouble } from '#features/operator/health-checks.ts';
import { type Env, newCtx } from '#platform/context.ts';
import {
  COLLECTING_KEYS,
  collectingWorld,
  collectorOf,
  run,
  type SubscriptionLife,
  SubscriptionSeller,
} from '../../support/models/subscription-life.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';

const SECRET = 'the secret of an operator in a test';
const w = collectingWorld({ OPERATOR_SECRET: SECRET });
const OTHER_KEY = base64url.encode(new Uint8Array(32).fill(97));
const without = { ...w.env, SUBSCRIPTION_KEYS: OTHER_KEY } as Env;
const withNone = { ...w.env, SUBSCRIPTION_KEYS: '' } as Env;
const rotated = { ...w.env, SUBSCRIPTION_KEYS: `${OTHER_KEY},${COLLECTING_KEYS}` } as Env;

let life: SubscriptionLife;
beforeAll(async () => {
  life = await (await SubscriptionSeller.open(w)).subscribe();
});
afterAll(endSkips);

const findMissingKeys = async (env: Env) =>
  (await findTrouble(newCtx(env, { requestId: 'req_trouble', defer: () => {} }))).filter(({ name }) => name === 'puller_missing');
const metric = async (env: Env): Promise<string | undefined> => {
  const { body } = await w.call('GET', '/v1/operator/metrics', { headers: { 'X-Svc-Operator-Secret': SECRET }, env });
  return /^svc_keys_missing\{variable="SUBSCRIPTION_KEYS"\} (\d+)$/m.exec(String(body))?.[1];
};

it('the operator is notified of a missing collector key of running subscriptions, and not of a configured one', async () => {
  for (const env of [w.env, rotated]) expect([await findMissingKeys(env), await metric(env)]).toEqual([[], '0']);
  for (const env of [without, withNone]) {
    const [trouble, ...more] = await findMissingKeys(env);
    expect([trouble?.finding, more]).toEqual([expect.stringContaining(collectorOf(w)), []]);
    expect(await metric(env)).toBe('1');
  }
});

it('a collection with a missing key is retried at growing intervals and succeeds once the key is back', async () => {
  const { paidThrough } = await life.read();
  await skipTime(w.chain, Math.ceil((paidThrough! - Date.now()) / 1000) + 660);
  const waits: number[] = [];
  for (let round = 0; round < 20; round++) {
    await run(w, without);
    const { nextAttemptAt } = await life.read();
    waits.push(Math.round((nextAttemptAt! - Date.now()) / 60_000));
    await skipTime(w.chain, Math.ceil((nextAttemptAt! - Date.now()) / 1000) + 1);
  }
  expect(waits[0]).toBe(2);
  expect(waits.every((wait, i) => wait >= (waits[i - 1] ?? 0))).toBe(true);
  expect(waits.at(-1)).toBeGreaterThan(10);
  expect(await life.payments()).toHaveLength(1);
  await run(w);
  await life.settle();
  expect(await life.payments()).toHaveLength(2);
  expect(await life.read()).toMatchObject({ status: 'active' });
});

it('a collection with a missing key waits at most an hour', async () => {
  const { paidThrough } = await life.read();
  await skipTime(w.chain, Math.ceil((paidThrough! - Date.now()) / 1000) + 86_400);
  await run(w, without);
  expect(Math.round(((await life.read()).nextAttemptAt! - Date.now()) / 60_000)).toBe(60);
});
