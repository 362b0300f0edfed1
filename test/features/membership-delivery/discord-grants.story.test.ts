import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { MembersWorld } from '../../support/people/members.ts';
import type { Merchant } from '../../support/world.ts';

const GUILD = '810000000000000002';
const ROLE = '820000000000000002';
const CHANNEL = '830000000000000002';

describe('Discord role delivery', () => {
  const w = new MembersWorld();
  let ada: Merchant;
  let club: { product_id: string; slug: string };
  beforeAll(async () => {
    ada = await w.merchant();
    await w.claim(ada, 'discord', GUILD);
    await w.happens('discord', { event: 'has_channel', channel: CHANNEL, guild: GUILD });
    club = await w.club(ada, { provider: 'discord', guild_id: GUILD, role_id: ROLE, channel_id: CHANNEL }, { grace_hours: 0 });
  });
  afterEach(() => void vi.restoreAllMocks());

  const readRoles = async (user: string) =>
    (await w.discord()).guilds.find(({ id }) => id === GUILD)?.members.find((member) => member.user === user)?.roles;
  const delivery = async (payment: { payment_id: string }) => (await w.member(ada, payment.payment_id)).delivery;
  const join = (user: string, rest: object = {}) => w.join(club, user, { provider: 'discord', ...rest });

  it.each([
    ['before it did what was asked', false],
    ['after it did', true],
  ])('a grant that timed out %s is retried and given once', async (_, isDone) => {
    const user = isDone ? '331' : '332';
    await w.happens('discord', { event: 'joins', guild: GUILD, user });
    const { payment } = await join(user);
    const network = globalThis.fetch;
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      if (!String(input).includes(`/members/${user}/roles/`)) return network(input, init);
      if (isDone) await network(input, init);
      throw new DOMException('too long', 'TimeoutError');
    });
    await w.settleDown();
    vi.restoreAllMocks();
    expect(await delivery(payment)).toMatchObject({ status: 'pending', attempts: 1, last_error: 'timeout' });
    const next = await w.env.DB.prepare('SELECT next_attempt_at AS at FROM placements WHERE payment_id = ?')
      .bind(payment.payment_id)
      .first<number>('at');
    expect(next! - Date.now()).toBeGreaterThan(50_000);
    await w.due();
    expect([(await delivery(payment)).status, await readRoles(user)]).toEqual(['delivered', [ROLE]]);
  });

  describe('Discord role delivery with an OAuth grant', () => {
    const grant = (user: string, expiresIn = 600_000) => ({
      shown: { grant: { access_token: `token-of-${user}`, expires_at: new Date(Date.now() + expiresIn).toISOString() } },
    });
    const granted = async (user: string) =>
      (await w.env.DB.prepare('SELECT grant_sealed AS g FROM identity_sessions WHERE provider_user_id = ?')
        .bind(user)
        .first<string | null>('g'))!;

    it('a buyer outside the guild is added without an invitation, and the sealed token is used once and erased', async () => {
      const before = (await w.discord()).invites.length;
      const { payment } = await join('311', grant('311'));
      const sealed = await granted('311');
      expect([typeof sealed, sealed.includes('token-of')]).toEqual(['string', false]);
      await w.settleDown();
      expect(await delivery(payment)).toMatchObject({ status: 'delivered', attempts: 1 });
      expect([await readRoles('311'), (await w.discord()).invites.length, await granted('311')]).toEqual([[ROLE], before, null]);
    });

    it('a refused or expired token falls back to an invitation', async () => {
      for (const [user, given] of [
        ['312', { shown: { grant: { ...grant('312').shown.grant, access_token: 'withdrawn' } } }],
        ['313', grant('313', -1000)],
      ] as const) {
        const { payment } = await join(user, given);
        await w.settleDown();
        expect([user, await delivery(payment)]).toMatchObject([
          user,
          { status: 'pending', last_error: 'not_a_member', invite_url: expect.any(String) },
        ]);
        await w.happens('discord', { event: 'joins', guild: GUILD, user });
        await w.due();
        expect((await delivery(payment)).status).toBe('delivered');
      }
    });

    it('the token is retained for the next attempt while the platform is down', async () => {
      await w.fault('discord', { kind: 'broken' });
      const { payment } = await join('314', grant('314'));
      await w.settleDown();
      expect([(await delivery(payment)).status, typeof (await granted('314'))]).toEqual(['pending', 'string']);
      await w.due();
      expect([(await delivery(payment)).status, await granted('314')]).toEqual(['delivered', null]);
    });

    it('a token is not used for another merchant’s purchase and appears in no answer', async () => {
      const eve = await w.merchant();
      await w.claim(eve, 'discord', '810000000000000009');
      const rival = await w.club(eve, { provider: 'discord', guild_id: '810000000000000009', role_id: ROLE });
      const session = await w.identified(club, '315', 'discord', grant('315').shown);
      const { payment } = await w.join(rival, '315', { provider: 'discord' });
      await w.settleDown();
      const { delivery: there } = await w.member(eve, payment.payment_id);
      expect([there.status, there.last_error]).toEqual(['pending', 'not_a_member']);
      const again = await w.connector('discord', 'identity', { identity_session_id: session, provider_user_id: '315', username: 'bea' });
      expect([again.status, JSON.stringify(again.body).includes('token-of')]).toEqual([200, false]);
    });
  });
});
