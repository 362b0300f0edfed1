import { beforeAll, describe, expect, it } from 'vitest';
import { MembersWorld } from '../../support/people/members.ts';
import { testEnv } from '../../support/runner/env.ts';
import type { Merchant } from '../../support/world.ts';

describe('a place that cannot be taken away as its platform likes it', () => {
  const w = new MembersWorld();
  let ada: Merchant;
  let people = 6000;
  let chats = 6000;
  beforeAll(async () => {
    ada = await w.merchant();
  });

  const delivery = async (payment: { payment_id: string }) => (await w.member(ada, payment.payment_id)).delivery;
  const chatOf = async (chat: string) => (await w.telegram()).chats.find(({ id }) => id === chat)!;
  const typesOf = async (membershipId: string) =>
    (
      await testEnv.DB.prepare('SELECT type FROM events WHERE membership_id = ? ORDER BY subject_version')
        .bind(membershipId)
        .all<{ type: string }>()
    ).results
      .map(({ type }) => type)
      .filter((type) => /^delivery|access_revoked/.test(type));

  /** A member of a chat of its own, which a product sells. */
  async function inside(chat = `-100${++chats}`) {
    await w.claim(ada, 'telegram', chat);
    const club = await w.club(ada, { provider: 'telegram', chat_id: chat }, { grace_hours: 0 });
    const [user, buyer] = [String(++people), (await w.chain.wallet()) as never];
    const bought = await w.join(club, user, { buyer });
    await w.settleDown();
    const { invite_url: link } = await delivery(bought.payment);
    await w.happens('telegram', { event: 'uses', link, user });
    return { ...bought, club, chat, user, buyer, link };
  }
  const retry = (membershipId: string) => w.call('POST', `/v1/memberships/${membershipId}/retry-delivery`, { key: ada.key });

  it.each([
    ['the bot was thrown out of', 'bot_kicked', ['delivery.succeeded', 'delivery.failed', 'delivery.succeeded']],
    ['is gone', 'deleted', ['delivery.succeeded', 'membership.access_revoked', 'delivery.succeeded']],
  ])('holds up no other place that is paid for, where the old chat %s', async (_what, event, types) => {
    const { club, chat, user, buyer, membershipId, payment } = await inside();
    const next = `-100${++chats}`;
    await w.claim(ada, 'telegram', next);
    await w.happens('telegram', { event, chat });
    const delivery_ = { provider: 'telegram', chat_id: next };
    expect((await w.call('PATCH', `/v1/products/${club.product_id}`, { key: ada.key, body: { delivery: delivery_ } })).status).toBe(200);
    await w.join(club, user, { buyer });
    await w.settleDown();
    const { status, invite_url } = await delivery(payment);
    expect([status, (await chatOf(next)).invites.map(({ link }) => link)]).toEqual(['delivered', [invite_url]]);
    expect(await typesOf(membershipId)).toEqual(types);
    // And the place that is held by then is the one that ends.
    await w.happens('telegram', { event: 'uses', link: invite_url, user });
    await w.lapse(membershipId);
    await w.settleDown();
    expect([(await delivery(payment)).status, (await chatOf(next)).members]).toEqual(['revoked', []]);
  });

  it('is told of once, and taken when the bot is back and its merchant asks', async () => {
    const { chat, membershipId, payment } = await inside();
    await w.happens('telegram', { event: 'bot_kicked', chat });
    await w.lapse(membershipId);
    await w.settleDown();
    await w.due();
    expect(await delivery(payment)).toMatchObject({ status: 'failed', attempts: 1, last_error: expect.stringMatching(/^403 .*kicked/) });
    expect(await typesOf(membershipId)).toEqual(['delivery.succeeded', 'delivery.failed']);
    await w.happens('telegram', { event: 'bot_back', chat });
    expect((await retry(membershipId)).status).toBe(200);
    await w.settleDown();
    expect([(await delivery(payment)).status, (await chatOf(chat)).members]).toEqual(['revoked', []]);
  });

  it('is the person’s end in the chat also where the bot may not take back the invitation, which is not forgotten', async () => {
    const { chat, user, membershipId, payment, link } = await inside();
    await w.happens('telegram', { event: 'bot_uninviting', chat });
    await w.lapse(membershipId);
    await w.settleDown();
    expect((await chatOf(chat)).members).not.toContain(user);
    expect(await delivery(payment)).toMatchObject({
      status: 'failed',
      invite_url: link,
      last_error: '400 Bad Request: not enough rights to manage chat invite link',
    });
    await w.happens('telegram', { event: 'bot_back', chat });
    await retry(membershipId);
    await w.settleDown();
    const { invites, banned } = await chatOf(chat);
    expect([(await delivery(payment)).status, invites.map(({ isRevoked }) => isRevoked), banned]).toEqual(['revoked', [true], []]);
  });

  it('is the invitation’s end also where the bot may ban nobody', async () => {
    const { chat, membershipId, payment } = await inside();
    await w.happens('telegram', { event: 'bot_unbanning', chat });
    await w.lapse(membershipId);
    await w.settleDown();
    expect((await chatOf(chat)).invites.map(({ isRevoked }) => isRevoked)).toEqual([true]);
    expect((await delivery(payment)).status).toBe('failed');
  });

  it('ends in a basic group, which has no bans, and is given there again', async () => {
    const { chat, club, user, buyer, membershipId, payment } = await inside('-4000001');
    await w.lapse(membershipId);
    await w.settleDown();
    expect([(await delivery(payment)).status, (await chatOf(chat)).members]).toEqual(['revoked', []]);
    await w.join(club, user, { buyer });
    await w.settleDown();
    expect((await delivery(payment)).status).toBe('delivered');
  });

  it('is given and taken in the supergroup that a group became', async () => {
    const { chat, club, user, membershipId, payment } = await inside('-4000002');
    const since = '-1004000002';
    await w.happens('telegram', { event: 'upgrades', chat, to: since });
    const later = await w.join(club, `${user}1`);
    await w.settleDown();
    const { status, invite_url } = await delivery(later.payment);
    expect([status, (await chatOf(since)).invites.at(-1)!.link]).toEqual(['delivered', invite_url]);
    await w.lapse(membershipId);
    await w.settleDown();
    const { members, banned, invites } = await chatOf(since);
    expect([(await delivery(payment)).status, members, banned, invites[0]!.isRevoked]).toEqual(['revoked', [], [], true]);
  });

  it('obeys a pause that the platform asks for, where that is longer than the wait after a first attempt', async () => {
    const chat = `-100${++chats}`;
    await w.claim(ada, 'telegram', chat);
    const club = await w.club(ada, { provider: 'telegram', chat_id: chat });
    await w.fault('telegram', { call: 'createChatInviteLink', kind: 'busy', retryAfter: 240 });
    const { payment, membershipId } = await w.join(club, String(++people));
    const asked = Date.now();
    await w.settleDown();
    const next = await testEnv.DB.prepare('SELECT next_attempt_at AS at FROM placements WHERE membership_id = ?')
      .bind(membershipId)
      .first<number>('at');
    expect(next! - asked).toBeGreaterThanOrEqual(239_000);
    // Also where it is due for another reason before: the platform is not asked, and no attempt is counted.
    const before = (await w.telegram()).calls.length;
    await w.due();
    expect([(await w.telegram()).calls.length, (await delivery(payment)).attempts]).toEqual([before, 1]);
  });
});
