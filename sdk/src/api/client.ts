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

class Calls {
  readonly transport: Transport;
  readonly settleTimeoutMs: number;

  constructor(options: ClientOptions) {
    this.transport = new Transport(options);
    this.settleTimeoutMs = options.settleTimeoutMs ?? SETTLE_TIMEOUT_MS;
  }

  readonly read = <R>(path: string, query?: object, options?: CallOptions): Promise<Answer<R>> =>
    this.transport.call<R>({ method: 'GET', path, query, repeat: 'safe', options });
  /** Sends a write that leaves a lasting record exactly once. */
  readonly once = <R>(method: Call['method'], path: string, body?: unknown, options?: CallOptions): Promise<Answer<R>> =>
    this.transport.call<R>({ method, path, body, repeat: 'once', options });
  /** Sends a write of the access API or the sandbox, retried under the same Idempotency-Key. */
  readonly keyed = <R>(method: Call['method'], path: string, body: unknown, options?: CallOptions): Promise<Answer<R>> =>
    this.transport.call<R>({ method, path, body, repeat: 'keyed', options });
}

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
    /** Reports the transaction that pays. After a failure without a verdict, reads the payment before retrying. */
    confirm: (body: T.ConfirmRequest, o?: CallOptions) => {
      const send = () => once<T.Confirmation>('POST', '/v1/pay/confirm', body, o);
      const readPayment = () => read<T.CurrentPayment>(payment(body.payment_id), undefined, o);
      const confirmed = confirmPayment(body, send, readPayment, transport.maxRetries);
      return confirmed.catch((error: SvcError) => Promise.reject(transport.documented(error)));
    },
  },
  memberships: {
    list: (query?: T.MembershipQuery, o?: CallOptions) => read<T.MembershipPage>('/v1/memberships', query, o),
    /** Returns a customer's membership with the latest end. Throws `not_found` if there is none. */
    lookup: (query: T.MembershipLookup, o?: CallOptions) => read<T.Membership>('/v1/memberships/lookup', query, o),
  },
  receipts: {
    get: (receiptId: string, o?: CallOptions) => read<T.Receipt>(`/v1/receipt/${encodeURIComponent(receiptId)}`, undefined, o),
    list: (query?: T.ReceiptQuery, o?: CallOptions) => read<T.ReceiptPage>('/v1/receipts', query, o),
    verify: (receiptId: string, o?: CallOptions) =>
      read<T.ReceiptVerification>(`/v1/receipt/${encodeURIComponent(receiptId)}/verify`, undefined, o),
  },
});

const webhooksOf = ({ read, once }: Calls) => ({
  webhookEndpoints: {
    /** Creates an endpoint. Only this answer contains the signing secret. */
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

const accessOf = ({ read, keyed, settleTimeoutMs }: Calls) => ({
  entitlements: {
    /**
     * Uses units of a customer, atomically. Nothing left is the error `entitlement_missing` or `subscription_expired`, with
     * the challenge for the buyer in its PAYMENT-REQUIRED header: branch on the code, never on the status.
     */
    consume: (body: T.Consume, o?: CallOptions) => keyed<T.Consumption>('POST', '/v1/access/entitlements/consume', body, o),
    grant: (body: T.Grant, o?: CallOptions) => keyed<T.Entitlement>('POST', '/v1/access/entitlements/grant', body, o),
    refund: (body: T.Refund, o?: CallOptions) => keyed<T.RefundedConsumption>('POST', '/v1/access/entitlements/refund', body, o),
    get: (entitlementId: string, o?: CallOptions) =>
      read<T.Entitlement>(`/v1/access/entitlements/${encodeURIComponent(entitlementId)}`, undefined, o),
    list: (query?: T.EntitlementQuery, o?: CallOptions) => read<T.EntitlementPage>('/v1/access/entitlements', query, o),
  },
  x402: {
    /** Settles a buyer's PAYMENT-SIGNATURE. With `consume_units`, also consumes in the same step. */
    settle: (body: T.Settle, o?: CallOptions) =>
      keyed<T.Settlement>('POST', '/v1/access/x402/settle', body, { timeoutMs: settleTimeoutMs, ...o }),
  },
  testing: {
    /** Runs a scenario to its end. Returns its session and the events in order. */
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
    pay: (body: T.TestPaymentRequest, o?: CallOptions) => keyed<T.TestPayment>('POST', '/v1/testing/pay', body, o),
  },
  rails: { list: (o?: CallOptions) => read<T.RailPage>('/v1/access/rails', undefined, o) },
  railSettings: {
    list: (o?: CallOptions) => read<T.RailSettingPage>('/v1/access/rail-settings', undefined, o),
    /** Sets the payout wallet of a rail. A missing token account is reported with the transaction that creates it. */
    update: (railId: string, body: T.UpdateRailSetting, o?: CallOptions) =>
      keyed<T.RailSetting>('PUT', `/v1/access/rail-settings/${encodeURIComponent(railId)}`, body, o),
  },
});

const subscriptionsOf = ({ read, keyed, transport }: Calls) => ({
  /** On-chain plans for products with `renewal_mode: AUTOMATIC`, published once by the payout wallet. */
  subscriptionPlans: {
    get: (productId: string, o?: CallOptions) => read<T.SubscriptionPlan>(plan(productId), undefined, o),
    /** Returns the plan with the unsigned publishing transaction, if still required. */
    prepare: (productId: string, o?: CallOptions) => keyed<T.SubscriptionPlan>('POST', plan(productId), undefined, o),
    confirm: (productId: string, body: T.ConfirmSubscriptionPlan, o?: CallOptions) =>
      keyed<T.SubscriptionPlan>('POST', `${plan(productId)}/confirm`, body, o),
  },
  nativeSubscriptions: {
    list: (query?: T.NativeSubscriptionQuery, o?: CallOptions) =>
      read<T.NativeSubscriptionPage>('/v1/access/native-subscriptions', query, o),
    get: (authorizationId: string, o?: CallOptions) => read<T.NativeSubscription>(subscription(authorizationId), undefined, o),
    /** Returns the unsigned cancellation for the subscriber's wallet. The subscription continues until it is signed and sent. */
    cancelIntent: (authorizationId: string, body: T.CancelIntentRequest, o?: CallOptions) =>
      transport.call<T.CancelIntent>({
        method: 'POST',
        path: `${subscription(authorizationId)}/cancel-intent`,
        body,
        repeat: 'safe',
        options: o,
      }),
    /** Confirms the cancellation with its signed transaction, which the service sends, or with the signature of a sent one. */
    cancelConfirm: (authorizationId: string, body: T.CancelProof, o?: CallOptions) =>
      keyed<T.NativeSubscription>('POST', `${subscription(authorizationId)}/cancel-confirm`, body, o),
  },
});

const meteredOf = ({ read, keyed, transport, settleTimeoutMs }: Calls) => ({
  meteredSessions: {
    create: (body: T.CreateMeteredSession, o?: CallOptions) => keyed<T.MeteredSession>('POST', METERED, body, o),
    get: (sessionId: string, o?: CallOptions) => read<T.MeteredSession>(metered(sessionId), undefined, o),
    /** Reserves an amount for one delivery until its voucher arrives. */
    reserve: (sessionId: string, body: T.ReserveDelivery, o?: CallOptions) =>
      keyed<T.MeteringDirective>('POST', `${metered(sessionId)}/deliveries`, body, o),
    close: (sessionId: string, o?: CallOptions) => keyed<T.MeteredSession>('POST', `${metered(sessionId)}/close`, undefined, o),
    /** Executes a buyer's credential of scheme `Payment`. Idempotent. */
    authorize: (sessionId: string, credential: string, o?: CallOptions) =>
      transport.call<T.MeteredSession | T.CommitReceipt>({
        method: 'POST',
        path: `${metered(sessionId)}/authorize`,
        credential,
        repeat: 'safe',
        options: { timeoutMs: settleTimeoutMs, ...o },
      }),
    /** Forwards an announcement that a buyer's client sent to the resource's origin. */
    announce: (body: object, o?: CallOptions) =>
      transport.call<T.MeteringDirective>({ method: 'POST', path: '/__402/session/deliveries', body, repeat: 'safe', options: o }),
  },
});

export type Client = ReturnType<typeof createClient>;

/**
 * A typed client of the service. Every method answers what the service sent, plus `replayed` and `response`. Every failure is
 * an `SvcError`. Reads, and access and test writes under one Idempotency-Key, are repeated after failures that may pass. Nothing else is.
 */
export function createClient(options: ClientOptions) {
  const calls = new Calls(options);
  return { ...salesOf(calls), ...webhooksOf(calls), ...accessOf(calls), ...subscriptionsOf(calls), ...meteredOf(calls) };
}
