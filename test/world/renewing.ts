import { newKey } from './agent.ts';
import { callTesting } from './sandbox.ts';
import type { Merchant, World } from './world.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers whose shape call() has already checked against the document.
type Body = any;

/** Publishes the plan of a product of the sandbox, signed as the API says. Answers the wallet that is paid. */
async function publishPlan(w: World, merchant: Merchant, { product_id }: Body): Promise<string> {
  const path = `/v1/access/products/${product_id}/subscription-plan`;
  const write = (to: string, body: object) =>
    w.call('POST', to, { key: merchant.sandboxKey, body, headers: { 'Idempotency-Key': newKey() } });
  const { transaction, terms } = (await write(path, {})).body;
  const signed = await callTesting(w, merchant, 'POST', 'pay', { transaction });
  const confirmed = await write(`${path}/confirm`, { tx_signature: signed.body.tx_signature });
  if (confirmed.body.status !== 'published') throw new Error(`${confirmed.status}: ${JSON.stringify(confirmed.body)}`);
  return terms.destination;
}

/** A product of the sandbox that renews itself, with its plan. `owner`: the wallet that is paid. */
export async function sellRenewing(w: World, merchant: Merchant, terms: object = {}): Promise<Body & { owner: string }> {
  const seller = { ...merchant, key: merchant.sandboxKey };
  const product = await w.product(seller, {
    price: { asset: 'USDC', amount: '5' },
    renewal_mode: 'AUTOMATIC',
    access_period_days: 30,
    usage_units: null,
    ...terms,
  });
  return { ...product, owner: await publishPlan(w, merchant, product) };
}

/** The test wallet of a label. */
export async function testWalletOf(w: World, merchant: Merchant, label: string): Promise<string> {
  const begun = await w.connect(await w.product({ ...merchant, key: merchant.sandboxKey }));
  const named = { payment_id: begun.payment_id, outcome: 'declined', wallet: label };
  return (await callTesting(w, merchant, 'POST', 'pay', named)).body.payer_wallet;
}

/** A wallet subscribes and is collected from for the first time. Answers the subscription. */
export async function subscribeRenewing(w: World, merchant: Merchant, product: Body, label: string): Promise<Body> {
  const begun = await w.connect(product, { wallet_address: await testWalletOf(w, merchant, label), customer_ref: label });
  const paid = await callTesting(w, merchant, 'POST', 'pay', { payment_id: begun.payment_id, wallet: label });
  const { body } = await w.confirm(begun.payment_id, paid.body.tx_signature);
  if (body.payment.status !== 'CONFIRMED') throw new Error(JSON.stringify(body));
  const key = merchant.sandboxKey;
  const { authorization_id } = (await w.call('GET', `/v1/payments/${begun.payment_id}`, { key })).body;
  return (await w.call('GET', `/v1/access/native-subscriptions/${authorization_id}`, { key })).body;
}
