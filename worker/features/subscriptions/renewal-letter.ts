import { findLocale } from '#core/locales.ts';
import { toMoneyResource } from '#core/money.ts';
import { DAY, iso } from '#core/time.ts';
import { getAccount } from '#features/accounts/store.ts';
import { factsOf } from '#features/authorizations/authorization.ts';
import { planLetter } from '#features/mail/outbox.ts';
import type { Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import { hasMail } from '#platform/providers/mail/mail-providers.ts';

/** So long before the next period a subscriber is told of it. */
const BEFORE_MS = 3 * DAY;
/** A period shorter than this is over before a letter about it helps anyone. */
const PERIOD_MIN_MS = 7 * DAY;

/** From when on the subscriber is to be told of the next period; null: there is nothing to tell. */
export function tellsAt(row: AuthorizationRow): number | null {
  const isTold = row.livemode && row.status === 'active' && row.email !== null && factsOf(row).periodMs >= PERIOD_MIN_MS;
  return isTold && row.paidThrough !== null ? row.paidThrough - BEFORE_MS : null;
}

/** The letter about the next period, to a subscriber who gave an address: once for each, and where it can be ended. Belongs into a batch. */
export async function renewalLetter(ctx: Shard, row: AuthorizationRow): Promise<Write[]> {
  const { paidThrough, email } = row;
  const tellAt = tellsAt(row);
  if (tellAt === null || ctx.now < tellAt || ctx.now >= paidThrough! || !hasMail(ctx)) return [];
  const { displayName: seller } = await getAccount(ctx.db, row.merchantId);
  return planLetter(ctx, {
    letter: 'subscription_renews',
    facts: {
      authorization_id: row.id,
      product: row.terms.productName,
      seller,
      amount: toMoneyResource({ asset: 'USDC', units: row.amount }),
      at: iso(paidThrough!),
    },
    accountId: row.merchantId,
    address: email!,
    locale: row.terms.locale === undefined ? null : findLocale(row.terms.locale),
    cause: `subscription_renews ${row.id} ${paidThrough}`,
  }).writes;
}
