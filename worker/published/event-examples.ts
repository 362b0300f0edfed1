import type { z } from '@hono/zod-openapi';
import type { PayoutBody } from '#features/accounts/payout.ts';
import type { AuthorizationBody } from '#features/authorizations/resource.ts';
import type { CustomerResource } from '#features/customers/resource.ts';
import type { EntitlementBody } from '#features/entitlements/resource.ts';
import type { MembershipBody } from '#features/memberships/resource.ts';
import type { MeteredSessionResource } from '#features/metered/resource.ts';
import type { PayerLimitBody } from '#features/pay-per-request/payer-limit.ts';
import type { RefundBody } from '#features/payments/refunds/resource.ts';
import type { PaymentBody, UnmatchedBody } from '#features/payments/resource.ts';
import type { ReceiptBody } from '#features/receipts/receipt.ts';
import type { MessageBody, TicketBody } from '#features/support/resource.ts';
import type { EndpointBody } from '#features/webhooks/resource.ts';
import { CHECKOUT_RAILS } from '#rules/product-rails.ts';

/** Examples that belong together: a product, its payment and the resulting access. Typed by the schemas they illustrate. */
export const AT = '2026-11-21T09:00:00.000Z';
const PRODUCT = '01a1fc21-d414-7315-8bae-d95e4ff00293';
const PAYMENT = '01a1fc22-795c-7aa3-b5c5-00f025ea9dfd';
const MEMBERSHIP = '01a1fc22-fc04-73a9-85b5-0988823bac5b';
export const RECEIPT = '01a1fc23-0b1d-7c55-9d0f-5b1f3a2c4d6e';
const BUYER = '5pwBVW7LsqxeEMCBViQ7SX2wxfdswJrpZodhKbCAuzrJ';
export const SELLER = 'Av7QWv6RRdrFxbb9GXWM1g8Gut59feSWcr9tRBia7xZa';
const REFERENCES = ['HGtdnX8isJVRhEMPP8fVuSWxkEvPSqUKUjzkoQj5RohN', '6hjrWR3LkfsPH6A8BmpkMrGUAZv7aXLf57YxZE76ba9x'];
const SIGNATURE = '3x13hj7Y4Z28SQwjJfLdBJQr65QKMe2PwC7EUb1wcAZwui73aJezJmyasTkh6QxTNd2Y3KZgKd6DALtqdbHaf5E1';
const PRICE = { asset: 'USDC', amount: '5', base_units: '5000000' } as const;

export const created: z.infer<typeof PaymentBody> = {
  payment_id: PAYMENT,
  kind: 'checkout',
  rail_id: CHECKOUT_RAILS[0],
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
export const submitted = { ...created, status: 'PENDING_CONFIRMATION' as const, tx_signature: SIGNATURE, version: 2 };
const proof = { payer_wallet: BUYER, slot: 3563, block_time: AT, confirmed_at: AT, membership_id: MEMBERSHIP, receipt_id: RECEIPT };
export const confirmed = { ...submitted, ...proof, status: 'CONFIRMED' as const, version: 3, poll_after_ms: null };
/** Deliveries of a member who waits for admission, and of one who was admitted. */
export const delivery: z.infer<typeof MembershipBody>['delivery'] = {
  status: 'pending',
  provider: 'telegram',
  attempts: 0,
  identity: { provider_user_id: '4711', username: 'ada' },
};
export const delivered: typeof delivery = { ...delivery, status: 'delivered', attempts: 1, delivered_at: AT };

export const membership: z.infer<typeof MembershipBody> = {
  membership_id: MEMBERSHIP,
  product_id: PRODUCT,
  customer: { wallet_address: BUYER },
  status: 'active',
  paid_through: '2026-12-21T09:00:00.000Z',
  expires_at: '2026-12-24T09:00:00.000Z',
  cancel_at_period_end: false,
  delivery: { status: 'not_required', attempts: 0 },
  last_payment_id: PAYMENT,
  livemode: true,
  created_at: AT,
  updated_at: AT,
  version: 1,
};
export const subscription: z.infer<typeof AuthorizationBody> = {
  authorization_id: 'nsa_01KAJ3V5Y7H2Q8M4N6P9R1S3T5',
  product_id: PRODUCT,
  subscriber_wallet: BUYER,
  plan_address: 'CB2wQxQxRkKcRr2Gq1xgzL7mP6vVn5c5UcgSCqYbxbqS',
  subscription_address: 'Av7QWv6RRdrFxbb9GXWM1g8Gut59feSWcr9tRBia7xZa',
  status: 'active',
  amount: PRICE,
  period_hours: 720,
  current_period_start: AT,
  current_period_end: '2026-12-21T09:00:00.000Z',
  paid_through: '2026-12-21T09:00:00.000Z',
  last_collection: { at: AT, status: 'collected', tx_signature: SIGNATURE },
  livemode: true,
  version: 2,
};
export const receipt: z.infer<typeof ReceiptBody> = {
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
export const unmatched: z.infer<typeof UnmatchedBody> = {
  unmatched_id: '01a1fc24-1c2d-7e3f-8a4b-5c6d7e8f9a0b',
  payment_id: PAYMENT,
  tx_signature: SIGNATURE,
  amount: PRICE,
  payer_wallet: BUYER,
  block_time: '2026-11-21T09:20:00.000Z',
  reason: 'late',
  status: 'open',
};
export const refund: z.infer<typeof RefundBody> = {
  amount: { asset: 'USDC', amount: '2.5', base_units: '2500000' },
  tx_signature: SIGNATURE,
  at: '2026-11-22T09:00:00.000Z',
};
export const ticket: z.infer<typeof TicketBody> = {
  ticket_id: '01a1fc26-3e4f-7051-8c6d-7e8f9a0b1c2d',
  subject: 'A payment is missing',
  category: 'payment',
  status: 'open',
  payment_id: PAYMENT,
  created_at: AT,
  updated_at: AT,
  last_message_at: AT,
  livemode: true,
};
export const message: z.infer<typeof MessageBody> = {
  message_id: '01a1fc26-4f50-7162-9d7e-8f9a0b1c2d3e',
  author: 'merchant',
  body: 'The buyer has paid: see the explorer.',
  created_at: AT,
};
export const payerLimit: z.infer<typeof PayerLimitBody> = {
  product_id: PRODUCT,
  payer_wallet: BUYER,
  limit: { asset: 'USDC', amount: '5', base_units: '5000000' },
  paid: { asset: 'USDC', amount: '5', base_units: '5000000' },
  day: '2026-11-21',
};
export const payout: z.infer<typeof PayoutBody> = { payout_wallet: SELLER, product_id: PRODUCT, by: 'person' };
export const endpoint: z.infer<typeof EndpointBody> = {
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
  created_by: { kind: 'key', id: '01a1fc24-3c4d-7e5f-8a9b-0c1d2e3f4a5b' },
  created_at: AT,
  updated_at: AT,
};

const METERED_URL = 'https://pay.example.com/v1/access/metered-sessions/ms_01KAJ3V5Y7H2Q8M4N6P9R1S3T5';
const usdc = (amount: string, units: string) => ({ asset: 'USDC' as const, amount, base_units: units });
export const meteredSession: MeteredSessionResource = {
  session_id: 'ms_01KAJ3V5Y7H2Q8M4N6P9R1S3T5',
  status: 'open',
  product_id: '01a1fc21-d414-7315-8bae-d95e4ff00293',
  channel_id: 'CB2wQxQxRkKcRr2Gq1xgzL7mP6vVn5c5UcgSCqYbxbqS',
  channel_program: 'CHNLxYvVA28MJP9PrFuDXccuoGXAx7jBacfLEkahyGsX',
  authorize_url: `${METERED_URL}/authorize`,
  deliveries_url: `${METERED_URL}/deliveries`,
  commits_url: `${METERED_URL}/commits`,
  cap: usdc('1', '1000000'),
  deposit: usdc('1', '1000000'),
  cumulative: usdc('0', '0'),
  reserved: usdc('0', '0'),
  settled: usdc('0', '0'),
  min_voucher_delta: usdc('0.000001', '1'),
  idle_timeout_seconds: 3600,
  grace_period_seconds: 900,
  payer: '5pwBVW7LsqxeEMCBViQ7SX2wxfdswJrpZodhKbCAuzrJ',
  authorized_signer: 'Av7QWv6RRdrFxbb9GXWM1g8Gut59feSWcr9tRBia7xZa',
  expires_at: '2026-11-21T10:00:00.000Z',
  livemode: true,
  created_at: AT,
  updated_at: AT,
  version: 1,
};

const NOTHING = { gross: '0', refunded: '0' };
export const customer: CustomerResource = {
  customer_id: '7d3b9f04-2c61-8e5a-9000-51c8a0f7e2d4',
  customer_ref: 'user-42',
  wallets: [{ address: BUYER, source: 'payment' }],
  emails: [{ email: 'ada@example.com', source: 'merchant' }],
  name: 'Ada Lovelace',
  metadata: {},
  totals: { payments: 1, USDC: { gross: '12.5', refunded: '0' }, SOL: NOTHING },
  access: { active: 1, lapsed: 0 },
  merged_from: [],
  first_seen_at: AT,
  last_seen_at: AT,
  status: 'active',
  livemode: true,
  created_at: AT,
  updated_at: AT,
  version: 2,
};

const { name: _, ...unnamed } = customer;
export const erasedCustomer: CustomerResource = {
  ...unnamed,
  customer_ref: 'erased:7d3b9f04',
  emails: [],
  access: { active: 0, lapsed: 0 },
  status: 'erased',
  version: 5,
};

export const entitlement: z.infer<typeof EntitlementBody> = {
  entitlement_id: '4c1f0e7a-9b2d-8a5e-9c3f-6d7e8f9a0b1c',
  product_id: PRODUCT,
  customer: { wallet_address: BUYER },
  status: 'active',
  granted_units: 1000,
  used_units: 0,
  remaining: 1000,
  paid_through: null,
  unlimited: false,
  livemode: true,
  version: 1,
  updated_at: AT,
};
