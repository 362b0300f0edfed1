import type { AccountId, AuthorizationId, PaymentId, ReceiptId } from '#core/ids.ts';
import { findLocale } from '#core/locales.ts';
import type { MoneyResource } from '#core/money.ts';
import { DAY, HOUR, iso } from '#core/time.ts';
import { getAccount } from '#features/accounts/store.ts';
import { findAuthorization } from '#features/authorizations/store.ts';
import { addressKeysOf, planEmail } from '#features/email/outbox.ts';
import { loadBuyersAccess } from '#features/payments/buyers-access.ts';
import { findPayment } from '#features/payments/store.ts';
import { noteWithheldEmail } from '#features/receipts/receipt.ts';
import type { Shard } from '#platform/context.ts';
import { commit, unchanged, type Write } from '#platform/db/commit.ts';
import type { StoredEvent } from '#platform/db/tables/events.ts';
import { given } from '#platform/http/openapi.ts';
import { hasMail } from '#platform/providers/mail/mail-providers.ts';
import { PLATFORMS } from '#platform/providers/messaging/registry.ts';
import type { EmailTemplate } from '#rules/emails.ts';

/**
 * Emails caused by an event. The event stays pending until its emails are stored under the event's id, so that none is lost or duplicated.
 */
type Notice = (ctx: Shard, event: StoredEvent) => Write[] | Promise<Write[]>;

const following =
  (notice: Notice) =>
  async (ctx: Shard, events: StoredEvent[]): Promise<StoredEvent[]> => {
    const live = hasMail(ctx) ? events.filter(({ livemode }) => livemode) : [];
    const writes = (await Promise.all(live.map((event) => notice(ctx, event)))).flat();
    if (writes.length > 0) await commit(ctx, { ...unchanged(null), writes });
    return [];
  };

const objectOf = <T>({ data }: StoredEvent): T => data.object as T;
const causeOf = (email: EmailTemplate, { id }: StoredEvent): string => `${email} ${id}`;
const ownerOf = ({ merchantId }: StoredEvent): AccountId => merchantId as AccountId;

export const emailEndpointFailing = following((ctx, event) => {
  const { url, failing_since: since, disables_at } = objectOf<{ url: string; failing_since?: string; disables_at?: string }>(event);
  if (!since || !disables_at) return [];
  const facts = { url, since, disables_at };
  return planEmail(ctx, { template: 'endpoint_failing', facts, accountId: ownerOf(event), cause: causeOf('endpoint_failing', event) })
    .writes;
});

export const emailEndpointDisabled = following((ctx, event) => {
  const { url } = objectOf<{ url: string }>(event);
  return planEmail(ctx, {
    template: 'endpoint_disabled',
    facts: { url },
    accountId: ownerOf(event),
    cause: causeOf('endpoint_disabled', event),
  }).writes;
});

/** Sends at most one an hour, because strangers decide how often unmatched payments arrive. */
export const emailUnmatched = following((ctx, event) => {
  const { amount } = objectOf<{ amount: MoneyResource }>(event);
  const accountId = ownerOf(event);
  const facts = { amount, payment_id: event.paymentId ?? '' };
  const counted = { templates: ['payment_unmatched' as const], accountId, since: ctx.wallNow - HOUR };
  const email = { template: 'payment_unmatched' as const, facts, accountId, cause: causeOf('payment_unmatched', event) };
  return planEmail(ctx, email, { counted, max: 1 }).writes;
});

/** More than a merchant refunds by hand. Further emails would add nothing. */
const REFUNDS_MAX = 10;

/** Emails about a refund that is on the chain. A dropped refund is removed from the payment and has no email. */
export const emailRefunded = following((ctx, event) => {
  type Shown = { tx_signature: string; amount: MoneyResource };
  const refund = event.data.refund as Shown;
  const { refunded = [] } = objectOf<{ refunded?: Shown[] }>(event);
  if (!refunded.some(({ tx_signature }) => tx_signature === refund.tx_signature)) return [];
  const accountId = ownerOf(event);
  const facts = { amount: refund.amount, payment_id: event.paymentId ?? '' };
  const counted = { templates: ['payment_refunded' as const], accountId, since: ctx.wallNow - HOUR };
  // A refund has one email, even if the network drops it and shows it again.
  const cause = `payment_refunded ${refund.tx_signature}`;
  return planEmail(ctx, { template: 'payment_refunded', facts, accountId, cause }, { counted, max: REFUNDS_MAX }).writes;
});

function subscriptionEmailFor({ type, data }: StoredEvent): 'past_due' | 'reapprove' | 'cancelled' | 'ended' | null {
  if (type === 'subscription.past_due') return 'past_due';
  if (type === 'subscription.requires_reapproval') return 'reapprove';
  if (type === 'subscription.cancel_requested') return 'cancelled';
  const { status } = data.object as { status: string };
  const { status: before } = (data.previous ?? {}) as { status?: string };
  if (type !== 'subscription.cancelled' || status !== 'cancelled') return null;
  return before === 'cancel_requested' ? 'ended' : 'cancelled';
}

/** Emails a subscriber with an address: the action needed for the next period, or that the subscription ends. */
export const emailSubscriber = following(async (ctx, event) => {
  const kind = subscriptionEmailFor(event);
  const row = kind && (await findAuthorization(ctx.db, event.subjectId as AuthorizationId));
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
  // Only the stop event sends an email. Earlier events are superseded.
  if (row.stoppedAt !== null && stoppedAt == null) return [];
  if (row.stoppedAt !== null)
    return planEmail(ctx, {
      template: 'subscription_stopped',
      facts: { authorization_id: row.id, product: facts.product, seller, through: through ?? iso(ctx.now) },
      ...common,
    }).writes;
  if (kind === 'ended') return [];
  if (kind === 'cancelled')
    return planEmail(ctx, { template: 'subscription_cancelled', facts: { ...facts, through: through ?? iso(ctx.now) }, ...common }).writes;
  const email = kind === 'past_due' ? ('subscription_past_due' as const) : ('subscription_reapprove' as const);
  return planEmail(ctx, { template: email, facts: { ...facts, amount }, ...common }).writes;
});

/** Limit per address: a stranger who pays decides how often. */
const RECEIPTS_A_DAY = 10;

/** Emails the receipt to a buyer with an address, in the language of the purchase. */
export const emailBuyer = following(async (ctx, event) => {
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
  const counted = { templates: ['buyer_receipt' as const], addressKeys: addressKeysOf(ctx, payment.email), since: ctx.wallNow - DAY };
  const email = {
    template: 'buyer_receipt' as const,
    facts: {
      receipt_id,
      product: document.product_name,
      seller: brand.checkout_brand_name ?? displayName,
      amount: document.amount,
      ...given('authorization_id', payment.terms.authorizationId ?? null),
      paid_at: document.block_time,
      ...given('access_until', access.access_until ?? null),
      ...given('next_charge_at', access.renewal?.next_charge_at ?? null),
      ...given('help', brand.default_support_url ?? null),
      ...given('accent', brand.checkout_accent_hex ?? null),
      ...(payment.terms.delivery ? { platform: PLATFORMS[payment.terms.delivery.provider].title } : {}),
    },
    accountId: ownerOf(event),
    address: payment.email,
    locale: payment.terms.locale === undefined ? null : findLocale(payment.terms.locale),
    cause: causeOf('buyer_receipt', event),
  };
  const { writes } = planEmail(ctx, email, { counted, max: RECEIPTS_A_DAY });
  return [...writes, noteWithheldEmail(ctx.db, payment, receipt_id as ReceiptId, email.cause)];
});
