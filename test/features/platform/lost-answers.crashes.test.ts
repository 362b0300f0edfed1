import { beforeAll, describe, expect, it } from 'vitest';
import { base58, utf8 } from '#core/encoding.ts';
import { entitlementIdOf } from '#core/ids.ts';
import type { Env } from '#platform/context.ts';
import { withFaults } from '../../support/faults/faults.ts';
import {
  buy,
  newSpender,
  openTreasury,
  payFor,
  readAccountPlan,
  readActivations,
  readSettlements,
} from '../../support/people/activation.ts';
import {
  type Agent,
  letLeasesEnd,
  newAgent,
  newKey,
  openShop,
  type Shop,
  sellToAgents,
  stall,
  withObjectFaults,
} from '../../support/people/agent.ts';
import { consumer, deliveries, received } from '../../support/people/consumer.ts';
import { REPEATED, testEnv } from '../../support/runner/env.ts';
import { type Answer, type CallOptions, type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

interface Deed {
  call(options: { env: Env; key: string }): Promise<Answer<Body>>;
  /** Reads the stored effects, which must not depend on the number of calls. */
  effects(): Promise<unknown>;
  /** True if the payment identifies the request instead of a key. */
  isKeyless?: boolean;
  expectUsable?(answer: Answer<Body>): Promise<void>;
}

const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
let ada: Merchant;
let shop: Shop;
let spender: Agent;
beforeAll(async () => {
  await openTreasury(w);
  shop = await openShop(w);
  ada = shop.merchant;
  spender = await newSpender(w);
});

const count = async (from: string, ...values: unknown[]): Promise<number> =>
  (await w.env.DB.prepare(`SELECT count(*) AS n FROM ${from}`)
    .bind(...values)
    .first<number>('n'))!;
const post = (path: string, body: unknown, options: CallOptions & { idempotencyKey: string }) =>
  w.call('POST', path, { key: ada.key, ...options, body, headers: { 'Idempotency-Key': options.idempotencyKey } });
const newStall = async (): Promise<Shop> => stall(w, ada, await sellToAgents(w, ada), await newAgent(w));
const fetchEntitlement = async (productId: string, customer: object) => {
  const { status, granted_units, used_units, remaining } = (
    await w.call('GET', `/v1/access/entitlements/${entitlementIdOf(ada.userId, true, productId, customer)}`, { key: ada.key })
  ).body;
  return { status, granted_units, used_units, remaining };
};

const DEEDS: Record<string, () => Promise<Deed>> = {
  confirm: async () => {
    const product = await w.product(ada, { usage_units: 3, access_period_days: 30 });
    const [payment, buyer] = [await w.connect(product), await w.chain.wallet()];
    const body = { payment_id: payment.payment_id, tx_signature: await w.chain.pay(buyer, payment) };
    return {
      call: ({ env, key }) => post('/v1/pay/confirm', body, { env, key: null, idempotencyKey: key }),
      effects: async () => ({
        events: await w.eventTypes(payment.payment_id),
        claims: await w.count('tx_claims', payment.payment_id),
        receipts: await w.count('receipts', payment.payment_id),
        access: await fetchEntitlement(product.product_id, { walletAddress: buyer.address }),
      }),
    };
  },
  settle: async () => {
    const own = await newStall();
    const payment = await own.pay();
    return {
      call: ({ env, key }) => own.settle(payment, {}, { env, idempotencyKey: key }),
      effects: async () => ({
        books: await own.books(),
        access: await fetchEntitlement(own.product.product_id, { walletAddress: own.agent.wallet.address }),
      }),
    };
  },
  activate: async () => {
    const merchant = await w.merchant('free');
    const payment = await payFor(w, spender, 'starter', { key: merchant.key });
    return {
      isKeyless: true,
      call: ({ env }) => buy(w, 'starter', { key: merchant.key }, payment, { env }),
      effects: async () => ({
        activations: (await readActivations(merchant)).length,
        settlements: (await readSettlements(merchant)).length,
        plan: (await readAccountPlan(merchant)).plan,
      }),
    };
  },
  grant: async () => {
    const own = await newStall();
    return {
      call: ({ env, key }) => own.grant({ units: 5 }, { env, idempotencyKey: key }),
      effects: () => fetchEntitlement(own.product.product_id, { walletAddress: own.agent.wallet.address }),
    };
  },
  refund: async () => {
    const own = await newStall();
    await own.grant({ units: 5 });
    const { body } = await own.consume({ units: 2 });
    return {
      call: ({ env, key }) => own.refund(body.consumption_id, { env, idempotencyKey: key }),
      effects: () => fetchEntitlement(own.product.product_id, { walletAddress: own.agent.wallet.address }),
    };
  },
  'accept-unmatched': async () => {
    const [product, buyer] = [await w.product(ada, { access_period_days: 30 }), await w.chain.wallet()];
    const { payment_id: id, ...bill } = await w.connect(product);
    const tx_signature = await w.chain.pay(buyer, bill as Body, { units: 3_000_000n });
    await w.confirm(id, tx_signature);
    return {
      call: ({ env, key }) => post(`/v1/payments/${id}/accept-unmatched`, { tx_signature }, { env, idempotencyKey: key }),
      effects: async () => ({
        recovered: await count('payments WHERE recovers_payment_id = ?', id),
        claims: await count('tx_claims WHERE tx_signature = ?', tx_signature),
        memberships: await count('memberships WHERE product_id = ?', product.product_id),
        receipts: await count('receipts WHERE tx_signature = ?', tx_signature),
      }),
    };
  },
  'create-key': async () => {
    const name = `key ${newKey()}`;
    return {
      call: ({ env, key }) => post('/v1/keys', { name }, { env, key: ada.token, idempotencyKey: key }),
      effects: async () => ({ keys: await count('api_keys WHERE name = ?', name) }),
      expectUsable: async ({ body }) => {
        const used = await w.call('GET', '/v1/account/me', { key: body.raw_key });
        expect([used.status, used.body.key_id]).toEqual([200, body.key.id]);
      },
    };
  },
  'rotate-secret': async () => {
    const { body } = await w.call('POST', '/v1/webhooks/endpoints', { key: ada.key, body: { url: 'https://shop.example.com/hooks' } });
    return {
      call: ({ env, key }) => post(`/v1/webhooks/endpoints/${body.endpoint_id}/rotate-secret`, {}, { env, idempotencyKey: key }),
      effects: async () => {
        const row = await w.env.DB.prepare('SELECT version, previous_sealed FROM webhook_endpoints WHERE id = ?')
          .bind(body.endpoint_id)
          .first<{ version: number; previous_sealed: string }>();
        return { version: row!.version, secretsBefore: JSON.parse(row!.previous_sealed).length };
      },
    };
  },
};

/** Lets leases end, so that claimed and unsent work may be sent by the next call. */
async function letTimePass(): Promise<void> {
  await letLeasesEnd(w);
  await w.env.DB.prepare("UPDATE settlements SET created_at = created_at - 10000 WHERE status = 'pending'").run();
}

/** Repeats the call until it succeeds and once more. Expects the same bytes and the same effects each time. */
async function expectOnce(name: string, deed: Deed, first: Answer<Body>, key: string, expected: unknown): Promise<void> {
  const isDone = ({ status }: Answer<Body>) => status === 200 || status === 201;
  if (isDone(first)) await deed.expectUsable?.(first);
  await letTimePass();
  const [again, third] = [await deed.call({ env: w.env, key }), await deed.call({ env: w.env, key })];
  expect([isDone(again), third.status], JSON.stringify(again.body)).toEqual([true, again.status]);
  await deed.expectUsable?.(third);
  const bytesOf = ({ body, headers }: Answer<Body>) => [JSON.stringify(body), headers.get('PAYMENT-RESPONSE')];
  expect(bytesOf(third)).toEqual(bytesOf(again));
  if (isDone(first)) expect(bytesOf(again)).toEqual(bytesOf(first));
  if (!deed.isKeyless) expect([name, third.headers.get('Idempotent-Replayed')]).toEqual([name, 'true']);
  expect(await deed.effects()).toEqual(expected);
}

describe.each(Object.keys(DEEDS))(`%s repeated under its key after a lost answer`, (name) => {
  const makeDeed = DEEDS[name]!;
  let expected: unknown;
  let trips = 0;
  let calls = 0;
  beforeAll(async () => {
    const deed = await makeDeed();
    const counted = withFaults(w.env);
    const { env, calls: made } = withObjectFaults(counted.env);
    expect([200, 201]).toContain((await deed.call({ env, key: newKey() })).status);
    [trips, calls] = [counted.trips.length, made.length];
    expected = await deed.effects();
  });

  it('a repeated call has one effect and the same answer byte for byte', async () => {
    const [deed, key] = [await makeDeed(), newKey()];
    await expectOnce(name, deed, await deed.call({ env: w.env, key }), key, expected);
  });

  it.each(['before', 'after'] as const)(
    'a repeated call has one effect if the database fails right %s any trip',
    REPEATED,
    async (moment) => {
      for (let cut = 1; cut <= trips; cut++) {
        const [deed, key] = [await makeDeed(), newKey()];
        const { env } = withFaults(w.env, { [moment]: ({ number }: { number: number }) => number === cut });
        const first = await deed.call({ env, key });
        expect([200, 201, 202, 503], `cut ${cut}: ${JSON.stringify(first.body)}`).toContain(first.status);
        await expectOnce(name, deed, first, key, expected);
      }
    },
  );

  it.each(['before', 'after'] as const)('a repeated call has one effect if an object fails right %s any call', REPEATED, async (moment) => {
    for (let cut = 1; cut <= calls; cut++) {
      const [deed, key] = [await makeDeed(), newKey()];
      const { env } = withObjectFaults(w.env, { [moment]: ({ number }: { number: number }) => number === cut });
      const first = await deed.call({ env, key });
      expect([200, 201, 202, 503], `cut ${cut}: ${JSON.stringify(first.body)}`).toContain(first.status);
      await expectOnce(name, deed, first, key, expected);
    }
  });
});

describe('secret rotation', () => {
  it('the secret is replayed and not stored in plain text', async () => {
    const [deed, key] = [await DEEDS['rotate-secret']!(), newKey()];
    const { body } = await deed.call({ env: w.env, key });
    const record = await w.env.DB.prepare('SELECT * FROM claims WHERE key = ?').bind(key).first();
    expect(record).toMatchObject({ status: 200, body: null });
    expect(JSON.stringify(record)).not.toContain(body.secret.slice(6));
  });

  it('twenty concurrent calls under one key return one secret', async () => {
    const [deed, key] = [await DEEDS['rotate-secret']!(), newKey()];
    const answers = await Promise.all(Array.from({ length: 20 }, () => deed.call({ env: w.env, key })));
    expect(new Set(answers.filter(({ status }) => status === 200).map(({ body }) => body.secret)).size).toBe(1);
    expect(answers.every(({ status, body }) => status === 200 || body.code === 'idempotency_race')).toBe(true);
    expect(await deed.effects()).toEqual({ version: 2, secretsBefore: 1 });
  });
});

describe('write without a key and with a lost database answer', () => {
  /** Stores the first batch, runs `meanwhile`, and loses the answer. */
  const lostAfter = (meanwhile: () => Promise<unknown> = async () => {}): Env => {
    const { DB } = w.env;
    let isLost = false;
    const batch: D1Database['batch'] = async (statements) => {
      const answers = await DB.batch(statements);
      if (isLost) return answers as never;
      isLost = true;
      await meanwhile();
      throw new Error('D1_ERROR: Network connection lost.');
    };
    return { ...w.env, DB: { prepare: (sql: string) => DB.prepare(sql), batch } as unknown as D1Database };
  };

  it('a password change succeeds although the account changed meanwhile', async () => {
    const merchant = await w.merchant();
    const touch = () =>
      testEnv.DB.prepare('UPDATE accounts SET version = version + 1, timezone = ? WHERE id = ?')
        .bind('Europe/Berlin', merchant.userId)
        .run();
    const body = { current_password: 'correct horse battery', new_password: 'battery staple horse' };
    const changed = await w.call('PATCH', '/v1/account/me/security', { key: merchant.token, body, env: lostAfter(touch) });
    expect([changed.status, changed.body.updated_fields]).toEqual([200, ['password']]);
    const logIn = (password: string) => w.call('POST', '/v1/auth/login', { body: { email: merchant.email, password } });
    expect([(await logIn('battery staple horse')).status, (await logIn('correct horse battery')).status]).toEqual([200, 401]);
    const row = await w.env.DB.prepare('SELECT timezone, token_version FROM accounts JOIN persons USING (id) WHERE id = ?')
      .bind(merchant.userId)
      .first();
    expect(row).toEqual({ timezone: 'Europe/Berlin', token_version: 2 });
  });

  it('a wallet sign-in succeeds, and its nonce cannot be used again', async () => {
    const wallet = await w.chain.wallet(0n);
    const { body } = await w.call('POST', '/v1/auth/wallet/nonce', { body: { wallet_address: wallet.address } });
    const signed_message = base58.encode(
      new Uint8Array(await crypto.subtle.sign('Ed25519', wallet.keyPair.privateKey, utf8(body.message))),
    );
    const proof = { wallet_address: wallet.address, signed_message, message_nonce: body.message_nonce };
    const { env } = withFaults(w.env, { after: ({ number }) => number === 1 });
    expect((await w.call('POST', '/v1/auth/wallet', { body: proof, env })).status).toBe(200);
    expect((await w.call('POST', '/v1/auth/wallet', { body: proof })).status).toBe(401);
  });

  it('a webhook test makes one event, one delivery and one attempt', async () => {
    const made = await consumer(w, ada, 'ok', { event_types: ['payment.failed'] });
    const tested = await w.call('POST', `/v1/webhooks/endpoints/${made.id}/test`, { key: ada.key, body: {}, env: lostAfter() });
    expect([tested.status, tested.body.succeeded]).toEqual([200, true]);
    await w.sweep();
    await w.attempt();
    expect([(await deliveries(made)).length, (await received(made)).length]).toEqual([1, 1]);
  });

  it('a replay is found again, and a second request while it is pending makes no other', async () => {
    const made = await consumer(w, ada, 'ok', { event_types: ['payment.failed'] });
    const { body } = await w.call('POST', `/v1/webhooks/endpoints/${made.id}/test`, { key: ada.key, body: {} });
    const replay = (env: Env) => w.call('POST', `/v1/webhooks/deliveries/${body.delivery_id}/replay`, { key: ada.key, env });
    const first = await replay(lostAfter());
    expect([first.status, first.body.replay_of]).toEqual([200, body.delivery_id]);
    expect((await replay(w.env)).body).toEqual(first.body);
    expect((await deliveries(made)).filter(({ replay_of }) => replay_of !== null)).toHaveLength(1);
  });
});
