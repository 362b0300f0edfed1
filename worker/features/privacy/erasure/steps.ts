/**
 * Steps of an erasure. Each changes at most a page of rows and may run again at any time. They go on with the row that `after` names.
 * @module
 */

import { seal, unseal } from '#core/crypto.ts';
import { type EntitlementId, eventIdOf } from '#core/ids.ts';
import { HOUR } from '#core/time.ts';
import { addressKeysOf } from '#features/email/outbox.ts';
import { eraseFromArchive } from '#features/retention/erase.ts';
import { eraseFromLog } from '#features/retention/log-archive.ts';
import type { Scope } from '#platform/context.ts';
import { storeEvents } from '#platform/db/acts/acts.ts';
import { decodeBody } from '#platform/db/acts/body.ts';
import { eraseDetails } from '#platform/db/audit/erased-entry.ts';
import { commit, isAborted, unchanged, type Write } from '#platform/db/commit.ts';
import { ANSWER_RETENTION_MS, answerPurpose, MONEY_RETENTION_MS } from '#platform/db/idempotency-record.ts';
import type { Erasing } from '#platform/db/search/erasing.ts';
import type { ActEvent, acts } from '#platform/db/tables/events.ts';
import type { AuditDetails, AuditEntry } from '#platform/db/tables/office/audit-log.ts';
import { buyerKeyOf } from '#rules/access/buyers.ts';
import { eraseCustomerIn, namesCustomer } from '#rules/access/erased-customer.ts';
import { isBoughtBefore, listRunning, listUnerasedMembers, planErasedMembership } from './access.store.ts';
import { listEmails } from './customer.store.ts';
import { planEndedAccess } from './end-access.ts';
import { planEmails } from './mails.store.ts';
import { forgetEntitlements, renameMeteredSessions } from './objects.ts';
import { hasOpenCheckout, listOwnPayments, planEnded, planPayments, planRows, ROWS_MAX } from './rows.store.ts';
import { DONE, isLastPass, type Stepped, storeWrites } from './step.ts';
import {
  type AnswerRow,
  deleteParkedCopies,
  forgetResponses,
  listActs,
  listAnswers,
  listLogEntries,
  listOwnMemberships,
  planForgottenAddress,
  storeErasedAnswer,
  storeErasedEntry,
} from './texts.store.ts';

const EMAILS_MAX = 100;

/** Collects the addresses by which emails and events name the customer, before the rows lose them. */
export async function collectEmails(erasing: Erasing): Promise<Stepped> {
  const { progress, customer } = erasing;
  const found = await listEmails(erasing, progress.after ?? '', EMAILS_MAX);
  for (const email of found) customer.emails.add(email.toLowerCase());
  progress.emails = [...customer.emails];
  return { after: found.length < EMAILS_MAX ? null : found.at(-1)! };
}

const MEMBERS_MAX = 10;

/** Ends memberships that the request did not end, and erases those of which the platform has taken away the access. */
export async function eraseMemberships(erasing: Erasing): Promise<Stepped> {
  const { ctx, keys, progress } = erasing;
  const ours = keys.map(({ erased }) => erased);
  const ended = await listRunning(ctx, ours, MEMBERS_MAX, isBoughtBefore(erasing));
  for (const membership of ended) await commit(ctx, planEndedAccess(ctx, membership));
  let [changed, isWaiting] = [ended.length, false];
  for (const key of keys) {
    const held = await listUnerasedMembers(erasing, key, MEMBERS_MAX);
    for (const one of held) {
      const isTaken = !one.placement?.grant || ctx.wallNow >= progress.takenAt;
      const isErased = isTaken && (await commitUnlessMoved(ctx, planErasedMembership(erasing, one)));
      if (!isErased) isWaiting = true;
    }
    changed += held.length;
  }
  return { after: changed > 0 && !isWaiting ? '' : null, ...(isWaiting && { isWaiting }) };
}

/** Returns false if something moved meanwhile, so that nothing is stored. */
async function commitUnlessMoved(ctx: Scope, writes: Write[]): Promise<boolean> {
  try {
    await commit(ctx, { ...unchanged(null), writes });
    return true;
  } catch (error) {
    if (isAborted(error)) return false;
    throw error;
  }
}

/** Erases rows of payments and checkouts. Open checkouts have ended soon, or are paid: they belong to the next customer then. */
export async function eraseRows(erasing: Erasing): Promise<Stepped> {
  const writes = [...(await planPayments(erasing)), ...planRows(erasing)];
  const changed = await storeWrites(erasing, writes);
  if (changed > 0) return { after: '' };
  return (await hasOpenCheckout(erasing)) ? { after: null, isWaiting: true } : DONE;
}

/** Erases unpaid checkouts, on a walk in the last pass: only payments that are erased by then become one. */
export async function eraseEnded(erasing: Erasing): Promise<Stepped> {
  const { progress, customer } = erasing;
  if (customer.refs.size === 0 || !isLastPass(erasing)) return DONE;
  const { writes, end } = await planEnded(erasing, progress.after ?? '');
  await storeWrites(erasing, writes);
  return { after: end };
}

/** Erases what is found by the address or the subject of a buyer. */
export async function eraseEmails(erasing: Erasing): Promise<Stepped> {
  const { ctx, row, customer } = erasing;
  const { merchantId, livemode } = ctx;
  const subjects = [
    ...[...customer.ids].map((id) => ({ kind: 'customer' as const, account_id: merchantId, customer_id: id as typeof row.id, livemode })),
    ...(livemode ? [...customer.wallets].map((wallet_address) => ({ kind: 'wallet' as const, wallet_address })) : []),
  ];
  const addressKeys = [...customer.emails].flatMap((email) => addressKeysOf(ctx, email));
  const changed = await storeWrites(erasing, await planEmails(erasing, subjects.map(buyerKeyOf), addressKeys));
  return { after: changed >= ROWS_MAX ? '' : null };
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
    const isOwn = (event: ActEvent): boolean => isTheirs(event, act.createdAt <= erasing.until);
    if (!events.some(isOwn)) return [];
    const erased = events.map((event) => (isOwn(event) ? eraseEvent(erasing, event) : event));
    if (JSON.stringify(erased) === JSON.stringify(events)) return [];
    const ids = events.map((_, position) => eventIdOf(act.id, position));
    return [storeEvents(ctx.db, act, erased), forgetResponses(ctx.db, ids)];
  });
  for (let from = 0; from < writes.length; from += ROWS_MAX) await storeWrites(erasing, writes.slice(from, from + ROWS_MAX));
  progress.actSeq = last.seq;
  return { after: page.length < ACTS_MAX ? null : '' };
}

const eraseEvent = ({ customer }: Erasing, event: ActEvent): ActEvent => ({
  ...event,
  data: eraseCustomerIn(event.data, customer, event.type.startsWith('customer.')) as ActEvent['data'],
});

/** Finds the customer's events. Of those after the request, only events about rows of before are the customer's. */
async function findTheirs(erasing: Erasing, events: readonly ActEvent[]): Promise<(event: ActEvent, isOfBefore: boolean) => boolean> {
  const { customer } = erasing;
  const memberIds = [...new Set(events.flatMap(({ membershipId }) => membershipId ?? []))];
  const [paid, held, heldForGood] = await Promise.all([
    listOwnPayments(erasing, [...new Set(events.flatMap(({ paymentId }) => paymentId ?? []))]),
    listOwnMemberships(erasing, memberIds, true),
    listOwnMemberships(erasing, memberIds, false),
  ]);
  const { forgotten } = erasing.progress;
  return ({ paymentId, membershipId, subjectType, subjectId, subjectVersion, data }, isOfBefore) => {
    if (paid.has(paymentId!) || heldForGood.has(membershipId!)) return true;
    if (subjectType === 'entitlement' && subjectVersion <= (forgotten[subjectId as EntitlementId] ?? -1)) return true;
    return isOfBefore && (held.has(membershipId!) || customer.ids.has(subjectId) || namesCustomer(data, customer));
  };
}

const ANSWERS_MAX = 200;

/** Erases the customer in stored answers. A repeated request gets the erased one, and has no second effect. */
export async function eraseAnswers(erasing: Erasing): Promise<Stepped> {
  const { ctx, progress } = erasing;
  if (!isLastPass(erasing)) return DONE;
  const after = progress.after ? (JSON.parse(progress.after) as [string, string]) : (['', ''] as const);
  const page = await listAnswers(ctx, after, ANSWERS_MAX);
  const last = page.at(-1);
  if (!last) return DONE;
  const writes: Write[] = [];
  for (const answer of page) {
    if (isLaterAnswer(erasing, answer)) continue;
    const change = await erasedAnswer(erasing, answer);
    if (change) writes.push(storeErasedAnswer(ctx.db, answer, change));
  }
  await storeWrites(erasing, writes);
  return { after: page.length < ANSWERS_MAX ? null : JSON.stringify([last.scope, last.key]) };
}

/** An erasure is over by then. */
const ERASED_WITHIN_MS = HOUR;

/** True for an answer that was stored since the request. Another one that expires in the same hour expires within a day. */
const isLaterAnswer = ({ progress: { requestedAt } }: Erasing, { expiresAt }: AnswerRow): boolean =>
  [ANSWER_RETENTION_MS, MONEY_RETENTION_MS].some(
    (retention) => expiresAt > requestedAt + retention && expiresAt <= requestedAt + retention + ERASED_WITHIN_MS,
  );

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
  const { ctx, progress } = erasing;
  const page = await listLogEntries(ctx, progress.entrySeq, ENTRIES_MAX);
  const last = page.at(-1);
  if (!last) return DONE;
  const writes = page.flatMap(({ seq, ...entry }) => {
    const erased = erasedDetails(erasing, entry);
    return erased ? [storeErasedEntry(ctx, seq, erased)] : [];
  });
  await storeWrites(erasing, writes);
  progress.entrySeq = last.seq;
  return { after: page.length < ENTRIES_MAX ? null : '' };
}

type LogEntry = Pick<AuditEntry, 'action' | 'subjectId' | 'details'>;

/** Details of an entry about the customer without personal data, also without reasons, but for that of the erasure. null: nothing is to erase. */
function erasedDetails({ customer }: Erasing, { action, subjectId, details }: LogEntry): AuditDetails | null {
  if (!customer.ids.has(subjectId)) return null;
  const { before, after, ...others } = details;
  const fields = { ...(before && { before }), ...(after && { after }) };
  const erased = { ...others, ...(others.reason && action !== 'customer.erased' && { reason: '' }), ...eraseDetails(fields) };
  return JSON.stringify(erased) === JSON.stringify({ ...others, ...fields }) ? null : erased;
}

/** Erases the customer in archived entries of the log, object by object. */
export async function eraseArchivedEntries(erasing: Erasing): Promise<Stepped> {
  const { ctx, progress } = erasing;
  const found = await eraseFromLog(ctx, ctx.merchantId, Number(progress.after ?? 0), (entry) => {
    const details = entry.livemode === ctx.livemode ? erasedDetails(erasing, entry) : null;
    return details ? { ...entry, details, isErased: true } : entry;
  });
  return { after: found === null ? null : String(found) };
}

/** Erases the customer in the archive, object by object. Rows that come into it later are erased already. */
export async function eraseArchive(erasing: Erasing): Promise<Stepped> {
  const { progress, until } = erasing;
  const found = await eraseFromArchive(erasing, Number(progress.after ?? 0), {
    findOwn: async (events) => {
      const isTheirs = await findTheirs(erasing, events);
      return (event) => isTheirs(event, event.createdAt <= until);
    },
    eraseEvent: (event) => ({ ...event, ...eraseEvent(erasing, event) }),
  });
  return { after: found === null ? null : String(found) };
}

/** Erases what leads to the customer outside of the rows: addresses by which a buyer finds the seller, and parked messages. */
export async function eraseTraces(erasing: Erasing): Promise<Stepped> {
  const { ctx, customer } = erasing;
  if (!isLastPass(erasing)) return DONE;
  if (customer.refs.size > 0) await deleteParkedCopies(erasing);
  if (!ctx.livemode) return DONE;
  const writes = [...customer.emails].flatMap((email) => planForgottenAddress(erasing, email));
  for (let from = 0; from < writes.length; from += ROWS_MAX) await storeWrites(erasing, writes.slice(from, from + ROWS_MAX));
  return DONE;
}

export const STEPS = [
  forgetEntitlements,
  collectEmails,
  eraseRows,
  eraseEnded,
  eraseMemberships,
  renameMeteredSessions,
  eraseEmails,
  eraseEvents,
  eraseAnswers,
  eraseEntries,
  eraseTraces,
] as const;

/** Steps after the end, which take as long as the archive is large. */
export const ARCHIVE_STEPS = [eraseArchive, eraseArchivedEntries] as const;
