import { sweepReceiptChains } from '#features/receipts/hash-chain.ts';
import { sweepArchive } from '#features/retention/archive.ts';
import { type Env, newCtx } from '#platform/context.ts';
import { consumer } from './consumer.ts';
import { getPage } from './page.ts';
import type { Merchant, World } from './world.ts';

const DAY = 86_400_000;
/** By then every event of today is to be in the archive. */
export const OLD = 92 * DAY;

export const ctxAt = (env: Env, afterMs: number) => newCtx(env, { requestId: 'req_archive', now: Date.now() + afterMs, defer: () => {} });
export const archiveAll = (w: World, env: Env = w.env) => sweepArchive(ctxAt(env, OLD));

// biome-ignore lint/suspicious/noExplicitAny: answers whose shape call() has already checked against the document.
type Body = any;

/** A merchant's past: some sales, fanned out to an endpoint, with their receipts in the chain. */
export interface Books {
  merchant: Merchant;
  endpointId: string;
  sales: { paymentId: string; membershipId: string; receiptId: string; signature: string }[];
}

/** The last sale's receipt ends the chain, and so stays. */
export async function keepBooks(w: World, sales = 2): Promise<Books> {
  const merchant = await w.merchant();
  const product = await w.product(merchant);
  const { id } = await consumer(w, merchant, 'ok');
  const books: Books = { merchant, endpointId: id, sales: [] };
  for (let i = 0; i < sales; i++) {
    const { payment, signature, confirmed } = await w.purchase(product, await w.chain.wallet());
    const { membership_id: membershipId, receipt_id: receiptId } = confirmed.payment;
    books.sales.push({ paymentId: payment.payment_id, membershipId, receiptId, signature });
  }
  // What a purchase leaves to the queue, and what that leaves in turn.
  while (w.queue.sent.length > 0) await w.deliver();
  await w.attempt();
  await sweepReceiptChains(ctxAt(w.env, 0));
  // The chain made them final.
  await w.env.DB.batch([
    w.env.DB.prepare('UPDATE payments SET finalized_at = confirmed_at + 20000 WHERE finalized_at IS NULL'),
    w.env.DB.prepare('UPDATE tx_claims SET final_at = confirmed_at + 20000, next_look_at = NULL WHERE final_at IS NULL'),
  ]);
  return books;
}

/** Moments that an answer names because it was asked then. */
const TIME_OF_ANSWER = /"(?:checked_at|now)":"[^"]+",?/g;

/** Everything that is answered from events, payments and receipts, as text, without the moments at which it was asked. */
export async function answersOf(w: World, { merchant: { key }, sales }: Books, env: Env = w.env): Promise<string[]> {
  const answers: string[] = [];
  const get = async (path: string, options: { key?: string } = { key }): Promise<Body> => {
    const { status, body } = await w.call('GET', path, { ...options, env });
    answers.push(`${path}: ${status} ${JSON.stringify(body).replaceAll(TIME_OF_ANSWER, '')}`);
    return body;
  };
  for (const type of ['', '&event_type=receipt.created', '&event_type=payment.failed'])
    for (let page = 1; (await get(`/v1/webhooks/events?per_page=7&page=${page}${type}`)).has_more; page++);
  await get('/v1/integrations/events?limit=100');
  await get('/v1/receipts');
  await get('/v1/receipts?q=weather&per_page=1&page=2');
  for (const query of ['', '?per_page=1&page=2', '?status=CONFIRMED', '?status=FAILED']) await get(`/v1/payments${query}`);
  for (const { paymentId, membershipId, receiptId, signature } of sales) {
    await get(`/v1/webhooks/timeline?payment_id=${paymentId}`);
    await get(`/v1/webhooks/timeline?payment_id=${paymentId}&limit=2`);
    await get(`/v1/webhooks/timeline?membership_id=${membershipId}`);
    await get(`/v1/receipts?q=${signature.slice(0, 20)}`);
    await get(`/v1/receipts?q=${receiptId.slice(0, 30)}`);
    await get(`/v1/receipt/${receiptId}`);
    const payment = await get(`/v1/payments/${paymentId}`);
    await get(`/v1/payments/${paymentId}`, {});
    for (const list of ['payments', 'receipts'])
      for (const query of [
        `product_id=${payment.product_id}`,
        `wallet=${payment.payer_wallet}`,
        `wallet=${payment.payer_wallet}&product_id=${payment.product_id}`,
      ])
        await get(`/v1/${list}?${query}`);
    await get(`/v1/memberships/lookup?payment_id=${paymentId}`);
    const again = await w.call('POST', '/v1/pay/confirm', { env, body: { payment_id: paymentId, tx_signature: signature } });
    answers.push(`confirm: ${again.status} ${JSON.stringify(again.body).replaceAll(TIME_OF_ANSWER, '')}`);
    await get(`/v1/receipt/${receiptId}/public`, {});
    await get(`/v1/receipt/${receiptId}/verify`, {});
    const { status, html } = await getPage(w, `/r/${receiptId}`, {}, env);
    answers.push(`page: ${status} ${/class="verdict \w+"/.exec(html)} ${/id="facts"[^>]*>(.*?)<\/script>/.exec(html)?.[1]}`);
    const claimed = await w.call('POST', '/v1/receipt', { key, env, body: { tx_sig: signature } });
    answers.push(`claim: ${claimed.status} ${JSON.stringify(claimed.body)}`);
  }
  return answers;
}

/** How many events of a merchant the database and the archive hold, and how many receipts stand in the archive alone. */
export async function keptOf(
  w: World,
  { merchant: { userId } }: Books,
): Promise<{ rows: number; archived: number; objects: number; payments: number; receipts: number }> {
  const ofArchive = (table: string) => `(SELECT count(*) FROM ${table} WHERE merchant_id = unhex(replace(?1, '-', '')))`;
  const count = (from: string) => `(SELECT ${from} AND merchant_id = ?1)`;
  const row = await w.env.DB.prepare(
    `SELECT ${count('count(*) FROM events WHERE 1')} AS rows, ${count("coalesce(sum(events), 0) FROM archived_types WHERE type = '*'")} AS archived,
      ${count('count(*) FROM archives WHERE 1')} AS objects, ${ofArchive('archived_payments')} AS payments, ${ofArchive('archived_receipts')} AS receipts`,
  )
    .bind(userId)
    .first<{ rows: number; archived: number; objects: number; payments: number; receipts: number }>();
  return row!;
}
