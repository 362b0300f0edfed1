import { afterAll, describe, expect, it } from 'vitest';
import type { EventType } from '#rules/events.ts';
import { callTesting } from '../../../support/clients/sandbox.ts';
import { readTestWallet } from '../../../support/fixtures/renewing.ts';
import { SUBSCRIPTION_SWEEPS } from '../../../support/models/subscription-life.ts';
import { newKey } from '../../../support/people/agent.ts';
import { confirmSubscription } from '../../../support/people/subscription-buyer.ts';
import { pullerOf, subscriptionWorld } from '../../../support/people/subscription-shop.ts';
import { endSkips, skipTime } from '../../../support/runner/clock.ts';
import { testEnv } from '../../../support/runner/env.ts';
import type { Received } from '../../../support/servers/receiver.ts';
import type { Merchant, World } from '../../../support/world.ts';
import { type Api, type Club, openClub } from './club.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

const DAY_SECONDS = 86_400;
/** Time after the start of a period by which it is collected. */
const COLLECTED_SECONDS = 11 * 60;
const CUSTOMER = 'member-1';

/** Wallets, the only part that differs between the modes. */
interface Wallets {
  signAsOwner(transaction: string): Promise<string>;
  member: {
    address(): Promise<string>;
    subscribe(payment: Body): Promise<void>;
    cancel(transaction: string): Promise<object>;
  };
}

function testWallets(w: World, merchant: Merchant): Wallets {
  const pay = async (body: object) => (await callTesting(w, merchant, 'POST', 'pay', body)).body;
  return {
    signAsOwner: async (transaction) => (await pay({ transaction })).tx_signature,
    member: {
      address: () => readTestWallet(w, merchant, 'member'),
      subscribe: async ({ payment_id }) => pay({ payment_id, wallet: 'member' }),
      cancel: async (transaction) => ({ tx_signature: (await pay({ transaction, wallet: 'member' })).tx_signature }),
    },
  };
}

async function liveWallets(w: World, merchant: Merchant): Promise<Wallets> {
  const member = await w.chain.wallet(100_000_000n);
  await w.chain.call('local_fundSol', pullerOf(w), '1000000000');
  await w.chain.call('local_fundSol', merchant.wallet.address, '1000000000');
  await w.chain.call('local_fundUsdc', merchant.wallet.address, '0');
  const send = (wire: string) => w.chain.call<string>('sendTransaction', wire, { encoding: 'base64' });
  const readSteps = async (id: string) => (await w.call('GET', `/v1/payments/${id}`)).body.subscription.steps;
  return {
    signAsOwner: async (transaction) => send(await w.chain.sign(merchant.wallet, transaction)),
    member: {
      address: async () => member.address,
      subscribe: async ({ payment_id }) => {
        for (let steps = await readSteps(payment_id); steps.length > 0; steps = await readSteps(payment_id))
          await send(await w.chain.sign(member, steps[0].transaction));
      },
      cancel: async (transaction) => ({ transaction: await w.chain.sign(member, transaction) }),
    },
  };
}

async function settleDown(w: World): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await skipTime(w.chain, 35);
    for (const sweep of [...SUBSCRIPTION_SWEEPS, 'settlements', 'memberships', 'sandboxes']) {
      await w.sweepAlone(sweep);
      await w.deliver();
    }
    await w.deliver();
    await w.attempt();
  }
}

/** Hands the club its received webhooks since `since`, newest first and each twice. Returns the new types about subscriptions. */
async function hand(club: Club, all: Received[], since: number): Promise<EventType[]> {
  const got = all.slice(since);
  const heard: string[] = [];
  for (const { headers, body } of [...got, ...got].reverse())
    heard.push(...(await club.hear(new Request('https://club.test/hooks', { method: 'POST', headers, body }))));
  return (heard as EventType[]).filter((type) => /^(?:subscription|membership|receipt)\./.test(type)).sort();
}

/** Records a club's view of a member who subscribes, is collected from, cancels and ends. */
async function join(w: World, merchant: Merchant, key: string, wallets: Wallets) {
  const box = crypto.randomUUID();
  const api: Api = async (method, path, body) => {
    const headers: Record<string, string> = method === 'POST' && path.startsWith('/v1/access/') ? { 'Idempotency-Key': newKey() } : {};
    const answer = await w.call(method, path, { key, headers, ...(body ? { body: body as Record<string, unknown> } : {}) });
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    return answer.body;
  };
  const hookUrl = `${testEnv.TEST_RECEIVER_URL}/ok/${box}`;
  const club = await openClub(api, { hookUrl, payoutWallet: merchant.wallet.address, signAsOwner: wallets.signAsOwner });
  const observations: { heard: EventType[]; books: string[]; isMember: boolean; collected: number }[] = [];
  let handed = 0;
  const observe = async () => {
    await settleDown(w);
    const all = await (await fetch(`${testEnv.TEST_RECEIVER_URL}/_box/${box}`)).json<Received[]>();
    const heard = await hand(club, all, handed);
    handed = all.length;
    const { total: collected } = await api('GET', '/v1/receipts');
    observations.push({ heard, books: [...club.books.values()], isMember: await club.isMember(CUSTOMER), collected });
  };
  const pass = (seconds: number) => skipTime(w.chain, seconds);

  const payment = await w.connect(club, { customer_ref: CUSTOMER, wallet_address: await wallets.member.address() });
  await wallets.member.subscribe(payment);
  await confirmSubscription(w, payment.payment_id);
  await observe();
  await pass(30 * DAY_SECONDS + COLLECTED_SECONDS);
  await observe();
  const subscription = `/v1/access/native-subscriptions/${payment.subscription.authorization_id}`;
  const { transaction } = await api('POST', `${subscription}/cancel-intent`, { wallet_address: await wallets.member.address() });
  await api('POST', `${subscription}/cancel-confirm`, await wallets.member.cancel(transaction));
  await observe();
  await pass(30 * DAY_SECONDS + COLLECTED_SECONDS);
  await observe();
  return observations;
}

describe('subscription integration', () => {
  afterAll(endSkips);

  it('code written against the sandbox subscribes, collects, cancels and ends identically in live mode', async () => {
    const w = subscriptionWorld({ ALLOW_INSECURE_WEBHOOKS: 'true' });
    const merchant = await w.merchant();
    const inSandbox = await join(w, merchant, merchant.sandboxKey, testWallets(w, merchant));
    const live = await join(w, merchant, merchant.key, await liveWallets(w, merchant));
    expect(inSandbox).toEqual(live);
    expect(live.map(({ books, isMember, collected }) => [...books, isMember, collected])).toEqual([
      ['active', true, 1],
      ['active', true, 2],
      ['cancel_requested', true, 2],
      ['cancelled', false, 2],
    ]);
    expect(live.map(({ heard }) => heard.filter((type) => type.startsWith('subscription.')))).toEqual([
      ['subscription.authorized'],
      ['subscription.renewed'],
      ['subscription.cancel_requested'],
      ['subscription.cancelled'],
    ]);
  });
});
