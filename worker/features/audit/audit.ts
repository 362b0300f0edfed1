import { base58, hex } from '#core/encoding.ts';
import { DAY, iso, MINUTE } from '#core/time.ts';
import { entitlementKeyOfPaid } from '#features/entitlements/credit-payments.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { commit } from '#platform/db/commit.ts';
import type { Swept } from '#platform/db/sweeps.ts';
import type { Audit } from '#platform/db/tables/audits.ts';
import { logRequest } from '#platform/log.ts';
import { compareEntitlements, hasCaughtUp, type NamedEntitlement } from './entitlements.ts';
import { type AuditedPayment, auditPayments, readRecorded, UNKNOWN } from './payments.ts';
import { listCopies, noteAudit, type Suspect, sampleEntitlements, samplePayments, takeAudit } from './store.ts';

const SAMPLE = 50;
const LEASE_MS = 5 * MINUTE;
/** Time after which every object has reported its changes and the queue has delivered them. */
const UNDER_WAY_MS = 15 * MINUTE;
const RETENTION_MS = 400 * DAY;

const dayOf = (at: number): string => iso(at).slice(0, 10);
const randomBytes = (count: number): Uint8Array => crypto.getRandomValues(new Uint8Array(count));

/**
 * Audits once a day (UTC): compares a random sample of final payments with the chain and their receipts, and entitlement rows with their
 * objects. Differences are logged and counted, and nothing is changed. Unavailable sources count as unknown. A differing copy may be in
 * flight, so a later run compares it again. A sample leaves no rows.
 */
export async function sweepAudit(ctx: Shard): Promise<Swept> {
  const audit = await takeAudit(ctx.db, dayOf(ctx.wallNow), ctx.wallNow, ctx.wallNow + LEASE_MS);
  if (!audit) return { taken: 0, end: 'empty' };
  const taken = await (audit.suspects === null ? firstCheck(ctx, audit) : secondCheck(ctx, audit, audit.suspects));
  return { taken, end: 'empty' };
}

async function firstCheck(ctx: Shard, audit: Audit): Promise<number> {
  const payments: AuditedPayment[] = [];
  for (const recorded of await samplePayments(ctx.db, base58.encode(randomBytes(64)), SAMPLE))
    payments.push(await readRecorded(ctx, recorded));
  const found = (await auditPayments(ctx, payments)).map((finding, i) => ({ finding, ...payments[i]! }));
  const differing = found.filter(({ finding }) => finding !== null && finding !== UNKNOWN);
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

async function listNamed(ctx: Shard, payments: readonly AuditedPayment[]): Promise<NamedEntitlement[]> {
  const known = (await sampleEntitlements(ctx.db, hex.encode(randomBytes(4)), SAMPLE)).map(({ id, ...row }) => ({
    ...row,
    entitlementId: id,
  }));
  const bought = payments.flatMap(({ payment }) => (payment?.payerWallet ? [entitlementKeyOfPaid(payment)] : []));
  return [...new Map([...known, ...bought].map((one) => [one.entitlementId, one])).values()].map(
    ({ merchantId, livemode, entitlementId }) => ({ merchantId, livemode, entitlementId }),
  );
}

async function secondCheck(ctx: Shard, audit: Audit, suspects: Suspect[]): Promise<number> {
  const { compared } = await compareNow(ctx, suspects);
  const first = new Map(suspects.map((suspect) => [suspect.entitlementId, suspect]));
  const differing = compared.filter((one) => !hasCaughtUp(one, first.get(one.suspect.entitlementId)!));
  for (const { suspect, finding } of differing) report(ctx, 'entitlement', suspect.entitlementId, suspect.merchantId, finding!);
  const unknown = audit.unknown + suspects.length - compared.length;
  await note(ctx, audit, { unknown, differing: audit.differing + differing.length, ...left(ctx, []) });
  return suspects.length;
}

/** Reads the copies first, so that none is newer than the state of its object. */
async function compareNow(ctx: Shard, named: readonly NamedEntitlement[]) {
  const ids = named.map(({ entitlementId }) => entitlementId);
  const compared = await compareEntitlements(ctx, named, await listCopies(ctx.db, ids));
  return { compared, suspects: compared.filter(({ finding }) => finding !== null).map(({ suspect }) => suspect) };
}

const report = (ctx: Ctx, audit: 'payment' | 'entitlement', subjectId: string, accountId: string | undefined, code: string): void =>
  logRequest({ request_id: ctx.requestId, audit, subject_id: subjectId, ...(accountId ? { account_id: accountId } : {}), code });

const left = ({ wallNow }: Ctx, suspects: Suspect[]) =>
  suspects.length > 0 ? { suspects, dueAt: wallNow + UNDER_WAY_MS } : { suspects, dueAt: null, finishedAt: wallNow };

const note = (ctx: Shard, audit: Audit, after: Partial<Audit>): Promise<null> =>
  commit(ctx, { events: [], writes: noteAudit(ctx.db, audit, after, dayOf(ctx.wallNow - RETENTION_MS)), result: null });
