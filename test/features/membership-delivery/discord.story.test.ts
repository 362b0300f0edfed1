import { beforeAll, describe, expect, it } from 'vitest';
import { MembersWorld } from '../../support/people/members.ts';
import type { Merchant } from '../../support/world.ts';

const GUILD = '810000000000000001';
const ROLE = '820000000000000001';
const CHANNEL = '830000000000000001';

describe('Discord role membership', () => {
  const w = new MembersWorld();
  let ada: Merchant;
  let club: { product_id: string; slug: string };
  beforeAll(async () => {
    ada = await w.merchant();
    await w.claim(ada, 'discord', GUILD);
    await w.happens('discord', { event: 'has_channel', channel: CHANNEL, guild: GUILD });
    club = await w.club(ada, { provider: 'discord', guild_id: GUILD, role_id: ROLE, channel_id: CHANNEL }, { grace_hours: 0 });
  });

  const readRoles = async (user: string) =>
    (await w.discord()).guilds.find(({ id }) => id === GUILD)?.members.find((member) => member.user === user)?.roles;
  const delivery = async (payment: { payment_id: string }) => (await w.member(ada, payment.payment_id)).delivery;
  const join = (user: string, rest: object = {}) => w.join(club, user, { provider: 'discord', ...rest });

  it('a member gets the role, and loses it but stays in the guild when access ends', async () => {
    await w.happens('discord', { event: 'joins', guild: GUILD, user: '301' });
    const { payment, membershipId } = await join('301');
    await w.settleDown();
    expect(await delivery(payment)).toMatchObject({ status: 'delivered', provider: 'discord', attempts: 1 });
    expect(await readRoles('301')).toEqual([ROLE]);
    await w.lapse(membershipId);
    await w.settleDown();
    expect([await readRoles('301'), (await delivery(payment)).status]).toEqual([[], 'revoked']);
  });

  it('a buyer outside the guild is invited and messaged once, and gets the role after joining', async () => {
    const { payment, session } = await join('302');
    await w.settleDown();
    const waiting = await delivery(payment);
    expect(waiting).toMatchObject({
      status: 'pending',
      last_error: 'not_a_member',
      invite_url: expect.stringMatching(/^https:\/\/discord\.gg\//),
    });
    for (let i = 0; i < 8; i++) await w.due();
    expect((await delivery(payment)).status).toBe('pending');
    const { invites, messages } = await w.discord();
    expect([invites.length, messages.filter(({ to }) => to === '302').length]).toEqual([1, 1]);
    const shown = await w.call('GET', `/v1/payments/${payment.payment_id}`, { headers: { 'X-Svc-Identity-Session': session } });
    expect(shown.body.delivery).toEqual({ status: 'pending', invite_url: waiting.invite_url, last_error: 'not_a_member' });
    await w.happens('discord', { event: 'joins', guild: GUILD, user: '302' });
    await w.due();
    expect([(await delivery(payment)).status, await readRoles('302')]).toEqual(['delivered', [ROLE]]);
  });

  it('a buyer with closed messages sees the invitation on the page, and it is deleted when access ends', async () => {
    await w.happens('discord', { event: 'closes_messages', user: '303' });
    const { payment, membershipId } = await join('303');
    await w.settleDown();
    const { status, invite_url } = await delivery(payment);
    expect(status).toBe('pending');
    await w.lapse(membershipId);
    await w.settleDown();
    const code = invite_url.split('/').at(-1);
    expect((await w.discord()).invites.find((one) => one.code === code)!.isDeleted).toBe(true);
    const after = await delivery(payment);
    expect([after.status, after.invite_url]).toEqual(['revoked', undefined]);
  });

  it('the role is removed when access ends although the bot may not delete the invitation, which a retry deletes', async () => {
    const { payment, membershipId } = await join('306');
    await w.settleDown();
    await w.happens('discord', { event: 'joins', guild: GUILD, user: '306' });
    await w.due();
    expect(await readRoles('306')).toEqual([ROLE]);
    await w.happens('discord', { event: 'bot_uninviting', guild: GUILD });
    await w.lapse(membershipId);
    await w.settleDown();
    expect(await readRoles('306')).toEqual([]);
    expect(await delivery(payment)).toMatchObject({
      status: 'failed',
      invite_url: expect.any(String),
      last_error: '403 Missing Permissions',
    });
    await w.happens('discord', { event: 'bot_inviting', guild: GUILD });
    await w.call('POST', `/v1/memberships/${membershipId}/retry-delivery`, { key: ada.key });
    await w.settleDown();
    expect((await delivery(payment)).status).toBe('revoked');
  });

  it('a product can only use a channel of the claimed guild for its invitations', async () => {
    const [theirs, channel] = ['810000000000000009', '830000000000000009'];
    await w.happens('discord', { event: 'has_channel', channel, guild: theirs });
    const target = { provider: 'discord', guild_id: GUILD, role_id: ROLE };
    const sell = (channel_id?: string) =>
      w.call('POST', '/v1/products', {
        key: ada.key,
        body: {
          name: 'X',
          price: { asset: 'USDC', amount: '1' },
          product_type: 'discord',
          delivery: { ...target, ...(channel_id && { channel_id }) },
        },
      });
    for (const wrong of [channel, '830000000000000404']) {
      const { status, body } = await sell(wrong);
      expect([status, body.code, body.meta.reason]).toEqual([409, 'setup_not_ready', 'unclaimed']);
    }
    const { status, body: plain } = await sell();
    expect(status).toBe(201);
    const change = () =>
      w.call('PATCH', `/v1/products/${plain.product_id}`, { key: ada.key, body: { delivery: { ...target, channel_id: channel } } });
    expect((await change()).status).toBe(409);
    await w.fault('discord', { call: 'GET /channels', kind: 'broken' });
    expect((await change()).status).toBe(503);
    // The channel is checked again before each invitation.
    await w.env.DB.prepare("UPDATE products SET delivery = json_set(delivery, '$.channel_id', ?) WHERE id = ?")
      .bind(channel, club.product_id)
      .run();
    const { payment } = await join('307');
    await w.settleDown();
    expect(await delivery(payment)).toMatchObject({ status: 'failed', last_error: 'channel_of_another_guild' });
    expect((await w.discord()).invites.filter((invite) => invite.channel === channel)).toEqual([]);
  });

  it('a product moved from Telegram to Discord delivers through the queue of Discord', async () => {
    await w.claim(ada, 'telegram', '-1003002');
    const moving = await w.club(ada, { provider: 'telegram', chat_id: '-1003002' }, { grace_hours: 0 });
    const buyer = (await w.chain.wallet()) as never;
    const { payment } = await w.join(moving, '308', { buyer });
    await w.settleDown();
    const { invite_url: link } = await delivery(payment);
    await w.happens('telegram', { event: 'uses', link, user: '308' });
    const change = { product_type: 'discord', delivery: { provider: 'discord', guild_id: GUILD, role_id: ROLE } };
    expect((await w.call('PATCH', `/v1/products/${moving.product_id}`, { key: ada.key, body: change })).status).toBe(200);
    await w.happens('discord', { event: 'joins', guild: GUILD, user: '309' });
    await w.join(moving, '309', { buyer, provider: 'discord' });
    const queues: string[] = [];
    for (await w.deliver(); w.placements.length > 0; await w.target()) queues.push(...w.placements.map(({ queue }) => queue));
    expect(queues).toEqual(['svc-telegram', 'svc-discord']);
    expect([(await delivery(payment)).status, await readRoles('309')]).toEqual(['delivered', [ROLE]]);
    expect((await w.telegram()).chats.find(({ id }) => id === '-1003002')!.members).toEqual([]);
  });

  it('a pause requested by Discord delays its deliveries and no delivery at Telegram', async () => {
    await w.claim(ada, 'telegram', '-3001');
    const chat = await w.club(ada, { provider: 'telegram', chat_id: '-3001' });
    await w.happens('discord', { event: 'joins', guild: GUILD, user: '304' });
    await w.fault('discord', { kind: 'busy', retryAfter: 120 });
    const [there, here] = [await join('304'), await w.join(chat, '305')];
    await w.settleDown();
    expect((await delivery(here.payment)).status).toBe('delivered');
    expect(await delivery(there.payment)).toMatchObject({ status: 'pending', last_error: expect.stringMatching(/^429/) });
    const next = await w.env.DB.prepare('SELECT next_attempt_at AS at FROM placements WHERE membership_id = ?')
      .bind(there.membershipId)
      .first<number>('at');
    expect(next! - Date.now()).toBeGreaterThan(110_000);
  });
});
