import type { components, operations } from './api.d.ts';

type Schemas = components['schemas'];
type QueryOf<O extends keyof operations> = Omit<NonNullable<operations[O]['parameters']['query']>, 'mode'>;

export type Money = Schemas['Money'];
export type Product = Schemas['Product'];
export type ProductPage = Schemas['ProductPage'];
export type CreateProduct = Schemas['CreateProductRequest'];
export type UpdateProduct = Schemas['UpdateProductRequest'];
export type Payment = Schemas['Payment'];
export type PaymentPage = Schemas['PaymentPage'];
export type ConfirmRequest = Schemas['ConfirmRequest'];
export type Confirmation = Schemas['ConfirmResponse'];
export type Membership = Schemas['Membership'];
export type MembershipPage = Schemas['MembershipPage'];
export type Receipt = Schemas['Receipt'];
export type ReceiptPage = Schemas['ReceiptPage'];
export type ReceiptVerification = Schemas['ReceiptVerification'];
export type WebhookEndpoint = Schemas['WebhookEndpoint'];
export type WebhookEndpointWithSecret = Schemas['WebhookEndpointWithSecret'];
export type WebhookEndpointPage = Schemas['WebhookEndpointPage'];
export type CreateWebhookEndpoint = Schemas['CreateWebhookEndpointRequest'];
export type UpdateWebhookEndpoint = Schemas['UpdateWebhookEndpointRequest'];
export type RotateWebhookSecret = Schemas['RotateSecretRequest'];
export type TestWebhook = Schemas['TestWebhookRequest'];
export type WebhookTestResult = Schemas['WebhookTestResult'];
export type RecoverWebhook = Schemas['RecoverWebhookRequest'];
export type WebhookRecovery = Schemas['WebhookRecovery'];
export type WebhookDelivery = Schemas['WebhookDelivery'];
export type WebhookDeliveryPage = Schemas['WebhookDeliveryPage'];

export type PageQuery = QueryOf<'listProducts'>;
export type PaymentQuery = QueryOf<'listPayments'>;
export type MembershipLookup = QueryOf<'lookupMembership'>;
export type ReceiptQuery = QueryOf<'listReceipts'>;
export type WebhookDeliveryQuery = QueryOf<'listWebhookDeliveries'>;

// The access API, by hand after contract section 6 until its routes are in the document.

/** Exactly one of the two names a customer. */
export type Customer = { wallet_address: string } | { customer_ref: string };
export type ProductReference = { product_id: string } | { external_product_id: string };

export type Consume = ProductReference & {
  customer: Customer;
  /** Default 1. */
  units?: number;
  resource?: { url: string; description?: string; mime_type?: string };
};
export interface Consumption {
  consumed: true;
  consumption_id: string;
  entitlement_id: string;
  units: number;
  remaining: number | null;
  paid_through: string | null;
}

export type Grant = ProductReference & { customer: Customer; units?: number; days?: number; reason: string };
export interface Refund {
  consumption_id: string;
  reason: string;
}
export interface Entitlement {
  entitlement_id: string;
  product_id: string;
  customer: Customer;
  status: 'active' | 'exhausted' | 'expired' | 'revoked';
  granted_units: number | null;
  used_units: number;
  remaining: number | null;
  paid_through: string | null;
  livemode: boolean;
  version: number;
  updated_at: string;
}
export interface EntitlementPage {
  items: Entitlement[];
  page: number;
  per_page: number;
  total: number;
  total_pages: number;
  has_more: boolean;
  total_exact?: false;
}
export interface EntitlementQuery extends PageQuery {
  product_id?: string;
  external_product_id?: string;
  wallet_address?: string;
  customer_ref?: string;
}

export type Settle = ProductReference & { payment_signature: string; customer?: Customer; consume_units?: number };
export interface SettledPayment {
  success: true;
  payment_id: string;
  receipt_id: string;
  tx_signature: string;
  network: string;
  payer: string;
  amount: Money;
  entitlement_id: string;
  granted_units: number | null;
  consumed_units: number;
  remaining: number | null;
  /** Of the use made in the same call; what a refund names. */
  consumption_id?: string;
  /** The value of the PAYMENT-RESPONSE header for the buyer. */
  payment_response: string;
}
/** Sent to the chain, outcome unknown: the same payload is settled again later, never paid again. */
export interface PendingSettlement {
  success: false;
  error_reason: 'settlement_pending';
  tx_signature: string;
  retry_after: number;
}
export type Settlement = SettledPayment | PendingSettlement;

export interface Rail {
  rail_id: string;
  name: string;
  kind: string;
  asset: string;
  network: string;
  mint?: string;
  decimals: number;
  status: 'available' | 'degraded' | 'unavailable';
  reason?: string;
  supports: string[];
}
export interface Rails {
  items: Rail[];
}
export interface RailSetting {
  rail_id: string;
  enabled: boolean;
  payout_wallet: string | null;
  payout_ata?: string;
  ata_exists: boolean;
  updated_at: string;
}
export interface RailSettings {
  items: RailSetting[];
}
export interface UpdateRailSetting {
  enabled?: boolean;
  payout_wallet?: string;
}
export interface RefundedConsumption {
  consumption_id: string;
  entitlement_id: string;
  units: number;
  remaining: number | null;
  paid_through: string | null;
}
