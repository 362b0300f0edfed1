import { confirmPayment } from './confirm.ts';
import type { SvcError } from './errors.ts';
import { runScenario } from './testing.ts';
import { type Answer, type Call, type CallOptions, type ClientOptions, Transport } from './transport.ts';
import type * as T from './types.ts';

const METERED = '/v1/access/metered-sessions';
const SETTLE_TIMEOUT_MS = 30_000;

const payment = (paymentId: string) => `/v1/payments/${encodeURIComponent(paymentId)}`;
const product = (productId: string) => `/v1/products/${encodeURIComponent(productId)}`;
const endpoint = (endpointId: string) => `/v1/webhooks/endpoints/${encodeURIComponent(endpointId)}`;
const plan = (productId: string) => `/v1/access/products/${encodeURIComponent(productId)}/subscription-plan`;
const subscription = (authorizationId: string) => `/v1/access/native-subscriptions/${encodeURIComponent(authorizationId)}`;
const metered = (sessionId: string) => `${METERED}/${encodeURIComponent(sessionId)}`;

/** The ways to call the service. */
class Calls {
  readonly transport: Transport;
  readonly settleTimeoutMs: number;

  constructor(options: ClientOptions) {
    this.transport = new Transport(options);
    this.settleTimeoutMs = options.settleTimeoutMs ?? SETTLE_TIMEOUT_MS;
  }

  readonly read = <R>(path: string, query?: object, options?: CallOptions): Promise<Answer<R>> =>
    this.transport.call<R>({ method: 'GET', path, query, repeat: 'safe', options });
  /** A write that leaves a lasting record is sent once, whatever happens. */
  readonly once = <R>(method: Call['method'], path: string, body?: unknown, options?: CallOptions): Promise<Answer<R>> =>
    this.transport.call<R>({ method, path, body, repeat: 'once', options });
  /** A write of the access API or of the sandbox: repeated under the same Idempotency-Key. */
  readonly keyed = <R>(method: Call['method'], path: string, body: unknown, options?: CallOptions): Promise<Answer<R>> =>
    this.transport.call<R>({ method, path, body, repeat: 'keyed', options });
}

/** What is sold, and what came of it. */
const salesOf = ({ read, once, transport }: Calls) => ({
  products: {
    create: (body: T.CreateProduct, o?: CallOptions) => once<T.CreatedProduct>('POST', '/v1/products', body, o),
    get: (productId: string, o?: CallOptions) => read<T.Product>(product(productId), undefined, o),
    list: (query?: T.ProductQuery, o?: CallOptions) => read<T.ProductPage>('/v1/products', query, o),
    update: (productId: string, body: T.UpdateProduct, o?: CallOptions) => once<T.Product>('PATCH', product(productId), body, o),
    archive: (productId: string, o?: CallOptions) => once<T.Product>('POST', `${product(productId)}/archive`, undefined, o),
    unarchive: (productId: string, o?: CallOptions) => once<T.Product>('POST', `${product(productId)}/unarchive`, undefined, o),
  },
  payments: {
    get: (paymentId: string, o?: CallOptions) => read<T.CurrentPayment>(payment(paymentId), undefined, o),
    list: (query?: T.PaymentQuery, o?: CallOptions) => read<T.PaymentPage>('/v1/payments', query, o),
    /** Tells which transaction pays. Never repeated blindly: after a failure without a verdict the payment is read first. */
    confirm: (body: T.ConfirmRequest, o?: CallOptions) => {
      const send = () => once<T.Confirmation>('POST', '/v1/pay/confirm', body, o);
      const look = () => read<T.CurrentPayment>(payment(body.payment_id), undefined, o);
      const confirmed = confirmPayment(body, send, look, transport.maxRetries);
      return confirmed.catch((error: SvcError) => Promise.reject(transport.documented(error)));
    },
  },
  memberships: {
    list: (query?: T.MembershipQuery, o?: CallOptions) => read<T.MembershipPage>('/v1/memberships', query, o),
    /** The membership of one customer, the one that lasts longest; `not_found` where there is none. */
    lookup: (query: T.MembershipLookup, o?: CallOptions) => read<T.Membership>('/v1/memberships/lookup', query, o),
  },
  receipts: {
    get: (receiptId: string, o?: CallOptions) => read<T.Receipt>(`/v1/receipt/${encodeURIComponent(receiptId)}`, undefined, o),
    list: (query?: T.ReceiptQuery, o?: CallOptions) => read<T.ReceiptPage>('/v1/receipts', query, o),
    verify: (receiptId: string, o?: CallOptions) =>
      read<T.ReceiptVerification>(`/v1/receipt/${encodeURIComponent(receiptId)}/verify`, undefined, o),
  },
});

/** Endpoints of the merchant, and what was sent to them. */
const webhooksOf = ({ read, once }: Calls) => ({
  webhookEndpoints: {
    /** Creates an endpoint. Only this answer holds its signing secret. */
    create: (body: T.CreateWebhookEndpoint, o?: CallOptions) =>
      once<T.WebhookEndpointWithSecret>('POST', '/v1/webhooks/endpoints', body, o),
    list: (query?: T.PageQuery, o?: CallOptions) => read<T.WebhookEndpointPage>('/v1/webhooks/endpoints', query, o),
    update: (endpointId: string, body: T.UpdateWebhookEndpoint, o?: CallOptions) =>
      once<T.WebhookEndpoint>('PATCH', endpoint(endpointId), body, o),
    disable: (endpointId: string, o?: CallOptions) => once<T.WebhookEndpoint>('DELETE', endpoint(endpointId), undefined, o),
    rotateSecret: (endpointId: string, body: T.RotateWebhookSecret = {}, o?: CallOptions) =>
      once<T.WebhookEndpointWithSecret>('POST', `${endpoint(endpointId)}/rotate-secret`, body, o),
    test: (endpointId: string, body: T.TestWebhook = {}, o?: CallOptions) =>
      once<T.WebhookTestResult>('POST', `${endpoint(endpointId)}/test`, body, o),
    recover: (endpointId: string, body: T.RecoverWebhook, o?: CallOptions) =>
      once<T.WebhookRecovery>('POST', `${endpoint(endpointId)}/recover`, body, o),
  },
  webhookDeliveries: {
    list: (query?: T.WebhookDeliveryQuery, o?: CallOptions) => read<T.WebhookDeliveryPage>('/v1/webhooks/deliveries', query, o),
    replay: (deliveryId: number, o?: CallOptions) =>
      once<T.WebhookDelivery>('POST', `/v1/webhooks/deliveries/${deliveryId}/replay`, undefined, o),
  },
});

/** Units that buyers use, and how agents pay for them. */
const accessOf = ({ read, keyed, settleTimeoutMs }: Calls) => ({
  entitlements: {
    /**
     * Uses units of a customer, atomically. Nothing left is the error `entitlement_missing` or `subscription_expired`, with
     * the challenge for the buyer in its PAYMENT-REQUIRED header: branch on the code, never on the status.
     */
    consume: (body: T.Consume, o?: CallOptions) => keyed<T.Consumption>('POST', '/v1/access/entitlements/consume', body, o),
    grant: (body: T.Grant, o?: CallOptions) => keyed<T.Entitlement>('POST', '/v1/access/entitlements/grant', body, o),
    /** Gives the units of one consumption back. */
    refund: (body: T.Refund, o?: CallOptions) => keyed<T.RefundedConsumption>('POST', '/v1/access/entitlements/refund', body, o),
    get: (entitlementId: string, o?: CallOptions) =>
      read<T.Entitlement>(`/v1/access/entitlements/${encodeURIComponent(entitlementId)}`, undefined, o),
    list: (query?: T.EntitlementQuery, o?: CallOptions) => read<T.EntitlementPage>('/v1/access/entitlements', query, o),
  },
  x402: {
    /** Settles a buyer's PAYMENT-SIGNATURE, and with `consume_units` makes the first use in the same step. */
    settle: (body: T.Settle, o?: CallOptions) =>
      keyed<T.Settlement>('POST', '/v1/access/x402/settle', body, { timeoutMs: settleTimeoutMs, ...o }),
  },
  /** The sandbox: with a sandbox key only. */
  testing: {
    /** Runs a scenario and waits for its end: its session, and the events in their order. */
    run: (scenario: string, asked: Partial<T.RunScenario> = {}, o?: CallOptions) =>
      runScenario(
        {
          begin: (body, callOptions) => keyed<T.SandboxSession>('POST', '/v1/testing/sessions', body, callOptions),
          get: (sessionId, callOptions) => read<T.SandboxSession>(`/v1/testing/sessions/${sessionId}`, undefined, callOptions),
        },
        scenario,
        asked,
        o,
      ),
    /** Pays as a test wallet would: a payment, or a challenge of x402. */
    pay: (body: T.TestPaymentRequest, o?: CallOptions) => keyed<T.TestPayment>('POST', '/v1/testing/pay', body, o),
  },
  rails: { list: (o?: CallOptions) => read<T.RailPage>('/v1/access/rails', undefined, o) },
  railSettings: {
    list: (o?: CallOptions) => read<T.RailSettingPage>('/v1/access/rail-settings', undefined, o),
    /** Where a rail pays out. A missing token account is reported with the transaction that creates it. */
    update: (railId: string, body: T.UpdateRailSetting, o?: CallOptions) =>
      keyed<T.RailSetting>('PUT', `/v1/access/rail-settings/${encodeURIComponent(railId)}`, body, o),
  },
});

/** What is paid period by period. */
const subscriptionsOf = ({ read, keyed, transport }: Calls) => ({
  /** What a product with `renewal_mode: AUTOMATIC` is sold by: published on the chain once, by the wallet that is paid. */
  subscriptionPlans: {
    get: (productId: string, o?: CallOptions) => read<T.SubscriptionPlan>(plan(productId), undefined, o),
    /** The plan with the unsigned transaction that publishes it, where one is left to sign. */
    prepare: (productId: string, o?: CallOptions) => keyed<T.SubscriptionPlan>('POST', plan(productId), undefined, o),
    confirm: (productId: string, body: T.ConfirmSubscriptionPlan, o?: CallOptions) =>
      keyed<T.SubscriptionPlan>('POST', `${plan(productId)}/confirm`, body, o),
  },
  nativeSubscriptions: {
    list: (query?: T.NativeSubscriptionQuery, o?: CallOptions) =>
      read<T.NativeSubscriptionPage>('/v1/access/native-subscriptions', query, o),
    get: (authorizationId: string, o?: CallOptions) => read<T.NativeSubscription>(subscription(authorizationId), undefined, o),
    /** The unsigned transaction that cancels, for the wallet that subscribed. Nothing is cancelled by it yet. */
    cancelIntent: (authorizationId: string, body: T.CancelIntentRequest, o?: CallOptions) =>
      transport.call<T.CancelIntent>({
        method: 'POST',
        path: `${subscription(authorizationId)}/cancel-intent`,
        body,
        repeat: 'safe',
        options: o,
      }),
    /** Proves the cancellation: by its transaction, signed, which the service then sends, or by the signature of one that was sent. */
    cancelConfirm: (authorizationId: string, body: T.CancelProof, o?: CallOptions) =>
      keyed<T.NativeSubscription>('POST', `${subscription(authorizationId)}/cancel-confirm`, body, o),
  },
});

/** What is paid use by use. */
const meteredOf = ({ read, keyed, transport, settleTimeoutMs }: Calls) => ({
  meteredSessions: {
    create: (body: T.CreateMeteredSession, o?: CallOptions) => keyed<T.MeteredSession>('POST', METERED, body, o),
    get: (sessionId: string, o?: CallOptions) => read<T.MeteredSession>(metered(sessionId), undefined, o),
    /** Keeps an amount free for one delivery, until its voucher comes. */
    reserve: (sessionId: string, body: T.ReserveDelivery, o?: CallOptions) =>
      keyed<T.MeteringDirective>('POST', `${metered(sessionId)}/deliveries`, body, o),
    close: (sessionId: string, o?: CallOptions) => keyed<T.MeteredSession>('POST', `${metered(sessionId)}/close`, undefined, o),
    /** Does what a buyer's credential of scheme `Payment` says; the same one again is answered as the first time. */
    authorize: (sessionId: string, credential: string, o?: CallOptions) =>
      transport.call<T.MeteredSession | T.CommitReceipt>({
        method: 'POST',
        path: `${metered(sessionId)}/authorize`,
        credential,
        repeat: 'safe',
        options: { timeoutMs: settleTimeoutMs, ...o },
      }),
    /** What a buyer's client announces at the root of a resource's origin, handed on. */
    announce: (body: object, o?: CallOptions) =>
      transport.call<T.MeteringDirective>({ method: 'POST', path: '/__402/session/deliveries', body, repeat: 'safe', options: o }),
  },
});

export type Client = ReturnType<typeof createClient>;

/**
 * A typed client of the service. Every method answers what the service sent, plus `replayed` and `response`; every failure is
 * an `SvcError`. Reads, and access and test writes under one Idempotency-Key, are repeated after failures that may pass; nothing else is.
 */
export function createClient(options: ClientOptions) {
  const calls = new Calls(options);
  return { ...salesOf(calls), ...webhooksOf(calls), ...accessOf(calls), ...subscriptionsOf(calls), ...meteredOf(calls) };
}
