import { ApiError, storyOf } from '#core/errors.ts';
import type { EntitlementId, PaymentId } from '#core/ids.ts';
import { DAY } from '#core/time.ts';
import { copyProblem } from '#features/audit/entitlements.ts';
import { retellPayment } from '#features/entitlements/credit-payments.ts';
import { mendCopy, readEntitlement, toSnapshot } from '#features/entitlements/entitlement.ts';
import { listPaid } from '#features/entitlements/store.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { forEach } from '#platform/db/commit.ts';
import { shardsOf } from '#platform/db/directory.ts';
import { listConfirmedAfter, listCopiesAfter } from './store.ts';
import { findUnknown, keysOnChain, type UnknownMoney } from './unknown-money.ts';

/** An entitlement whose copy in the database was not what its object says. */
interface Differing {
  entitlement_id: string;
  account_id: string;
  product_id: string;
  /** Units left by the copy, and by the object; null: without a limit, or nothing at all. */
  copy: { remaining: number | null; version: number };
  object: { remaining: number | null; version: number };
}

/** What one call did, and how to go on; `next` is null after the last. */
interface Reconciled {
  payments_told: number;
  entitlements_compared: number;
  differing: Differing[];
  transactions_compared: number;
  unknown_payments: UnknownMoney[];
  /** Payments and entitlements whose object did not answer: for another run. */
  failed: string[];
  next: string | null;
}

const PAGE_SIZE = 50;
const LANES = 6;
/** A payment may have been confirmed so long after it was begun. */
const BEGUN_BEFORE_MS = 2 * DAY;

type Page = Partial<Reconciled> & { place: string | null };
/** What is compared, page by page: `place` is where a page begins, `` at the first. */
type Stage = (place: string) => Promise<Page>;

/**
 * Makes database, objects and chain agree again, where one of them was set back to what it was at `since` or later. Objects hear again of
 * the payments of that time; copies of entitlements become what their objects say; and what the chain shows and no database knows is
 * listed, for a person. One page a call, each harmless twice. 503 rpc_unavailable.
 */
export async function reconcile(ctx: Ctx, { since, after }: { since: number; after?: string }): Promise<Reconciled> {
  const stages: Stage[] = [
    ...shardsOf(ctx).flatMap((shard) => [
      (place: string) => tellPayments(shard, since, place),
      (place: string) => compareCopies(shard, place),
    ]),
    ...keysOnChain(ctx).map((key) => (place: string) => compareChain(ctx, key, since, place)),
  ];
  const [, stage = '0', from = ''] = /^(\d+)\.(.*)$/.exec(after ?? '') ?? [];
  const at = Number(stage);
  const { place, ...done } = (await stages[at]?.(from)) ?? { place: null };
  const next = place === null ? at + 1 : at;
  return {
    payments_told: 0,
    entitlements_compared: 0,
    differing: [],
    transactions_compared: 0,
    unknown_payments: [],
    failed: [],
    ...done,
    next: next < stages.length ? `${next}.${place ?? ''}` : null,
  };
}

/** Does it for each, a few at once; answers those that failed. */
async function tryEach<T extends { id: string }>(ctx: Ctx, rows: readonly T[], run: (row: T) => Promise<unknown>): Promise<string[]> {
  const failed: string[] = [];
  const attempt = (row: T) =>
    run(row).catch((error: unknown) => {
      ctx.note(`reconcile ${row.id}: ${storyOf(error)}`);
      failed.push(row.id);
    });
  await forEach(ctx, rows, attempt, LANES);
  return failed;
}

/** The smallest id that was made at a moment. */
function firstIdAt(at: number): PaymentId {
  const time = Math.max(0, at).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000` as PaymentId;
}

async function tellPayments(shard: Shard, since: number, place: string): Promise<Page> {
  const from = place === '' ? firstIdAt(since - BEGUN_BEFORE_MS) : (place as PaymentId);
  const ids = (await listConfirmedAfter(shard.db, from, PAGE_SIZE)).map(({ id }) => id);
  const paid = (await listPaid(shard.db, ids)).filter(({ terms }) => terms.isMetered !== true);
  const failed = await tryEach(shard, paid, (payment) => retellPayment(shard, payment));
  return { payments_told: paid.length - failed.length, failed, place: ids.length < PAGE_SIZE ? null : ids.at(-1)! };
}

async function compareCopies(shard: Shard, place: string): Promise<Page> {
  const copies = await listCopiesAfter(shard.db, place as EntitlementId, PAGE_SIZE);
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
    if (said) await mendCopy(shard, said, copy.version);
  };
  const failed = await tryEach(shard, copies, compare);
  return {
    entitlements_compared: copies.length - failed.length,
    differing,
    failed,
    place: copies.length < PAGE_SIZE ? null : copies.at(-1)!.id,
  };
}

async function compareChain(ctx: Ctx, key: string, since: number, place: string): Promise<Page> {
  const found = await findUnknown(ctx, key, since, place === '' ? null : place);
  if (!found) throw new ApiError('rpc_unavailable', { retryAfterSeconds: 5 });
  return { transactions_compared: found.looked, unknown_payments: found.unknown, place: found.next };
}
