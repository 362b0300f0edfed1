/**
 * The published document as a reference for persons: every field and parameter has a line that says what it is, tags have an order, and
 * nothing is left for a viewer to guess. What a route's own schema says of a field stands.
 * @module
 */

import { SELLER } from '../event-examples.ts';
import { ACCESS_FIELDS } from './access-fields.ts';
import { ACCOUNT_FIELDS } from './account-fields.ts';
import { MONEY_FIELDS } from './money-fields.ts';

/** The groups of the reference, in the order in which an integration meets them, and their tags with a line for each. */
const GROUPS: Record<string, Record<string, string>> = {
  'Begin here': {
    Authentication: 'Make an account and a session: by password, by a wallet, or by Google and GitHub.',
    'API keys': 'What your server shows in `X-Svc-Key`. A live key acts on real money, a sandbox key on the sandbox.',
    Account: 'The account, its checkout pages’ looks, its security and its figures.',
    'Set-up': 'What has to be there before a sale, and the call that mends what is missing.',
    Sandbox: 'Try everything with test money: the live code on a simulated chain, with a clock to move.',
  },
  'Sell on a page': {
    Products: 'What you sell, for how much, and who is paid.',
    Checkout: 'From the product’s page to a payment under way: what a checkout page calls, and links for buyers you know.',
    Payments: 'How payments stand, money that missed its session, and paying back.',
    Memberships: 'Who may enter, and until when.',
    Receipts: 'Signed receipts, their proofs, papers and exports.',
  },
  'Sell by the request': {
    Entitlements: 'Units and time of your customers: use them, grant them, free them again.',
    x402: 'Settle x402 payments, as a facilitator too, and buy plans by them.',
    Rails: 'The ways of being paid, and your settings of each.',
    'Agent bootstrap': 'An agent becomes a merchant without a person.',
    Metered: 'Channels that are paid by vouchers while they are used.',
    Subscriptions: 'Plans on the chain that renew by themselves.',
  },
  Webhooks: {
    Webhooks: 'Endpoints for signed events, their deliveries, tests and replays.',
    Events: 'What your endpoints receive. Be idempotent on `id`.',
    Integrations: 'Automation platforms, and connectors of messengers.',
  },
  Operations: {
    Billing: 'Your plan here, and what it allows.',
    Support: 'Ask the people who run this deployment.',
    System: 'Whether the service is well.',
    'Provider webhooks': 'For chain data providers and payment processors, signed by them.',
  },
};

interface Tagged {
  tags?: string[];
}

/** Of the tags that the document uses, each with its line, and the groups that hold any of them. */
function tagsOf(operations: Tagged[]) {
  const used = new Set(operations.flatMap(({ tags = [] }) => tags));
  const groups = Object.entries(GROUPS)
    .map(([name, tags]) => ({ name, tags: Object.keys(tags).filter((tag) => used.has(tag)) }))
    .filter(({ tags }) => tags.length > 0);
  const words = Object.assign({}, ...Object.values(GROUPS)) as Record<string, string>;
  return {
    tags: groups.flatMap((group) => group.tags.map((name) => ({ name, description: words[name]! }))),
    'x-tagGroups': groups,
  };
}

/** What the fields of metered sessions mean, by their name, or by that of what they stand in. The wire names are those of MPP. */
const METERED_FIELDS: Readonly<Record<string, string>> = {
  channel_program: 'Address of the payment-channels program that the channel belongs to.',
  deliveries_url: 'Where your server keeps an amount free before it delivers.',
  commits_url: 'Where the buyer’s client pays for a delivery with a voucher.',
  'challenge.header': 'The value of `WWW-Authenticate` that asks for the opening of the channel.',
  'challenge.request': 'What that header asks for, decoded.',
  cap: 'The most that a buyer may lock up in the channel.',
  deposit: 'What the buyer locked up, as the chain says.',
  cumulative: 'The highest amount that vouchers promise.',
  'CommitReceipt.cumulative': 'The amount that the voucher promises in all, in base units.',
  'MeteredSession.reserved': 'Kept free by deliveries that are not paid yet.',
  'MeteredSession.settled': 'Of the promised amount, what the chain has accepted.',
  unit_price: 'What one unit costs, for deliveries that are counted in units.',
  min_voucher_delta: 'The least by which a voucher goes beyond the one before.',
  idle_timeout_seconds: 'After so many seconds without use the session is closed, unless something is reserved.',
  grace_period_seconds: 'The least time the channel gives us to settle, after its payer asks to close it.',
  authorized_signer: 'The key whose vouchers the channel accepts.',
  deliveryId: 'The id of the delivery that is paid for.',
  sequence: 'The number of the delivery in its session.',
  commitUrl: 'Where the voucher for this delivery goes.',
  sessionId: 'The session, as its protocol names it: the address of the channel.',
  voucher: 'A promise of an amount in all, signed by the key of the channel.',
  channelId: 'The address of the channel.',
  cumulativeAmount: 'The amount that is promised in all, in base units.',
  expiresAt: 'Until when it holds.',
  'data.expiresAt': 'Until when the voucher holds, in Unix seconds; 0: without an end.',
  'voucher.signature': 'The Ed25519 signature over the voucher’s bytes, base58.',
};

const FIELDS: Readonly<Record<string, string>> = { ...ACCOUNT_FIELDS, ...MONEY_FIELDS, ...ACCESS_FIELDS, ...METERED_FIELDS };

/** Parameters mean what the field of their name does, but for these. */
const PARAMETERS: Readonly<Record<string, string>> = {
  status: 'Only what stands so.',
  product_id: 'Of this product.',
  external_product_id: 'Of the product you gave this name.',
  customer_ref: 'Of the customer you gave this name.',
  wallet: 'Where this wallet pays or is paid.',
  wallet_address: 'Of the customer with this wallet.',
  email: 'Of the customer with this e-mail.',
  payment_id: 'The id of the payment.',
  tx_signature: 'Paid by this transaction.',
  rail_id: 'The rail.',
  claim_id: 'The id of the claim.',
  asset: 'Paid in this asset.',
  max_amount: 'At most this much.',
  event_type: 'Of this type.',
  endpoint_id: 'The id of the endpoint.',
  limit: 'How many entries at most.',
  daily_days: 'How many of the last days stand in `daily`.',
  window_days: 'How many days back, where no dates are given.',
  start_date: 'The first day, as `2026-11-21`.',
  end_date: 'The last day, as `2026-11-21`.',
  next: 'The path of this site to come back to.',
  surface: 'Which page began it.',
  code: 'What the provider sends back.',
  state: 'What was sent along.',
  error: 'What the provider says went wrong.',
  error_description: 'The same for a person.',
  access_app_id: 'Of this application.',
  page: 'The number of the page, from 1.',
  per_page: 'How many entries a page has.',
  provider: 'Who it is done with.',
  token: 'The token of the hand-off.',
  with: '`endpoints`: also disable what the key made.',
};

interface SchemaNode {
  $ref?: string;
  description?: string;
  properties?: Record<string, SchemaNode>;
  additionalProperties?: unknown;
  items?: SchemaNode;
  anyOf?: SchemaNode[];
  oneOf?: SchemaNode[];
  allOf?: SchemaNode[];
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

/** Says of each field below a schema what it is. `place` is the name of the schema, or of the field, that it stands in. */
function describeFields(node: SchemaNode | undefined, place: string): void {
  if (!node) return;
  for (const [name, field] of Object.entries(node.properties ?? {})) {
    const words = FIELDS[`${place}.${name}`] ?? FIELDS[name];
    if (field.description === undefined && words !== undefined) field.description = words;
    describeFields(field, name);
  }
  for (const inner of [node.items, ...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])]) describeFields(inner, place);
  if (typeof node.additionalProperties === 'object') describeFields(node.additionalProperties as SchemaNode, place);
}

/** What a product of the reference's example lacks to be bought is who is paid; a viewer shows it, and its reader puts their own there. */
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
  for (const parameter of operation.parameters ?? []) {
    const words = parameter.schema?.description ?? PARAMETERS[parameter.name] ?? FIELDS[parameter.name];
    if (parameter.description === undefined && words !== undefined) parameter.description = words;
  }
  const bodies = [operation.requestBody, ...Object.values(operation.responses ?? {})];
  for (const body of bodies)
    for (const { schema } of Object.values(body?.content ?? {})) describeFields(schema, operation.operationId ?? '');
}

const operationsIn = (paths: object | undefined): Operation[] =>
  Object.values(paths ?? {}).flatMap((methods: object) => Object.values(methods) as Operation[]);

/** Completes the document it is given, and returns it. */
export function withReference<D extends Document>(document: D) {
  for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) describeFields(schema as SchemaNode, name);
  const [operations, events] = [operationsIn(document.paths), operationsIn(document.webhooks)];
  for (const operation of [...operations, ...events]) describeOperation(operation);
  for (const [type, methods] of Object.entries(document.webhooks ?? {}))
    for (const event of Object.values(methods as Record<string, Operation>)) {
      event.operationId = `on${type.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}`;
      event.description ??= event.summary;
      event.summary = type;
    }
  return {
    ...document,
    info: { ...document.info, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    // An operation that names no credential takes none.
    security: [{}],
    ...tagsOf([...operations, ...events]),
  };
}
