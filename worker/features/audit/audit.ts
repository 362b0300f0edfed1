import { base58, hex } from '#core/encoding.ts';
import { DAY, iso, MINUTE } from '#core/time.ts';
import { entitlementKeyOfPaid } from '#features/entitlements/credit-payments.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { commit } from '#platform/db/commit.ts';
import type { Audit } from '#platform/db/tables/audits.ts';
import { logRequest } from '#platform/log.ts';
import { compareEntitlements, hasCaughtUp, type NamedEntitlement } from './entitlements.ts';
import { auditPayments, readWhole, UNKNOWN, type Whole } from './payments.ts';
import { listCopies, noteAudit, type Suspect, sampleEntitlements, samplePayments, takeAudit } from './store.ts';

const SAMPLE = 50;
/** A look that has not ended by then is dead, and another begins. */
const LEASE_MS = 5 * MINUTE;
/** By then an object has told its changes several times over, and the queue has brought them. */
const UNDER_WAY_MS = 15 * MINUTE;
const KEPT_MS = 400 * DAY;

const dayOf = (at: number): string => iso(at).slice(0, 10);
const randomBytes = (count: number): Uint8Array => crypto.getRandomValues(new Uint8Array(count));

/**
 * Once a day (UTC): does a random sample of final payments stand on the chain as it is recorded, each with one valid receipt, and does
 * the database hold what the objects of entitlements say? What differs is written to the log, a line each, and counted; nothing is
 * changed. What no node or object can tell counts as unknown. A copy that differs may be under way, so it is compared again later,
 * by the first run that is due then. Answers how many were compared.
 */
export async function sweepAudit(ctx: Shard): Promise<number> {
  const audit = await takeAudit(ctx.db, dayOf(ctx.wallNow), ctx.wallNow, ctx.wallNow + LEASE_MS);
  if (!audit) return 0;
  return audit.suspects === null ? firstLook(ctx, audit) : secondLook(ctx, audit, audit.suspects);
}

async function firstLook(ctx: Shard, audit: Audit): Promise<number> {
  const payments: Whole[] = [];
  for (const recorded of await samplePayments(ctx.db, base58.encode(randomBytes(64)), SAMPLE))
    payments.push(await readWhole(ctx, recorded));
  const found = (await auditPayments(ctx, payments)).map((finding, i) => ({ finding, ...payments[i]! }));
  const differing = found.filter(({ finding }) => finding !== null && finding !== UNKNOWN);
  // Of what differs it is not certain who bought it.
  const named = await listNamed(
    ctx,
    found.filter((one) => !differing.includes(one)),
  );
  const { compared, suspects } = await compareNow(ctx, named);
  for (const { claim, payment, finding } of differing) report(ctx, 'payment', claim.subjectId, payment?.merchantId, finding!);
  const checked = payments.length + named.length;
  const unknown = found.filter(({ finding }) => finding === UNKNOWN).length + named.length - compared.length;
  await note(ctx, audit, { checked, unknown, differing: differing.length, ...left(ctx, suspects) });
  return checked;
}

/** Entitlements the database knows of, and those it must know of because the payments bought them: each once. */
async function listNamed(ctx: Shard, payments: readonly Whole[]): Promise<NamedEntitlement[]> {
  const known = (await sampleEntitlements(ctx.db, hex.encode(randomBytes(4)), SAMPLE)).map(({ id, ...row }) => ({
    ...row,
    entitlementId: id,
  }));
  const bought = payments.flatMap(({ payment }) => (payment?.payerWallet ? [entitlementKeyOfPaid(payment)] : []));
  return [...new Map([...known, ...bought].map((one) => [one.entitlementId, one])).values()].map(
    ({ merchantId, livemode, entitlementId }) => ({ merchantId, livemode, entitlementId }),
  );
}

async function secondLook(ctx: Shard, audit: Audit, suspects: Suspect[]): Promise<number> {
  const { compared } = await compareNow(ctx, suspects);
  const first = new Map(suspects.map((suspect) => [suspect.entitlementId, suspect]));
  const differing = compared.filter((one) => !hasCaughtUp(one, first.get(one.suspect.entitlementId)!));
  for (const { suspect, finding } of differing) report(ctx, 'entitlement', suspect.entitlementId, suspect.merchantId, finding!);
  const unknown = audit.unknown + suspects.length - compared.length;
  await note(ctx, audit, { unknown, differing: audit.differing + differing.length, ...left(ctx, []) });
  return suspects.length;
}

/** The copies are read first, so that in order none is newer than what its object says. */
async function compareNow(ctx: Shard, named: readonly NamedEntitlement[]) {
  const ids = named.map(({ entitlementId }) => entitlementId);
  const compared = await compareEntitlements(ctx, named, await listCopies(ctx.db, ids));
  return { compared, suspects: compared.filter(({ finding }) => finding !== null).map(({ suspect }) => suspect) };
}

/** For operators alone: ids of any tenant, and nothing else of them. */
const report = (ctx: Ctx, audit: 'payment' | 'entitlement', subjectId: string, accountId: string | undefined, code: string): void =>
  logRequest({ request_id: ctx.requestId, audit, subject_id: subjectId, ...(accountId ? { account_id: accountId } : {}), code });

/** What is left to do for a day: nothing, or a second look at these. */
const left = ({ wallNow }: Ctx, suspects: Suspect[]) =>
  suspects.length > 0 ? { suspects, dueAt: wallNow + UNDER_WAY_MS } : { suspects, dueAt: null, finishedAt: wallNow };

const note = (ctx: Shard, audit: Audit, after: Partial<Audit>): Promise<null> =>
  commit(ctx, { events: [], writes: noteAudit(ctx.db, audit, after, dayOf(ctx.wallNow - KEPT_MS)), result: null });
