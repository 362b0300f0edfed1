import type { History } from './history.ts';
import type { Reader } from './reader.ts';

/** Attempts that had begun when the account was closed. */
const UNDER_WAY_MS = 20_000;

/** Judges that a closed account sells and sends nothing more, and that a payment under way was confirmed with a receipt that verifies. */
export async function judgeClosed(reader: Reader, history: History): Promise<void> {
  for (const { shop, slug, paymentId, signature, at } of history.closed) {
    const name = `the closed account of ${shop.name}`;
    const sold = await reader.host.call('GET', `/v1/products/p/${slug}`);
    reader.expect(sold.status === 404, () => `${name} still shows ${slug}: ${sold.status}`);
    const boxes = new Set(shop.endpoints.map(({ box }) => box));
    const late = history.received.filter(({ box, at: receivedAt }) => boxes.has(box) && receivedAt > at + UNDER_WAY_MS);
    reader.expect(late.length === 0, () => `${name} was sent ${late.length} webhooks after its end: ${late[0]?.body}`);
    if (signature === null) continue;
    const payment = await reader.get(`/v1/payments/${paymentId}`);
    const isConfirmed = payment?.status === 'CONFIRMED' && payment.tx_signature === signature;
    reader.expect(isConfirmed, () => `payment ${paymentId} to ${name} is ${payment?.status}, and was paid by ${signature}`);
    if (!isConfirmed) continue;
    const verified = await reader.get(`/v1/receipt/${payment.receipt_id}/verify`);
    reader.expect(verified?.valid === true, () => `receipt ${payment.receipt_id} of ${name} does not verify: ${JSON.stringify(verified)}`);
  }
}
