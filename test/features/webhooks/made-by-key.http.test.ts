import { beforeEach, describe, expect, it } from 'vitest';
import { testEnv } from '../../support/runner/env.ts';
import { rowsOf, withRowCount, worstOf, writtenBy } from '../../support/runner/rows-read.ts';
import { type Merchant, World } from '../../support/world.ts';

const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
const URL_OK = 'https://shop.example.com/hooks';

describe('resources of a key (F3: endpoints that outlive a leaked key)', () => {
  let ada: Merchant;
  let leaked: { id: string; raw: string };

  const call = (method: string, path: string, key: string, body?: unknown) => w.call(method, `/v1/${path}`, { key, body });
  const createEndpoint = async (key: string, url = URL_OK) => (await call('POST', 'webhooks/endpoints', key, { url })).body;
  const resources = (key: string) => call('GET', `keys/${leaked.id}/resources`, key);
  const statuses = async () => {
    const { items } = (await call('GET', 'webhooks/endpoints?per_page=100', ada.token)).body;
    return items.map(({ url, status, disabled_reason }: Record<string, string>) => [url, status, disabled_reason]);
  };

  beforeEach(async () => {
    ada = await w.merchant();
    const { body } = await call('POST', 'keys', ada.token, { name: 'leaked' });
    leaked = { id: body.key.id, raw: body.raw_key };
  });

  it('endpoints and hooks name the key that created them, distinct from people and other keys', async () => {
    const mine = await createEndpoint(ada.token, `${URL_OK}/person`);
    expect(mine.created_by).toEqual({ kind: 'person', id: ada.userId });
    const theirs = await createEndpoint(leaked.raw);
    expect(theirs.created_by).toEqual({ kind: 'key', id: leaked.id });
    const hook = { target_url: `${URL_OK}/hook`, event_type: 'payment.confirmed' };
    const hooked = (await call('POST', 'integrations/automation/hooks', leaked.raw, hook)).body;
    await createEndpoint(ada.key, `${URL_OK}/other-key`);
    const madeBy = async (id: string) => (await call('GET', `webhooks/endpoints?created_by=${id}`, ada.token)).body.items.map(idOf);
    expect(await madeBy(leaked.id)).toEqual(expect.arrayContaining([theirs.endpoint_id]));
    expect(await madeBy(ada.userId)).toEqual([mine.endpoint_id]);
    expect(await madeBy(crypto.randomUUID())).toEqual([]);
    const { body } = await resources(ada.token);
    expect([body.endpoints.map(idOf), body.hooks.map(idOf)]).toEqual([[theirs.endpoint_id], [hooked.endpoint_id]]);
  });

  it('an endpoint counts as the key’s if the key changed its URL or rotated its secret', async () => {
    const [moved, rotated, paused] = [await createEndpoint(ada.token), await createEndpoint(ada.token), await createEndpoint(ada.token)];
    await call('PATCH', `webhooks/endpoints/${moved.endpoint_id}`, leaked.raw, { url: 'https://thief.example.com/x' });
    await call('POST', `webhooks/endpoints/${rotated.endpoint_id}/rotate-secret`, leaked.raw, {});
    await call('PATCH', `webhooks/endpoints/${paused.endpoint_id}`, leaked.raw, { description: 'mine' });
    const { body } = await resources(ada.token);
    expect(new Set(body.endpoints.map(idOf))).toEqual(new Set([moved.endpoint_id, rotated.endpoint_id]));
    expect(body.endpoints.map(({ changed_by }: { changed_by: unknown }) => changed_by)).toEqual(
      Array(2).fill({ kind: 'key', id: leaked.id }),
    );
  });

  it('products that the key created or changed are counted once each, in its own mode and account', async () => {
    const create = async (key: string) =>
      (await call('POST', 'products', key, { name: 'Wind', price: { asset: 'USDC', amount: '1' } })).body.product_id as string;
    const rename = (id: string, key: string, name: string) => call('PATCH', `products/${id}`, key, { name });
    const count = async () => (await resources(ada.token)).body.products;
    expect(await count()).toBe(0);
    const [own, others] = [await create(leaked.raw), await create(ada.token)];
    for (const name of ['Rain', 'Snow']) expect((await rename(own, leaked.raw, name)).status).toBe(200);
    expect(await count()).toBe(1);
    expect((await rename(others, leaked.raw, 'Hail')).status).toBe(200);
    expect((await rename(await create(ada.token), ada.token, 'Fog')).status).toBe(200);
    await create(ada.key);
    await create(ada.sandboxKey);
    expect(await count()).toBe(2);
    await call('DELETE', `keys/${leaked.id}`, ada.token);
    expect(await count()).toBe(2);
  });

  it('the count reads rows by the products that the key changed, not by the length of the log or by how often it changed them', async () => {
    const { body: product } = await call('POST', 'products', leaked.raw, { name: 'Wind', price: { asset: 'USDC', amount: '1' } });
    const entries = (kind: string, actor: string) =>
      w.env.DB.prepare(
        `INSERT INTO audit_entries (merchant_id, seq, at, actor_kind, actor_id, action, subject_type, subject_id, outcome, is_live, request_id, details, is_erased)
          WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1000)
          SELECT e.merchant_id, (SELECT max(seq) FROM audit_entries x WHERE x.merchant_id = e.merchant_id) + n, e.at, '${kind}', unhex('${actor.replaceAll('-', '')}'),
            e.action, e.subject_type, e.subject_id, e.outcome, e.is_live, e.request_id, e.details, 0 FROM n
          JOIN (SELECT * FROM audit_entries WHERE merchant_id = unhex('${ada.userId.replaceAll('-', '')}') AND action = 'product.created' LIMIT 1) e`,
      ).run();
    await entries('key', leaked.id);
    await entries('key', crypto.randomUUID());
    await entries('person', ada.userId);
    const { env, readings } = withRowCount(w.env);
    const { body } = await w.call('GET', `/v1/keys/${leaked.id}/resources`, { key: ada.token, env });
    expect([product.product_id, body.products]).toEqual([expect.any(String), 1]);
    expect(rowsOf(readings), worstOf(readings)).toBeLessThanOrEqual(20);
  });

  it('the index of a key’s products costs a row at the entries of keys about products, and none at any other', async () => {
    const { product_id } = (await call('POST', 'products', ada.token, { name: 'Wind', price: { asset: 'USDC', amount: '1' } })).body;
    const entryRows = async (method: string, path: string, key: string, body: unknown) => {
      const { env, readings } = withRowCount(w.env);
      expect((await w.call(method, `/v1/${path}`, { key, body, env })).status).toBeLessThan(300);
      return writtenBy(readings.filter(({ sql }) => /^insert into "audit_entries"/.test(sql)));
    };
    const url = { url: URL_OK };
    const written = [
      await entryRows('PATCH', `products/${product_id}`, ada.token, { name: 'Rain' }),
      await entryRows('POST', 'webhooks/endpoints', leaked.raw, url),
      await entryRows('POST', 'webhooks/endpoints', ada.token, url),
      await entryRows('PATCH', `products/${product_id}`, leaked.raw, { name: 'Snow' }),
    ];
    // The entry, and its row in the index of entries to chain.
    expect(written).toEqual([2, 2, 2, 3]);
  });

  it('revoking a key disables its endpoints and waiting deliveries on request, and otherwise leaves them', async () => {
    await createEndpoint(ada.token, `${URL_OK}/person`);
    const box = `${testEnv.TEST_RECEIVER_URL}/ok/${crypto.randomUUID()}`;
    const theirs = await createEndpoint(leaked.raw, box);
    await w.product(ada);
    await w.deliver();
    const waiting = async () => (await call('GET', `webhooks/deliveries?endpoint_id=${theirs.endpoint_id}`, ada.token)).body.items;
    expect((await waiting()).map(({ status }: { status: string }) => status)).toEqual(['pending']);
    expect((await call('DELETE', `keys/${leaked.id}`, ada.token)).status).toBe(204);
    expect((await statuses()).map(([, status]: string[]) => status)).toEqual(['enabled', 'enabled']);
    for (let turn = 0; turn < 2; turn++) expect((await call('DELETE', `keys/${leaked.id}?with=endpoints`, ada.token)).status).toBe(204);
    expect(await statuses()).toEqual([
      [box, 'disabled', 'key_revoked'],
      [`${URL_OK}/person`, 'enabled', undefined],
    ]);
    expect((await waiting()).map(({ status }: { status: string }) => status)).toEqual(['cancelled']);
    expect((await resources(ada.token)).body.endpoints.map(idOf)).toEqual([theirs.endpoint_id]);
  });

  it('another merchant and a key of the other mode see none of the resources', async () => {
    const eve = await w.merchant();
    const answers = [await resources(eve.token), await resources(eve.key), await resources(ada.sandboxKey), await resources(ada.key)];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 200]);
  });
});

const idOf = ({ endpoint_id }: { endpoint_id: string }): string => endpoint_id;
