import { beforeAll, describe, expect, it } from 'vitest';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { MembersWorld } from '../../support/people/members.ts';
import type { Merchant } from '../../support/world.ts';

const CHAT = '-1001';

describe('Telegram chat access', () => {
  const w = new MembersWorld();
  let ada: Merchant;
  let club: { product_id: string; slug: string };
  beforeAll(async () => {
    ada = await w.merchant();
    await w.claim(ada, 'telegram', CHAT);
    club = await w.club(ada, { provider: 'telegram', chat_id: CHAT }, { grace_hours: 1 });
  });

  const chat = async () => (await w.telegram()).chats.find(({ id }) => id === CHAT)!;
  const types = async (membershipId: string) =>
    (
      await prepareOnEvents(w.env.DB, 'SELECT type FROM events WHERE membership_id = ? ORDER BY subject_version')
        .bind(membershipId)
        .all<{ type: string }>()
    ).results.map(({ type }) => type);

  it('the bot sends a personal invitation that only its recipient can use', async () => {
    const { payment, membershipId } = await w.join(club, '101');
    await w.settleDown();
    const { delivery } = await w.member(ada, payment.payment_id);
    expect(delivery).toMatchObject({ status: 'delivered', provider: 'telegram', attempts: 1, identity: { provider_user_id: '101' } });
    const sent = (await w.telegram()).messages.filter(({ to }) => to === '101');
    expect(sent.map(({ text }) => text)).toEqual([`The club\n${delivery.invite_url}`]);
    expect(await types(membershipId)).toContain('delivery.succeeded');
    await w.happens('telegram', { event: 'uses', link: delivery.invite_url, user: '101' });
    await w.happens('telegram', { event: 'uses', link: delivery.invite_url, user: '666' });
    expect((await chat()).members).toEqual(['101']);
  });

  it('access ends after the grace: the person is removed but not banned, and the invitation is revoked', async () => {
    const { payment, membershipId } = await w.join(club, '102');
    await w.settleDown();
    const { invite_url: link } = (await w.member(ada, payment.payment_id)).delivery;
    await w.happens('telegram', { event: 'uses', link, user: '102' });
    await w.lapse(membershipId);
    await w.settleDown();
    expect((await w.member(ada, payment.payment_id)).status).toBe('expired');
    expect((await w.member(ada, payment.payment_id)).delivery).toMatchObject({ status: 'revoked' });
    const { members, banned, invites } = await chat();
    expect([members.includes('102'), banned]).toEqual([false, []]);
    expect(invites.find((one) => one.link === link)!.isRevoked).toBe(true);
    expect((await types(membershipId)).at(-1)).toBe('membership.access_revoked');
  });

  it('a renewal within the grace makes no call, and a purchase after it grants access again', async () => {
    const buyer = (await w.chain.wallet()) as never;
    const { payment, membershipId } = await w.join(club, '103', { buyer });
    await w.settleDown();
    await w.env.DB.prepare('UPDATE memberships SET paid_through = ? WHERE id = ?')
      .bind(Date.now() - 1000, membershipId)
      .run();
    await w.sweepAlone('memberships');
    expect((await w.member(ada, payment.payment_id)).status).toBe('grace');
    const before = (await w.telegram()).calls.length;
    await w.join(club, '103', { buyer });
    await w.settleDown();
    expect((await w.telegram()).calls.length).toBe(before);
    await w.lapse(membershipId);
    await w.lapse(membershipId);
    await w.settleDown();
    expect((await w.member(ada, payment.payment_id)).delivery.status).toBe('revoked');
    await w.join(club, '103', { buyer });
    await w.settleDown();
    expect((await w.member(ada, payment.payment_id)).delivery.status).toBe('delivered');
    expect((await w.telegram()).messages.filter(({ to }) => to === '103')).toHaveLength(2);
  });
});
