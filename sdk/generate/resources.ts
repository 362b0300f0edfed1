import type { Operation, Parameter } from './document.ts';
import { docOf, type Types } from './schemas.ts';

/** Resources in the order in which a merchant needs them. */
const ORDER = [
  'products',
  'payments',
  'paymentSessions',
  'checkout',
  'handoffs',
  'entitlements',
  'memberships',
  'customers',
  'buyer',
  'receipts',
  'x402',
  'meteredSessions',
  'subscriptionPlans',
  'nativeSubscriptions',
  'webhookEndpoints',
  'webhookDeliveries',
  'events',
  'testing',
  'setup',
  'rails',
  'railSettings',
  'analytics',
  'account',
  'members',
  'keys',
  'auditLog',
  'delivery',
  'connectors',
  'integrations',
  'tickets',
  'billing',
  'facilitator',
  'listings',
  'catalogue',
  'agentSetup',
  'auth',
  'system',
];
/** Operations that wait for the chain, and so have a longer timeout. */
const WAITING = new Set([
  'settlePayment',
  'authorizeMeteredSession',
  'settleFacilitatedPayment',
  'activateStarter',
  'activateGrowth',
  'activateScale',
]);

const capital = (name: string): string => name[0]!.toUpperCase() + name.slice(1);
const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
const queryName = ({ id }: Operation): string => `${capital(id)}Query`;
const isRequired = (query: Parameter[]): boolean => query.some(({ required }) => required);

/** Returns the operations by resource, in the order of use. Throws if a resource has no rank. */
function byResource(operations: Operation[]): [string, Operation[]][] {
  const groups = Map.groupBy(operations, ({ resource }) => resource);
  const unknown = [...groups.keys()].filter((name) => !ORDER.includes(name));
  if (unknown.length > 0) throw new Error(`ORDER does not name ${unknown.join(', ')}`);
  return ORDER.filter((name) => groups.has(name)).map((name) => [name, groups.get(name)!]);
}

function answerOf(operation: Operation, types: Types): string {
  if (operation.isBytes) return 'Promise<Response>';
  const answer = [...new Set(operation.answers.map((schema) => types.typeOf(schema)))].join(' | ');
  if (operation.pages) return `PagePromise<${answer}>`;
  return `Promise<Answer<${answer === '' ? 'object' : answer}>>`;
}

function argumentsOf(operation: Operation, types: Types): string {
  const { params, hasAuthorization, body, query } = operation;
  const path = params.map(({ name, schema }) => `${camel(name)}: ${types.typeOf(schema)}`);
  const credential = hasAuthorization ? ['authorization: string'] : [];
  const content = body
    ? [`body${body.isRequired ? '' : '?'}: ${types.typeOf(body.schema)}`]
    : query.length > 0
      ? [`query${isRequired(query) ? '' : '?'}: ${queryName(operation)}`]
      : [];
  return [...path, ...credential, ...content, 'options?: CallOptions'].join(', ');
}

function methodOf(operation: Operation, types: Types): string {
  const { summary, description, method } = operation;
  return `${docOf(description || summary)}${method}(${argumentsOf(operation, types)}): ${answerOf(operation, types)};\n`;
}

/** Entry of `Operations`, by which `client.request` is typed. */
function entryOf(operation: Operation, types: Types): string {
  const { id, params, query, body } = operation;
  const path = params.map(({ name, schema }) => `${name}: ${types.typeOf(schema)};`).join(' ');
  return [
    `${id}: {`,
    params.length > 0 ? `params: { ${path} };` : '',
    query.length > 0 ? `query${isRequired(query) ? '' : '?'}: ${queryName(operation)};` : '',
    body ? `body${body.isRequired ? '' : '?'}: ${types.typeOf(body.schema)};` : '',
    `answer: ${answerOf(operation, types)};`,
    '};\n',
  ].join(' ');
}

/** Writes the interfaces of the queries. */
export function queriesText(operations: Operation[], types: Types): string {
  return operations
    .filter(({ query }) => query.length > 0)
    .map((operation) => {
      const properties = Object.fromEntries(operation.query.map(({ name, schema, description }) => [name, { ...schema, description }]));
      const required = operation.query.filter((one) => one.required).map(({ name }) => name);
      return types.declare(queryName(operation), { type: 'object', properties, required });
    })
    .join('\n');
}

/** Writes `resources.ts`: an interface per resource, and `Operations` for calls by the id of the operation. */
export function resourcesText(operations: Operation[], types: Types): string {
  const groups = byResource(operations);
  const resources = groups.map(
    ([name, members]) => `export interface ${capital(name)}Resource {\n${members.map((one) => methodOf(one, types)).join('\n')}}\n`,
  );
  const client = groups.map(([name]) => `${name}: ${capital(name)}Resource;\n`).join('');
  const entries = operations.map((one) => entryOf(one, types)).join('');
  return `${resources.join('\n')}
/** Resources of the client, in the order of use. */
export interface Resources {\n${client}}

/** Operations by id: parameters, query, body and answer. */
export interface Operations {\n${entries}}\n`;
}

/** Writes the table of operations. Flags of a line: see `flagsOf`. */
export function tableText(operations: Operation[], versions: { api: string; sdk: string }): string {
  const unknown = [...WAITING].filter((id) => !operations.some((one) => one.id === id));
  if (unknown.length > 0) throw new Error(`WAITING names ${unknown.join(', ')}, which the document does not have`);
  const lines = byResource(operations).flatMap(([name, members]) => [
    `${name}:`,
    ...members.map((one) => `${one.id} ${one.method} ${one.verb} ${one.path} ${flagsOf(one)}`.trim()),
  ]);
  return `/** Version of the API that this package was made from. */
export const API_VERSION = '${versions.api}';
export const SDK_VERSION = '${versions.sdk}';

/**
 * Operations of each resource: id, method, HTTP method, path and flags. \`m\` takes a mode, \`a\` a credential of the buyer, \`b\` a body,
 * \`q\` a query, \`p\` lists by page, \`e\` lists by \`after\`, \`r\` answers bytes, \`w\` waits for the chain, \`o\` happens once: no repeat.
 */
export const OPERATIONS = \`
${lines.join('\n')}
\`;
`;
}

function flagsOf({ id, hasMode, hasAuthorization, body, query, pages, isBytes, idempotency }: Operation): string {
  const flags: [string, boolean][] = [
    ['m', hasMode],
    ['a', hasAuthorization],
    ['b', body !== null],
    ['q', query.length > 0],
    ['p', pages === 'page'],
    ['e', pages === 'after'],
    ['r', isBytes],
    ['w', WAITING.has(id)],
    ['o', idempotency === 'none'],
  ];
  return flags.map(([letter, holds]) => (holds ? letter : '')).join('');
}
