import type { History, Landed, Sale, Shop } from './history.ts';
import type { Body } from './host.ts';
import { type Reader, repeated, sum, unitsOf } from './reader.ts';

/** How exactly the book knows the time of a block. */
const MARGIN_MS = 3_000;
const USDC_SCALE = 6;

/** Payments of one shop in one mode, as its owner sees them. */
export interface Books {
  shop: Shop;
  livemode: boolean;
  key: string;
  payments: Body[];
}

export const isBooked = (payment: Body): boolean => payment.status === 'CONFIRMED' && !payment.orphaned_at;
const grossOf = (payment: Body): bigint => unitsOf(payment.price) + unitsOf(payment.overpaid);

/** Judges that no transaction pays two things, in each mode over all shops. */
export function judgeUniqueness(reader: Reader, books: readonly Books[]): void {
  for (const livemode of [true, false]) {
    const confirmed = books
      .filter((one) => one.livemode === livemode)
      .flatMap(({ payments }) => payments.filter(({ status }) => status === 'CONFIRMED'));
    for (const signature of repeated(confirmed.map(({ tx_signature }) => tx_signature)))
      reader.find(`transaction ${signature} confirmed two payments`);
    for (const receipt of repeated(confirmed.map(({ receipt_id }) => receipt_id))) reader.find(`receipt ${receipt} is of two payments`);
  }
}

/** Judges that every base unit sent for a sale is booked once: by its payment, by a recovered payment, or as unmatched money. */
export function judgeSales(reader: Reader, history: History, books: readonly Books[]): void {
  for (const sale of history.sales) {
    const own = books.find(({ shop, livemode }) => shop === sale.shop && livemode === sale.livemode)!;
    const payment = own.payments.find(({ payment_id }) => payment_id === sale.paymentId);
    if (payment === undefined) reader.find(`payment ${sale.paymentId} is missing from its shop's list`);
    else if (sale.livemode) judgeLiveSale(reader, history, { sale, payment, payments: own.payments });
    else judgeTestSale(reader, { sale, payment, payments: own.payments });
  }
}

interface SaleBook {
  sale: Sale;
  payment: Body;
  payments: readonly Body[];
}

function judgeLiveSale(reader: Reader, history: History, { sale, payment, payments }: SaleBook): void {
  const name = `payment ${sale.paymentId}`;
  const came = history.landed(sale.recipient).filter(({ memos }) => memos.includes(sale.memo));
  const recovered = payments.filter(({ recovers_payment_id }) => recovers_payment_id === sale.paymentId);
  const booked = [payment, ...recovered].filter(({ status }) => status === 'CONFIRMED');
  const open: Body[] = (payment.unmatched ?? []).filter(({ status }: Body) => status === 'open');
  const counted = [...booked, ...open].map(({ tx_signature }) => tx_signature as string);
  for (const signature of repeated(counted)) reader.find(`${name} counts transaction ${signature} twice`);
  for (const { signature, units } of came) {
    reader.expect(
      counted.includes(signature),
      () => `${name}: ${units} units of transaction ${signature} are neither booked nor unmatched`,
    );
  }
  for (const one of booked.filter(isBooked)) judgeAmount(reader, name, one.tx_signature, grossOf(one), came);
  for (const one of open) judgeAmount(reader, name, one.tx_signature, unitsOf(one.amount), came);
  const full = came.filter(({ units }) => units >= sale.priceUnits);
  const endsAt = sale.expiresAt + history.lateGraceMs;
  const isOnTime = (by: number) => full.some(({ blockTimeMs }) => blockTimeMs <= endsAt + by);
  reader.expect(!isOnTime(-MARGIN_MS) || booked.length > 0, () => `${name} was paid in full and on time, and is ${payment.status}`);
  // A payment that its first block confirmed on time is given back when the transaction lands again, however late.
  const wasOnTime = full.some(({ signature }) => (history.taken.get(signature) ?? Number.POSITIVE_INFINITY) <= endsAt + MARGIN_MS);
  reader.expect(!isBooked(payment) || isOnTime(MARGIN_MS) || wasOnTime, () => `${name} is confirmed without a payment in full and on time`);
  reader.expect(
    payment.status === 'CONFIRMED' || payment.status === 'FAILED',
    () => `${name} is still ${payment.status} long after its end`,
  );
}

function judgeAmount(reader: Reader, name: string, signature: string, units: bigint, came: readonly Landed[]): void {
  const landed = came.find((one) => one.signature === signature);
  reader.expect(
    landed?.units === units,
    () => `${name}: transaction ${signature} brought ${landed?.units ?? 'nothing'}, the books say ${units}`,
  );
}

/** Judges a sandbox sale by the test payments made. The chain of a sandbox is inside the service. */
function judgeTestSale(reader: Reader, { sale, payment, payments }: SaleBook): void {
  const isPaid = sale.tests.some((test) => test === 'paid' || test === 'overpaid');
  const isDeclined = sale.tests.includes('declined');
  const isRecovered = payments.some(({ recovers_payment_id }) => recovers_payment_id === sale.paymentId);
  const { paymentId, tests } = sale;
  const name = `sandbox payment ${paymentId} (${tests.join(', ') || 'unpaid'})`;
  reader.expect(
    payment.status === 'CONFIRMED' || payment.status === 'FAILED',
    () => `${name} is still ${payment.status} long after its end`,
  );
  reader.expect(!isPaid || isDeclined || payment.status === 'CONFIRMED' || isRecovered, () => `${name} is ${payment.status}`);
  reader.expect(isPaid || payment.status !== 'CONFIRMED', () => `${name} is CONFIRMED`);
}

/** Judges that each answered x402 payment is in the books once, and serves once more for each use that was returned. */
export function judgeSettled(reader: Reader, history: History, books: readonly Books[]): void {
  for (const id of new Set(repeated(history.settled.map(({ paymentId }) => paymentId)))) {
    const answers = history.settled.filter(({ paymentId }) => paymentId === id);
    const returned = answers.filter(({ consumptionId = '' }) => history.returned.has(consumptionId)).length;
    reader.expect(
      answers.length <= 1 + returned,
      () => `payment ${id} was answered as new to ${answers.length} requests, and returned ${returned} times`,
    );
  }
  for (const { shop, livemode, product, paymentId, signature, payer } of history.settled) {
    const own = books.find((one) => one.shop === shop && one.livemode === livemode)!;
    const payment = own.payments.find(({ payment_id }) => payment_id === paymentId);
    reader.expect(payment?.status === 'CONFIRMED' && payment.tx_signature === signature && payment.payer_wallet === payer, () => {
      return `settled payment ${paymentId} is ${JSON.stringify(payment)}`;
    });
    if (!livemode || payment === undefined) continue;
    const landed = history.landedAt(shop).find((one) => one.signature === signature);
    const isPaid = landed !== undefined && landed.units === grossOf(payment);
    reader.expect(isPaid, () => `settled payment ${paymentId} of ${product.slug} says ${grossOf(payment)}, the chain ${landed?.units}`);
  }
}

/** Judges that a facilitated payment brought its merchant the full amount, and paid nothing else. */
export function judgeFacilitated(reader: Reader, history: History, books: readonly Books[]): void {
  const booked = new Set(books.flatMap(({ payments }) => payments.map(({ tx_signature }) => tx_signature as string)));
  for (const { shop, signature, units } of history.facilitated) {
    const landed = history.landedAt(shop).find((one) => one.signature === signature);
    reader.expect(
      landed?.units === units,
      () => `facilitated payment ${signature} of ${units} units brought ${landed?.units ?? 'nothing'}`,
    );
    reader.expect(!booked.has(signature), () => `facilitated payment ${signature} is also a payment of the service`);
  }
}

/** Judges that the chain has each payment of a shop, and that the summary adds up. */
export async function judgeTotals(reader: Reader, history: History, { shop, livemode, key, payments }: Books): Promise<void> {
  const confirmed = payments.filter(({ status }) => status === 'CONFIRMED');
  if (livemode) {
    const landed = new Set(history.landedAt(shop).map(({ signature }) => signature));
    for (const { payment_id, tx_signature } of payments.filter(isBooked))
      reader.expect(
        landed.has(tx_signature),
        () => `payment ${payment_id} is confirmed by ${tx_signature}, which paid ${shop.name} nothing`,
      );
  }
  const summary = await reader.get(`/v1/account/summary`, key);
  if (summary === null) return;
  const name = `the ${livemode ? 'live' : 'sandbox'} summary of ${shop.name}`;
  const booked = payments.filter(isBooked);
  const gross = toAmount(sum(booked.map(grossOf)));
  const refunded = toAmount(sum(payments.flatMap((payment) => (payment.refunded ?? []).map((one: Body) => unitsOf(one.amount)))));
  const { totals, confirmed_payments, receipts_issued } = summary;
  reader.expect(totals.USDC.gross === gross, () => `${name} says ${totals.USDC.gross} came in, the payments add up to ${gross}`);
  reader.expect(
    totals.USDC.refunded === refunded,
    () => `${name} says ${totals.USDC.refunded} went back, the refunds add up to ${refunded}`,
  );
  reader.expect(confirmed_payments === booked.length, () => `${name} counts ${confirmed_payments} payments of ${booked.length}`);
  reader.expect(receipts_issued === confirmed.length, () => `${name} counts ${receipts_issued} receipts of ${confirmed.length}`);
}

/** Judges that each refund on the chain is recorded once, with its amount, and none exceeds its payment. */
export function judgeRefunds(reader: Reader, history: History, books: readonly Books[]): void {
  const live = books.filter(({ livemode }) => livemode).flatMap(({ payments }) => payments);
  const recorded = live.flatMap(({ payment_id, refunded = [] }) => refunded.map((one: Body) => ({ ...one, payment_id })));
  for (const signature of repeated(recorded.map(({ tx_signature }) => tx_signature))) reader.find(`refund ${signature} is recorded twice`);
  for (const payment of live) {
    const back = sum((payment.refunded ?? []).map((one: Body) => unitsOf(one.amount)));
    reader.expect(back <= grossOf(payment), () => `payment ${payment.payment_id} gave back ${back} of ${grossOf(payment)}`);
  }
  const sent = live.map(({ payer_wallet }) => payer_wallet as string | undefined).flatMap((payer) => (payer ? history.landed(payer) : []));
  for (const { payment_id, tx_signature } of recorded)
    reader.expect(
      sent.some(({ signature }) => signature === tx_signature),
      () => `payment ${payment_id} records refund ${tx_signature}, which the chain does not have`,
    );
  for (const payer of new Set(live.map(({ payer_wallet }) => payer_wallet as string | undefined))) {
    if (payer === undefined) continue;
    const landed = history.landed(payer).filter(({ memos }) => memos.some((memo) => memo.startsWith('svc-refund:')));
    for (const { signature, units } of landed) {
      const one = recorded.find(({ tx_signature }) => tx_signature === signature);
      reader.expect(one !== undefined && unitsOf(one.amount) === units, () => {
        return `refund ${signature} of ${units} units is recorded as ${one === undefined ? 'nothing' : unitsOf(one.amount)}`;
      });
    }
  }
}

/** Formats base units of USDC as the service does. */
export function toAmount(units: bigint): string {
  const digits = units.toString().padStart(USDC_SCALE + 1, '0');
  const fraction = digits.slice(-USDC_SCALE).replace(/0+$/, '');
  return fraction === '' ? digits.slice(0, -USDC_SCALE) : `${digits.slice(0, -USDC_SCALE)}.${fraction}`;
}
