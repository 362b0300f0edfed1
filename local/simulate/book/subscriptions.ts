import type { History, Subscription } from './history.ts';
import type { Body } from './host.ts';
import { type Books, isBooked } from './payments.ts';
import { type Reader, repeated, unitsOf } from './reader.ts';

/** How exactly the book knows the beginning of a period, and the longest delay of the reading that ends one. */
const MARGIN_MS = 60_000;
const OPEN = ['active', 'past_due', 'cancel_requested', 'requires_reapproval'];

/** Judges that each period of a subscription is collected at most once and at its price, and access lasts as long as was collected. */
export async function judgeSubscriptions(reader: Reader, history: History, books: readonly Books[]): Promise<void> {
  const addresses = new Map(history.subscriptions.map((one) => [one.address, one]));
  for (const subscription of addresses.values()) {
    const { payments } = books.find(({ shop, livemode }) => shop === subscription.shop && livemode)!;
    const authorizations = history.subscriptions.filter(({ address }) => address === subscription.address);
    const ids = new Set(authorizations.map(({ authorizationId }) => authorizationId));
    const booked = payments.filter((one) => ids.has(one.authorization_id) && isBooked(one));
    judgeCollections(reader, history, subscription, booked);
    if (authorizations.length === 1 && !history.haveDaysPassed) judgeFirst(reader, subscription, booked);
    for (const { authorizationId } of authorizations) {
      const own = booked.filter(({ authorization_id }) => authorization_id === authorizationId);
      await judgeAuthorization(reader, { ...subscription, authorizationId }, own);
    }
  }
}

function judgeCollections(reader: Reader, history: History, subscription: Subscription, booked: readonly Body[]): void {
  const { address, shop, product, periodMs, consentedAt } = subscription;
  const name = `the subscription ${address}`;
  const collected = history
    .landedAt(shop)
    .filter(({ signature }) => history.names(address, signature))
    .toSorted((a, b) => a.blockTimeMs - b.blockTimeMs);
  for (const { signature, units } of collected) {
    reader.expect(units === product.priceUnits, () => `${name} paid ${units} by ${signature}, and costs ${product.priceUnits}`);
    reader.expect(
      booked.some(({ tx_signature }) => tx_signature === signature),
      () => `${name}: the collection ${signature} is in no payment`,
    );
  }
  for (const { payment_id, tx_signature, price } of booked) {
    const landed = collected.find(({ signature }) => signature === tx_signature);
    reader.expect(landed !== undefined && landed.units === unitsOf(price), () => `payment ${payment_id} of ${name} has no collection`);
  }
  for (const signature of repeated(booked.map(({ tx_signature }) => tx_signature))) reader.find(`${name} counts ${signature} twice`);
  // Periods are counted from the consent. A wallet that subscribes again at the same address begins new ones.
  const isOnce = history.subscriptions.filter((one) => one.address === address).length === 1;
  if (consentedAt === null || !isOnce) return;
  const periods = collected.map(({ blockTimeMs }) => Math.floor((blockTimeMs - consentedAt + MARGIN_MS) / periodMs));
  for (const period of repeated(periods)) reader.find(`${name} was collected twice in period ${period}`);
}

/** Time before the end of a checkout that the first collection may take: the next crons, and the distance of two. */
const LAST_MOMENT_MS = 6 * 60_000;

function judgeFirst(reader: Reader, { address, product, consentedAt, expiresAt, isUndone }: Subscription, booked: readonly Body[]): void {
  const isCollectable = consentedAt !== null && consentedAt < expiresAt - LAST_MOMENT_MS && !isUndone;
  // After faults the first attempt may come too late.
  const isExcused = (reader.host.faults?.() ?? 0) > 0;
  reader.expect(
    !isCollectable || isExcused || booked.length > 0,
    () => `the subscription ${address} to ${product.slug} was never collected`,
  );
}

async function judgeAuthorization(reader: Reader, one: Subscription, payments: readonly Body[]): Promise<void> {
  const { authorizationId, shop, periodMs } = one;
  const authorization = await reader.get(`/v1/access/native-subscriptions/${authorizationId}`, shop.liveKey);
  if (authorization === null) return;
  const name = `authorization ${authorizationId} (${authorization.status})`;
  const through = authorization.paid_through === null ? null : Date.parse(authorization.paid_through);
  reader.expect(payments.length > 0 === (through !== null), () => `${name} has ${payments.length} payments, paid through ${through}`);
  reader.expect(!OPEN.includes(authorization.status) || payments.length > 0, () => `${name} was never paid`);
  if (through === null || payments.length === 0) return;
  // A period has one price, also if a later checkout takes it up. So access ends with the period of the last payment.
  const last = Math.max(...payments.map(({ block_time }) => Date.parse(block_time)));
  const isExact = through > last - MARGIN_MS && through <= last + periodMs + MARGIN_MS;
  reader.expect(isExact, () => `${name} ends at ${authorization.paid_through}, and was last paid at ${new Date(last).toISOString()}`);
  const member = await reader.get(`/v1/memberships/lookup?payment_id=${payments[0].payment_id}`, shop.liveKey);
  if (member === null) return;
  const isCurrent = member.authorization_id === authorizationId;
  reader.expect(!isCurrent || Date.parse(member.paid_through) === through, () => `${name} and its membership end at different times`);
  const isOver = reader.host.now() > Date.parse(member.expires_at) + MARGIN_MS * 80;
  reader.expect(!isOver || !['active', 'grace'].includes(member.status), () => `${name}: its membership is ${member.status} after its end`);
  const isPaid = reader.host.now() < Date.parse(member.paid_through);
  reader.expect(!isPaid || ['active', 'cancelled'].includes(member.status), () => `${name}: its paid membership is ${member.status}`);
}

/** Time in which a membership must end after it is over: the next crons. */
const ENDING_MS = 10 * 60_000;
const LASTING = ['active', 'grace'];

const endOf = ({ expires_at }: Body): number => Date.parse(expires_at);

/** Memberships that last, and have an end. Those of subscriptions renew by themselves, and have laws of their own. */
async function listLasting(reader: Reader, books: readonly Books[]): Promise<Body[]> {
  const lasting: Body[] = [];
  for (const { livemode, key } of books) {
    const listed = livemode ? await reader.list('/v1/memberships', key) : [];
    const fits = ({ status, expires_at, authorization_id }: Body) =>
      LASTING.includes(status) && expires_at !== null && authorization_id === undefined;
    lasting.push(...listed.filter(fits));
  }
  return lasting;
}

/** Lets the time pass that memberships were paid for, and judges that none lasts longer. Nothing can be judged afterwards. */
export async function judgeMemberships(reader: Reader, books: readonly Books[]): Promise<void> {
  const { host } = reader;
  const bought = await listLasting(reader, books);
  if (bought.length === 0) return;
  // The first end, not the last: one membership that lasts shows that none ends.
  const end = Math.min(...bought.map(endOf));
  await host.advance(Math.max(0, end - host.now()) + ENDING_MS / 2);
  await host.settle();
  await host.advance(ENDING_MS);
  await host.settle();
  for (const one of await listLasting(reader, books))
    reader.expect(endOf(one) > host.now() - ENDING_MS, () => `membership ${one.membership_id} is ${one.status} after its end`);
}
