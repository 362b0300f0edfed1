import { expect, it } from 'vitest';
import { askNonce, walletSignIn } from '../../support/chain/wallet.ts';
import { newKey } from '../../support/people/agent.ts';
import { type Answer, World } from '../../support/world.ts';

const w = new World();
const cacheOf = ({ headers }: Answer<unknown>) => headers.get('Cache-Control');

it('answers with a token, a raw key, a webhook secret or a hand-off are no-store', async () => {
  const ada = await w.merchant();
  const product = await w.product(ada);
  const signer = await w.chain.wallet(0n);
  const person = { email: `${newKey()}@example.com`, password: 'correct horse battery' };
  const endpoint = { key: ada.key, body: { url: 'https://hooks.example.com/in' } };
  const made = await w.call('POST', '/v1/webhooks/endpoints', endpoint);
  const answers = [
    await w.call('POST', '/v1/auth/register', { body: { ...person, display_name: 'Ada' } }),
    await w.call('POST', '/v1/auth/login', { body: person }),
    await w.call('POST', '/v1/auth/refresh', { body: { token: ada.token } }),
    await askNonce(w, signer.address),
    await walletSignIn(w, signer),
    await w.call('POST', '/v1/keys', { key: ada.token, body: { name: 'k' } }),
    made,
    await w.call('POST', `/v1/webhooks/endpoints/${made.body.endpoint_id}/rotate-secret`, { key: ada.key, body: {} }),
    await w.call('POST', `/v1/products/${product.product_id}/handoffs`, { key: ada.key, body: {} }),
    await w.call('POST', '/v1/access/agent-bootstrap', { body: { agent_name: 'Agent' } }),
    await w.call('GET', '/v1/account/me', { key: ada.token }),
  ];
  expect(answers.map(({ status }) => status).filter((status) => status >= 300)).toEqual([]);
  expect(new Set(answers.map(cacheOf))).toEqual(new Set(['no-store']));
});

it('public documents are cached for five minutes', async () => {
  for (const path of ['/v1/openapi.json', '/llms.txt', '/.well-known/x402'])
    expect([path, cacheOf(await w.call('GET', path))]).toEqual([path, 'public, max-age=300']);
});
