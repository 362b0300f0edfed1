import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COLLECTING_KEYS, type SubscriptionLife, SubscriptionSeller } from '../../support/models/subscription-life.ts';
import { endSkips } from '../../support/runner/clock.ts';
import { World } from '../../support/world.ts';

const PATH = '/v1/access/native-subscriptions';

describe('GET /v1/access/native-subscriptions', () => {
  const w = new World({ SUBSCRIPTION_KEYS: COLLECTING_KEYS });
  let seller: SubscriptionSeller;
  let [running, stopped]: SubscriptionLife[] = [];
  beforeAll(async () => {
    seller = await SubscriptionSeller.open(w);
    running = await seller.subscribe();
    stopped = await seller.subscribe();
    const { status } = await w.call('POST', `${PATH}/${stopped.id}/stop`, { key: seller.merchant.token });
    expect(status).toBe(200);
  });
  afterAll(endSkips);

  const list = (query = '', key = seller.merchant.key) => w.call('GET', `${PATH}${query}`, { key });
  const listIds = async (query: string) =>
    (await list(query)).body.items.map(({ authorization_id: id }: { authorization_id: string }) => id);

  it('the list shows a merchant’s subscriptions, newest first, equal to their single GET', async () => {
    const { body } = await list();
    expect(body).toMatchObject({ page: 1, per_page: 20, total: 2, has_more: false });
    expect(body.items).toEqual([(await stopped!.show()).body, (await running!.show()).body]);
  });

  it('the list filters by status and by product', async () => {
    expect(await listIds('?status=active')).toEqual([running!.id]);
    expect(await listIds('?status=cancelled')).toEqual([stopped!.id]);
    expect(await listIds('?status=past_due')).toEqual([]);
    const { product_id: productId } = (await running!.show()).body;
    expect(await listIds(`?product_id=${productId}&status=active`)).toEqual([running!.id]);
    expect(await listIds(`?product_id=${crypto.randomUUID()}`)).toEqual([]);
  });

  it('paging returns every subscription without a gap', async () => {
    expect([await listIds('?per_page=1'), await listIds('?per_page=1&page=2')]).toEqual([[stopped!.id], [running!.id]]);
  });

  it('an unknown status and an unknown parameter are refused', async () => {
    const refused = [await list('?status=gone'), await list('?state=active')];
    expect(refused.map(({ status, body }) => [status, body.code, body.detail[0].loc])).toEqual([
      [422, 'validation_error', ['query', 'status']],
      [422, 'unknown_field', ['query', 'state']],
    ]);
  });

  it('another merchant and the other mode see nothing', async () => {
    const eve = await w.merchant();
    const seen = [await list('', eve.key), await list('', seller.merchant.sandboxKey)];
    expect(seen.map(({ status, body }) => [status, body.total])).toEqual([
      [200, 0],
      [200, 0],
    ]);
  });
});
