import { beforeAll, describe, expect, it } from 'vitest';
import { sources } from '../../contract/sources.ts';
import { callTesting } from '../../support/clients/sandbox.ts';
import { newKey } from '../../support/people/agent.ts';
import { type Merchant, World } from '../../support/world.ts';

/** Every sentence that sends a caller to or away from the sandbox, and its file. A new one needs a test here. */
const FOLLOWED = {
  'The call exists only in the sandbox. Send a sandbox key, or a token and `?mode=sandbox`.': 'worker/platform/http/callers.ts',
  'Try everything with the sandbox key meanwhile: products, entitlements, consume and webhooks. The sandbox never uses the real chain.':
    'worker/features/agent-setup/next-actions.ts',
  'The rail has no sandbox. Use a live key.': 'worker/features/products/selling/fixes.ts',
  'The call has no sandbox. Send a live key or a token.': 'worker/platform/http/callers.ts',
  'A sandbox key cannot change settings of live buyers. Use a live key or a session token.': 'worker/features/accounts/account.ts',
};

describe('answers that mention the sandbox', () => {
  const w = new World();
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });

  it('every sentence about the sandbox in an answer has a test in this file', () => {
    // Sentences in the document and in readiness are excluded: they suggest no call.
    const said = [...sources].flatMap(([path, text]) =>
      [...text.matchAll(/(?:detail(?: =|:)|description:)\s+'([^']*sandbox[^']*)'/gi)].map(([, sentence]) => [sentence, path]),
    );
    const isOfAnswers = ([, path]: string[]) =>
      !/\/(?:routes|resource|settings)\.ts$|\.routes\.ts$|published|platform\/http\/openapi/.test(path!);
    expect(Object.fromEntries(said.filter(isOfAnswers as never))).toEqual(FOLLOWED);
  });

  it('the advice works: a sandbox key and a token with the mode are accepted', async () => {
    const refused = await callTesting(w, ada, 'GET', 'sessions', undefined, ada.token);
    expect([refused.status, refused.body.detail]).toEqual([403, Object.keys(FOLLOWED)[0]]);
    expect((await callTesting(w, ada, 'GET', 'sessions')).status).toBe(200);
    expect((await callTesting(w, ada, 'GET', 'sessions?mode=sandbox', undefined, ada.token)).status).toBe(200);
    const refusedPay = await callTesting(w, ada, 'POST', 'pay', { payment_id: crypto.randomUUID() }, ada.key);
    expect([refusedPay.status, refusedPay.body.detail]).toEqual([403, refused.body.detail]);
  });

  it('the advice works: an agent makes the suggested call, sells, and is paid by a test wallet', async () => {
    const { body: setup } = await w.call('POST', '/v1/access/agent-bootstrap', { body: { agent_name: 'Weather agent' } });
    const { method, path, headers, body } = setup.next_actions.find(({ action }: { action: string }) => action === 'try_sandbox');
    const key = setup.sandbox_api_key;
    const product = await w.call(method, path, { key, body, headers: { 'Idempotency-Key': newKey() } });
    expect([Object.keys(headers), product.status]).toEqual([['X-Svc-Key', 'Idempotency-Key'], 201]);
    const sold = { product_id: product.body.product_id, customer: { customer_ref: 'agent-1' } };
    const send = (at: string, sent: object) => w.call('POST', `/v1/${at}`, { key, body: sent, headers: { 'Idempotency-Key': newKey() } });
    const denied = await send('access/entitlements/consume', sold);
    expect(denied.status).toBe(403);
    const paid = await send('testing/pay', { payment_required: denied.headers.get('PAYMENT-REQUIRED') });
    const settled = await send('access/x402/settle', { ...sold, payment_signature: paid.body.payment_signature, consume_units: 1 });
    expect([settled.status, settled.body.success]).toEqual([200, true]);
  });

  it('the advice works: routes without a sandbox accept a live key', async () => {
    const call = { x402Version: 2, paymentPayload: {}, paymentRequirements: {} };
    const ask = (key: string) => w.call('POST', '/v1/access/x402/facilitator/verify', { key, body: call });
    const refused = await ask(ada.sandboxKey);
    expect([refused.status, refused.body.detail, refused.body.meta.reason]).toEqual([
      409,
      'The rail has no sandbox. Use a live key.',
      'sandbox',
    ]);
    const answered = await ask(ada.key);
    expect([answered.status, answered.body.isValid]).toEqual([200, false]);
    const bill = (key: string) => w.call('GET', '/v1/billing/summary', { key });
    const sentAway = await bill(ada.sandboxKey);
    expect([sentAway.status, sentAway.body.detail]).toEqual([403, 'The call has no sandbox. Send a live key or a token.']);
    expect((await bill(ada.key)).status).toBe(200);
    expect((await bill(ada.token)).status).toBe(200);
    const change = { display_name: 'Ada' };
    const shown = await w.call('PATCH', '/v1/account/me', { key: ada.sandboxKey, body: change });
    expect([shown.status, shown.body.detail]).toEqual([
      403,
      'A sandbox key cannot change settings of live buyers. Use a live key or a session token.',
    ]);
    expect((await w.call('PATCH', '/v1/account/me', { key: ada.token, body: change })).status).toBe(200);
  });
});
