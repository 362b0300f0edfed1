import type { History, Stream } from './history.ts';
import type { Body } from './host.ts';
import type { Books } from './payments.ts';
import { type Reader, sum, unitsOf } from './reader.ts';

const OVER = ['closed', 'expired', 'failed'];

/**
 * Judges that metered sessions owe what their buyers signed: what was acknowledged is settled or still can be, never more than the deposit,
 * and the merchant holds what the service calls settled.
 */
export async function judgeStreams(reader: Reader, history: History, books: readonly Books[]): Promise<void> {
  for (const stream of history.streams) {
    const own = books.find(({ shop, livemode }) => shop === stream.shop && livemode === stream.livemode)!;
    const session = await reader.get(`/v1/access/metered-sessions/${stream.sessionId}`, own.key);
    if (session === null) continue;
    judgeAmounts(reader, stream, session);
    if (stream.livemode) judgeChannel(reader, history, stream, session, own.payments);
  }
  judgeTestStreams(reader, history, books);
}

function judgeAmounts(reader: Reader, { sessionId, signed, acknowledged }: Stream, session: Body): void {
  const name = `metered session ${sessionId} (${session.status})`;
  const [deposit, cumulative, settled] = [session.deposit, session.cumulative, session.settled].map(unitsOf) as [bigint, bigint, bigint];
  reader.expect(cumulative >= acknowledged, () => `${name} owes ${cumulative}, and acknowledged ${acknowledged}`);
  reader.expect(cumulative <= signed, () => `${name} says ${cumulative}, the buyer signed ${signed}`);
  reader.expect(cumulative <= deposit, () => `${name} says ${cumulative} of a deposit of ${deposit}`);
  reader.expect(settled <= cumulative, () => `${name} settled ${settled} of ${cumulative}`);
  reader.expect(session.status !== 'closed' || settled === cumulative, () => `${name} settled ${settled} of ${cumulative}`);
  reader.expect(session.status !== 'closed' || unitsOf(session.reserved) === 0n, () => `${name} still reserves`);
}

/** Compares a live session with its channel: what went into the escrow, and what the merchant got of it. */
function judgeChannel(reader: Reader, history: History, stream: Stream, session: Body, payments: readonly Body[]): void {
  const { channelId, shop, sessionId, signed, acknowledged } = stream;
  const name = `metered session ${sessionId} (${session.status})`;
  const escrow = history.moved(channelId, channelId);
  const locked = sum(escrow.filter((units) => units > 0n));
  const paid = sum(shop.wallets.map((wallet) => sum(history.moved(channelId, wallet))));
  const left = sum(escrow);
  const settled = unitsOf(session.settled);
  reader.expect(paid <= signed, () => `${name} paid ${paid} of ${signed} that the buyer signed`);
  reader.expect(unitsOf(session.deposit) <= locked, () => `${name} says ${unitsOf(session.deposit)} were deposited, the chain ${locked}`);
  reader.expect(paid <= settled, () => `${name} says ${settled} were settled, the merchant got ${paid}`);
  const isLost = OVER.includes(session.status) && session.status !== 'expired' && paid < acknowledged;
  reader.expect(!isLost, () => `${name} acknowledged ${acknowledged}, and the merchant got ${paid}`);
  // The rest must still be in the escrow.
  reader.expect(paid + left >= acknowledged, () => `${name} acknowledged ${acknowledged}: ${paid} paid and ${left} left in the channel`);
  const booked = payments.filter(({ kind, tx_signature }) => kind === 'metered' && history.names(channelId, tx_signature));
  const total = sum(booked.map(({ price }) => unitsOf(price)));
  reader.expect(total === paid, () => `${name} has payments of ${total}, the merchant got ${paid}`);
}

/** Compares the payments of sandbox sessions, which have no channel, with what the sessions settled. */
function judgeTestStreams(reader: Reader, history: History, books: readonly Books[]): void {
  for (const { shop, livemode, payments } of books) {
    const streams = history.streams.filter((one) => one.shop === shop && !one.livemode);
    if (livemode || streams.length === 0) continue;
    for (const product of new Set(streams.map((one) => one.product))) {
      const metered = payments.filter(({ kind, product_id }) => kind === 'metered' && product_id === product.productId);
      const total = sum(metered.map(({ price }) => unitsOf(price)));
      const signed = sum(streams.filter((one) => one.product === product).map((one) => one.signed));
      reader.expect(total <= signed, () => `${product.slug} has metered test payments of ${total}, its buyers signed ${signed}`);
    }
  }
}
