import { beforeAll, describe, expect, it } from 'vitest';
import type { Env } from '#platform/context.ts';
import type { PaymentCall } from '#rules/entitlement-rpc.ts';
import { letTimePass, sweepUntilBelieved } from '../../support/faults/finality.ts';
import { activate, newSpender, openTreasury } from '../../support/people/activation.ts';
import type { Agent } from '../../support/people/agent.ts';
import { goodManifest, Setup } from '../../support/people/bootstrap.ts';
import { testEnv } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

const bringBack = async (w: World, signature: string) => {
  await w.chain.call('local_landAgain', signature);
  await letTimePass(w, 601);
  await w.sweep();
};

describe('delayed revocation job', () => {
  const w = new World();

  /** Wraps the entitlement objects: a revocation that has read its payment waits until `letGo`. */
  function holdingRevocations(): { env: Env; isHeld: Promise<void>; letGo(): void } {
    const held = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const getByName = (name: string) => {
      const object = testEnv.ENTITLEMENT.getByName(name);
      const revoke = async (call: PaymentCall) => {
        held.resolve();
        await gate.promise;
        return object.revoke(call);
      };
      return new Proxy(object, { get: (target, method) => (method === 'revoke' ? revoke : Reflect.get(target, method).bind(target)) });
    };
    return { env: { ...w.env, ENTITLEMENT: { getByName } } as unknown as Env, isHeld: held.promise, letGo: () => gate.resolve() };
  }

  it('a job that pauses between its check and its call does not revoke a payment that returned meanwhile', async () => {
    const ada = await w.merchant();
    const product = await w.product(ada, { usage_units: 3 });
    const { signature } = await w.purchase(product, await w.chain.wallet(), { customer_ref: 'paula' });
    await w.deliver();
    const consume = (key: string) =>
      w.call('POST', '/v1/access/entitlements/consume', {
        key: ada.key,
        headers: { 'Idempotency-Key': key },
        body: { product_id: product.product_id, customer: { customer_ref: 'paula' } },
      });
    expect((await consume('before-all-that')).status).toBe(200);
    await w.chain.fault({ kind: 'vanish', signature });
    await sweepUntilBelieved(w);
    const { env, isHeld, letGo } = holdingRevocations();
    const paused = w.deliver(undefined, env);
    await isHeld;
    await bringBack(w, signature);
    await w.deliver();
    expect((await consume('while-it-pauses')).status).toBe(200);
    letGo();
    await paused;
    expect((await consume('after-it-landed')).status).toBe(200);
  });
});

describe('plan that returns after its setup expired', () => {
  const w = new World();
  let agent: Agent;
  beforeAll(async () => {
    await openTreasury(w);
    agent = await newSpender(w);
  });

  it('the setup reopens, and its secret leads to a live key', async () => {
    const setup = await Setup.create(w);
    expect((await activate(w, agent, 'starter', { secret: setup.secret })).status).toBe(200);
    const { tx_signature: signature } = (await testEnv.DB.prepare('SELECT tx_signature FROM settlements WHERE setup_intent_id = ?')
      .bind(setup.id)
      .first<{ tx_signature: string }>())!;
    await w.chain.fault({ kind: 'vanish', signature });
    await sweepUntilBelieved(w);
    await setup.runOut();
    await w.sweepAlone('setups');
    expect((await setup.row()).status).toBe('expired');
    const works = async (key: string) => (await w.call('GET', '/v1/products', { key })).status;
    expect(await works(setup.created.sandbox_api_key)).toBe(401);
    await bringBack(w, signature);
    const { body } = await setup.call('status');
    expect([body.status, body.active_plan, body.expires_at]).toEqual(['created', 'starter', undefined]);
    // The previous key stays revoked, because it may have leaked.
    expect(await works(setup.created.sandbox_api_key)).toBe(401);
    expect((await setup.call('manifest', await goodManifest(w))).body.status).toBe('ready');
    const approved = await setup.approveLive();
    expect(approved.status).toBe(200);
    expect(await works(approved.body.live_api_key)).toBe(200);
    await w.sweepAlone('setups');
    expect(await works(approved.body.live_api_key)).toBe(200);
  });
});
