import { runInDurableObject } from 'cloudflare:test';
import { beforeAll, describe, expect, it } from 'vitest';
import { sweepSetups } from '#features/agent-setup/expire.ts';
import { type Env, newCtx } from '#platform/context.ts';
import { withFaults, withRival } from '../../support/faults/faults.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { buy, newSpender, openTreasury, payFor, treasuryUnits } from '../../support/people/activation.ts';
import { type Agent, letDoubtsAge } from '../../support/people/agent.ts';
import { Setup } from '../../support/people/bootstrap.ts';
import { REPEATED, testEnv } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

const w = new World();

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;
const actions = (body: Body): string[] => body.next_actions.map(({ action }: { action: string }) => action);
const works = async (key: string): Promise<boolean> => (await w.call('GET', '/v1/products', { key })).status === 200;
const readPlan = async ({ created }: Setup) =>
  (await testEnv.DB.prepare('SELECT plan FROM accounts WHERE id = ?').bind(created.account_id).first<{ plan: string }>())!.plan;
const sweep = (env: Env = w.env) => sweepSetups(newCtx(env, { requestId: 'req_sweep_setups', defer: () => {} }));

let agent: Agent;
beforeAll(async () => {
  await openTreasury(w);
  agent = await newSpender(w);
});

describe('setup that expires while its payment is pending', () => {
  /** Pays with a transaction that the node drops. */
  async function paying(): Promise<{ setup: Setup; payment: string; pending: Body }> {
    const setup = await Setup.create(w);
    const payment = await payFor(w, agent, 'starter', { secret: setup.secret });
    await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 1 });
    const pending = await buy(w, 'starter', { secret: setup.secret }, payment);
    expect(pending.status).toBe(202);
    await setup.runOut(120);
    await sweep();
    return { setup, payment, pending: pending.body };
  }

  it('the setup stays open, reports the pending payment, accepts it again and sells no second one', async () => {
    const { setup, payment, pending } = await paying();
    const { body } = await setup.call('status');
    expect([body.status, actions(body)]).toEqual(['created', ['submit_manifest', 'await_payment', 'try_sandbox']]);
    expect(body.pending_payments).toMatchObject([{ plan: 'starter', amount: { amount: '19' }, tx_signature: pending.tx_signature }]);
    for (const plan of ['starter', 'scale']) {
      const second = await buy(w, plan, { secret: setup.secret });
      expect([second.status, second.body.code, second.headers.get('PAYMENT-REQUIRED')]).toEqual([409, 'state_conflict', null]);
      expect(second.body.meta).toMatchObject({ reason: 'payment_pending', plan: 'starter', tx_signature: pending.tx_signature });
    }
    expect(await works(setup.created.sandbox_api_key)).toBe(true);
    const before = await treasuryUnits(w);
    const again = await buy(w, 'starter', { secret: setup.secret }, payment);
    expect([202, 200]).toContain(again.status);
    await testEnv.DB.prepare('UPDATE settlements SET next_check_at = 0 WHERE merchant_id = ?').bind(setup.created.account_id).run();
    await w.sweepAll();
    const done = await buy(w, 'starter', { secret: setup.secret }, payment);
    expect([done.status, done.body.plan, (await treasuryUnits(w)) - before]).toEqual([200, 'starter', 19_000_000n]);
    const after = (await setup.call('status')).body;
    expect([after.status, after.active_plan, after.expires_at, after.pending_payments]).toEqual([
      'created',
      'starter',
      undefined,
      undefined,
    ]);
  });

  it('the setup expires once that payment has failed, and no other is requested', async () => {
    const { setup, payment } = await paying();
    await w.chain.call('local_warp', 600);
    expect((await buy(w, 'starter', { secret: setup.secret }, payment)).status).toBe(202);
    await letDoubtsAge(w);
    const failed = await buy(w, 'starter', { secret: setup.secret }, payment);
    expect([failed.status, failed.body.code, failed.headers.get('PAYMENT-REQUIRED')]).toEqual([401, 'invalid_authorization', null]);
    expect((await setup.call('status')).body.status).toBe('expired');
    await sweep();
    expect([(await setup.row()).status, await works(setup.created.sandbox_api_key)]).toEqual(['expired', false]);
  });
});

describe('race between expiry and activation', REPEATED, () => {
  it('a payment that is claimed after the expiry is refused before any money moves', async () => {
    const setup = await Setup.create(w);
    const payment = await payFor(w, agent, 'starter', { secret: setup.secret });
    const before = await treasuryUnits(w);
    const rival = async () => {
      await setup.runOut(120);
      await sweep();
    };
    const { status, body } = await buy(w, 'starter', { secret: setup.secret }, payment, { env: withRival(w.env, rival) });
    expect([status, body.code]).toEqual([401, 'invalid_authorization']);
    expect([(await setup.row()).status, await readPlan(setup), (await treasuryUnits(w)) - before]).toEqual(['expired', 'free', 0n]);
    expect(await works(setup.created.sandbox_api_key)).toBe(false);
  });

  it.each([
    ['its answer', 0],
    ['its claim', 1],
  ])('a payment that was faster, up to %s, prevents the expiry', async (_what, drops) => {
    const setup = await Setup.create(w);
    const payment = await payFor(w, agent, 'starter', { secret: setup.secret });
    let answer = 0;
    const rival = async () => {
      // The setup had not expired when the payment was requested.
      await testEnv.DB.prepare('UPDATE setup_intents SET expires_at = ? WHERE id = ?')
        .bind(Date.now() + 60_000, setup.id)
        .run();
      if (drops > 0) await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: drops });
      answer = (await buy(w, 'starter', { secret: setup.secret }, payment)).status;
    };
    await setup.runOut(120);
    await sweep(withRival(w.env, rival));
    expect([answer, (await setup.row()).status]).toEqual([drops > 0 ? 202 : 200, 'created']);
    expect(await works(setup.created.sandbox_api_key)).toBe(true);
    const key = testEnv.DB.prepare('SELECT revoked_at FROM api_keys WHERE id = ?').bind(setup.created.sandbox_key_id);
    expect(await key.first()).toEqual({ revoked_at: null });
  });

  it('a plan that is granted meanwhile preserves the keys', async () => {
    const setup = await Setup.create(w);
    await setup.runOut(120);
    await sweep(withRival(w.env, () => setup.hold('starter')));
    expect([(await setup.row()).status, await works(setup.created.sandbox_api_key)]).toEqual(['created', true]);
    await sweep();
    expect((await setup.row()).expires_at).toBeNull();
  });

  it('a lost database answer still revokes the keys, as soon as the outcome is decided', async () => {
    const setup = await Setup.create(w);
    expect(await works(setup.created.sandbox_api_key)).toBe(true);
    await setup.runOut(120);
    await sweep(withFaults(w.env, { after: ({ kind }) => kind === 'batch' }).env);
    expect((await setup.row()).status).toBe('expired');
    const object = testEnv.ADMISSION.getByName(`account:${setup.created.sandbox_api_key.slice(-17, -6)}`);
    // The object knows of a staged change and reads the database once the change is old enough.
    const staged = await runInDurableObject(object, (_instance, { storage }) => {
      const { value } = storage.sql.exec<{ value: string }>("SELECT value FROM facts WHERE name = 'staged'").one();
      return JSON.parse(value);
    });
    for (const writer of staged.writers) await object.unstage(staged.account, writer);
    expect(await works(setup.created.sandbox_api_key)).toBe(false);
  });
});

describe('webhook endpoints of an expired setup', () => {
  const hooked = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  const readRows = async <T>(columns: string, table: string, accountId: string) =>
    (await prepareOnEvents(testEnv.DB, `SELECT ${columns} FROM ${table} WHERE merchant_id = ? ORDER BY 1`).bind(accountId).all<T>())
      .results;

  it('expiry disables each endpoint with an event, and pending deliveries are cancelled and never sent', async () => {
    const setup = await Setup.create(hooked);
    const { account_id: accountId, sandbox_api_key: key } = setup.created;
    const url = `${testEnv.TEST_RECEIVER_URL}/ok/setup-expiry-${crypto.randomUUID()}`;
    const made = await hooked.call('POST', '/v1/webhooks/endpoints', { key, body: { url } });
    const hook = await hooked.call('POST', '/v1/integrations/automation/hooks', { key, body: { target_url: url, event_type: '*' } });
    expect([made.status, hook.status]).toEqual([201, 201]);
    const payout_wallet = (await hooked.chain.wallet(0n)).address;
    await hooked.call('POST', '/v1/products', { key, body: { name: 'X', price: { asset: 'USDC', amount: '1' }, payout_wallet } });
    await hooked.deliver();
    // The hook's creation to the endpoint, the payout's change to both.
    expect(await readRows('status', 'webhook_deliveries', accountId)).toEqual(Array(3).fill({ status: 'pending' }));

    await setup.runOut(120);
    await sweep(hooked.env);
    const ids = [made.body.endpoint_id, hook.body.endpoint_id].sort();
    const ended = { status: 'disabled', reason: 'setup_expired' };
    expect(await readRows('id, status, disabled_reason AS reason', 'webhook_endpoints', accountId)).toEqual(
      ids.map((id) => ({ id, ...ended })),
    );
    expect(await readRows('status', 'webhook_deliveries', accountId)).toEqual(Array(3).fill({ status: 'cancelled' }));
    const events = await readRows<{ id: string; type: string; data: string }>('subject_id AS id, type, data', 'events', accountId);
    const disabledEvents = events.filter(({ type }) => type === 'webhook.endpoint_disabled');
    expect(disabledEvents.map(({ id }) => id)).toEqual(ids);
    for (const { data } of disabledEvents)
      expect(JSON.parse(data).object).toMatchObject({ status: 'disabled', disabled_reason: 'setup_expired' });
    await hooked.attempt();
    expect(await readRows('status', 'webhook_deliveries', accountId)).toEqual(Array(3).fill({ status: 'cancelled' }));
  });

  it('expiry disables all endpoints, also one created a moment before', async () => {
    const setup = await Setup.create(hooked);
    const { account_id: accountId, sandbox_api_key: key } = setup.created;
    const make = () =>
      hooked.call('POST', '/v1/webhooks/endpoints', { key, body: { url: `${testEnv.TEST_RECEIVER_URL}/ok/${crypto.randomUUID()}` } });
    await make();
    await setup.runOut(120);
    await sweep(withRival(hooked.env, make));
    await sweep(hooked.env);
    const rows = await readRows<{ status: string }>('status', 'webhook_endpoints', accountId);
    expect(rows).toEqual([{ status: 'disabled' }, { status: 'disabled' }]);
    const events = await readRows<{ type: string }>('type', 'events', accountId);
    expect(events.filter(({ type }) => type === 'webhook.endpoint_disabled')).toHaveLength(2);
  });
});
