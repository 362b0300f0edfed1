import { judgeAccess, judgeScenarios } from './access.ts';
import { judgeClosed, judgeEnds } from './ends.ts';
import { judgeEvents } from './events.ts';
import type { History } from './history.ts';
import type { Host } from './host.ts';
import { judgeStreams } from './metered.ts';
import { type Books, judgeFacilitated, judgeRefunds, judgeSales, judgeSettled, judgeTotals, judgeUniqueness } from './payments.ts';
import { Reader } from './reader.ts';
import { judgeCardPlans, judgePlans, judgeReceipts } from './receipts.ts';
import { judgeMemberships, judgeSubscriptions } from './subscriptions.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const HOURS_MAX = 30;
/** Beyond the end of every session and its grace, the scan without an open checkout (10 min), and the first retries of webhooks. */
const PAUSES_MS = [10 * SECOND, MINUTE, 11 * MINUTE];

/** Ends the faults, lets everything end, and compares the service with the book. Returns what is wrong, as sentences. */
export async function judge(host: Host, history: History): Promise<string[]> {
  const reader = new Reader(host);
  host.calm?.();
  history.calm();
  await rest(reader);
  for (const finish of history.unanswered.splice(0)) await finish();
  for (const ms of PAUSES_MS) {
    await host.advance(ms);
    await rest(reader);
  }
  for (let hours = 0; hours < HOURS_MAX && (await countUnread(reader)) > 0; hours++) {
    await host.advance(HOUR);
    await rest(reader);
    await host.advance(MINUTE);
    await rest(reader);
  }
  const books = await readBooks(reader, history);
  judgeUniqueness(reader, books);
  judgeSales(reader, history, books);
  judgeSettled(reader, history, books);
  judgeFacilitated(reader, history, books);
  judgeRefunds(reader, history, books);
  for (const book of books) {
    await judgeTotals(reader, history, book);
    await judgeReceipts(reader, history, book);
    await judgeEvents(reader, history, book);
  }
  await judgePlans(reader, history);
  await judgeCardPlans(reader, history);
  await judgeAccess(reader, history, books);
  await judgeScenarios(reader, history);
  await judgeStreams(reader, history, books);
  await judgeSubscriptions(reader, history, books);
  await judgeClosed(reader, history);
  await judgeEnds(reader);
  await judgeMemberships(reader, books);
  return [...new Set([...history.findings, ...reader.findings])];
}

/** Transactions that the service has yet to read, and events that it has yet to hand on: after failures it waits longer each time. */
const UNREAD = `SELECT (SELECT count(*) FROM payment_candidates WHERE origin <> 'judged')
  + (SELECT count(*) FROM acts WHERE fanned_out_at IS NULL AND next_try_at IS NOT NULL AND request_id NOT LIKE 'sandbox!_%' ESCAPE '!') AS n`;

const countUnread = (reader: Reader): Promise<number> => reader.count(UNREAD);

async function rest(reader: Reader): Promise<void> {
  await reader.host.settle().catch((error: Error) => reader.find(error.message));
}

async function readBooks(reader: Reader, history: History): Promise<Books[]> {
  const books: Books[] = [];
  for (const shop of history.shops) {
    for (const livemode of [true, false]) {
      const key = livemode ? shop.liveKey : shop.sandboxKey;
      const payments = await reader.list('/v1/payments', key);
      const products = new Set([...shop.products, ...shop.plans].map(({ productId }) => productId));
      for (const { payment_id, product_id, livemode: mode } of payments) {
        reader.expect(mode === livemode, () => `payment ${payment_id} is listed in the other mode`);
        if (livemode)
          reader.expect(products.has(product_id), () => `${shop.name} lists payment ${payment_id} of a product that is not its own`);
      }
      books.push({ shop, livemode, key, payments: await readEach(reader, payments, key) });
    }
  }
  return books;
}

/** Reads each payment by itself: lists leave out unmatched money. */
async function readEach(reader: Reader, payments: readonly { payment_id: string }[], key: string) {
  const read = [];
  for (const payment of payments) read.push((await reader.get(`/v1/payments/${payment.payment_id}`, key)) ?? payment);
  return read;
}
