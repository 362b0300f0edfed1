import { beforeEach, describe, expect, it } from 'vitest';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
const URL_OK = 'https://shop.example.com/hooks';

describe('resources of a key', () => {
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
