import { beforeAll, describe, expect, it } from 'vitest';
import {
  activate,
  buy,
  newSetup,
  newSpender,
  openTreasury,
  payFor,
  readAccountPlan,
  readActivations,
  readSettlements,
  setupRow,
} from '../../support/people/activation.ts';
import { type Agent, letDoubtsAge } from '../../support/people/agent.ts';
import { testEnv } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

describe('plan purchase with a setup secret', () => {
  const w = new World();
  let agent: Agent;
  beforeAll(async () => {
    await openTreasury(w);
    agent = await newSpender(w);
  });

  it('a payment with the setup secret activates the plan, and the setup never expires', async () => {
    const { merchant, id, secret } = await newSetup(w);
    const before = await setupRow(id);
    const { status, body } = await activate(w, agent, 'starter', { secret });
    expect([status, body.account_id]).toEqual([200, merchant.userId]);
    expect((await readAccountPlan(merchant)).plan).toBe('starter');
    expect(await setupRow(id)).toEqual({ expires_at: null, version: before.version + 1 });
    const again = await activate(w, agent, 'starter', { secret });
    expect(again.status).toBe(200);
  });

  it('a call without a credential names the setup secret among those accepted', async () => {
    const { status, body } = await w.call('POST', '/v1/access/x402/activate/starter');
    expect([status, body.code]).toEqual([401, 'invalid_authorization']);
    for (const header of ['X-Svc-Setup-Secret', 'X-Svc-Key', 'Authorization']) expect(body.detail).toContain(header);
  });

  it('an unknown, wrong, expired and malformed secret get the same 401', async () => {
    const [good, stranger] = [await newSetup(w), await newSetup(w)];
    const expired = [await newSetup(w, { expiresAt: Date.now() - 1 }), await newSetup(w, { status: 'expired', expiresAt: null })];
    const tail = good.secret.slice(-43);
    const payment = await payFor(w, agent, 'starter', { secret: good.secret });
    const guesses = [
      '',
      'svc_setup_',
      good.secret.slice(0, -1),
      `${good.secret}A`,
      good.secret.toUpperCase(),
      stranger.secret.slice(0, -43) + tail,
      `svc_setup_${'0'.repeat(32)}_${tail}`,
      `svc_setup_${good.id}_${tail}`,
      ...expired.map(({ secret }) => secret),
    ];
    for (const secret of guesses) {
      const { status, body } = await buy(w, 'starter', { secret }, payment);
      expect([secret, status, body.code, body.meta]).toEqual([secret, 401, 'invalid_authorization', {}]);
    }
    expect((await buy(w, 'starter', { secret: guesses[2]!, key: good.merchant.key })).status).toBe(401);
    expect((await buy(w, 'starter', { secret: good.secret }, payment)).status).toBe(200);
  });

  it('a suspended account cannot buy a plan', async () => {
    const { secret, merchant } = await newSetup(w);
    await testEnv.DB.prepare("UPDATE accounts SET status = 'suspended' WHERE id = ?").bind(merchant.userId).run();
    expect((await buy(w, 'starter', { secret })).body.code).toBe('account_suspended');
  });

  it('guesses at setup secrets are rate limited', async () => {
    const { secret } = await newSetup(w);
    const env = { ...w.env, RATE_MULTIPLIER: '1' };
    const headers = { 'CF-Connecting-IP': '203.0.113.9' };
    const guess = () => buy(w, 'starter', { secret: `${secret.slice(0, -43)}${'x'.repeat(43)}` }, undefined, { env, headers });
    const statuses = [];
    for (let i = 0; i < 22; i++) statuses.push((await guess()).status);
    expect(statuses).toEqual([...Array(20).fill(401), 429, 429]);
    expect((await buy(w, 'starter', { secret }, undefined, { headers: { 'CF-Connecting-IP': '203.0.113.10' }, env })).status).toBe(402);
  });

  it('a plan above the per-payment limit is refused with 403 before a payment is requested', async () => {
    const { merchant, secret } = await newSetup(w, { perPayment: 20_000_000n });
    const { status, body } = await buy(w, 'growth', { secret });
    expect([status, body.code]).toEqual([403, 'spend_limit_exceeded']);
    expect(body.meta).toMatchObject({ reason: 'per_payment', per_payment: '20', price: '49' });
    expect((await activate(w, agent, 'starter', { secret })).status).toBe(200);
    // The account's own key is not bound by the agent's limits.
    expect((await buy(w, 'growth', { key: merchant.key })).status).toBe(402);
  });

  it('eight concurrent payments: the two within the daily limit succeed', async () => {
    const { merchant, secret } = await newSetup(w, { perDay: 38_000_000n });
    const payments: string[] = [];
    for (let i = 0; i < 8; i++) payments.push(await payFor(w, agent, 'starter', { secret }));
    const answers = await Promise.all(payments.map((payment) => buy(w, 'starter', { secret }, payment)));
    const refused = answers.filter(({ status }) => status === 403);
    expect(refused).toHaveLength(6);
    for (const { body } of refused) expect([body.code, body.meta.reason]).toEqual(['spend_limit_exceeded', 'per_day']);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
    expect([await readActivations(merchant), await readSettlements(merchant)].map(({ length }) => length)).toEqual([2, 2]);
    expect((await buy(w, 'starter', { secret })).body.meta).toMatchObject({ reason: 'per_day', spent_today: '38' });
    await testEnv.DB.prepare('UPDATE settlements SET created_at = created_at - 86400000 WHERE merchant_id = ?').bind(merchant.userId).run();
    expect((await buy(w, 'starter', { secret })).status).toBe(402);
  });

  it('a failed payment does not count against the daily limit', async () => {
    const { secret } = await newSetup(w, { perDay: 19_000_000n });
    const payment = await payFor(w, agent, 'starter', { secret });
    await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 1 });
    expect((await buy(w, 'starter', { secret }, payment)).status).toBe(202);
    expect((await buy(w, 'starter', { secret })).status).toBe(403);
    await w.chain.call('local_warp', 600);
    expect((await buy(w, 'starter', { secret }, payment)).status).toBe(202);
    await letDoubtsAge(w);
    // The payment fails for good in this call. Only the next call sees its budget as free.
    expect((await buy(w, 'starter', { secret }, payment)).status).toBe(402);
    expect((await activate(w, agent, 'starter', { secret })).status).toBe(200);
  });

  it('browsers of any origin can call the route', async () => {
    const origin = 'https://agent.example';
    const preflight = await w.call('OPTIONS', '/v1/access/x402/activate/starter', {
      headers: {
        Origin: origin,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'x-svc-setup-secret,payment-signature,access-control-expose-headers',
      },
    });
    expect(preflight.headers.get('Access-Control-Allow-Origin')).toBe('*');
    for (const name of ['PAYMENT-SIGNATURE', 'X-Svc-Setup-Secret', 'Access-Control-Expose-Headers'])
      expect(preflight.headers.get('Access-Control-Allow-Headers')).toContain(name);
    const { secret } = await newSetup(w);
    const { headers } = await buy(w, 'starter', { secret }, undefined, { headers: { Origin: origin } });
    expect(headers.get('Access-Control-Expose-Headers')).toContain('PAYMENT-REQUIRED');
  });
});
