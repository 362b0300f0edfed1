import { beforeAll, describe, expect, it } from 'vitest';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { MembersWorld } from '../../support/people/members.ts';
import { testEnv } from '../../support/runner/env.ts';
import type { Merchant } from '../../support/world.ts';

describe('failing revocation', () => {
  const w = new MembersWorld();
  let ada: Merchant;
  let people = 6000;
  let chats = 6000;
  beforeAll(async () => {
    ada = await w.merchant();
  });

  const delivery = async (payment: { payment_id: string }) => (await w.member(ada, payment.payment_id)).delivery;
  const readChat = async (chat: string) => (await w.telegram()).chats.find(({ id }) => id === chat)!;
  const readTypes = async (membershipId: string) =>
    (
      await prepareOnEvents(testEnv.DB, 'SELECT type FROM events WHERE membership_id = ? ORDER BY subject_version')
        .bind(membershipId)
        .all<{ type: string }>()
    ).results
      .map(({ type }) => type)
      .filter((type) => /^delivery|access_revoked/.test(type));

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
  ])('a new delivery does not wait for a chat that %s', async (_what, event, types) => {
    const { club, chat, user, buyer, membershipId, payment } = await inside();
    const next = `-100${++chats}`;
    await w.claim(ada, 'telegram', next);
    await w.happens('telegram', { event, chat });
    const delivery_ = { provider: 'telegram', chat_id: next };
    expect((await w.call('PATCH', `/v1/products/${club.product_id}`, { key: ada.key, body: { delivery: delivery_ } })).status).toBe(200);
    await w.join(club, user, { buyer });
    await w.settleDown();
    const { status, invite_url } = await delivery(payment);
    expect([status, (await readChat(next)).invites.map(({ link }) => link)]).toEqual(['delivered', [invite_url]]);
    expect(await readTypes(membershipId)).toEqual(types);
    await w.happens('telegram', { event: 'uses', link: invite_url, user });
    await w.lapse(membershipId);
    await w.settleDown();
    expect([(await delivery(payment)).status, (await readChat(next)).members]).toEqual(['revoked', []]);
  });

  it('a failed revocation emits one delivery.failed and is finished by a retry once the bot is back', async () => {
    const { chat, membershipId, payment } = await inside();
    await w.happens('telegram', { event: 'bot_kicked', chat });
    await w.lapse(membershipId);
    await w.settleDown();
    await w.due();
    expect(await delivery(payment)).toMatchObject({ status: 'failed', attempts: 1, last_error: expect.stringMatching(/^403 .*kicked/) });
    expect(await readTypes(membershipId)).toEqual(['delivery.succeeded', 'delivery.failed']);
    await w.happens('telegram', { event: 'bot_back', chat });
    expect((await retry(membershipId)).status).toBe(200);
    await w.settleDown();
    expect([(await delivery(payment)).status, (await readChat(chat)).members]).toEqual(['revoked', []]);
  });

  it('the person is removed although the bot may not revoke the invitation, which a retry revokes', async () => {
    const { chat, user, membershipId, payment, link } = await inside();
    await w.happens('telegram', { event: 'bot_uninviting', chat });
    await w.lapse(membershipId);
    await w.settleDown();
    expect((await readChat(chat)).members).not.toContain(user);
    expect(await delivery(payment)).toMatchObject({
      status: 'failed',
      invite_url: link,
      last_error: '400 Bad Request: not enough rights to manage chat invite link',
    });
    await w.happens('telegram', { event: 'bot_back', chat });
    await retry(membershipId);
    await w.settleDown();
    const { invites, banned } = await readChat(chat);
    expect([(await delivery(payment)).status, invites.map(({ isRevoked }) => isRevoked), banned]).toEqual(['revoked', [true], []]);
  });

  it('the invitation is revoked although the bot may not ban', async () => {
    const { chat, membershipId, payment } = await inside();
    await w.happens('telegram', { event: 'bot_unbanning', chat });
    await w.lapse(membershipId);
    await w.settleDown();
    expect((await readChat(chat)).invites.map(({ isRevoked }) => isRevoked)).toEqual([true]);
    expect((await delivery(payment)).status).toBe('failed');
  });

  it('a member of a basic group is removed without a ban and delivered again', async () => {
    const { chat, club, user, buyer, membershipId, payment } = await inside('-4000001');
    await w.lapse(membershipId);
    await w.settleDown();
    expect([(await delivery(payment)).status, (await readChat(chat)).members]).toEqual(['revoked', []]);
    await w.join(club, user, { buyer });
    await w.settleDown();
    expect((await delivery(payment)).status).toBe('delivered');
  });

  it('deliveries and revocations follow a group that became a supergroup', async () => {
    const { chat, club, user, membershipId, payment } = await inside('-4000002');
    const since = '-1004000002';
    await w.happens('telegram', { event: 'upgrades', chat, to: since });
    const later = await w.join(club, `${user}1`);
    await w.settleDown();
    const { status, invite_url } = await delivery(later.payment);
    expect([status, (await readChat(since)).invites.at(-1)!.link]).toEqual(['delivered', invite_url]);
    await w.lapse(membershipId);
    await w.settleDown();
    const { members, banned, invites } = await readChat(since);
    expect([(await delivery(payment)).status, members, banned, invites[0]!.isRevoked]).toEqual(['revoked', [], [], true]);
  });

  it('a pause longer than the retry delay postpones the next attempt', async () => {
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
    // A row that becomes due during the pause makes no call and counts no attempt.
    const before = (await w.telegram()).calls.length;
    await w.due();
    expect([(await w.telegram()).calls.length, (await delivery(payment)).attempts]).toEqual([before, 1]);
  });
});
