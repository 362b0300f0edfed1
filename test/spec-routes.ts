import { type Operation, openApi } from './world/call.ts';

/**
 * Who may call. none: anybody · merchant: key or token · person: token only · session: a token here or in the body · viewer: anybody, the owner sees more ·
 * key: a key alone · signature, connector_secret, setup_secret: a shared secret of another kind · activator: key, token or
 * setup secret · proof: the request itself proves its right.
 */
export type Auth =
  | 'none'
  | 'merchant'
  | 'person'
  | 'session'
  | 'viewer'
  | 'key'
  | 'signature'
  | 'connector_secret'
  | 'setup_secret'
  | 'activator'
  | 'proof';

export interface Route {
  method: string;
  path: string;
  auth: Auth;
  /** Success status. */
  status: number;
  /** Requires the Idempotency-Key header. */
  idempotent: boolean;
  /** False for pages and for the description itself, which are not operations of the document. */
  documented: boolean;
}

const table = `
GET    /health                                                       none      200
GET    /v1/health                                                    none      200
GET    /v1/openapi.json                                              none      200 undocumented
GET    /v1/docs                                                      none      200 undocumented
GET    /v1/redoc                                                     none      200 undocumented
POST   /v1/auth/register                                             none      201
POST   /v1/auth/login                                                none      200
POST   /v1/auth/wallet                                               none      200
POST   /v1/auth/wallet/nonce                                         none      200
GET    /v1/auth/oauth/providers                                      none      200
GET    /v1/auth/oauth/{provider}/start                               none      200
GET    /v1/auth/oauth/{provider}/callback                            none      302
POST   /v1/auth/logout                                               person    200
POST   /v1/auth/refresh                                              session   200
GET    /v1/account/me                                                merchant  200
PATCH  /v1/account/me                                                merchant  200
GET    /v1/account/summary                                           merchant  200
GET    /v1/account/analytics                                         merchant  200
PATCH  /v1/account/me/security                                       person    200
GET    /v1/account/delivery/readiness                                merchant  200
POST   /v1/account/delivery/test                                     merchant  200
DELETE /v1/account/account                                           person    200
GET    /v1/keys                                                      merchant  200
POST   /v1/keys                                                      person    201
DELETE /v1/keys/{key_id}                                             person    204
GET    /v1/billing/summary                                           merchant  200
POST   /v1/billing/checkout/processor                                merchant  200
POST   /v1/billing/portal/processor                                  merchant  200
POST   /v1/billing/refresh/processor                                 merchant  200
POST   /v1/billing/webhooks/processor                                signature 200
POST   /v1/receipt                                                   merchant  200
GET    /v1/receipt/{receipt_id}                                      merchant  200
GET    /v1/receipt/{receipt_id}/public                               none      200
GET    /v1/receipt/{receipt_id}/verify                               none      200
GET    /v1/receipt/{receipt_id}/pdf                                  none      200
GET    /v1/receipts                                                  merchant  200
GET    /v1/receipts/export.csv                                       merchant  200
PATCH  /v1/receipt/{receipt_id}/invoice-metadata                     merchant  200
POST   /v1/receipt/{receipt_id}/send-proof                           merchant  200
GET    /.well-known/svc-receipt-keys.json                            none      200
GET    /.well-known/x402                                             none      200 undocumented
GET    /llms.txt                                                     none      200 undocumented
POST   /v1/support/tickets                                           merchant  200
GET    /v1/support/tickets                                           merchant  200
GET    /v1/support/tickets/{ticket_id}                               merchant  200
POST   /v1/support/tickets/{ticket_id}/message                       merchant  200
GET    /v1/webhooks/endpoints                                        merchant  200
POST   /v1/webhooks/endpoints                                        merchant  201
PATCH  /v1/webhooks/endpoints/{endpoint_id}                          merchant  200
DELETE /v1/webhooks/endpoints/{endpoint_id}                          merchant  200
POST   /v1/webhooks/endpoints/{endpoint_id}/test                     merchant  200
POST   /v1/webhooks/endpoints/{endpoint_id}/rotate-secret            merchant  200
POST   /v1/webhooks/endpoints/{endpoint_id}/recover                  merchant  202
GET    /v1/webhooks/event-types                                      merchant  200
GET    /v1/webhooks/deliveries                                       merchant  200
POST   /v1/webhooks/deliveries/{delivery_id}/replay                  merchant  200
GET    /v1/webhooks/timeline                                         merchant  200
GET    /v1/webhooks/events                                           merchant  200
GET    /v1/integrations/health                                       merchant  200
GET    /v1/integrations/events                                       merchant  200
POST   /v1/integrations/automation/hooks                             merchant  201
DELETE /v1/integrations/automation/hooks/{endpoint_id}               merchant  200
POST   /v1/integrations/connectors/{provider}/identity               connector_secret 200
GET    /v1/testing/scenarios                                         merchant  200
POST   /v1/testing/sessions                                          merchant  201
GET    /v1/testing/sessions                                          merchant  200
GET    /v1/testing/sessions/{session_id}                             merchant  200
POST   /v1/access/agent-bootstrap                                    none      201
POST   /v1/access/agent-bootstrap/{setup_intent_id}/status           setup_secret 200
POST   /v1/access/agent-bootstrap/{setup_intent_id}/manifest         setup_secret 200
POST   /v1/access/agent-bootstrap/{setup_intent_id}/approve          setup_secret 200
GET    /v1/access/rails                                              none      200
GET    /v1/access/rail-settings                                      merchant  200
PUT    /v1/access/rail-settings/{rail_id}                            merchant  200 IDEM
GET    /v1/access/native-subscriptions/{authorization_id}            merchant  200
POST   /v1/access/native-subscriptions/{authorization_id}/cancel-intent  proof 200
POST   /v1/access/native-subscriptions/{authorization_id}/cancel-confirm proof 200 IDEM
POST   /v1/access/apps                                               merchant  201 IDEM
POST   /v1/access/products                                           merchant  201 IDEM
GET    /v1/access/setup/readiness                                    merchant  200
GET    /v1/access/products/available-rails                           merchant  200
GET    /v1/access/products/{product_id}/available-rails              merchant  200
POST   /v1/access/payment-sessions                                   merchant  201 IDEM
POST   /v1/access/metered-sessions                                   merchant  201 IDEM
POST   /v1/access/metered-sessions/{session_id}/authorize            proof     200
POST   /v1/access/metered-sessions/{session_id}/deliveries           merchant  201 IDEM
POST   /v1/access/metered-sessions/{session_id}/commits              proof     200
POST   /__402/session/deliveries                                     proof     201
POST   /v1/access/x402/settle                                        merchant  200 IDEM
POST   /v1/access/x402/activate/starter                              activator 200
POST   /v1/access/x402/activate/growth                               activator 200
POST   /v1/access/x402/activate/scale                                activator 200
GET    /v1/access/x402/facilitator/supported                         none      200
POST   /v1/access/x402/facilitator/verify                            key       200
POST   /v1/access/x402/facilitator/settle                            key       200
POST   /v1/access/entitlements/consume                               merchant  200 IDEM
GET    /v1/access/entitlements                                       merchant  200
GET    /v1/access/entitlements/{entitlement_id}                      merchant  200
POST   /v1/access/entitlements/grant                                 merchant  200 IDEM
POST   /v1/access/entitlements/refund                                merchant  200 IDEM
POST   /v1/products                                                  merchant  201
GET    /v1/products                                                  merchant  200
GET    /v1/products/{product_id}                                     merchant  200
PATCH  /v1/products/{product_id}                                     merchant  200
POST   /v1/products/{product_id}/archive                             merchant  200
POST   /v1/products/{product_id}/unarchive                           merchant  200
POST   /v1/products/{product_id}/handoffs                            merchant  201
GET    /v1/products/p/{slug}                                         none      200
POST   /v1/products/p/{slug}/connect                                 none      200
GET    /v1/products/p/{slug}/handoff/{token}                         none      200
POST   /v1/products/p/{slug}/identity                                none      201
POST   /v1/products/webhook/rpc                                      signature 200
POST   /v1/pay/confirm                                               viewer    200
GET    /v1/pay/{payment_id}/solana-pay                               none      200
POST   /v1/pay/{payment_id}/solana-pay                               none      200
GET    /v1/payments                                                  merchant  200
GET    /v1/payments/{payment_id}                                     viewer    200
POST   /v1/payments/{payment_id}/transaction                         viewer    200
POST   /v1/payments/{payment_id}/accept-unmatched                    merchant  200
GET    /v1/memberships                                               merchant  200
GET    /v1/memberships/lookup                                        merchant  200
POST   /v1/memberships/{membership_id}/retry-delivery                merchant  200
GET    /p/{slug}                                                     none      200 undocumented
GET    /r/{receipt_id}                                               none      200 undocumented
`;

export const routes: Route[] = table
  .trim()
  .split('\n')
  .map((line) => {
    const [method, path, auth, status, ...flags] = line.split(/\s+/);
    return {
      method: method!,
      path: path!,
      auth: auth as Auth,
      status: Number(status),
      idempotent: flags.includes('IDEM'),
      documented: !flags.includes('undocumented'),
    };
  });

export const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>): string => `${method} ${path}`;

/** Routes of the table that do not exist yet. It only ever shrinks, and ends empty. */
export const notBuiltYet = new Set(
  `
GET /v1/auth/oauth/providers
GET /v1/auth/oauth/{provider}/start
GET /v1/auth/oauth/{provider}/callback
GET /v1/account/summary
GET /v1/account/analytics
GET /v1/account/delivery/readiness
POST /v1/account/delivery/test
GET /v1/receipt/{receipt_id}/pdf
GET /v1/receipts/export.csv
PATCH /v1/receipt/{receipt_id}/invoice-metadata
POST /v1/receipt/{receipt_id}/send-proof
POST /v1/memberships/{membership_id}/retry-delivery
POST /__402/session/deliveries
`
    .trim()
    .split('\n'),
);

// Whole groups of the service that do not exist yet.
const GROUPS = ['/v1/billing/', '/v1/support/', '/v1/testing/', '/v1/access/native-subscriptions/', '/v1/access/metered-sessions'];
for (const route of routes) if (GROUPS.some((group) => route.path.startsWith(group))) notBuiltYet.add(nameOf(route));

export const builtRoutes: Route[] = routes.filter((route) => !notBuiltYet.has(nameOf(route)));

const NOBODYS: Record<string, string> = { delivery_id: '999999999' };

/** A path with its parameters filled in; a parameter nobody names gets an id that does not exist. */
export function fill(path: string, params: Record<string, string> = {}): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? NOBODYS[name] ?? '01900000-0000-7000-8000-000000000000'),
  );
}

/** The operations of the published document, by `METHOD path`. */
export const operations = new Map<string, Operation>(
  Object.entries(openApi.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [`${method.toUpperCase()} ${path}`, operation]),
  ),
);
