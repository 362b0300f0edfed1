import { z } from '@hono/zod-openapi';
import { RailSettingBody } from './access/rails.ts';
import { EntitlementBody } from './entitlements/resource.ts';
import { EVENT_TYPES, type EventType } from './events.ts';
import { MembershipBody } from './memberships/membership.ts';
import { PaymentBody, UnmatchedBody } from './payments/resource.ts';
import { ProductBody } from './products/resource.ts';
import { ReceiptBody } from './receipts/receipt.ts';
import { VERSION } from './version.ts';
import { EndpointBody, EventBody } from './webhooks/resource.ts';

/** What each event means and carries. `object` has the shape of the GET; the tests hold every emitted event against it. */
interface CatalogEntry {
  description: string;
  subject: string;
  object: z.ZodType<object>;
  example: object;
}

const AT = '2026-11-21T09:00:00.000Z';
const PRODUCT = '01a1fc21-d414-7315-8bae-d95e4ff00293';
const PAYMENT = '01a1fc22-795c-7aa3-b5c5-00f025ea9dfd';
const MEMBERSHIP = '01a1fc22-fc04-73a9-85b5-0988823bac5b';
const RECEIPT = '01a1fc23-0b1d-7c55-9d0f-5b1f3a2c4d6e';
const BUYER = '5pwBVW7LsqxeEMCBViQ7SX2wxfdswJrpZodhKbCAuzrJ';
const SELLER = 'Av7QWv6RRdrFxbb9GXWM1g8Gut59feSWcr9tRBia7xZa';
const REFERENCES = ['HGtdnX8isJVRhEMPP8fVuSWxkEvPSqUKUjzkoQj5RohN', '6hjrWR3LkfsPH6A8BmpkMrGUAZv7aXLf57YxZE76ba9x'];
const SIGNATURE = '3x13hj7Y4Z28SQwjJfLdBJQr65QKMe2PwC7EUb1wcAZwui73aJezJmyasTkh6QxTNd2Y3KZgKd6DALtqdbHaf5E1';
const PRICE = { asset: 'USDC', amount: '5', base_units: '5000000' } as const;

const created: z.infer<typeof PaymentBody> = {
  payment_id: PAYMENT,
  product_id: PRODUCT,
  slug: 'forecasts-zi0els',
  status: 'PENDING_SIGNATURE',
  price: PRICE,
  net: PRICE,
  recipient_wallet: SELLER,
  memo: 'svc:8KBKzT7iRVoz2LWjeVmvke',
  references: REFERENCES,
  expires_at: '2026-11-21T09:15:00.000Z',
  livemode: true,
  created_at: AT,
  updated_at: AT,
  version: 1,
  poll_after_ms: 2000,
};
const submitted = { ...created, status: 'PENDING_CONFIRMATION' as const, tx_signature: SIGNATURE, version: 2 };
const proof = { payer_wallet: BUYER, slot: 3563, block_time: AT, confirmed_at: AT, membership_id: MEMBERSHIP, receipt_id: RECEIPT };
const confirmed = { ...submitted, ...proof, status: 'CONFIRMED' as const, version: 3, poll_after_ms: null };
const membership: z.infer<typeof MembershipBody> = {
  membership_id: MEMBERSHIP,
  product_id: PRODUCT,
  customer: { wallet_address: BUYER },
  status: 'active',
  paid_through: '2026-12-21T09:00:00.000Z',
  cancel_at_period_end: false,
  delivery: { status: 'not_required', attempts: 0 },
  last_payment_id: PAYMENT,
  livemode: true,
  created_at: AT,
  updated_at: AT,
  version: 1,
};
const receipt: z.infer<typeof ReceiptBody> = {
  receipt_id: RECEIPT,
  tx_sig: SIGNATURE,
  document: {
    version: '1',
    receipt_id: RECEIPT,
    tx_sig: SIGNATURE,
    network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
    slot: 3563,
    block_time: AT,
    payer: BUYER,
    recipient: SELLER,
    amount: PRICE,
    product_id: PRODUCT,
    product_name: 'Forecasts, 30 days',
    merchant: { account_id: '01a1fc21-0000-7000-8000-000000000001', display_name: 'Ada’s Weather' },
    memo: created.memo,
    issued_at: AT,
    livemode: true,
  },
  sha256: '42aec4409db77adaf9243415dc94e7b829a83f31d960c587d7a76f10a7f4f534',
  signature: SIGNATURE,
  key_id: '8ded796844983c70',
  verify_url: `https://pay.example.com/v1/receipt/${RECEIPT}/verify`,
  public_url: `https://pay.example.com/v1/receipt/${RECEIPT}/public`,
  created_at: AT,
};
const unmatched: z.infer<typeof UnmatchedBody> = {
  unmatched_id: '01a1fc24-1c2d-7e3f-8a4b-5c6d7e8f9a0b',
  payment_id: PAYMENT,
  tx_signature: SIGNATURE,
  amount: PRICE,
  payer_wallet: BUYER,
  block_time: '2026-11-21T09:20:00.000Z',
  reason: 'late',
  status: 'open',
};
const product: z.infer<typeof ProductBody> = {
  product_id: PRODUCT,
  slug: created.slug,
  name: 'Forecasts, 30 days',
  product_type: 'api',
  status: 'active',
  price: PRICE,
  accepted_assets: ['USDC'],
  billing_model: 'one_off',
  renewal_mode: 'ONE_OFF',
  access_period_days: 30,
  usage_units: null,
  payout_wallet: SELLER,
  default_rail: 'solana_usdc',
  allowed_rails: ['solana_usdc'],
  grace_hours: 72,
  requires_identity: null,
  metadata: {},
  live_mode_confirmed: false,
  livemode: true,
  checkout_url: `https://pay.example.com/p/${created.slug}`,
  created_at: AT,
  updated_at: AT,
};
const endpoint: z.infer<typeof EndpointBody> = {
  endpoint_id: '01a1fc25-2d3e-7f40-9b5c-6d7e8f9a0b1c',
  kind: 'webhook',
  url: 'https://shop.example.com/hooks',
  event_types: ['*'],
  product_ids: [],
  status: 'enabled',
  signed_payload: 'timestamp.body',
  secret_hint: 'whsec_…4f5E',
  failure_streak: 0,
  livemode: true,
  created_at: AT,
  updated_at: AT,
};

const entitlement: z.infer<typeof EntitlementBody> = {
  entitlement_id: '4c1f0e7a-9b2d-8a5e-9c3f-6d7e8f9a0b1c',
  product_id: PRODUCT,
  customer: { wallet_address: BUYER },
  status: 'active',
  granted_units: 1000,
  used_units: 0,
  remaining: 1000,
  paid_through: null,
  livemode: true,
  version: 1,
  updated_at: AT,
};
const entitled = (description: string, change: Partial<typeof entitlement> = {}): CatalogEntry => ({
  description,
  subject: 'entitlement',
  object: EntitlementBody,
  example: { ...entitlement, ...change },
});

const payment = (description: string, example: object): CatalogEntry => ({ description, subject: 'payment', object: PaymentBody, example });
const member = (description: string, change: Partial<typeof membership> = {}): CatalogEntry => ({
  description,
  subject: 'membership',
  object: MembershipBody,
  example: { ...membership, ...change },
});

export const EVENT_CATALOG: Record<EventType, CatalogEntry> = {
  'payment.created': payment('A checkout session began.', created),
  'payment.submitted': payment('A transaction for it was seen or sent; nothing is proven yet.', submitted),
  'payment.confirmed': payment('The money is there. Unlock access now.', confirmed),
  'payment.finalized': payment('The cluster made the transaction final.', { ...confirmed, finalized_at: AT, version: 4 }),
  'payment.failed': payment('The session ended without a payment, or the buyer’s transaction failed.', {
    ...created,
    status: 'FAILED',
    failure_code: 'session_expired',
    failure_reason: 'The session ended before a payment arrived.',
    version: 2,
    poll_after_ms: null,
  }),
  'payment.unmatched': {
    description: 'Money arrived late, short or a second time. Accept it, or agree on something with the buyer.',
    subject: 'unmatched_payment',
    object: UnmatchedBody,
    example: unmatched,
  },
  'payment.orphaned': payment('The chain dropped a confirmed transaction; the access it bought was taken back.', {
    ...confirmed,
    orphaned_at: AT,
    version: 4,
  }),
  'receipt.created': { description: 'A signed receipt exists.', subject: 'receipt', object: ReceiptBody, example: receipt },
  'membership.activated': member('A customer bought for the first time.'),
  'membership.renewed': member('A later purchase extended or revived a membership.', { version: 2 }),
  'membership.grace_started': member('The paid time is over; delivered access stays for the grace period.', {
    status: 'grace',
    grace_until: '2026-12-24T09:00:00.000Z',
    version: 3,
  }),
  'membership.expired': member('Paid time and grace are over.', { status: 'expired', version: 4 }),
  'membership.access_revoked': member('Access was taken back because the chain dropped its payment.', { status: 'cancelled', version: 5 }),
  'entitlement.granted': entitled('Units or time were added, by a purchase or by hand.'),
  'entitlement.exhausted': entitled('The last unit was used.', { status: 'exhausted', used_units: 1000, remaining: 0, version: 1001 }),
  'entitlement.expired': entitled('The time that was paid for is over.', { status: 'expired', paid_through: AT, version: 2 }),
  'payout.changed': {
    description: 'The wallet a product or a rail pays out to changed. If it was not you, act now.',
    subject: 'product',
    object: z.union([ProductBody, RailSettingBody]),
    example: product,
  },
  'webhook.test': { description: 'A test you asked for.', subject: 'webhook_test', object: EndpointBody, example: endpoint },
  'webhook.endpoint_disabled': {
    description: 'An endpoint was given up: it said it is gone, or did not succeed for five days.',
    subject: 'webhook_endpoint',
    object: EndpointBody,
    example: { ...endpoint, status: 'disabled', disabled_reason: 'no_success_for_5_days', failure_streak: 31 },
  },
};

/** The whole envelope of a type, with its object's own shape inside. */
export const envelopeOf = (type: EventType) =>
  EventBody.extend({
    type: z.literal(type),
    data: z.object({ object: EVENT_CATALOG[type].object, previous: z.record(z.string(), z.unknown()).optional() }),
  });

/** Whom an example is about, as its own object says; some objects do not show their version. */
function subjectOf(type: string, example: object) {
  const { version = 1, ...object } = example as Record<string, unknown>;
  return { type, id: object[`${type.split('_')[0]}_id`] ?? object.endpoint_id, version };
}

export function exampleOf(type: EventType): object {
  const { subject, example } = EVENT_CATALOG[type];
  return {
    id: 'evt_01JD7Q2Z8X3V5W6Y7A8B9C0D1E',
    type,
    created_at: AT,
    livemode: true,
    api_version: VERSION,
    account_id: receipt.document.merchant.account_id,
    subject: subjectOf(subject, example),
    data: { object: example },
  };
}

/** Every type with a self-contained JSON Schema (2020-12) of its envelope. */
export const eventTypes = () =>
  EVENT_TYPES.map((type) => ({
    type,
    description: EVENT_CATALOG[type].description,
    schema: z.toJSONSchema(envelopeOf(type), { target: 'draft-2020-12' }) as Record<string, unknown>,
    example: exampleOf(type) as Record<string, unknown>,
  }));
