import type { AccountId, AuthorizationId, PaymentId } from '#core/ids.ts';
import { findLocale } from '#core/locales.ts';
import type { MoneyResource } from '#core/money.ts';
import { DAY, HOUR, iso } from '#core/time.ts';
import { getAccount } from '#features/accounts/store.ts';
import { findAuthorization } from '#features/authorizations/store.ts';
import { addressKeysOf, planLetter } from '#features/mail/outbox.ts';
import { loadBuyersAccess } from '#features/payments/buyers-access.ts';
import { findPayment } from '#features/payments/store.ts';
import type { Shard } from '#platform/context.ts';
import { commit, unchanged, type Write } from '#platform/db/commit.ts';
import type { StoredEvent } from '#platform/db/tables/events.ts';
import { given } from '#platform/http/openapi.ts';
import { hasMail } from '#platform/providers/mail/mail-providers.ts';
import { PLATFORMS } from '#platform/providers/messaging/registry.ts';
import type { LetterName } from '#rules/letters.ts';

/**
 * Letters that follow an event. Its row is what they hang on: it stays unfollowed until they are written, each under the event's own id, so
 * that none is lost and none is written twice.
 */
type Notice = (ctx: Shard, event: StoredEvent) => Write[] | Promise<Write[]>;

const following =
  (notice: Notice) =>
  async (ctx: Shard, events: StoredEvent[]): Promise<StoredEvent[]> => {
    // Of a sandbox there is nothing to tell.
    const live = hasMail(ctx) ? events.filter(({ livemode }) => livemode) : [];
    const writes = (await Promise.all(live.map((event) => notice(ctx, event)))).flat();
    if (writes.length > 0) await commit(ctx, { ...unchanged(null), writes });
    return [];
  };

const objectOf = <T>({ data }: StoredEvent): T => data.object as T;
const causeOf = (letter: LetterName, { id }: StoredEvent): string => `${letter} ${id}`;
const ownerOf = ({ merchantId }: StoredEvent): AccountId => merchantId as AccountId;

export const tellEndpointFailing = following((ctx, event) => {
  const { url, failing_since: since, disables_at } = objectOf<{ url: string; failing_since?: string; disables_at?: string }>(event);
  if (!since || !disables_at) return [];
  const facts = { url, since, disables_at };
  return planLetter(ctx, { letter: 'endpoint_failing', facts, accountId: ownerOf(event), cause: causeOf('endpoint_failing', event) })
    .writes;
});

export const tellEndpointDisabled = following((ctx, event) => {
  const { url } = objectOf<{ url: string }>(event);
  return planLetter(ctx, {
    letter: 'endpoint_disabled',
    facts: { url },
    accountId: ownerOf(event),
    cause: causeOf('endpoint_disabled', event),
  }).writes;
});

/** At most one an hour, however much arrives: a stranger decides how often. */
export const tellUnmatched = following((ctx, event) => {
  const { amount } = objectOf<{ amount: MoneyResource }>(event);
  const accountId = ownerOf(event);
  const facts = { amount, payment_id: event.paymentId ?? '' };
  const counted = { letters: ['payment_unmatched' as const], accountId, since: ctx.wallNow - HOUR };
  const letter = { letter: 'payment_unmatched' as const, facts, accountId, cause: causeOf('payment_unmatched', event) };
  return planLetter(ctx, letter, { counted, max: 1 }).writes;
});

/** More than a person pays back by hand; beyond that letters tell nothing new. */
const REFUNDS_MAX = 10;

/** Of a refund that the network shows; one that it dropped stands in the payment no more, and has no letter. */
export const tellRefunded = following((ctx, event) => {
  type Shown = { tx_signature: string; amount: MoneyResource };
  const refund = event.data.refund as Shown;
  const { refunded = [] } = objectOf<{ refunded?: Shown[] }>(event);
  if (!refunded.some(({ tx_signature }) => tx_signature === refund.tx_signature)) return [];
  const accountId = ownerOf(event);
  const facts = { amount: refund.amount, payment_id: event.paymentId ?? '' };
  const counted = { letters: ['payment_refunded' as const], accountId, since: ctx.wallNow - HOUR };
  // One refund is told once, also where the network dropped it and shows it again.
  const cause = `payment_refunded ${refund.tx_signature}`;
  return planLetter(ctx, { letter: 'payment_refunded', facts, accountId, cause }, { counted, max: REFUNDS_MAX }).writes;
});

/** What a subscriber is told of, by the event and by what was before it. */
function letterOfSubscription({ type, data }: StoredEvent): 'past_due' | 'reapprove' | 'cancelled' | 'ended' | null {
  if (type === 'subscription.past_due') return 'past_due';
  if (type === 'subscription.requires_reapproval') return 'reapprove';
  if (type === 'subscription.cancel_requested') return 'cancelled';
  const { status } = data.object as { status: string };
  const { status: before } = (data.previous ?? {}) as { status?: string };
  if (type !== 'subscription.cancelled' || status !== 'cancelled') return null;
  return before === 'cancel_requested' ? 'ended' : 'cancelled';
}

/** To a subscriber who gave an address: what has to be done for the next period, or that nothing follows. */
export const tellSubscriber = following(async (ctx, event) => {
  const told = letterOfSubscription(event);
  const row = told && (await findAuthorization(ctx.db, event.subjectId as AuthorizationId));
  if (!row?.email) return [];
  const { displayName: seller } = await getAccount(ctx.db, row.merchantId);
  const object = objectOf<{ amount: MoneyResource; paid_through: string | null; stopped_at?: string | null }>(event);
  const { amount, paid_through: through, stopped_at: stoppedAt } = object;
  const facts = { slug: row.slug, authorization_id: row.id, product: row.terms.productName, seller };
  const common = {
    accountId: ownerOf(event),
    address: row.email,
    locale: row.terms.locale === undefined ? null : findLocale(row.terms.locale),
    cause: `subscription ${event.id}`,
  };
  // The event of the stop alone notifies of it. What happened before is superseded.
  if (row.stoppedAt !== null && stoppedAt == null) return [];
  if (row.stoppedAt !== null)
    return planLetter(ctx, {
      letter: 'subscription_stopped',
      facts: { authorization_id: row.id, product: facts.product, seller, through: through ?? iso(ctx.now) },
      ...common,
    }).writes;
  // The subscriber heard of it when they asked for it.
  if (told === 'ended') return [];
  if (told === 'cancelled')
    return planLetter(ctx, { letter: 'subscription_cancelled', facts: { ...facts, through: through ?? iso(ctx.now) }, ...common }).writes;
  const letter = told === 'past_due' ? ('subscription_past_due' as const) : ('subscription_reapprove' as const);
  return planLetter(ctx, { letter, facts: { ...facts, amount }, ...common }).writes;
});

/** To one address: a stranger who pays decides how often. */
const RECEIPTS_A_DAY = 10;

/** To a buyer who gave an address, in the language they bought in. */
export const tellBuyer = following(async (ctx, event) => {
  const payment = event.paymentId ? await findPayment(ctx, event.paymentId as PaymentId) : undefined;
  if (!payment?.email) return [];
  const { receipt_id, document } = objectOf<{
    receipt_id: string;
    document: { product_name: string; amount: MoneyResource; block_time: string };
  }>(event);
  const [{ displayName, merchantSettings: brand }, access] = await Promise.all([
    getAccount(ctx.db, payment.merchantId),
    loadBuyersAccess(ctx, payment, undefined),
  ]);
  const counted = { letters: ['buyer_receipt' as const], addressKeys: addressKeysOf(ctx, payment.email), since: ctx.wallNow - DAY };
  const letter = {
    letter: 'buyer_receipt' as const,
    facts: {
      receipt_id,
      product: document.product_name,
      seller: brand.checkout_brand_name ?? displayName,
      amount: document.amount,
      ...given('authorization_id', payment.terms.authorizationId ?? null),
      paid_at: document.block_time,
      ...given('access_until', access.access_until ?? null),
      ...given('help', brand.default_support_url ?? null),
      ...given('accent', brand.checkout_accent_hex ?? null),
      ...(payment.terms.delivery ? { platform: PLATFORMS[payment.terms.delivery.provider].title } : {}),
    },
    accountId: ownerOf(event),
    address: payment.email,
    locale: payment.terms.locale === undefined ? null : findLocale(payment.terms.locale),
    cause: causeOf('buyer_receipt', event),
  };
  return planLetter(ctx, letter, { counted, max: RECEIPTS_A_DAY }).writes;
});
