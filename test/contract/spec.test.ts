import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '#core/errors.ts';
import { errorExample } from '../../worker/published/errors/example.ts';
import { codesOf, openApi, publishedDocument, validate } from '../support/clients/call.ts';
import { codesNotBuiltYet, RETRYABLE, statusOfCode } from './spec-errors.ts';
import { type Auth, builtRoutes, nameOf, notBuiltYet, operations, readings, routes, rowsUnder, specified } from './spec-routes.ts';

const KEY_OR_TOKEN: Record<string, string[]>[] = [{ apiKey: [] }, { bearer: [] }];
const SECURITY: Partial<Record<Auth, Record<string, string[]>[] | undefined>> = {
  signature: [{ chainSignature: [] }],
  mail_signature: [{ mailSignature: [] }],
  none: undefined,
  merchant: KEY_OR_TOKEN,
  person: [{ bearer: [] }],
  session: [{}, { bearer: [] }],
  viewer: [{}, ...KEY_OR_TOKEN],
  key: [{ apiKey: [] }],
  buyer: [{ buyer: [] }],
  activator: [...KEY_OR_TOKEN, { setupSecret: [] }],
  // The request carries its own authority: a credential of another protocol or a signed voucher.
  proof: undefined,
  setup_secret: undefined,
  connector_secret: [{ connectorSecret: [] }],
};

interface Node {
  path: string;
  node: Record<string, unknown>;
}
function* nodesOf(value: unknown, path = '#'): Generator<Node> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield { path, node: value as Record<string, unknown> };
  for (const [name, inner] of Object.entries(value)) yield* nodesOf(inner, `${path}/${name}`);
}
const nodes = [...nodesOf(openApi)];

describe('route table and published document', () => {
  it('every row of the specified tables becomes a route with all its columns', () => {
    const rows = rowsUnder('tables', 'Method', 'Path');
    expect(rows.length).toBe(90);
    expect(specified.length).toBe(rows.reduce((count, { Path }) => count + Path!.split(',').length, 0));
    expect(specified).toContainEqual({
      method: 'GET',
      path: '/v1/receipt/{receipt_id}/pdf/private',
      auth: 'merchant',
      status: 200,
      contentType: 'application/pdf',
      idempotent: false,
    });
    for (const { method, path } of specified)
      expect([method, path]).toEqual([expect.stringMatching(/^[A-Z]+$/), expect.stringMatching(/^\/[\w/{}.-]+$/)]);
    expect([...readings.keys()].sort()).toEqual(specified.map(nameOf).sort());
  });

  it('each route is listed once, and the unbuilt list contains only listed routes', () => {
    const names = routes.map(nameOf);
    expect(new Set(names).size).toBe(names.length);
    expect([...notBuiltYet].filter((name) => !names.includes(name))).toEqual([]);
  });

  it('the document contains exactly the built routes', () => {
    const built = builtRoutes.filter(({ documented }) => documented).map(nameOf);
    expect([...operations.keys()].sort()).toEqual(built.sort());
  });

  for (const route of builtRoutes.filter(({ documented }) => documented)) {
    it(`${nameOf(route)} is documented with its success status and type, callers and idempotency`, () => {
      const operation = operations.get(nameOf(route))!;
      const successes = Object.keys(operation.responses).filter((status) => status < '400');
      // A payment with an unknown outcome is neither settled nor refused.
      expect(successes).toEqual([String(route.status), ...(/^\/v1\/access\/x402\/(?:settle|activate\/)/.test(route.path) ? ['202'] : [])]);
      expect(route.auth in SECURITY, `no security is known for ${route.auth}`).toBe(true);
      const isOfProcessor = route.auth === 'signature' && route.path.includes('/processor');
      expect(operation.security).toEqual(isOfProcessor ? [{ processorSignature: [] }] : SECURITY[route.auth]);
      const header = operation.parameters?.find(
        ({ in: location, name }) => location === 'header' && name.toLowerCase() === 'idempotency-key',
      );
      expect(header?.required ?? false).toBe(route.idempotent);
      expect(Object.keys(operation.responses[route.status]?.content ?? {})).toEqual(route.contentType === null ? [] : [route.contentType]);
      const named = (operation.parameters ?? []).filter(({ in: location }) => location === 'path').map(({ name }) => name);
      expect(named.sort()).toEqual([...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!).sort());
    });
  }
});

describe('error catalog', () => {
  const catalog = openApi['x-error-codes'];

  it('the catalog contains exactly the built codes', () => {
    const expected = [...statusOfCode.keys()].filter((code) => !codesNotBuiltYet.has(String(code)));
    expect(Object.keys(catalog).sort()).toEqual(expected.sort());
    expect([...codesNotBuiltYet].filter((code) => !statusOfCode.has(code))).toEqual([]);
  });

  it.each(Object.entries(catalog))('%s has the specified status', (code, { status }) => {
    expect(status).toBe(statusOfCode.get(code));
  });

  it('a code is retryable only if the identical request may succeed later', () => {
    const retryable = nodes.flatMap(({ path, node }) =>
      /^#\/x-error-codes\/\w+$/.test(path) && node.retryable === true ? [path.split('/').at(-1)] : [],
    );
    expect(retryable.sort()).toEqual([...RETRYABLE].sort());
  });
});

describe('published document', () => {
  it('the document is OpenAPI 3.1.0 of version 1.0.0', () => {
    expect(openApi.openapi).toBe('3.1.0');
    expect(openApi.info.version).toBe('1.0.0');
  });

  it('every error answer is a component, and each of its codes is an error of its status', () => {
    for (const operations of Object.values(publishedDocument.paths))
      for (const { operationId, responses } of Object.values(operations))
        for (const [status, response] of Object.entries(responses).filter(([key]) => key >= '400'))
          expect(Object.keys(response), `${operationId} ${status}`).toEqual(['$ref']);
    for (const [name, operation] of operations) {
      for (const [status, response] of Object.entries(operation.responses).filter(([key]) => key >= '400')) {
        if (name.endsWith('/health')) continue;
        expect(codesOf(response).length, `${name} ${status}`).toBeGreaterThan(0);
        for (const code of codesOf(response)) {
          const { schema } = response.content!['application/json']!;
          expect(validate(schema, errorExample(code as ErrorCode)), `${name} ${status} ${code}`).toEqual([]);
          const both = code === 'invalid_authorization' ? [401, 403] : [statusOfCode.get(code)];
          expect(both, `${name} ${code}`).toContain(Number(status));
        }
      }
    }
  });

  it('names of components do not end in a number, and bodies of more than one field are components', () => {
    const { components, paths } = publishedDocument as unknown as {
      components: Record<string, object>;
      paths: typeof publishedDocument.paths;
    };
    expect(Object.values(components).flatMap((kind) => Object.keys(kind).filter((name) => /\d$/.test(name)))).toEqual([]);
    const bodies = Object.values(paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ operationId, requestBody, responses }) =>
        [requestBody, ...Object.values(responses)].flatMap((body) =>
          Object.values(body?.content ?? {}).map(({ schema }) => ({ operationId, schema: schema as { properties?: object } })),
        ),
      ),
    );
    expect(bodies.length).toBeGreaterThan(200);
    expect(bodies.filter(({ schema }) => Object.keys(schema.properties ?? {}).length > 1)).toEqual([]);
  });

  it('the document has at most 600,000 bytes, and 75,000 compressed', async () => {
    const text = JSON.stringify(publishedDocument);
    const packed = new Response(new Blob([text]).stream().pipeThrough(new CompressionStream('gzip')));
    const sizes = [new TextEncoder().encode(text).length, (await packed.arrayBuffer()).byteLength];
    expect(
      sizes.map((size, n) => size <= [600_000, 75_000][n]!),
      String(sizes),
    ).toEqual([true, true]);
  });

  it('routes with a credential document 401 and 403, and routes with input document 422', () => {
    const missing = [...operations].flatMap(([name, { security, parameters, requestBody, responses }]) => [
      ...(security ? ['401'] : []).filter((status) => !responses[status]).map((status) => `${name} ${status}`),
      ...(security?.some((scheme) => 'apiKey' in scheme || 'bearer' in scheme) ? ['403'] : [])
        .filter((status) => !responses[status])
        .map((status) => `${name} ${status}`),
      // Provider webhooks are signed, so invalid input is 400 with a separate code instead of 422.
      ...((parameters?.length || requestBody) &&
      !security?.some((scheme) => ['chainSignature', 'mailSignature', 'processorSignature'].some((name) => name in scheme))
        ? ['422']
        : []
      )
        .filter((status) => !responses[status])
        .map((status) => `${name} ${status}`),
    ]);
    expect(missing).toEqual([]);
  });

  it('every operation has a unique id', () => {
    const ids = [...operations.values()].map(({ operationId }) => operationId);
    expect(ids.every((id) => /^[a-z][A-Za-z0-9]+$/.test(id))).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('every reference resolves, and no schema uses nullable, which 3.1 does not define', () => {
    const references = nodes.flatMap(({ node }) => (typeof node.$ref === 'string' ? [node.$ref] : []));
    expect(references.length).toBeGreaterThan(20);
    const targets = new Set(nodes.map(({ path }) => path));
    expect(references.filter((reference) => !targets.has(reference))).toEqual([]);
    expect(nodes.filter(({ node }) => 'nullable' in node).map(({ path }) => path)).toEqual([]);
  });

  it('a request body is required unless none of its fields is', () => {
    const bodies = [...operations].filter(([, { requestBody }]) => requestBody);
    expect(bodies.length).toBeGreaterThan(5);
    const optional = bodies.filter(([, { requestBody }]) => requestBody!.required !== true).map(([name]) => name);
    expect(optional.sort()).toEqual([
      'POST /v1/access/native-subscriptions/{authorization_id}/stop',
      // `end` is ours: a bare logout has no body.
      'POST /v1/auth/logout',
      // Its token may be sent as Bearer instead of in the body.
      'POST /v1/auth/refresh',
      'POST /v1/billing/portal/processor',
      'POST /v1/customers/{customer_id}/erase',
      'POST /v1/keys/{key_id}/roll',
      'POST /v1/payments/{payment_id}/refund-transaction',
      'POST /v1/products/p/{slug}/connect',
      'POST /v1/products/{product_id}/handoffs',
      'POST /v1/webhooks/endpoints/{endpoint_id}/rotate-secret',
      'POST /v1/webhooks/endpoints/{endpoint_id}/test',
    ]);
  });

  it('examples match their schemas, and security refers to defined schemes only', () => {
    const examples = nodes.filter(
      ({ path, node }) => !path.endsWith('/properties') && 'example' in node && ('type' in node || '$ref' in node || 'anyOf' in node),
    );
    expect(examples.length).toBeGreaterThan(5);
    for (const { path, node } of examples) expect(validate(node, node.example), path).toEqual([]);
    const schemes = [...operations.values()].flatMap(({ security }) => (security ?? []).flatMap((one) => Object.keys(one)));
    expect([...new Set(schemes)].sort()).toEqual(Object.keys(openApi.components.securitySchemes).sort());
  });
});
