import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { DeliveryTarget, IdentityProvider } from '#rules/payment-terms.ts';
import { MembersWorld } from '../support/people/members.ts';
import type { Merchant } from '../support/world.ts';
import { asked } from './toy-platform.ts';

// Loads the service again with the added row, because it was loaded before this file.
const TOY = vi.hoisted(() => {
  vi.resetModules();
  return 'toy' as IdentityProvider;
});
// Two lines that a third platform needs apart from its file: its fields and its registry line.
vi.mock('#rules/payment-terms.ts', async (original) => {
  const terms = await original<typeof import('#rules/payment-terms.ts')>();
  const PLATFORM_FIELDS = { ...terms.PLATFORM_FIELDS, [TOY]: ['room_id'] };
  const communityOf = (target: DeliveryTarget) => target[PLATFORM_FIELDS[target.provider][0]!]!;
  return { ...terms, PLATFORM_FIELDS, IDENTITY_PROVIDERS: Object.keys(PLATFORM_FIELDS), communityOf };
});
vi.mock('#platform/providers/messaging/registry.ts', async (original) => {
  const registry = await original<typeof import('#platform/providers/messaging/registry.ts')>();
  const { toyPlatform } = await import('./toy-platform.ts');
  return { PLATFORMS: { ...registry.PLATFORMS, [TOY]: toyPlatform } };
});

describe('third messaging platform: one file, one row of fields and one registry line', () => {
  const w = new MembersWorld();
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });
  const report = (what: string, body: object) => {
    const headers = { 'X-Svc-Connector-Secret': 'the-secret-of-the-connector-of-the-toy' };
    return w.call('POST', `/v1/integrations/connectors/${TOY}/${what}`, { headers, body });
  };

  it('the platform appears in readiness, can be tested, and its chats can be claimed', async () => {
    const ready = await w.call('GET', '/v1/account/delivery/readiness', { key: ada.key });
    expect(ready.body[TOY]).toMatchObject({ configured: true, missing: [] });
    const tested = await w.call('POST', '/v1/account/delivery/test', { key: ada.key, body: { provider: TOY } });
    expect(tested.body).toMatchObject({ ok: true, detail: 'It is a toy.' });
    const { body } = await w.call('POST', '/v1/account/delivery/claims', { key: ada.key, body: { provider: TOY } });
    expect((await report('claims', { code: body.code, room_id: '7' })).body).toMatchObject({ provider: TOY, room_id: '7' });
  });

  it('the platform sells, identifies buyers, grants access and revokes it when their time ends', async () => {
    const delivery = { provider: TOY, room_id: '7' };
    const club = await w.product(ada, { product_type: TOY, delivery, grace_hours: 0 });
    expect(club).toMatchObject({ product_type: TOY, requires_identity: TOY, delivery });
    const { body: opened } = await w.call('POST', `/v1/products/p/${club.slug}/identity`);
    expect(opened.deep_link).toBe(`https://toy.example.com/?${opened.identity_session_id}`);
    await report('identity', { identity_session_id: opened.identity_session_id, provider_user_id: '4711' });
    const bought = await w.purchase(club, await w.chain.wallet(), { identity_session_id: opened.identity_session_id });
    await w.settleDown();
    const member = () => w.member(ada, bought.payment.payment_id);
    expect((await member()).delivery).toMatchObject({ status: 'delivered', provider: TOY, invite_url: 'https://toy.example.com/7' });
    await w.lapse(bought.confirmed.membership_id);
    await w.settleDown();
    expect([(await member()).delivery.status, asked]).toEqual(['revoked', ['give 7 4711', 'uninvite 7', 'remove 7 4711']]);
  });
});
