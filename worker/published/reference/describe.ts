/**
 * Completes the published document for readers: a description for every field and parameter, and ordered tags. A description in a route's
 * own schema has precedence.
 * @module
 */

import { SELLER } from '../event-examples.ts';

/** Groups and tags in the order of an integration, each tag with a description and the page of its guide. */
const GROUPS: Record<string, Record<string, readonly [description: string, guide: string]>> = {
  'Begin here': {
    Authentication: ['Create an account and a session: by password, by wallet, or by Google and GitHub.', 'secure-your-account'],
    'API keys': [
      'Credentials of your server, sent in `X-Svc-Key`. A live key acts on real money, a sandbox key on the sandbox.',
      'keys-for-servers',
    ],
    Account: ['Account settings, appearance of checkout pages, security and analytics.', 'account'],
    'Audit log': ['Acts on the account, with their authors.', 'audit-log'],
    'Set-up': ['Requirements of a sale, and the calls that resolve missing ones.', 'go-live'],
    Sandbox: ['Test with simulated money: the live code on a simulated chain, with a clock that you advance.', 'sandbox'],
  },
  'Sell on a page': {
    Products: ['Products, prices and payout wallets.', 'quickstart'],
    Checkout: ['Calls of a checkout page, and links for known buyers.', 'checkout'],
    Payments: ['Payments, unmatched money and refunds.', 'unmatched-and-refunds'],
    Memberships: ['Access of customers over time.', 'membership-delivery'],
    Customers: ['Buyers as you know them.', 'customers'],
    Buyers: ['Purchases as the buyer sees them, at all sellers.', 'customers'],
    Receipts: ['Signed receipts, public proofs, PDFs and exports.', 'email-and-receipts'],
  },
  'Sell by the request': {
    Entitlements: ['Units and time of your customers: consume, grant and refund.', 'pay-per-request'],
    x402: ['Settle x402 payments, use the facilitator, and buy plans.', 'pay-per-request'],
    Rails: ['Payment rails, and your settings of each.', 'pay-per-request'],
    'Agent bootstrap': ['Setup of a merchant account by an agent, without a person.', 'agents'],
    Metered: ['Payment channels that buyers pay by vouchers during use.', 'metered-sessions'],
    Subscriptions: ['On-chain plans that renew automatically.', 'subscriptions'],
  },
  Webhooks: {
    Webhooks: ['Endpoints for signed events, deliveries, tests and replays.', 'webhooks'],
    Events: ['Events that your endpoints receive. Process each `id` once.', 'webhooks'],
    Integrations: ['Automation platforms and messaging connectors.', 'webhooks'],
  },
  Operations: {
    Billing: ['Your plan and its limits.', 'account'],
    Support: ['Tickets to the operators of this deployment.', 'account'],
    System: ['Health of the service.', 'operations/monitoring'],
    'Provider webhooks': ['Signed webhooks of chain data providers and payment processors.', 'operations/integrations'],
  },
};

interface Tagged {
  tags?: string[];
}

function tagsOf(operations: Tagged[]) {
  const used = new Set(operations.flatMap(({ tags = [] }) => tags));
  const groups = Object.entries(GROUPS)
    .map(([name, tags]) => ({ name, tags: Object.keys(tags).filter((tag) => used.has(tag)) }))
    .filter(({ tags }) => tags.length > 0);
  const texts = Object.assign({}, ...Object.values(GROUPS)) as (typeof GROUPS)[string];
  const tagOf = (name: string) => {
    const [description, guide] = texts[name]!;
    return { name, description, externalDocs: { url: `/docs/${guide}` } };
  };
  return {
    tags: groups.flatMap((group) => group.tags.map(tagOf)),
    'x-tagGroups': groups,
  };
}

interface SchemaNode {
  $ref?: string;
  description?: string;
  allOf?: SchemaNode[];
  anyOf?: SchemaNode[];
}
interface Content {
  content?: Record<string, { schema?: SchemaNode; example?: object }>;
}
interface Operation extends Record<string, unknown> {
  operationId?: string;
  tags?: string[];
  parameters?: { name: string; description?: string; schema?: SchemaNode }[];
  requestBody?: Content;
  responses?: Record<string, Content>;
}
interface Document {
  info: object;
  paths?: object;
  webhooks?: object;
  components?: { schemas?: object };
}

/**
 * Gives every field one description, next to a reference as to a type: JSON Schema 2020-12 needs no `allOf` for it, and the first
 * alternative of a field that may be null need not repeat it. Changes the document.
 */
function simplifyDescriptions(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  const { description, allOf: [reference, described, ...rest] = [], anyOf: [first] = [] } = node as SchemaNode;
  if (reference?.$ref && described && rest.length === 0 && Object.keys(described).join() === 'description') {
    delete (node as SchemaNode).allOf;
    Object.assign(node, reference, described);
  }
  if (first && first.description === description) delete first.description;
  for (const inner of Object.values(node)) simplifyDescriptions(inner);
}

/** Example bodies with a payout wallet, without which the product could not be bought. Readers put in their own. */
const EXAMPLES: Readonly<Record<string, object>> = {
  createProduct: {
    name: 'Weather API, 1,000 calls',
    price: { asset: 'USDC', amount: '5' },
    usage_units: 1000,
    payout_wallet: SELLER,
  },
  createAccessProduct: {
    external_product_id: 'forecast',
    name: 'Forecast',
    price: { asset: 'USDC', amount: '0.01' },
    payout_wallet: SELLER,
    live_mode_confirmed: true,
  },
};

function describeOperation(operation: Operation): void {
  const json = operation.requestBody?.content?.['application/json'];
  const example = EXAMPLES[operation.operationId ?? ''];
  if (json && example) json.example = example;
  // The generator repeats the description of a parameter in its schema.
  for (const { schema } of operation.parameters ?? []) delete schema?.description;
}

const operationsIn = (paths: object | undefined): Operation[] =>
  Object.values(paths ?? {}).flatMap((methods: object) => Object.values(methods) as Operation[]);

/** Mutates and returns the given document. */
export function withReference<D extends Document>(document: D) {
  simplifyDescriptions(document);
  const [operations, events] = [operationsIn(document.paths), operationsIn(document.webhooks)];
  for (const operation of [...operations, ...events]) describeOperation(operation);
  return {
    ...document,
    info: { ...document.info, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    // An operation without declared security takes no credential.
    security: [{}],
    ...tagsOf([...operations, ...events]),
  };
}
