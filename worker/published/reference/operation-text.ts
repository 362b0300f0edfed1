/**
 * Markdown of an operation, derived from the published document.
 * @module
 */

import type { PublishedDocument, PublishedOperation } from '../discovery.ts';

interface SampleSchema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  const?: unknown;
  example?: unknown;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  description?: string;
  properties?: Record<string, SampleSchema>;
  required?: string[];
  items?: SampleSchema;
  anyOf?: SampleSchema[];
  oneOf?: SampleSchema[];
  allOf?: SampleSchema[];
}

type Schemas = Record<string, SampleSchema>;

function resolved(schema: SampleSchema, schemas: Schemas): SampleSchema {
  if (schema.$ref) return resolved(schemas[schema.$ref.split('/').at(-1)!] ?? {}, schemas);
  if (!schema.allOf) return schema;
  const parts = schema.allOf.map((part) => resolved(part, schemas));
  return {
    ...schema,
    properties: Object.assign({}, ...parts.map(({ properties = {} }) => properties)),
    required: parts.flatMap(({ required = [] }) => required),
  };
}

const TEXTS: Record<string, string> = {
  uuid: '01900000-0000-7000-8000-000000000000',
  email: 'ada@example.com',
  uri: 'https://shop.example.com/thanks',
  'date-time': '2026-11-21T09:00:00.000Z',
};

function sampleOf(schema: SampleSchema, schemas: Schemas, depth = 0): unknown {
  const node = resolved(schema, schemas);
  if (node.example !== undefined) return node.example;
  if (node.const !== undefined) return node.const;
  if (node.enum) return node.enum[0];
  const choice = node.anyOf ?? node.oneOf;
  if (choice) return sampleOf(choice[0]!, schemas, depth);
  if (node.properties && depth < 4) {
    const { properties, required = [] } = node;
    return Object.fromEntries(
      required.flatMap((name) => (properties[name] ? [[name, sampleOf(properties[name], schemas, depth + 1)]] : [])),
    );
  }
  if (node.type === 'array') return node.items && depth < 4 ? [sampleOf(node.items, schemas, depth + 1)] : [];
  if (node.type === 'string') return TEXTS[node.format ?? ''] ?? '…';
  if (node.type === 'integer' || node.type === 'number') return node.minimum ?? 1;
  return node.type === 'boolean' ? true : {};
}

interface Content {
  content?: Record<string, { schema?: SampleSchema; example?: unknown }>;
}
interface Operation extends PublishedOperation {
  security?: Record<string, string[]>[];
  parameters?: { name: string; in: string; required?: boolean; description?: string; schema?: SampleSchema }[];
  requestBody?: Content & { required?: boolean };
  responses: Record<string, Content & { description?: string }>;
}
interface Called {
  method: string;
  path: string;
  operation: PublishedOperation;
}
type Response = Operation['responses'][string];

const CREDENTIALS: Record<string, { text: string; header: string }> = {
  apiKey: { text: 'an API key in `X-Svc-Key`', header: 'x-svc-key: $KEY' },
  bearer: { text: 'a session token in `Authorization: Bearer …`', header: 'authorization: Bearer $TOKEN' },
  setupSecret: { text: 'the secret of an agent’s setup in `X-Svc-Setup-Secret`', header: 'x-svc-setup-secret: $SECRET' },
  connectorSecret: { text: 'the secret of the connector in `X-Svc-Connector-Secret`', header: 'x-svc-connector-secret: $SECRET' },
};

interface Components {
  schemas: Schemas;
  parameters: Record<string, Parameter>;
  responses: Record<string, Response>;
}

/** Replaces the references to shared parameters and error responses. */
function inlined(operation: PublishedOperation, { parameters: shared, responses: answers }: Components): Operation {
  const follow = <T extends object>(node: T | { $ref: string }, components: Record<string, T>): T =>
    '$ref' in node ? components[node.$ref.split('/').at(-1)!]! : node;
  const { parameters = [], responses } = operation as Operation;
  return {
    ...operation,
    parameters: parameters.map((parameter) => follow(parameter, shared)),
    responses: Object.fromEntries(Object.entries(responses).map(([status, answer]) => [status, follow(answer, answers)])),
  };
}

export function operationText(document: PublishedDocument, { method, path, operation: published }: Called, baseUrl: string): string {
  const { components } = document as { components: Components };
  const operation = inlined(published, components);
  const { schemas } = components;
  const { schema: body, example } = operation.requestBody?.content?.['application/json'] ?? {};
  const [status, success] = Object.entries(operation.responses).find(([code]) => code < '400') ?? [];
  const answer = success?.content?.['application/json']?.schema;
  return [
    `# ${operation.summary ?? operation.operationId}`,
    '',
    `\`${method} ${path}\``,
    '',
    operation.description ?? '',
    '',
    credentialsOf(operation),
    '',
    ...listed(
      'Parameters',
      (operation.parameters ?? []).map((parameter) => parameterLine(parameter, schemas)),
    ),
    ...(body ? listed('Body', fieldLines(body, schemas)) : []),
    '## Example',
    '',
    '```sh',
    commandOf({ method, path: path + queryOf(operation, schemas), operation }, body && (example ?? sampleOf(body, schemas)), baseUrl),
    '```',
    '',
    ...(status ? [`Answers ${status}${success?.description ? `: ${success.description}` : ''}.`, ''] : []),
    ...(answer
      ? ['```json', JSON.stringify(sampleOf(answer, schemas), null, 2), '```', '', ...listed('Answer', fieldLines(answer, schemas))]
      : []),
    ...listed('Errors', errorLines(operation, baseUrl)),
  ].join('\n');
}

const listed = (title: string, lines: string[]): string[] => (lines.length === 0 ? [] : [`## ${title}`, '', ...lines, '']);

function credentialsOf({ security = [] }: Operation): string {
  const ways = security.map((scheme) => Object.keys(scheme)[0]);
  const text = ways.flatMap((way) => (way && CREDENTIALS[way] ? [CREDENTIALS[way].text] : []));
  if (text.length === 0) return ways.some(Boolean) ? 'Signed by its sender.' : 'Needs no credential.';
  return `Takes ${text.join(', or ')}${ways.includes(undefined) ? ', or nothing' : ''}.`;
}

const described = (line: string, text: string): string => (text === '' ? line : `${line}: ${text}`);

type Parameter = NonNullable<Operation['parameters']>[number];

const parameterLine = ({ name, in: location, required, description = '', schema = {} }: Parameter, schemas: Schemas): string =>
  described(`- \`${name}\` (${[location, typeOf(schema, schemas), ...(required ? ['required'] : [])].join(', ')})`, description);

const PAGING = ['page', 'per_page', 'limit', 'after', 'cursor'];

/** Example query: the required parameters. For a lookup by one of several, the first. */
function queryOf({ parameters = [] }: Operation, schemas: Schemas): string {
  const query = parameters.filter(({ in: location, name }) => location === 'query' && name !== 'mode');
  const required = query.filter((parameter) => parameter.required);
  const isList = query.some(({ name }) => PAGING.includes(name));
  const shown = required.length > 0 || isList ? required : query.slice(0, 1);
  const text = new URLSearchParams(shown.map(({ name, schema = {} }) => [name, String(sampleOf(schema, schemas))])).toString();
  return text === '' ? '' : `?${text}`;
}

const between = (unit: string, least: number | undefined, most: number | undefined): string[] =>
  most === undefined
    ? least === undefined
      ? []
      : [`${least}${unit} or more`]
    : [`${least === undefined ? 'up' : least} to ${most}${unit}`];

function typeOf(schema: SampleSchema, schemas: Schemas): string {
  const { type, format, enum: values, const: only, items, anyOf, oneOf, ...bounds } = resolved(schema, schemas);
  const ways = anyOf ?? oneOf;
  if (ways) return [...new Set(ways.map((way) => typeOf(way, schemas)))].join(' or ');
  if (only !== undefined) return `\`${only}\``;
  if (values) return values.map((value) => `\`${value}\``).join(' or ');
  if (items) return [`list of ${typeOf(items, schemas)}`, ...between('', undefined, bounds.maxItems)].join(', ');
  const name = [type ?? 'object'].flat().join(' or ');
  const lengths = between(' characters', bounds.minLength, bounds.maxLength);
  return [format && format !== 'int64' ? `${name} (${format})` : name, ...lengths, ...between('', bounds.minimum, bounds.maximum)].join(
    ', ',
  );
}

function fieldLines(schema: SampleSchema, schemas: Schemas): string[] {
  const { properties = {}, required = [], anyOf, items } = resolved(schema, schemas);
  if (items) return fieldLines(items, schemas);
  if (anyOf) return fieldLines(anyOf[0]!, schemas);
  return Object.entries(properties).map(([name, field]) => {
    const text = field.description ?? resolved(field, schemas).description ?? '';
    return described(`- \`${name}\` (${typeOf(field, schemas)}${required.includes(name) ? '' : ', optional'})`, text);
  });
}

function commandOf({ method, path, operation }: Called, body: unknown, baseUrl: string): string {
  const { security = [], parameters = [] } = operation as Operation;
  const [way] = security.flatMap((scheme) => Object.keys(scheme));
  const isIdempotent = parameters.some(
    ({ name, in: location, required }) => location === 'header' && name.toLowerCase() === 'idempotency-key' && required,
  );
  const headers = [
    ...(way && CREDENTIALS[way] ? [CREDENTIALS[way].header] : []),
    ...(isIdempotent ? ['idempotency-key: $(uuidgen)'] : []),
    ...(body === undefined ? [] : ['content-type: application/json']),
  ];
  return [
    `curl -sS --fail-with-body ${method === 'GET' ? '' : `-X ${method} `}'${baseUrl}${path}'`,
    ...headers.map((header) => `  -H "${header}"`),
    ...(body === undefined ? [] : [`  -d '${JSON.stringify(body)}'`]),
  ].join(' \\\n');
}

/** Codes that an error schema allows. */
const codesIn = ({ allOf = [], anyOf = [] }: SampleSchema): string[] => [
  ...allOf.flatMap(({ properties }) => (properties?.code?.enum ?? []) as string[]),
  ...anyOf.flatMap(codesIn),
];

function errorLines({ responses }: Operation, baseUrl: string): string[] {
  return Object.entries(responses).flatMap(([status, { content }]) =>
    status < '400'
      ? []
      : codesIn(content?.['application/json']?.schema ?? {}).map((code) => `- ${status} [${code}](${baseUrl}/docs/errors/${code})`),
  );
}
