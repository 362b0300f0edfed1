import { ApiError, formatErrorChain } from '#core/errors.ts';
import type { EntitlementId, PaymentId } from '#core/ids.ts';
import { DAY } from '#core/time.ts';
import { copyProblem } from '#features/audit/entitlements.ts';
import { retellPayment } from '#features/entitlements/credit-payments.ts';
import { readEntitlement, repairCopy, toSnapshot } from '#features/entitlements/entitlement.ts';
import { listPaid } from '#features/entitlements/store.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { forEach } from '#platform/db/commit.ts';
import { shardsOf } from '#platform/db/each-database.ts';
import { listConfirmedAfter, listCopiesAfter } from './store.ts';
import { findUnknown, keysOnChain, type UnknownMoney } from './unknown-money.ts';

interface Differing {
  entitlement_id: string;
  account_id: string;
  product_id: string;
  copy: { remaining: number | null; version: number };
  object: { remaining: number | null; version: number };
}

interface Reconciled {
  payments_recredited: number;
  entitlements_compared: number;
  differing: Differing[];
  transactions_compared: number;
  unknown_payments: UnknownMoney[];
  failed: string[];
  next: string | null;
}

const PAGE_SIZE = 50;
const LANES = 6;
/** Maximum time from the start of a payment to its confirmation. */
const BEGUN_BEFORE_MS = 2 * DAY;

type Page = Partial<Reconciled> & { cursor: string | null };
/** Compares one page from `cursor`, empty for the first page. */
type Stage = (cursor: string) => Promise<Page>;

/**
 * Reconciles database, objects and chain after a restore to `since` or later: sends the payments since then to their objects, overwrites
 * entitlement copies with the objects' state, and lists chain transactions unknown to any database. One page per call, idempotent. Throws
 * 503 rpc_unavailable.
 */
export async function reconcile(ctx: Ctx, { since, after }: { since: number; after?: string }): Promise<Reconciled> {
  const stages: Stage[] = [
    ...shardsOf(ctx).flatMap((shard) => [
      (cursor: string) => recreditPayments(shard, since, cursor),
      (cursor: string) => compareCopies(shard, cursor),
    ]),
    ...keysOnChain(ctx).map((key) => (cursor: string) => compareChain(ctx, key, since, cursor)),
  ];
  const [, stage = '0', from = ''] = /^(\d+)\.(.*)$/.exec(after ?? '') ?? [];
  const at = Number(stage);
  const { cursor, ...done } = (await stages[at]?.(from)) ?? { cursor: null };
  const next = cursor === null ? at + 1 : at;
  return {
    payments_recredited: 0,
    entitlements_compared: 0,
    differing: [],
    transactions_compared: 0,
    unknown_payments: [],
    failed: [],
    ...done,
    next: next < stages.length ? `${next}.${cursor ?? ''}` : null,
  };
}

async function tryEach<T extends { id: string }>(ctx: Ctx, rows: readonly T[], run: (row: T) => Promise<unknown>): Promise<string[]> {
  const failed: string[] = [];
  const attempt = (row: T) =>
    run(row).catch((error: unknown) => {
      ctx.note(`reconcile ${row.id}: ${formatErrorChain(error)}`);
      failed.push(row.id);
    });
  await forEach(ctx, rows, attempt, LANES);
  return failed;
}

function firstIdAt(at: number): PaymentId {
  const time = Math.max(0, at).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000` as PaymentId;
}

async function recreditPayments(shard: Shard, since: number, cursor: string): Promise<Page> {
  const from = cursor === '' ? firstIdAt(since - BEGUN_BEFORE_MS) : (cursor as PaymentId);
  const ids = (await listConfirmedAfter(shard.db, from, PAGE_SIZE)).map(({ id }) => id);
  const paid = (await listPaid(shard.db, ids)).filter(({ terms }) => terms.isMetered !== true);
  const failed = await tryEach(shard, paid, (payment) => retellPayment(shard, payment));
  return { payments_recredited: paid.length - failed.length, failed, cursor: ids.length < PAGE_SIZE ? null : ids.at(-1)! };
}

async function compareCopies(shard: Shard, cursor: string): Promise<Page> {
  const copies = await listCopiesAfter(shard.db, cursor as EntitlementId, PAGE_SIZE);
  const differing: Differing[] = [];
  const compare = async (copy: (typeof copies)[number]) => {
    const said = await readEntitlement(shard, toSnapshot(copy), copy.id);
    if (copyProblem(toSnapshot(copy), said) === null) return;
    differing.push({
      entitlement_id: copy.id,
      account_id: copy.merchantId,
      product_id: copy.productId,
      copy: { remaining: copy.remaining, version: copy.version },
      object: { remaining: said?.remaining ?? null, version: said?.version ?? 0 },
    });
    if (said) await repairCopy(shard, said, copy.version);
  };
  const failed = await tryEach(shard, copies, compare);
  return {
    entitlements_compared: copies.length - failed.length,
    differing,
    failed,
    cursor: copies.length < PAGE_SIZE ? null : copies.at(-1)!.id,
  };
}

async function compareChain(ctx: Ctx, key: string, since: number, cursor: string): Promise<Page> {
  const found = await findUnknown(ctx, key, since, cursor === '' ? null : cursor);
  if (!found) throw new ApiError('rpc_unavailable', { retryAfterSeconds: 5 });
  return { transactions_compared: found.compared, unknown_payments: found.unknown, cursor: found.next };
}
