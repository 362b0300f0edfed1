import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyPairSigner } from '@solana/kit';
import { check } from '../demo/narrator.ts';
import { sign } from '../demo/wallet.ts';
import type { Stage } from './stage.ts';

const CONFIRMED_WITHIN_MS = 60_000;
const POLL_EVERY_MS = 250;

interface CheckoutPayment {
  payment_id: string;
  status: string;
}

/** Buys at the hosted checkout of a product, as its page does. `terms` go with the connect call. Returns when the payment is confirmed. */
export async function buyAtCheckout({ api }: Stage, slug: string, buyer: KeyPairSigner, terms: object = {}): Promise<CheckoutPayment> {
  const body = { wallet_address: buyer.address, ...terms };
  const begun = await api.must<{ payment_id: string; transaction: string }>('POST', `/v1/products/p/${slug}/connect`, { body });
  const transaction = await sign(buyer, begun.transaction);
  await api.must('POST', `/v1/payments/${begun.payment_id}/transaction`, { body: { transaction } });
  return waitUntil('the payment is confirmed', async () => {
    const payment = await api.must<CheckoutPayment>('GET', `/v1/payments/${begun.payment_id}`);
    return payment.status === 'CONFIRMED' ? payment : undefined;
  });
}

/** Polls `read` until it returns a value. Throws after a minute. */
export async function waitUntil<T>(event: string, read: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (const deadline = Date.now() + CONFIRMED_WITHIN_MS; ; await sleep(POLL_EVERY_MS)) {
    const found = await read();
    if (found !== undefined) return found;
    check(Date.now() < deadline, `A minute was not enough until ${event}`);
  }
}
