/**
 * The published document as a reference for persons: every field and parameter has a line that says what it is, tags have an order, and
 * nothing is left for a viewer to guess. What a route's own schema says of a field stands.
 * @module
 */

import { SELLER } from '../event-examples.ts';
import { ACCESS_FIELDS } from './access-fields.ts';
import { ACCOUNT_FIELDS } from './account-fields.ts';
import { METERED_FIELDS } from './metered-fields.ts';
import { MONEY_FIELDS } from './money-fields.ts';
import { tagsOf } from './tags.ts';

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
