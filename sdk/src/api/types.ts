import type { components, operations } from './api.d.ts';

type Schemas = components['schemas'];
type QueryOf<O extends keyof operations> = Omit<NonNullable<operations[O]['parameters']['query']>, 'mode'>;

export type Money = Schemas['Money'];
export type Product = Schemas['Product'];
export type CreatedProduct = Schemas['CreatedProduct'];
export type ProductPage = Schemas['ProductPage'];
export type CreateProduct = Schemas['CreateProductRequest'];
export type UpdateProduct = Schemas['UpdateProductRequest'];
export type Payment = Schemas['Payment'];
export type CurrentPayment = Schemas['CurrentPayment'];
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

export type PageQuery = QueryOf<'listWebhookEndpoints'>;
export type ProductQuery = QueryOf<'listProducts'>;
export type MembershipQuery = QueryOf<'listMemberships'>;
export type PaymentQuery = QueryOf<'listPayments'>;
export type MembershipLookup = QueryOf<'lookupMembership'>;
export type ReceiptQuery = QueryOf<'listReceipts'>;
export type WebhookDeliveryQuery = QueryOf<'listWebhookDeliveries'>;

/** Customer, named by exactly one of the two. */
export type Customer = { wallet_address: string } | { customer_ref: string };
export type ProductReference = { product_id: string } | { external_product_id: string };
/** The API document lists both names of a product and of a customer as optional, but one of each is required. */
type Named<B> = Omit<B, 'product_id' | 'external_product_id' | 'customer'> & ProductReference;

export type Consume = Named<Schemas['ConsumeRequest']> & { customer: Customer };
export type Consumption = Schemas['ConsumeResponse'];
export type Grant = Named<Schemas['GrantRequest']> & { customer: Customer };
export type Refund = Schemas['RefundRequest'];
export type RefundedConsumption = Schemas['RefundResponse'];
export type Entitlement = Schemas['Entitlement'];
export type EntitlementPage = Schemas['EntitlementPage'];
export type EntitlementQuery = QueryOf<'listEntitlements'>;

export type Settle = Named<Schemas['SettleRequest']> & { customer?: Customer };
export type SettledPayment = Schemas['SettleResponse'];
/** Payment sent to the chain with an unknown outcome: settle the same payload again later, never pay again. */
export type PendingSettlement = Schemas['SettlePending'];
export type Settlement = SettledPayment | PendingSettlement;

export type SubscriptionPlan = Schemas['SubscriptionPlan'];
export type ConfirmSubscriptionPlan = Schemas['ConfirmSubscriptionPlanRequest'];
export type NativeSubscription = Schemas['NativeSubscription'];
export type NativeSubscriptionPage = Schemas['NativeSubscriptionPage'];
export type NativeSubscriptionQuery = QueryOf<'listNativeSubscriptions'>;
export type CancelIntentRequest = Schemas['CancelIntentRequest'];
export type CancelIntent = Schemas['CancelIntent'];
export type CancelProof = Schemas['CancelProof'];

export type MeteredSession = Schemas['MeteredSession'];
export type CreateMeteredSession = Named<Schemas['MeteredSessionRequest']> & { customer?: Customer };
export type ReserveDelivery = Schemas['MeteredDeliveryRequest'];
export type MeteringDirective = Schemas['MeteringDirective'];
export type CommitReceipt = Schemas['CommitReceipt'];

export type Rail = Schemas['Rail'];
export type RailPage = Schemas['RailPage'];
export type RailSetting = Schemas['RailSetting'];
export type RailSettingPage = Schemas['RailSettingPage'];
export type UpdateRailSetting = Schemas['RailSettingUpdate'];

export type SandboxSession = Schemas['SandboxSession'];
export type RunScenario = Omit<Schemas['SandboxSessionRequest'], 'scenario'>;
export type TestPaymentRequest = Omit<Schemas['TestPaymentRequest'], 'outcome'> & { outcome?: Schemas['TestPaymentRequest']['outcome'] };
export type TestPayment = Schemas['TestPayment'];
