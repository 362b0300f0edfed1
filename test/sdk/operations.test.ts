// @module-tag quick
import { describe, expect, it } from 'vitest';
import { type Client, createClient } from '../../sdk/src/index.ts';
import { type Operation, openApi, validate } from '../support/clients/call.ts';
import { sampleOf } from './schema-samples.ts';

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema: { type?: string; enum?: unknown[] };
}
type Described = Operation & { 'x-sdk': string | false; 'x-pages'?: string };

const operations = Object.entries(openApi.paths).flatMap(([path, verbs]) =>
  Object.entries(verbs).map(([verb, operation]) => ({ path, verb: verb.toUpperCase(), operation: operation as Described })),
);
const called = operations.flatMap(({ path, verb, operation }) => {
  const [resource = '', method = ''] = (operation['x-sdk'] || '').split('.');
  return method === '' ? [] : [{ id: operation.operationId, path, verb, operation, sdk: { resource, method } }];
});

const OPTIONS = { idempotencyKey: 'my-own-key', mode: 'sandbox' as const };
const parametersOf = (operation: Operation) => (operation.parameters ?? []) as Parameter[];
const isMode = ({ name, schema }: Parameter) => name === 'mode' && schema.enum?.includes('sandbox');
const bodySchemaOf = (operation: Operation) => operation.requestBody?.content['application/json']?.schema;
/** Texts of a URL, read as the schema's type. */
const parsed = (text: string, { type }: Parameter['schema']): unknown =>
  type === 'integer' || type === 'number' ? Number(text) : type === 'boolean' ? text === 'true' : text;

/** Client of a fake service that records requests and answers each with success. */
function fakeService(operation: Operation) {
  const seen: Request[] = [];
  const success = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))!;
  const fetch = async (request: Request) => {
    seen.push(request.clone());
    if (success[0] === '204') return new Response(null, { status: 204 });
    return success[1].content?.['application/json'] ? Response.json({ items: [] }, { status: Number(success[0]) }) : new Response('bytes');
  };
  return { seen, client: createClient({ baseUrl: 'https://svc.test', key: 'svc_live_x', fetch }) };
}

/** Sample parameters, credential, query and body of an operation. */
function samplesOf(operation: Operation) {
  const parameters = parametersOf(operation);
  const named = (source: Parameter['in']) =>
    Object.fromEntries(parameters.filter((one) => one.in === source && !isMode(one)).map(({ name, schema }) => [name, sampleOf(schema)]));
  const schema = bodySchemaOf(operation);
  const hasAuthorization = parameters.some(({ name }) => name.toLowerCase() === 'authorization');
  return { params: named('path'), query: named('query'), body: schema && sampleOf(schema), hasAuthorization };
}

async function callMethod(client: Client, { path, operation, sdk }: (typeof called)[number]): Promise<unknown> {
  const { params, query, body, hasAuthorization } = samplesOf(operation);
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => params[name!]);
  const content = body !== undefined ? [body] : Object.keys(query).length > 0 ? [query] : [];
  const resources = client as unknown as Record<string, Record<string, (...given: unknown[]) => Promise<unknown>>>;
  return resources[sdk.resource]![sdk.method]!(...inPath, ...(hasAuthorization ? ['Payment abc'] : []), ...content, OPTIONS);
}

/** Fails if a request differs from the document: path, query, headers or body. */
async function expectPublishedRequest(request: Request, { path, verb, operation }: (typeof called)[number]): Promise<void> {
  const { pathname, searchParams } = new URL(request.url);
  const { params, query, body } = samplesOf(operation);
  const parameters = parametersOf(operation);
  expect(request.method).toBe(verb);
  expect(pathname).toBe(path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name]))));
  const described = new Map(parameters.filter((one) => one.in === 'query').map((one) => [one.name, one]));
  for (const [name, text] of searchParams) {
    const parameter = described.get(name);
    expect(parameter, `${name} is not described`).toBeDefined();
    expect(validate(parameter!.schema, parsed(text, parameter!.schema)), name).toEqual([]);
  }
  const sent = body === undefined ? Object.keys(query) : [];
  const expected = [...sent, ...(parameters.some(isMode) ? ['mode'] : [])];
  expect([...searchParams.keys()].sort()).toEqual(expected.sort());
  const required = parameters.filter((one) => one.in === 'header' && one.required).map(({ name }) => name);
  for (const name of required) expect(request.headers.has(name), name).toBe(true);
  expect(request.headers.get('Idempotency-Key')).toBe(verb === 'GET' ? null : OPTIONS.idempotencyKey);
  const schema = bodySchemaOf(operation);
  const text = await request.clone().text();
  if (!schema) return expect(text).toBe('');
  expect(request.headers.get('Content-Type')).toBe('application/json');
  expect(validate(schema, JSON.parse(text)), text).toEqual([]);
}

describe('operations of the document', () => {
  it('the walk sees all operations, and leaves out only those of providers, browsers and wallets', () => {
    expect(called.length).toBeGreaterThan(140);
    const left = operations.filter(({ operation }) => operation['x-sdk'] === false).map(({ operation }) => operation.operationId);
    expect(left.sort()).toEqual([
      'finishOAuth',
      'getSolanaPay',
      'postSolanaPay',
      'receiveChainWebhook',
      'receiveMailEvents',
      'receiveProcessorWebhook',
    ]);
    expect(operations.filter(({ operation }) => operation['x-sdk'] === undefined)).toEqual([]);
  });

  it.each(called.map((one) => [`${one.sdk.resource}.${one.sdk.method}`, one] as const))(
    'client.%s sends the published request, and so does client.request',
    async (_name, one) => {
      const { seen, client } = fakeService(one.operation);
      await callMethod(client, one);
      await expectPublishedRequest(seen[0]!, one);
      const { params, query, body, hasAuthorization } = samplesOf(one.operation);
      const options = hasAuthorization ? { ...OPTIONS, headers: { Authorization: 'Payment abc' } } : OPTIONS;
      const input = body === undefined ? { params, query } : { params, body };
      await client.request(one.id as 'getProduct', input as never, options);
      const [first, second] = seen as [Request, Request];
      expect([second.method, second.url, [...second.headers], await second.text()]).toEqual([
        first.method,
        first.url,
        [...first.headers],
        await first.text(),
      ]);
    },
  );

  it('every write of a caller without a key has one of its own', async () => {
    const writes = called.filter(({ verb }) => verb !== 'GET');
    const keys: (string | null)[] = [];
    for (const { id, operation } of writes) {
      const { seen, client } = fakeService(operation);
      const { params, body } = samplesOf(operation);
      await client.request(id as 'getProduct', { params, body } as never);
      keys.push(seen[0]!.headers.get('Idempotency-Key'));
    }
    expect(keys.every((key) => /^sdk_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(key ?? ''))).toBe(true);
    expect(new Set(keys).size).toBe(writes.length);
  });

  it('a list is iterable', async () => {
    const lists = called.filter(({ operation }) => operation['x-pages']);
    expect(lists.length).toBeGreaterThan(8);
    for (const { id, operation } of lists) {
      const { client } = fakeService(operation);
      const list = client.request(id as 'listProducts', { query: {} });
      expect(typeof list[Symbol.asyncIterator], id).toBe('function');
      for await (const item of list) expect.unreachable(`${item}`);
    }
  });

  it('the client has no other resource and method', () => {
    const { client } = fakeService(called[0]!.operation);
    const byHand = ['request', 'testing.run', 'webhooks.verify'];
    const names = Object.entries(client).flatMap(([name, value]) =>
      typeof value === 'function' ? [name] : Object.keys(value as object).map((method) => `${name}.${method}`),
    );
    const published = called.map(({ sdk }) => `${sdk.resource}.${sdk.method}`);
    expect(names.sort()).toEqual([...published, ...byHand].sort());
  });
});
