import { createExecutionContext } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { operationsNamedIn } from '../../../local/assets/docs/operations.ts';
import worker from '../../../worker/index.ts';
import { publishedDocument } from '../../support/clients/call.ts';
import { World } from '../../support/world.ts';

const w = new World();
const get = (path: string) => worker.fetch(new Request(`https://svc.test${path}`), w.env, createExecutionContext());
const read = async (path: string) => (await get(path)).text();

const files = import.meta.glob<string>('../../../docs/**/*.md', { query: '?raw', import: 'default', eager: true });
const pages = new Map(Object.entries(files).map(([path, text]) => [path.replace(/^.*\/docs\/(.*)\.md$/, '$1'), text]));
/** Pages that lead a reader through calls of the API. */
const guides = [...pages.keys()].filter((page) => !/^(?:reference|operations|architecture)\//.test(page) && page !== 'guarantees');

const { paths, tags } = publishedDocument as unknown as {
  paths: Record<string, Record<string, { operationId: string; tags: string[]; 'x-sdk': object | false }>>;
  tags: { name: string; externalDocs: { url: string } }[];
};
const operations = new Map(
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [
      operation.operationId,
      { call: `${method.toUpperCase()} ${path}`, ...operation },
    ]),
  ),
);

describe('operations of guides', () => {
  it('a guide ends with the operations that it names, each linked to the reference', async () => {
    expect(guides.length).toBeGreaterThan(20);
    for (const page of guides) {
      const named = operationsNamedIn(pages.get(page)!);
      expect(named.length, page).toBeGreaterThan(0);
      const [html, markdown] = [await read(`/docs/${page}`), await read(`/docs/${page}.md`)];
      for (const { id, call } of named) {
        expect(operations.get(id)?.call, `${page}: ${call}`).toBe(call);
        expect(html).toContain(`href="/v1/redoc#operation/${id}"`);
        expect(markdown).toContain(`- [\`${call}\`](https://svc.test/v1/docs/${id}.md)`);
        expect(await read(`/v1/docs/${id}.md`), id).toContain(`(https://svc.test/docs/${page}.md)`);
      }
    }
  });

  it('a call is named by its text, by a command with values in its path, and by a method of the SDK', () => {
    const text = [
      '`GET /v1/products/{product_id}` and `POST /v1/nowhere`',
      '```sh\ncurl -s -X PUT $BASE/v1/access/rail-settings/solana_usdc -d \'{}\'\napi $BASE/v1/products -d \'{"name":\n  "x"}\'\n```',
      '```ts\nawait client.webhookEndpoints.create({});\nconsole.log(1);\n```',
    ].join('\n\n');
    expect(operationsNamedIn(text).map(({ id }) => id)).toEqual(['getProduct', 'putRailSetting', 'createProduct', 'createWebhookEndpoint']);
  });

  it('each tag of the document has a guide that exists and names an operation of the tag', () => {
    expect(tags.length).toBeGreaterThan(20);
    for (const { name, externalDocs } of tags) {
      const page = externalDocs.url.replace(/^\/docs\//, '');
      expect([...pages.keys()], name).toContain(page);
      const isInSdk = [...operations.values()].some((operation) => operation.tags.includes(name) && operation['x-sdk'] !== false);
      const named = operationsNamedIn(pages.get(page)!).filter(({ id }) => operations.get(id)!.tags.includes(name));
      if (isInSdk) expect(named.length, `${name}: ${page}`).toBeGreaterThan(0);
    }
  });

  it('the text of an operation names a guide', async () => {
    for (const id of operations.keys())
      expect(await read(`/v1/docs/${id}.md`), id).toMatch(/\n## Guides\n\n- \[.+\]\(https:\/\/svc\.test\/docs\/[\w/-]+\.md\)/);
  });
});
