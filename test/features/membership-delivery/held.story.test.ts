import { beforeAll, describe, expect, it } from 'vitest';
import { MembersWorld } from '../../support/people/members.ts';
import { testEnv } from '../../support/runner/env.ts';
import type { Merchant } from '../../support/world.ts';

const CHAT = '-8001';

describe('end of chat access with other memberships', () => {
  const w = new MembersWorld();
  let ada: Merchant;
  let club: { product_id: string; slug: string };
  beforeAll(async () => {
    ada = await w.merchant();
    await w.claim(ada, 'telegram', CHAT);
    club = await w.club(ada, { provider: 'telegram', chat_id: CHAT }, { grace_hours: 0 });
  });

  const readMembers = async (chat: string) => (await w.telegram()).chats.find(({ id }) => id === chat)!.members;

  async function inside(user: string, product = club, merchant = ada) {
    const bought = await w.join(product, user);
    await w.settleDown();
    const { invite_url: link } = (await w.member(merchant, bought.payment.payment_id)).delivery;
    await w.happens('telegram', { event: 'uses', link, user });
    return bought;
  }

  /** Sells another account's chat in the sandbox to the same person. */
  async function sandboxed(merchant: Merchant, chat_id: string, user: string): Promise<string> {
    const key = merchant.sandboxKey;
    const rival = { ...merchant, key };
    const product = await w.club(rival, { provider: 'telegram', chat_id });
    const { body: opened } = await w.call('POST', `/v1/products/p/${product.slug}/identity`);
    const named = { identity_session_id: opened.identity_session_id, provider_user_id: user };
    expect((await w.call('POST', '/v1/testing/identity', { key, body: named })).status).toBe(200);
    const session = await w.connect(product, { identity_session_id: opened.identity_session_id });
    const paid = await w.call('POST', '/v1/testing/pay', { key, body: { payment_id: session.payment_id } });
    const { body } = await w.confirm(session.payment_id, paid.body.tx_signature);
    await w.settleDown();
    expect((await w.member(rival, session.payment_id)).delivery.status).toBe('delivered');
    return body.membership_id;
  }

  it('a sandbox membership does not extend live access, neither a rival’s nor the merchant’s own', async () => {
    const { membershipId } = await inside('801');
    const eve = await w.merchant();
    const rows = [await sandboxed(eve, CHAT, '801'), await sandboxed(ada, CHAT, '801')];
    const keys = await testEnv.DB.prepare('SELECT count(grant_key) AS n FROM placements WHERE membership_id IN (?, ?)')
      .bind(...rows)
      .first<number>('n');
    expect(keys).toBe(0);
    await w.lapse(membershipId);
    await w.settleDown();
    expect(await readMembers(CHAT)).not.toContain('801');
  });

  it('a membership of an account that released the chat does not extend access', async () => {
    const bob = await w.merchant();
    const claim = await w.claim(bob, 'telegram', '-8002');
    const former = await w.club(bob, { provider: 'telegram', chat_id: '-8002' });
    await inside('802', former, bob);
    await w.call('DELETE', `/v1/account/delivery/claims/${claim}`, { key: bob.key });
    await w.claim(ada, 'telegram', '-8002');
    const own = await w.club(ada, { provider: 'telegram', chat_id: '-8002' }, { grace_hours: 0 });
    const { membershipId } = await inside('802', own);
    await w.lapse(membershipId);
    await w.settleDown();
    expect(await readMembers('-8002')).not.toContain('802');
  });
});
