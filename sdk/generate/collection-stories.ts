/** Request of the collection. The document says its method, path, credential and usual status. */
export interface Step {
  operation: string;
  /** Replaces the document's summary, where a story has an operation twice. */
  name?: string;
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  status?: number;
  /** Variables that the answer sets, by expressions of Bruno. */
  takes?: Record<string, string>;
  /** Expressions of Bruno, and what they must be. */
  expects?: Record<string, string>;
}

/** Requests of a guide, in order. */
export interface Story {
  guide: string;
  title: string;
  steps: Step[];
}

const WALLET = 'Av7QWv6RRdrFxbb9GXWM1g8Gut59feSWcr9tRBia7xZa';
const PRODUCT = { product_id: '{{product_id}}' };
const SCOPE = { product_id: '{{call_id}}', customer: { wallet_address: '{{agent}}' } };

/** The first story makes the account, the key and the product of the others. All of them sell in the sandbox. */
export const STORIES: readonly Story[] = [
  {
    guide: 'quickstart',
    title: 'First sale',
    steps: [
      {
        operation: 'register',
        body: { email: 'ada-{{$guid}}@example.com', password: 'correct horse battery', display_name: 'Ada' },
        takes: { token: 'res.body.token' },
      },
      { operation: 'createKey', body: { name: 'collection', sandbox_mode: true }, takes: { key: 'res.body.raw_key' } },
      {
        operation: 'createProduct',
        body: { name: 'Weather API', price: { asset: 'USDC', amount: '5' }, access_period_days: 30, usage_units: null },
        takes: { product_id: 'res.body.product_id', slug: 'res.body.slug' },
      },
      {
        operation: 'connectBuyer',
        params: { slug: '{{slug}}' },
        body: { customer_ref: 'user-7' },
        takes: { payment_id: 'res.body.payment_id' },
      },
      { operation: 'payTest', body: { payment_id: '{{payment_id}}', wallet: 'grace' }, takes: { tx_signature: 'res.body.tx_signature' } },
      {
        operation: 'confirmPayment',
        body: { payment_id: '{{payment_id}}', tx_signature: '{{tx_signature}}' },
        takes: { receipt_id: 'res.body.receipt_id' },
        expects: { 'res.body.payment.status': 'CONFIRMED' },
      },
      { operation: 'listPayments', query: PRODUCT, expects: { 'res.body.items[0].status': 'CONFIRMED' } },
      { operation: 'lookupMembership', query: { customer_ref: 'user-7', ...PRODUCT }, expects: { 'res.body.status': 'active' } },
    ],
  },
  {
    guide: 'checkout',
    title: 'Checkout',
    steps: [
      { operation: 'getProduct', params: PRODUCT, expects: { 'res.body.status': 'active' } },
      { operation: 'getOffer', params: { slug: '{{slug}}' }, expects: { 'res.body.price.base_units': '"5000000"' } },
      { operation: 'createHandoff', params: PRODUCT, body: { customer_ref: 'user-42', email: 'grace@example.com' } },
      { operation: 'createPaymentSession', body: { ...PRODUCT, customer_ref: 'user-42' } },
    ],
  },
  {
    guide: 'pay-per-request',
    title: 'Pay per request',
    steps: [
      {
        operation: 'createProduct',
        name: 'Create a product of one call',
        body: { name: 'Forecast, one call', price: { asset: 'USDC', amount: '0.01' }, live_mode_confirmed: true, payout_wallet: WALLET },
        takes: { call_id: 'res.body.product_id' },
      },
      {
        operation: 'consumeEntitlement',
        name: 'Consume without access',
        body: { product_id: '{{call_id}}', customer: { wallet_address: WALLET } },
        status: 403,
        takes: { challenge: 'res.headers["payment-required"]' },
      },
      {
        operation: 'payTest',
        name: 'Pay the challenge',
        body: { payment_required: '{{challenge}}', wallet: 'agent' },
        takes: { payment_signature: 'res.body.payment_signature', agent: 'res.body.payer_wallet' },
      },
      {
        operation: 'settlePayment',
        body: { product_id: '{{call_id}}', payment_signature: '{{payment_signature}}', consume_units: 1 },
        expects: { 'res.body.consumed_units': '1' },
      },
      { operation: 'listEntitlements', query: { product_id: '{{call_id}}' }, status: 200 },
      { operation: 'grantEntitlement', body: { ...SCOPE, units: 2, reason: 'courtesy' }, expects: { 'res.body.remaining': '2' } },
      {
        operation: 'consumeEntitlement',
        name: 'Consume one unit',
        body: SCOPE,
        takes: { consumption_id: 'res.body.consumption_id' },
        expects: { 'res.body.remaining': '1' },
      },
      { operation: 'refundConsumption', body: { consumption_id: '{{consumption_id}}', reason: 'no forecast today' } },
    ],
  },
  {
    guide: 'webhooks',
    title: 'Webhooks',
    steps: [
      { operation: 'listEventTypes' },
      {
        operation: 'createWebhookEndpoint',
        body: { url: 'https://shop.example.com/hooks', event_types: ['payment.*'] },
        takes: { endpoint_id: 'res.body.endpoint_id' },
      },
      { operation: 'updateWebhookEndpoint', params: { endpoint_id: '{{endpoint_id}}' }, body: { event_types: ['payment.*', 'receipt.*'] } },
      { operation: 'rotateWebhookSecret', params: { endpoint_id: '{{endpoint_id}}' }, body: {} },
      { operation: 'listWebhookEvents', query: {} },
      { operation: 'getWebhookTimeline', query: { payment_id: '{{payment_id}}' } },
      { operation: 'disableWebhookEndpoint', params: { endpoint_id: '{{endpoint_id}}' } },
    ],
  },
  {
    guide: 'customers',
    title: 'Customers',
    steps: [
      {
        operation: 'createCustomer',
        body: { customer_ref: 'user-8', email: 'ada@example.com', name: 'Ada' },
        takes: { customer_id: 'res.body.customer_id' },
      },
      { operation: 'findCustomerState', query: { customer_ref: 'user-7' }, expects: { 'res.body.products[0].access': 'true' } },
      { operation: 'updateCustomer', params: { customer_id: '{{customer_id}}' }, body: { metadata: { plan: 'gold' } } },
      { operation: 'listCustomers', query: { q: 'user-8' }, expects: { 'res.body.total': '1' } },
      { operation: 'createPortalSession', body: { customer_id: '{{customer_id}}', flow: 'receipts' } },
    ],
  },
  {
    guide: 'sandbox',
    title: 'Sandbox',
    steps: [
      { operation: 'listScenarios' },
      { operation: 'createSandboxSession', body: { scenario: 'payment_confirmed' }, takes: { session_id: 'res.body.session_id' } },
      { operation: 'getSandboxSession', params: { session_id: '{{session_id}}' } },
    ],
  },
  {
    guide: 'email-and-receipts',
    title: 'Receipts',
    steps: [
      { operation: 'listReceipts' },
      { operation: 'getReceipt', params: { receipt_id: '{{receipt_id}}' } },
      { operation: 'getPublicReceipt', params: { receipt_id: '{{receipt_id}}' } },
      { operation: 'verifyReceipt', params: { receipt_id: '{{receipt_id}}' }, expects: { 'res.body.valid': 'true' } },
      { operation: 'getReceiptKeys' },
    ],
  },
  {
    guide: 'books-and-taxes',
    title: 'Books and taxes',
    steps: [
      { operation: 'updateInvoiceMetadata', params: { receipt_id: '{{receipt_id}}' }, body: { invoice_number: 'INV-2026-1' } },
      { operation: 'exportReceipts' },
      { operation: 'getAnalytics', query: { window_days: '30' } },
    ],
  },
  {
    guide: 'unmatched-and-refunds',
    title: 'Late money',
    steps: [{ operation: 'listUnmatchedPayments', expects: { 'res.body.total': '0' } }],
  },
  {
    guide: 'agents',
    title: 'Agents',
    steps: [
      {
        operation: 'createSetupIntent',
        body: { agent_name: 'Weather agent', plan: 'starter' },
        takes: { setup_intent_id: 'res.body.setup_intent_id', setup_secret: 'res.body.setup_secret' },
      },
      {
        operation: 'putSetupManifest',
        params: { setup_intent_id: '{{setup_intent_id}}' },
        body: {
          setup_secret: '{{setup_secret}}',
          manifest_version: '1',
          name: 'Weather for agents',
          contact_email: 'ops@weather.example.com',
          resources: [{ method: 'GET', url: 'https://api.weather.example.com/forecast', product_ref: 'forecast' }],
          products: [{ external_product_id: 'forecast', name: 'Forecast', price: { asset: 'USDC', amount: '0.01' } }],
          payout: { rail_id: 'x402_solana_usdc', wallet_address: WALLET },
          spend_limits: { per_payment: { asset: 'USDC', amount: '19' } },
          live_requested: true,
        },
      },
      { operation: 'getSetupIntent', params: { setup_intent_id: '{{setup_intent_id}}' }, body: { setup_secret: '{{setup_secret}}' } },
    ],
  },
  {
    guide: 'facilitator',
    title: 'Facilitator',
    steps: [
      { operation: 'listFacilitatorKinds', expects: { 'res.body.kinds[0].x402Version': '2' } },
      { operation: 'listCatalogueResources' },
    ],
  },
  {
    guide: 'account',
    title: 'Account and readiness',
    steps: [
      { operation: 'getAccount' },
      { operation: 'getAccountSummary' },
      { operation: 'getReadiness', query: PRODUCT },
      { operation: 'search', query: { q: 'user-7' } },
    ],
  },
];
