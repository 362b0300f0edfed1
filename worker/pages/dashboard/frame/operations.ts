import type { Context } from 'hono';
import { type AppEnv, given } from '#platform/http/openapi.ts';

/** Operations of the published API that the dashboard and `/me` call, by their id. A test compares them with the document. */
export const OPERATIONS = {
  login: 'POST /v1/auth/login',
  loginWithFactor: 'POST /v1/auth/factor',
  refreshToken: 'POST /v1/auth/refresh',
  logout: 'POST /v1/auth/logout',
  switchAccount: 'POST /v1/auth/switch',
  beginStepUp: 'POST /v1/auth/step-up/options',
  stepUp: 'POST /v1/auth/step-up',
  getAccount: 'GET /v1/account/me',
  updateAccount: 'PATCH /v1/account/me',
  deleteAccount: 'DELETE /v1/account/account',
  changeSecurity: 'PATCH /v1/account/me/security',
  sendVerification: 'POST /v1/account/email/verification',
  listAccounts: 'GET /v1/accounts',
  listIdentities: 'GET /v1/account/identities',
  listOAuthProviders: 'GET /v1/auth/oauth/providers',
  startOAuth: 'GET /v1/auth/oauth/{provider}/start',
  unlinkIdentity: 'DELETE /v1/account/identities/{provider}',
  listSessions: 'GET /v1/account/sessions',
  endSession: 'DELETE /v1/account/sessions/{session_id}',
  endSessions: 'DELETE /v1/account/sessions',
  listPasskeys: 'GET /v1/account/passkeys',
  beginPasskeyRegistration: 'POST /v1/account/passkeys/options',
  registerPasskey: 'POST /v1/account/passkeys',
  renamePasskey: 'PATCH /v1/account/passkeys/{passkey_id}',
  removePasskey: 'DELETE /v1/account/passkeys/{passkey_id}',
  beginTotp: 'POST /v1/account/totp',
  confirmTotp: 'POST /v1/account/totp/confirm',
  removeTotp: 'DELETE /v1/account/totp',
  renewRecoveryCodes: 'POST /v1/account/recovery-codes',
  listMembers: 'GET /v1/account/members',
  changeRole: 'PATCH /v1/account/members/{user_id}',
  removeMember: 'DELETE /v1/account/members/{user_id}',
  startTransfer: 'POST /v1/account/transfer',
  withdrawTransfer: 'DELETE /v1/account/transfer',
  acceptTransfer: 'POST /v1/account/transfer/accept',
  listInvitations: 'GET /v1/account/invitations',
  createInvitation: 'POST /v1/account/invitations',
  resendInvitation: 'POST /v1/account/invitations/{invitation_id}/resend',
  exportAuditLog: 'GET /v1/account/audit-log.csv',
  listAuditLog: 'GET /v1/account/audit-log',
  verifyAuditLog: 'GET /v1/account/audit-log/verify',
  listKeys: 'GET /v1/keys',
  createKey: 'POST /v1/keys',
  updateKey: 'PATCH /v1/keys/{key_id}',
  rollKey: 'POST /v1/keys/{key_id}/roll',
  revokeKey: 'DELETE /v1/keys/{key_id}',
  listKeyResources: 'GET /v1/keys/{key_id}/resources',
  listPayments: 'GET /v1/payments',
  prepareRefund: 'POST /v1/payments/{payment_id}/refund-transaction',
  confirmRefund: 'POST /v1/payments/{payment_id}/refund-confirm',
  getPayment: 'GET /v1/payments/{payment_id}',
  listUnmatchedPayments: 'GET /v1/payments/unmatched',
  acceptUnmatched: 'POST /v1/payments/{payment_id}/accept-unmatched',
  listReceipts: 'GET /v1/receipts',
  getReceipt: 'GET /v1/receipt/{receipt_id}',
  exportReceipts: 'GET /v1/receipts/export.csv',
  getPrivateReceiptPdf: 'GET /v1/receipt/{receipt_id}/pdf/private',
  updateInvoiceMetadata: 'PATCH /v1/receipt/{receipt_id}/invoice-metadata',
  sendReceiptProof: 'POST /v1/receipt/{receipt_id}/send-proof',
  listWebhookEndpoints: 'GET /v1/webhooks/endpoints',
  createWebhookEndpoint: 'POST /v1/webhooks/endpoints',
  updateWebhookEndpoint: 'PATCH /v1/webhooks/endpoints/{endpoint_id}',
  testWebhookEndpoint: 'POST /v1/webhooks/endpoints/{endpoint_id}/test',
  rotateWebhookSecret: 'POST /v1/webhooks/endpoints/{endpoint_id}/rotate-secret',
  recoverWebhookEndpoint: 'POST /v1/webhooks/endpoints/{endpoint_id}/recover',
  listWebhookDeliveries: 'GET /v1/webhooks/deliveries',
  getWebhookDelivery: 'GET /v1/webhooks/deliveries/{delivery_id}',
  replayWebhookDelivery: 'POST /v1/webhooks/deliveries/{delivery_id}/replay',
  getWebhookEvent: 'GET /v1/webhooks/events/{event_id}',
  getWebhookTimeline: 'GET /v1/webhooks/timeline',
  getAccountSummary: 'GET /v1/account/summary',
  exportAnalytics: 'GET /v1/account/analytics.csv',
  getAnalytics: 'GET /v1/account/analytics',
  listProducts: 'GET /v1/products',
  createProduct: 'POST /v1/products',
  getProduct: 'GET /v1/products/{product_id}',
  updateProduct: 'PATCH /v1/products/{product_id}',
  archiveProduct: 'POST /v1/products/{product_id}/archive',
  unarchiveProduct: 'POST /v1/products/{product_id}/unarchive',
  getSubscriptionPlan: 'GET /v1/access/products/{product_id}/subscription-plan',
  prepareSubscriptionPlan: 'POST /v1/access/products/{product_id}/subscription-plan',
  confirmSubscriptionPlan: 'POST /v1/access/products/{product_id}/subscription-plan/confirm',
  getReadiness: 'GET /v1/access/setup/readiness',
  listNativeSubscriptions: 'GET /v1/access/native-subscriptions',
  getNativeSubscription: 'GET /v1/access/native-subscriptions/{authorization_id}',
  stopNativeSubscription: 'POST /v1/access/native-subscriptions/{authorization_id}/stop',
  listCustomers: 'GET /v1/customers',
  search: 'GET /v1/search',
  getCustomer: 'GET /v1/customers/{customer_id}',
  getCustomerTimeline: 'GET /v1/customers/{customer_id}/timeline',
  getCustomerState: 'GET /v1/customers/{customer_id}/state',
  mergeCustomer: 'POST /v1/customers/{customer_id}/merge',
  updateCustomer: 'PATCH /v1/customers/{customer_id}',
  grantEntitlement: 'POST /v1/access/entitlements/grant',
  listPayoutWallets: 'GET /v1/account/payouts',
  disownPayout: 'POST /v1/account/payouts/disown',
  listRailSettings: 'GET /v1/access/rail-settings',
  putRailSetting: 'PUT /v1/access/rail-settings/{rail_id}',
  getBillingSummary: 'GET /v1/billing/summary',
  createBillingCheckout: 'POST /v1/billing/checkout/processor',
  createBillingPortal: 'POST /v1/billing/portal/processor',
  listTickets: 'GET /v1/support/tickets',
  getTicket: 'GET /v1/support/tickets/{ticket_id}',
  createTicket: 'POST /v1/support/tickets',
  addTicketMessage: 'POST /v1/support/tickets/{ticket_id}/message',
  closeTicket: 'POST /v1/support/tickets/{ticket_id}/close',
  listScenarios: 'GET /v1/testing/scenarios',
  listSandboxSessions: 'GET /v1/testing/sessions',
  createSandboxSession: 'POST /v1/testing/sessions',
  getSandboxSession: 'GET /v1/testing/sessions/{session_id}',
  advanceSandboxSession: 'POST /v1/testing/sessions/{session_id}/advance',
  getDomain: 'GET /v1/account/domain',
  setDomain: 'PUT /v1/account/domain',
  deleteDomain: 'DELETE /v1/account/domain',
  acceptInvitation: 'POST /v1/invitations/accept',
  withdrawInvitation: 'DELETE /v1/account/invitations/{invitation_id}',
  createPortalSession: 'POST /v1/customers/portal-sessions',
  signInBuyer: 'POST /v1/buyer/wallet',
  sendBuyerLink: 'POST /v1/buyer/email-link',
  redeemBuyerLink: 'POST /v1/buyer/email-link/redeem',
  redeemPortalLink: 'POST /v1/buyer/portal-link/redeem',
  endBuyerSession: 'POST /v1/buyer/logout',
  getBuyer: 'GET /v1/buyer',
  listBuyerPurchases: 'GET /v1/buyer/purchases',
  listBuyerAccess: 'GET /v1/buyer/access',
  listBuyerSubscriptions: 'GET /v1/buyer/subscriptions',
  eraseCustomer: 'POST /v1/customers/{customer_id}/erase',
  exportCustomer: 'GET /v1/customers/{customer_id}/export',
  exportBuyer: 'GET /v1/buyer/export',
  getInvoiceDetails: 'GET /v1/buyer/invoice-details',
  setInvoiceDetails: 'PUT /v1/buyer/invoice-details',
  billReceipt: 'POST /v1/buyer/receipts/{receipt_id}/invoice-details',
  getBuyerReceiptPdf: 'GET /v1/buyer/receipts/{receipt_id}/pdf',
  requestErasure: 'POST /v1/buyer/erasure',
  retryBuyerDelivery: 'POST /v1/buyer/memberships/{membership_id}/retry-delivery',
} as const;
export type OperationId = keyof typeof OPERATIONS;

export interface Problem {
  loc: (string | number)[];
  msg: string;
}
export interface Refusal {
  ok: false;
  status: number;
  code: string;
  /** Description of the refusal, from the API. */
  detail: string;
  /** Problems of single fields. */
  problems: Problem[];
  meta: { reason?: string; needs?: string | string[]; ticket?: string; methods?: string[] };
  requestId: string;
  retryAfter: string | null;
}
export type Answer<T> = { ok: true; value: T } | Refusal;

/** Call of a page, for the page’s section "API". */
export interface MadeCall {
  id: OperationId;
  method: string;
  path: string;
  status: number;
  requestId: string;
  body: string;
}

interface Input {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  idempotencyKey?: string | undefined;
}

/** Operations with a token or a secret in the answer, which the section "API" never shows. */
const SECRET: readonly OperationId[] = [
  ...(['login', 'loginWithFactor', 'refreshToken', 'switchAccount', 'stepUp', 'beginTotp', 'startOAuth'] as const),
  ...(['createKey', 'rollKey', 'createWebhookEndpoint', 'rotateWebhookSecret'] as const),
  ...(['confirmTotp', 'registerPasskey', 'renewRecoveryCodes', 'beginStepUp', 'beginPasskeyRegistration'] as const),
];

function requestOf(id: OperationId, { params = {}, query }: Input): { method: string; shown: string } {
  const [method = '', template = ''] = OPERATIONS[id].split(' ');
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  return { method, shown: query ? `${path}?${new URLSearchParams(query)}` : path };
}

/** Calls of one page through the routes of the published API, with the token of the session. */
export class Operations {
  /** In the order in which they began, so that a page lists calls made at once in one order. */
  readonly #begun: (MadeCall | null)[] = [];
  readonly #c: Context<AppEnv>;
  token: string | null;

  constructor(c: Context<AppEnv>, token: string | null) {
    this.#c = c;
    this.token = token;
  }

  get made(): MadeCall[] {
    return this.#begun.filter((call) => call !== null);
  }

  async call<T = unknown>(id: OperationId, input: Input = {}): Promise<Answer<T>> {
    const at = this.#begun.push(null) - 1;
    const { method, shown } = requestOf(id, input);
    const response = await this.answer(id, input);
    // The one operation with a cookie of its own binds a way to a provider to this browser.
    if (id === 'startOAuth') for (const cookie of response.headers.getSetCookie()) this.#c.header('Set-Cookie', cookie, { append: true });
    const text = await response.text();
    const requestId = response.headers.get('X-Svc-Request-Id') ?? '';
    this.#begun[at] = { id, method, path: shown, status: response.status, requestId, body: SECRET.includes(id) ? '' : text };
    const json: unknown = text === '' ? null : JSON.parse(text);
    return response.ok ? { ok: true, value: json as T } : toRefusal(response, json, requestId);
  }

  /** Answer of an operation as it is, such as a file. */
  async answer(id: OperationId, input: Input = {}): Promise<Response> {
    const { method, shown } = requestOf(id, input);
    const { body, idempotencyKey } = input;
    return this.#c.var.dispatch(
      new Request(new URL(shown, this.#c.req.url), {
        method,
        headers: this.#headersOf(id, body, idempotencyKey),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        cf: this.#c.req.raw.cf as CfProperties,
      }),
    );
  }

  /** Headers that say from where and with which browser the person acts, so that sessions and the log have them. */
  #headersOf(id: OperationId, body: unknown, idempotencyKey: string | undefined): Headers {
    const headers = new Headers({ Accept: 'application/json' });
    for (const name of ['CF-Connecting-IP', 'User-Agent', 'Accept-Language', ...(id === 'startOAuth' ? ['Cookie'] : [])]) {
      const value = this.#c.req.header(name);
      if (value !== undefined) headers.set(name, value);
    }
    if (this.token !== null) headers.set('Authorization', `Bearer ${this.token}`);
    if (body !== undefined) headers.set('Content-Type', 'application/json');
    if (idempotencyKey !== undefined) headers.set('Idempotency-Key', idempotencyKey);
    return headers;
  }
}

interface ErrorBody {
  code?: string;
  detail?: string | Problem[];
  meta?: Refusal['meta'];
}

/** Sends the file that an operation answers with, or returns its refusal. */
export async function readFile(c: Context<AppEnv>, operations: Operations, id: OperationId, input: Input): Promise<Response | Refusal> {
  const response = await operations.answer(id, input);
  if (!response.ok) return toRefusal(response, await response.json(), response.headers.get('X-Svc-Request-Id') ?? '');
  const headers = {
    'Content-Type': response.headers.get('Content-Type') ?? 'application/json',
    'Content-Disposition': response.headers.get('Content-Disposition') ?? 'attachment',
    'Cache-Control': 'no-store',
    ...given('X-Svc-Truncated', response.headers.get('X-Svc-Truncated')),
  };
  return c.newResponse(response.body, 200, headers);
}

function toRefusal(response: Response, json: unknown, requestId: string): Refusal {
  const { code = 'unknown', detail = '', meta = {} } = (json ?? {}) as ErrorBody;
  const problems = Array.isArray(detail) ? detail : [];
  return {
    ok: false,
    status: response.status,
    code,
    detail: Array.isArray(detail) ? 'Some fields need another value.' : detail,
    problems,
    meta,
    requestId,
    retryAfter: response.headers.get('Retry-After'),
  };
}
