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
  const idsOf = async (query: string) => (await list(query)).body.items.map(({ authorization_id: id }: { authorization_id: string }) => id);

  it('lists the subscriptions of a merchant, newest first, each as it is shown alone', async () => {
    const { body } = await list();
    expect(body).toMatchObject({ page: 1, per_page: 20, total: 2, has_more: false });
    expect(body.items).toEqual([(await stopped!.show()).body, (await running!.show()).body]);
  });

  it('leaves the subscriptions of a status and of a product', async () => {
    expect(await idsOf('?status=active')).toEqual([running!.id]);
    expect(await idsOf('?status=cancelled')).toEqual([stopped!.id]);
    expect(await idsOf('?status=past_due')).toEqual([]);
    const { product_id: productId } = (await running!.show()).body;
    expect(await idsOf(`?product_id=${productId}&status=active`)).toEqual([running!.id]);
    expect(await idsOf(`?product_id=${crypto.randomUUID()}`)).toEqual([]);
  });

  it('pages through them without a gap', async () => {
    expect([await idsOf('?per_page=1'), await idsOf('?per_page=1&page=2')]).toEqual([[stopped!.id], [running!.id]]);
  });

  it('refuses a status that is none, and a parameter that it does not know', async () => {
    const refused = [await list('?status=gone'), await list('?state=active')];
    expect(refused.map(({ status, body }) => [status, body.code, body.detail[0].loc])).toEqual([
      [422, 'validation_error', ['query', 'status']],
      [422, 'unknown_field', ['query', 'state']],
    ]);
  });

  it('shows nothing to another merchant, nor in the other mode', async () => {
    const eve = await w.merchant();
    const seen = [await list('', eve.key), await list('', seller.merchant.sandboxKey)];
    expect(seen.map(({ status, body }) => [status, body.total])).toEqual([
      [200, 0],
      [200, 0],
    ]);
  });
});
