/**
 * Moves what operations repeat into components: error answers, response headers and parameters.
 * @module
 */

import { type ErrorCode, isListed } from '#core/errors.ts';
import { CODES, headersOf } from '#platform/http/openapi.ts';

interface Reference {
  $ref: string;
}
interface Header {
  description: string;
  schema: object;
}
interface ResponseNode {
  [CODES]?: ErrorCode[];
  /** Name of an error answer that has no codes. */
  'x-name'?: string;
  description: string;
  headers?: Record<string, Reference>;
  content?: object;
}
interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: { description?: string };
}
interface Operation {
  parameters?: (Parameter | Reference)[];
  responses: Record<string, ResponseNode | Reference>;
  'x-idempotency'?: string;
}
interface Document {
  paths?: object;
  components?: { schemas?: object; responses?: object; headers?: object; parameters?: object };
}

/** Names for sets of codes that many responses share. */
const FAMILIES: [name: string, codes: ErrorCode[]][] = [
  ['KeyMalformed', ['idempotency_key_required', 'idempotency_key_too_long', 'idempotency_key_invalid']],
  ['Conflict', ['idempotency_conflict', 'idempotency_in_progress', 'idempotency_race', 'state_conflict']],
  ['KeyConflict', ['idempotency_conflict', 'idempotency_in_progress', 'idempotency_race']],
  ['TooLarge', ['payload_too_large']],
  ['MediaType', ['unsupported_media_type']],
  ['Invalid', ['validation_error', 'unknown_field']],
  ['Forbidden', ['invalid_authorization', 'account_suspended', 'account_deleted']],
  ['Unauthorized', ['invalid_authorization']],
  ['AccountClosed', ['account_suspended', 'account_deleted']],
  ['Internal', ['internal_error']],
  ['Unavailable', ['temporarily_unavailable', 'misconfigured']],
];

const pascal = (code: string): string => code.replace(/(?:^|_)(\w)/g, (_, initial: string) => initial.toUpperCase());

function componentName(codes: ErrorCode[]): string {
  const rest = new Set(codes);
  const names = FAMILIES.filter(([, family]) => family.every((code) => rest.has(code)) && family.every((code) => rest.delete(code)));
  return [...names.map(([name]) => name), ...[...rest].toSorted().map(pascal)].join('Or');
}

/** These keys first, each group in the order of the value. Similar parts follow each other, so that the document compresses well. */
const inOrder = <T extends object>(value: T, first: readonly string[]): T => ({
  ...(Object.fromEntries(Object.entries(value).filter(([key]) => first.includes(key))) as T),
  ...value,
});

const HEADERS: Record<string, Header> = {
  'X-Svc-Request-Id': { description: 'Identifier of the request in the operator’s log.', schema: { type: 'string' } },
  'Idempotent-Replayed': { description: '`true` if an earlier request with this key got this answer.', schema: { const: 'true' } },
  'Retry-After': { description: 'Seconds to wait before the next attempt.', schema: { type: 'integer' } },
  'X-RateLimit-Limit': { description: 'Calls per window.', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Calls left in the window.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': { description: 'End of the window in Unix seconds.', schema: { type: 'integer' } },
  'PAYMENT-REQUIRED': { description: 'Challenge for an x402 client.', schema: { type: 'string' } },
  'WWW-Authenticate': { description: 'Challenge for an MPP client.', schema: { type: 'string' } },
  'PAYMENT-RESPONSE': { description: 'Settlement, as an x402 client reads it.', schema: { type: 'string' } },
  'Payment-Receipt': { description: 'Receipt, as an MPP client reads it.', schema: { type: 'string' } },
  'X-Svc-Duplicate-Settlement': { description: '`true` if another request got the success of this payment.', schema: { const: 'true' } },
  'X-Svc-Truncated': { description: '`true` if more rows exist.', schema: { const: 'true' } },
};
const RATE_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];
/** Codes of answers that carry an x402 challenge. */
const CHALLENGED: ErrorCode[] = ['payment_required', 'payment_mismatch', 'entitlement_missing', 'subscription_expired'];

function errorHeaders(status: string, codes: ErrorCode[], isMpp: boolean): Record<string, Reference> {
  return headersOf(
    'X-Svc-Request-Id',
    ...(['429', '503'].includes(status) || codes.includes('idempotency_in_progress') ? ['Retry-After'] : []),
    ...(status === '429' ? RATE_HEADERS : []),
    ...(codes.some((code) => CHALLENGED.includes(code)) ? [isMpp ? 'WWW-Authenticate' : 'PAYMENT-REQUIRED'] : []),
  );
}

const narrowed = (name: string, codes: ErrorCode[]) => ({
  allOf: [{ $ref: `#/components/schemas/${name}` }, { properties: { code: { enum: codes } } }],
});

function schemaOf(codes: ErrorCode[]): object {
  const parts = [
    { name: 'ValidationError', codes: codes.filter(isListed) },
    { name: 'Error', codes: codes.filter((code) => !isListed(code)) },
  ].filter((part) => part.codes.length > 0);
  const [first, second] = parts.map((part) => narrowed(part.name, part.codes));
  return second ? { anyOf: [first, second] } : first!;
}

/** Reason phrases (RFC 9110, section 15). The schema lists the codes. */
const PHRASES: Record<string, string> = {
  400: 'Bad request',
  401: 'Unauthorized',
  402: 'Payment required',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Conflict',
  410: 'Gone',
  413: 'Content too large',
  415: 'Unsupported media type',
  422: 'Unprocessable content',
  429: 'Too many requests',
  500: 'Internal server error',
  503: 'Service unavailable',
};

function toErrorResponse(status: string, { [CODES]: codes = [], 'x-name': _, ...response }: ResponseNode, isMpp: boolean) {
  const content = codes.length > 0 ? { 'application/json': { schema: schemaOf(codes) } } : response.content;
  return { ...response, description: PHRASES[status]!, headers: errorHeaders(status, codes, isMpp), content };
}

/** Names of a component for a parameter, the preferred one first: a filter and a part of the path may have one name. */
const parameterNames = ({ name, in: location, required }: Parameter): string[] =>
  location === 'header' && required ? [`${name}-Required`] : [name, `${name}-${location}`];
const REPEATED_MIN = 2;

/** `setup_intent_id`: setup intent. */
const nounOf = (name: string): string => name.replace(/_id$/, '').replaceAll('_', ' ');

/**
 * Leaves out what is the default, and the description of the schema if it is that of the parameter. A parameter without a description is
 * described by its name.
 */
function shorten({ required, schema: { description: inner, ...schema } = {}, ...parameter }: Parameter): Parameter {
  const { name, description = `${name.endsWith('_id') ? 'Identifier' : 'Name'} of the ${nounOf(name)}.` } = parameter;
  const isSaid = inner === undefined || inner === description;
  return { ...parameter, description, ...(required && { required }), schema: isSaid ? schema : { description: inner, ...schema } };
}

function shareParameters(operations: Operation[]): Record<string, Parameter> {
  const uses = new Map<string, number>();
  for (const operation of operations) operation.parameters = (operation.parameters as Parameter[] | undefined)?.map(shorten);
  const all = operations.flatMap(({ parameters = [] }) => parameters as Parameter[]);
  for (const parameter of all) uses.set(JSON.stringify(parameter), (uses.get(JSON.stringify(parameter)) ?? 0) + 1);
  const shared: Record<string, Parameter> = {};
  const nameOf = new Map<string, string>();
  for (const [text, count] of [...uses].toSorted(([, a], [, b]) => b - a)) {
    const parameter = JSON.parse(text) as Parameter;
    const name = parameterNames(parameter).find((free) => !shared[free]);
    if (count < REPEATED_MIN || !name) continue;
    shared[name] = parameter;
    nameOf.set(text, name);
  }
  for (const operation of operations)
    operation.parameters = (operation.parameters as Parameter[] | undefined)?.map((parameter) => {
      const name = nameOf.get(JSON.stringify(parameter));
      return name ? { $ref: `#/components/parameters/${name}` } : parameter;
    });
  return shared;
}

/** Schemas that follow a similar one rather than their first use, so that the document compresses well. */
const FOLLOWED: [name: string, before: string][] = [
  ['WebhookEndpoint', 'CreateWebhookEndpointRequest'],
  ['NativeSubscription', 'Payment'],
  ['WebhookDelivery', 'WebhookTestResult'],
  ['ConnectRequest', 'IdentitySession'],
  ['ConsumeRequest', 'SettleRequest'],
  ['CancelIntentRequest', 'Customer'],
  ['RefundTransactionRequest', 'SetupManifestRequest'],
  ['PaymentSessionRequest', 'Product'],
  ['Fix', 'Listing'],
  ['Payment', 'ReceiptDocument'],
  ['UpdateProductRequest', 'Offer'],
  ['SetupManifestRequest', 'ConsumeRequest'],
  ['MeteredSession', 'TestPaymentRequest'],
  ['ApiKey', 'Account'],
];

/** Schemas in the order of their first use, but for `FOLLOWED`, and events at the end. */
function orderSchemas<T extends object>(schemas: T): T {
  const names = Object.keys(schemas).filter((name) => !name.endsWith('Event'));
  for (const [name, before] of FOLLOWED) {
    if (!names.includes(name) || !names.includes(before)) continue;
    names.splice(names.indexOf(name), 1);
    names.splice(names.indexOf(before) + 1, 0, name);
  }
  return { ...(Object.fromEntries(names.map((name) => [name, schemas[name as keyof T]])) as T), ...schemas };
}

/**
 * Writes every error answer once, per status and set of codes, with `code` narrowed to these, and names the shared headers and
 * parameters. Mutates and returns the document.
 */
export function shareComponents<D extends Document>(document: D): D {
  const operations = Object.values(document.paths ?? {}).flatMap((methods: object) => Object.values(methods) as Operation[]);
  const responses: Record<string, object> = {};
  const statuses = new Map<string, string>();
  for (const { responses: own, 'x-idempotency': idempotency, parameters = [] } of operations) {
    const takesMpp = (parameters as Parameter[]).some(({ in: location, name }) => location === 'header' && name === 'authorization');
    for (const [status, response] of Object.entries(own as Record<string, ResponseNode>)) {
      if (status < '400') {
        const isKeyed = idempotency === 'required' || idempotency === 'honoured';
        if (isKeyed) response.headers = { ...headersOf('Idempotent-Replayed'), ...response.headers };
        continue;
      }
      const codes = componentName(response[CODES] ?? []);
      const isMpp = takesMpp && status === '402';
      const name = response['x-name'] ?? (isMpp ? `Channel${codes}` : codes);
      responses[name] ??= toErrorResponse(status, response, isMpp);
      if ((statuses.get(name) ?? status) !== status) throw new Error(`${name} is a response of two statuses`);
      statuses.set(name, status);
      own[status] = { $ref: `#/components/responses/${name}` };
    }
  }
  const parameters = shareParameters(operations);
  const schemas = document.components?.schemas ?? {};
  document.components = {
    ...document.components,
    schemas: orderSchemas(schemas),
    responses: { ...document.components?.responses, ...responses },
    headers: HEADERS,
    parameters,
  };
  return inOrder(document, ['openapi', 'info', 'paths']);
}
