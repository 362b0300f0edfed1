import { z } from 'zod';
import { raise } from '#core/errors.ts';
import type { AccountId, PaymentId } from '#core/ids.ts';
import { toMoneyResource } from '#core/money.ts';
import { iso, isoOrNull } from '#core/time.ts';
import { findAccountByEmail } from '#features/accounts/auth/sign-in.ts';
import { findAccount } from '#features/accounts/store.ts';
import { findPayment } from '#features/payments/store.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import { readEach, shardsOf } from '#platform/db/each-database.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { isBought, planAt } from '#rules/plans.ts';
import { listAccounts, listClaimedSubjects, readTotals } from './alarms.store.ts';

const SHOWN_MAX = 50;
const isUuid = (text: string): boolean => z.uuid().safeParse(text).success;

const toAccount = (account: Account, { now }: Ctx) => {
  const plan = planAt(account, now);
  return {
    user_id: account.id,
    email: account.email,
    display_name: account.displayName,
    plan,
    plan_source: plan === 'free' ? 'free' : isBought(account, plan, now) ? 'x402' : 'processor',
    plan_through: isoOrNull(account.planThrough),
    status: account.status,
    is_staff: account.isStaff,
    created_at: iso(account.createdAt),
  };
};

/** Lists accounts before an id, newest first, or finds the one named by email or id. Throws 404 not_found. */
export async function showAccounts(ctx: Ctx, { account, before }: { account?: string; before?: string }) {
  if (account !== undefined) {
    const find = ({ db }: Shard) => findAccount(db, account as AccountId);
    return [
      toAccount((await (isUuid(account) ? find(homeOf(ctx, account)) : findAccountByEmail(ctx, account))) ?? raise('not_found'), ctx),
    ];
  }
  const { found } = await readEach(ctx, ({ db }) => listAccounts(db, (before as AccountId | undefined) ?? null, SHOWN_MAX));
  const newest = found.flat().sort((a, b) => (a.id < b.id ? 1 : -1));
  return newest.slice(0, SHOWN_MAX).map((one) => toAccount(one, ctx));
}

/** Finds any merchant's payment by id or transaction. Throws 404 not_found. */
export async function showPayment(ctx: Ctx, named: string) {
  const ids = isUuid(named) ? [named] : (await Promise.all(shardsOf(ctx).map(({ db }) => listClaimedSubjects(db, named)))).flat();
  const payment = ids.length === 0 ? undefined : await findPayment(homeOf(ctx, ids[0]!), ids[0] as PaymentId);
  if (!payment) return raise('not_found');
  return {
    payment_id: payment.id,
    account_id: payment.merchantId,
    product_id: payment.productId,
    livemode: payment.livemode,
    status: payment.status,
    failure_code: payment.failureCode,
    price: toMoneyResource({ asset: payment.asset, units: payment.priceAmount }),
    payer_wallet: payment.payerWallet,
    recipient_wallet: payment.recipientWallet,
    tx_signature: payment.txSignature,
    created_at: iso(payment.createdAt),
    expires_at: iso(payment.expiresAt),
    confirmed_at: isoOrNull(payment.confirmedAt),
    finalized_at: isoOrNull(payment.finalizedAt),
    orphaned_at: isoOrNull(payment.orphanedAt),
  };
}

export async function showTotals(ctx: Ctx) {
  const each = await Promise.all(shardsOf(ctx).map(({ db }) => readTotals(db)));
  const accounts: Record<string, number> = {};
  const live: Record<string, bigint> = {};
  for (const totals of each) {
    for (const [name, count] of Object.entries(totals.accounts)) accounts[name] = (accounts[name] ?? 0) + count;
    for (const [name, sum] of Object.entries(totals.live)) live[name] = (live[name] ?? 0n) + BigInt(sum);
  }
  return { accounts, live: Object.fromEntries(Object.entries(live).map(([name, sum]) => [name, String(sum)])) };
}
