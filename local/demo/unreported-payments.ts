import { createHmac } from 'node:crypto';
import { check } from './narrator.ts';
import { openSession, type Payment, type Session } from './purchase.ts';
import type { DemoContext, Shop } from './shop.ts';

/** Webhook secret shared by the demo's chain data provider and its service. */
export const PROVIDER_SECRET = 'a secret that only the demo and its service share';

const FOUND_TIMEOUT_MS = 30_000;
const LATE_SECONDS = 20 * 60;

/** Finds payments without a confirm call: by the provider's webhook, by the service's own scan, and late by the merchant's decision. */
export async function payUnseen(demo: DemoContext, shop: Shop): Promise<void> {
  await raceProvider(demo, shop);
  await payAndVanish(demo, shop);
  await payLate(demo, shop);
}

async function raceProvider(demo: DemoContext, shop: Shop): Promise<void> {
  const { api, chain, narrator } = demo;
  narrator.step('The chain data provider and the buyer report the same payment at once');
  const { buyer, session } = await openSession(demo, shop);
  const signature = await chain.pay(buyer, session, BigInt(session.price.base_units));
  await chain.waitUntilConfirmed(signature);
  const body = { payment_id: session.payment_id, tx_signature: signature };
  const [hooked] = await Promise.all([sendHook(demo, signature), sendHook(demo, signature), api.must('POST', '/v1/pay/confirm', { body })]);
  check(hooked === 200, `The webhook answered ${hooked}`);
  const payment = await waitUntil(demo, session, 'CONFIRMED');
  narrator.proven(`Two webhooks and a buyer, one result: ${payment.status}, version ${payment.version}.`);
}

async function sendHook({ api }: DemoContext, signature: string): Promise<number> {
  const body = JSON.stringify([{ signature, type: 'TRANSFER' }]);
  const mac = createHmac('sha256', PROVIDER_SECRET).update(body).digest('hex');
  const headers = { 'content-type': 'application/json', 'x-rpc-signature': mac };
  return (await fetch(`${api.baseUrl}/v1/products/webhook/rpc`, { method: 'POST', headers, body })).status;
}

async function payAndVanish(demo: DemoContext, shop: Shop): Promise<void> {
  const { chain, narrator } = demo;
  narrator.step('Iris pays from her wallet, closes everything, and tells nobody');
  const { buyer, session } = await openSession(demo, shop);
  const signature = await chain.pay(buyer, session, BigInt(session.price.base_units));
  narrator.fact('on chain', signature);
  const startedAt = Date.now();
  await waitUntil(demo, session, 'CONFIRMED');
  narrator.proven(`The service found it by its reference key in ${((Date.now() - startedAt) / 1000).toFixed(1)} s: CONFIRMED.`);
}

interface MerchantView extends Payment {
  unmatched?: { tx_signature: string; reason: string; status: string; amount: { amount: string; asset: string } }[];
}

async function payLate(demo: DemoContext, shop: Shop): Promise<void> {
  const { api, chain, narrator } = demo;
  narrator.step(`Jo pays ${LATE_SECONDS / 60} minutes later, when her session is over`);
  const { buyer, session } = await openSession(demo, shop);
  await chain.call('local_warp', LATE_SECONDS);
  const signature = await chain.pay(buyer, session, BigInt(session.price.base_units));
  await chain.waitUntilConfirmed(signature);
  const late = await api.call<{ code: string }>('POST', '/v1/pay/confirm', {
    body: { payment_id: session.payment_id, tx_signature: signature },
  });
  check(
    late.status === 410 && late.body.code === 'session_expired',
    `Expected 410 session_expired, got ${late.status}: ${JSON.stringify(late.body)}`,
  );
  const seen = await api.must<MerchantView>('GET', `/v1/payments/${session.payment_id}`, { credential: shop.key });
  const [unmatched] = seen.unmatched ?? [];
  check(unmatched?.reason === 'late' && unmatched.tx_signature === signature, `The late money is not in sight: ${JSON.stringify(seen)}`);
  narrator.fact('in sight', `${unmatched.amount.amount} ${unmatched.amount.asset}, ${unmatched.reason}, ${unmatched.status}`);

  narrator.step('Ada accepts it, twice by mistake');
  const accept = () =>
    api.must<Payment & { recovers_payment_id: string }>('POST', `/v1/payments/${session.payment_id}/accept-unmatched`, {
      credential: shop.key,
      body: { tx_signature: signature },
    });
  const [first, second] = [await accept(), await accept()];
  check(first.payment_id === second.payment_id, 'Accepting twice made two payments');
  check(first.status === 'CONFIRMED' && first.recovers_payment_id === session.payment_id, `Accepted into ${JSON.stringify(first)}`);
  narrator.proven(`One new payment, ${first.payment_id}, CONFIRMED; it says which session it recovers.`);
}

async function waitUntil({ api }: DemoContext, session: Session, status: string): Promise<Payment> {
  const deadline = Date.now() + FOUND_TIMEOUT_MS;
  for (;;) {
    const payment = await api.must<Payment>('GET', `/v1/payments/${session.payment_id}`);
    if (payment.status === status) return payment;
    if (Date.now() > deadline) throw new Error(`Payment ${session.payment_id} is still ${payment.status}`);
    await new Promise((resolve) => setTimeout(resolve, payment.poll_after_ms ?? 500));
  }
}
