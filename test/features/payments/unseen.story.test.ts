import { beforeAll, describe, expect, it } from 'vitest';
import { hmacSha256 } from '#core/crypto.ts';
import { base58, hex, utf8 } from '#core/encoding.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { REPEATED } from '../../support/runner/env.ts';
import { PAYMENT_SWEEPS } from '../../support/runner/sweeps.ts';
import { type Merchant, World } from '../../support/world.ts';

const SECRET = 'the chain provider’s shared secret';
const CONFIRMED = ['payment.created', 'payment.submitted', 'payment.confirmed', 'membership.activated', 'receipt.created'];

function hook(w: World, body: unknown, headers: Record<string, string> = {}) {
  const raw = typeof body === 'string' ? body : JSON.stringify(body);
  const signature = hex.encode(hmacSha256(utf8(SECRET), utf8(raw)));
  return w.call('POST', '/v1/products/webhook/rpc', { raw, headers: { 'x-rpc-signature': signature, ...headers } });
}

describe('POST /v1/products/webhook/rpc', REPEATED, () => {
  const w = new World({ RPC_WEBHOOK_SECRET: SECRET });
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await w.merchant();
  });
  const paid = async () => {
    const payment = await w.connect(await w.product(merchant));
    return { id: payment.payment_id as string, signature: await w.chain.pay(await w.chain.wallet(), payment) };
  };

  it('the webhook confirms an unreported payment', async () => {
    const { id, signature } = await paid();
    expect((await hook(w, [{ signature, type: 'TRANSFER' }])).body).toEqual({ accepted: 1 });
    await w.deliver();
    expect(await w.eventTypes(id)).toEqual(CONFIRMED);
  });

  it('a service without a secret answers 503 misconfigured before the body is read', async () => {
    const env = { ...w.env, RPC_WEBHOOK_SECRET: '' };
    const { status, body } = await w.call('POST', '/v1/products/webhook/rpc', { raw: '{"signature":', env });
    expect([status, body.code, body.meta]).toEqual([503, 'misconfigured', { missing: ['RPC_WEBHOOK_SECRET'] }]);
  });

  it('the webhook queues its work without a node or database call', async () => {
    const { signature } = await paid();
    await w.chain.call('local_resetCalls');
    const { env, trips } = withFaults(w.env);
    const raw = JSON.stringify([{ signature }]);
    const headers = { 'x-rpc-signature': hex.encode(hmacSha256(utf8(SECRET), utf8(raw))) };
    await w.call('POST', '/v1/products/webhook/rpc', { raw, headers, env });
    expect(trips).toEqual([]);
    expect(await w.chain.call('local_calls')).toEqual({});
    await w.deliver();
  });

  it('only the signature in the body is used, and the node is asked for the rest', async () => {
    const payment = await w.connect(await w.product(merchant));
    const signature = await w.chain.tip(await w.chain.wallet(), payment.recipient, payment.memo);
    const lie = { signature, tokenTransfers: [{ toUserAccount: payment.recipient, tokenAmount: 5, mint: payment.mint }] };
    await hook(w, [lie]);
    await w.deliver();
    expect(await w.eventTypes(payment.payment_id)).toEqual(['payment.created']);
  });

  it('foreign transactions are answered 200 and dropped', async () => {
    const buyer = await w.chain.wallet();
    const foreign = await w.chain.tip(buyer, (await w.chain.wallet(0n)).address, 'svc:somebodyelse');
    const plain = await w.chain.tip(buyer, (await w.chain.wallet(0n)).address, 'thanks for the fish');
    expect((await hook(w, [{ signature: foreign }, { signature: plain }])).status).toBe(200);
    await w.deliver();
    expect(w.queue.sent.map(({ job }) => job.kind === 'findPayment' && job.txSignature)).not.toContain(plain);
    w.queue.sent.length = 0;
  });

  it.each(['buyer first', 'hook first', 'together'])('webhook, buyer and sweep make one confirmation: %s', async (order) => {
    const { id, signature } = await paid();
    const buyer = () => w.confirm(id, signature);
    const provider = async () => {
      await hook(w, [{ signature }, { signature }]);
      await w.deliver();
    };
    const cursor = () => w.sweepEach(PAYMENT_SWEEPS);
    if (order === 'together') await Promise.all([buyer(), provider(), cursor(), buyer(), cursor()]);
    else for (const step of order === 'buyer first' ? [buyer, provider, cursor] : [provider, cursor, buyer]) await step();
    await w.deliver();
    expect(await w.eventTypes(id)).toEqual(CONFIRMED);
    expect(await w.count('tx_claims', id)).toBe(1);
  });

  it('duplicate, reordered and late deliveries confirm each payment once', async () => {
    const [a, b] = [await paid(), await paid()];
    for (const signature of [b.signature, a.signature, b.signature]) await hook(w, [{ signature }]);
    const jobs = w.queue.sent.splice(0).map(({ job }) => job);
    await w.deliver([...jobs].reverse());
    await w.deliver(jobs);
    for (const { id } of [a, b]) expect(await w.eventTypes(id)).toEqual(CONFIRMED);
  });

  it('a delivery before the session is stored is retried until the session exists', async () => {
    const { id, signature } = await paid();
    const row = await w.env.DB.prepare('SELECT nonce FROM payments WHERE id = ?').bind(id).first<{ nonce: string }>();
    await w.env.DB.prepare("UPDATE payments SET nonce = 'hidden' WHERE id = ?").bind(id).run();
    await hook(w, [{ signature }]);
    await w.deliver();
    expect(w.queue.sent.at(-1)).toMatchObject({ job: { kind: 'findPayment', attempt: 1 } });
    await w.env.DB.prepare('UPDATE payments SET nonce = ? WHERE id = ?').bind(row!.nonce, id).run();
    await w.deliver();
    expect(await w.eventTypes(id)).toEqual(CONFIRMED);
  });

  it('a wrong, missing or malformed signature is 401 webhook_signature_failed', async () => {
    const body = [{ signature: base58.encode(new Uint8Array(64).fill(7)) }];
    for (const headers of [{ 'x-rpc-signature': '0'.repeat(64) }, { 'x-rpc-signature': '' }, { 'x-rpc-signature': 'sha256=nonsense' }]) {
      expect(await hook(w, body, headers)).toMatchObject({ status: 401, body: { code: 'webhook_signature_failed' } });
    }
  });

  it('the HMAC covers the raw bytes, with or without sha256=, under the configured header', async () => {
    const other = new World({ RPC_WEBHOOK_SECRET: SECRET, RPC_WEBHOOK_HEADER: 'helius-signature' });
    const raw = `[ { "signature" : "${base58.encode(new Uint8Array(64).fill(9))}" } ]`;
    const mac = hex.encode(hmacSha256(utf8(SECRET), utf8(raw)));
    for (const value of [mac, `sha256=${mac}`, mac.toUpperCase()]) {
      expect((await other.call('POST', '/v1/products/webhook/rpc', { raw, headers: { 'helius-signature': value } })).status).toBe(200);
    }
  });

  it.each(['Rpc-Signature', 'X-Rpc-Signature'])(
    'the signature is read from %s on every deployment, and the document names the configured header',
    async (name) => {
      const raw = '[]';
      const headers = { [name]: hex.encode(hmacSha256(utf8(SECRET), utf8(raw))) };
      const own = new World({ RPC_WEBHOOK_SECRET: SECRET, RPC_WEBHOOK_HEADER: 'helius-signature' });
      for (const [world, named] of [
        [new World({ RPC_WEBHOOK_SECRET: SECRET }), 'Rpc-Signature'],
        [own, 'helius-signature'],
      ] as const) {
        expect((await world.call('POST', '/v1/products/webhook/rpc', { raw, headers })).status).toBe(200);
        const { body } = await world.call('GET', '/v1/openapi.json');
        expect(body.components.securitySchemes.chainSignature).toMatchObject({ in: 'header', name: named });
      }
    },
  );

  it('a signed but malformed body is 400 invalid_rpc_payload', async () => {
    for (const body of ['{', '"text"', '[{"signature":5}]', '[null]', '{"no":"signature"}', '[{"signature":"short"}]']) {
      expect(await hook(w, body), body).toMatchObject({ status: 400, body: { code: 'invalid_rpc_payload' } });
    }
  });
});
