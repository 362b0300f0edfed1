/**
 * Steps of an erasure. Each changes at most a page of rows and may run again at any time. They go on with the row that `after` names.
 * @module
 */

import { seal, unseal } from '#core/crypto.ts';
import { type EntitlementId, eventIdOf } from '#core/ids.ts';
import { MINUTE } from '#core/time.ts';
import { addressKeysOf } from '#features/email/outbox.ts';
import { callEntitlement, calledBy, entitlementKeyOf } from '#features/entitlements/entitlement.ts';
import { storeEvents } from '#platform/db/acts/acts.ts';
import { decodeBody } from '#platform/db/acts/body.ts';
import { eraseDetails } from '#platform/db/audit/erased-entry.ts';
import { commit, unchanged, type Write } from '#platform/db/commit.ts';
import { answerPurpose } from '#platform/db/idempotency-record.ts';
import type { Erasing } from '#platform/db/search/erasing.ts';
import type { ActEvent, acts } from '#platform/db/tables/events.ts';
import { buyerKeyOf } from '#rules/access/buyers.ts';
import { eraseCustomerIn, namesCustomer } from '#rules/access/erased-customer.ts';
import {
  deleteCopies,
  deleteOldCopies,
  listPossibleProducts,
  listRunning,
  listUnerasedMembers,
  planErasedMembership,
} from './access.store.ts';
import { planEndedAccess } from './end-access.ts';
import { listOwnPayments, planEmails, planEnded, planPayments, planRows, ROWS_MAX } from './rows.store.ts';
import {
  type AnswerRow,
  forgetResponses,
  listActs,
  listAnswers,
  listLogEntries,
  listOwnMemberships,
  storeErasedAnswer,
  storeErasedEntry,
} from './texts.store.ts';

export interface Stepped {
  /** Row after which the step continues. null: the step is done. */
  after: string | null;
  /** Rows that name the customer, or may have. */
  changed: number;
  /** Set if the step waits for others. */
  isWaiting?: true;
}

const DONE: Stepped = { after: null, changed: 0 };

async function storeWrites({ ctx }: Erasing, writes: readonly Write[]): Promise<number> {
  const [first, ...rest] = writes;
  if (!first) return 0;
  const results = (await ctx.db.batch([first, ...rest])) as D1Result[];
  return results.reduce((sum, { meta }) => sum + (meta?.changes ?? 0), 0);
}

const MEMBERS_MAX = 10;
/** Time for the platform to take away access, before the recipient is erased. */
const TAKEN_WITHIN_MS = 2 * MINUTE;

/** Ends memberships that began meanwhile, and erases those of which the platform has taken away the access. */
export async function eraseMemberships(erasing: Erasing): Promise<Stepped> {
  const { ctx, keys, progress, until } = erasing;
  const running = await listRunning(
    ctx,
    keys.map(({ key }) => key),
    MEMBERS_MAX,
  );
  for (const membership of running.filter(({ updatedAt }) => updatedAt <= until)) await commit(ctx, planEndedAccess(ctx, membership));
  let [changed, isWaiting] = [0, false];
  for (const key of keys) {
    const held = await listUnerasedMembers(erasing, key, MEMBERS_MAX);
    for (const one of held) {
      const isTaken = !one.placement?.grant || ctx.now >= progress.requestedAt + TAKEN_WITHIN_MS;
      if (isTaken) await commit(ctx, { ...unchanged(null), writes: planErasedMembership(erasing, key, one) });
      else isWaiting = true;
    }
    changed += held.length;
  }
  return { after: changed > 0 && !isWaiting ? '' : null, changed, ...(isWaiting && { isWaiting }) };
}

export async function eraseRows(erasing: Erasing): Promise<Stepped> {
  const writes = [...(await planPayments(erasing)), ...planRows(erasing)];
  const changed = await storeWrites(erasing, writes);
  return { after: changed > 0 ? '' : null, changed };
}

/** Erases unpaid checkouts, on a walk after the seal: only payments that are erased by then become one. */
export async function eraseEnded(erasing: Erasing): Promise<Stepped> {
  const { progress } = erasing;
  if (progress.sealedAt === null) return DONE;
  const { writes, end } = await planEnded(erasing, progress.after ?? '');
  return { after: end, changed: await storeWrites(erasing, writes) };
}

/** Erases what is found by the address or the subject of a buyer. */
export async function eraseEmails(erasing: Erasing): Promise<Stepped> {
  const { ctx, row, customer } = erasing;
  const { merchantId, livemode } = ctx;
  const wallets = [...new Set([...customer.wallets, ...row.wallets])];
  const subjects = [
    ...[...customer.ids].map((id) => ({ kind: 'customer' as const, account_id: merchantId, customer_id: id as typeof row.id, livemode })),
    ...(livemode ? wallets.map((wallet_address) => ({ kind: 'wallet' as const, wallet_address })) : []),
    ...(livemode ? [...customer.emails].map((email) => ({ kind: 'email' as const, email })) : []),
  ];
  const addressKeys = [...customer.emails].flatMap((email) => addressKeysOf(ctx, email));
  const changed = await storeWrites(erasing, planEmails(erasing, subjects.map(buyerKeyOf), addressKeys));
  return { after: null, changed };
}

const ACTS_MAX = 200;
type Act = typeof acts.$inferSelect;

/** Erases the customer in events, in the order of their storage. Later ones are found by the next run. */
export async function eraseEvents(erasing: Erasing): Promise<Stepped> {
  const { ctx, progress } = erasing;
  const page: Act[] = await listActs(ctx, progress.actSeq, ACTS_MAX);
  const last = page.at(-1);
  if (!last) return DONE;
  const opened = page.map((act) => ({ act, events: decodeBody(act.body) }));
  const isTheirs = await findTheirs(
    erasing,
    opened.flatMap(({ events }) => events),
  );
  const writes = opened.flatMap(({ act, events }) => {
    if (act.createdAt > erasing.until || !events.some(isTheirs)) return [];
    const erased = events.map((event) => (isTheirs(event) ? eraseEvent(erasing, event) : event));
    if (JSON.stringify(erased) === JSON.stringify(events)) return [];
    const ids = events.map((_, position) => eventIdOf(act.id, position));
    return [storeEvents(ctx.db, act, erased), forgetResponses(ctx.db, ids)];
  });
  for (let from = 0; from < writes.length; from += ROWS_MAX) await storeWrites(erasing, writes.slice(from, from + ROWS_MAX));
  progress.actSeq = last.seq;
  return { after: page.length < ACTS_MAX ? null : '', changed: 0 };
}

const eraseEvent = ({ customer }: Erasing, event: ActEvent): ActEvent => ({
  ...event,
  data: eraseCustomerIn(event.data, customer, event.type.startsWith('customer.')) as ActEvent['data'],
});

async function findTheirs(erasing: Erasing, events: readonly ActEvent[]): Promise<(event: ActEvent) => boolean> {
  const { customer } = erasing;
  const [paid, held] = await Promise.all([
    listOwnPayments(erasing, [...new Set(events.flatMap(({ paymentId }) => paymentId ?? []))]),
    listOwnMemberships(erasing, [...new Set(events.flatMap(({ membershipId }) => membershipId ?? []))]),
  ]);
  return ({ paymentId, membershipId, subjectId, data }) =>
    paid.has(paymentId!) || held.has(membershipId!) || customer.ids.has(subjectId) || namesCustomer(data, customer);
}

const ANSWERS_MAX = 200;

/** Erases the customer in stored answers. A repeated request gets the erased one, and has no second effect. */
export async function eraseAnswers(erasing: Erasing): Promise<Stepped> {
  const { ctx, progress } = erasing;
  const after = progress.after ? (JSON.parse(progress.after) as [string, string]) : (['', ''] as const);
  const page = await listAnswers(ctx, after, ANSWERS_MAX);
  const last = page.at(-1);
  if (!last) return DONE;
  const writes: Write[] = [];
  for (const answer of page) {
    const change = await erasedAnswer(erasing, answer);
    if (change) writes.push(storeErasedAnswer(ctx.db, answer, change));
  }
  const changed = await storeWrites(erasing, writes);
  return { after: page.length < ANSWERS_MAX ? null : JSON.stringify([last.scope, last.key]), changed };
}

async function erasedAnswer({ ctx, customer }: Erasing, { scope, key, body, sealedBody }: AnswerRow) {
  const purpose = answerPurpose(`${scope}\n${key}`);
  // No caller gets a body that no key opens.
  const text = sealedBody === null ? body : await unseal(ctx.config.SEAL_KEYS, purpose, sealedBody).catch(() => null);
  if (!text?.startsWith('{')) return null;
  const shown: unknown = JSON.parse(text);
  if (!namesCustomer(shown, customer)) return null;
  const erased = JSON.stringify(eraseCustomerIn(shown, customer));
  if (erased === text) return null;
  return sealedBody === null ? { body: erased } : { sealedBody: await seal(ctx.config.SEAL_KEYS, purpose, erased) };
}

const ENTRIES_MAX = 500;

/** Erases changed fields in the log of the account. An erased entry is verified by its links alone. */
export async function eraseEntries(erasing: Erasing): Promise<Stepped> {
  const { ctx, progress, customer } = erasing;
  const page = await listLogEntries(ctx, Number(progress.after ?? 0), ENTRIES_MAX);
  const last = page.at(-1);
  if (!last) return DONE;
  const writes = page.flatMap(({ seq, subjectId, details }) => {
    const { before, after, ...others } = details;
    const fields = { ...(before && { before }), ...(after && { after }) };
    if (!(customer.ids.has(subjectId) || namesCustomer(fields, customer))) return [];
    const erased = { ...others, ...eraseDetails(fields) };
    return JSON.stringify(erased) === JSON.stringify({ ...others, ...fields }) ? [] : [storeErasedEntry(ctx, seq, erased)];
  });
  const changed = await storeWrites(erasing, writes);
  return { after: page.length < ENTRIES_MAX ? null : String(last.seq), changed };
}

const PRODUCTS_MAX = 20;

/** Has the objects of entitlements forget the customer, and deletes their copies. After the seal they are the next customer's. */
export async function forgetEntitlements(erasing: Erasing): Promise<Stepped> {
  const { ctx, keys, progress } = erasing;
  if (progress.sealedAt !== null) return { after: null, changed: await storeWrites(erasing, deleteOldCopies(erasing)) };
  const products = await listPossibleProducts(erasing, progress.after ?? '', PRODUCTS_MAX);
  for (const productId of products)
    for (const { key } of keys) {
      const identity = entitlementKeyOf(ctx, productId, key);
      const isForgotten = await callEntitlement(ctx, ctx, identity.entitlementId, (object) => object.forget(calledBy(ctx)));
      if (!isForgotten) return { after: progress.after, changed: 0, isWaiting: true };
      await storeWrites(erasing, [deleteCopies(erasing, [identity.entitlementId as EntitlementId])]);
    }
  return { after: products.length < PRODUCTS_MAX ? null : products.at(-1)!, changed: 0 };
}

export const STEPS = [
  eraseMemberships,
  eraseRows,
  eraseEnded,
  eraseEmails,
  eraseEvents,
  eraseAnswers,
  eraseEntries,
  forgetEntitlements,
] as const;
