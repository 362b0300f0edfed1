import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { MembersWorld } from '../../support/people/members.ts';
import { testEnv } from '../../support/runner/env.ts';
import type { Merchant } from '../../support/world.ts';

const CHAT = '-1005001';

describe('membership delivery racing a platform call', () => {
  const w = new MembersWorld();
  let ada: Merchant;
  let club: { product_id: string; slug: string };
  let other: { product_id: string; slug: string };
  let people = 5000;
  beforeAll(async () => {
    ada = await w.merchant();
    await w.claim(ada, 'telegram', CHAT);
    club = await w.club(ada, { provider: 'telegram', chat_id: CHAT }, { grace_hours: 0 });
    other = await w.club(ada, { provider: 'telegram', chat_id: CHAT }, { grace_hours: 0 });
  });
  afterEach(() => vi.restoreAllMocks());

  const delivery = async (payment: { payment_id: string }) => (await w.member(ada, payment.payment_id)).delivery;
  const chat = async () => (await w.telegram()).chats.find(({ id }) => id === CHAT)!;
  const readTypes = async (membershipId: string) =>
    (
      await prepareOnEvents(testEnv.DB, 'SELECT type FROM events WHERE membership_id = ? ORDER BY subject_version')
        .bind(membershipId)
        .all<{ type: string }>()
    ).results
      .map(({ type }) => type)
      .filter((type) => /^delivery|access_revoked/.test(type));

  function around(name: string, when: 'before' | 'after', rival: () => Promise<unknown>): void {
    const real = globalThis.fetch;
    const spy = vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      if (!String(input).endsWith(`/${name}`)) return real(input, init);
      spy.mockRestore();
      if (when === 'before') await rival();
      const answer = await real(input, init);
      if (when === 'after') await rival();
      return answer;
    });
  }

  async function inside(user: string) {
    const buyer = (await w.chain.wallet()) as never;
    const bought = await w.join(club, user, { buyer });
    await w.settleDown();
    await w.happens('telegram', { event: 'uses', link: (await delivery(bought.payment)).invite_url, user });
    return { ...bought, buyer };
  }

  it('a new membership during a ban waits for the revocation and is then delivered', async () => {
    const user = String(++people);
    const { payment, membershipId } = await inside(user);
    await w.lapse(membershipId);
    await w.deliver();
    let second = payment;
    around('banChatMember', 'before', async () => {
      second = (await w.join(other, user)).payment;
      await w.deliver();
      await w.target();
      const { invite_url: link } = await delivery(second);
      if (link) await w.happens('telegram', { event: 'uses', link, user });
    });
    await w.settleDown();
    await w.due();
    expect([(await delivery(payment)).status, (await delivery(second)).status]).toEqual(['revoked', 'delivered']);
    await w.happens('telegram', { event: 'uses', link: (await delivery(second)).invite_url, user });
    const { members, banned } = await chat();
    expect([members.includes(user), banned]).toEqual([true, []]);
  });

  it('a ban with a lost answer is lifted for a person with another membership', async () => {
    const user = String(++people);
    const { payment, membershipId } = await inside(user);
    await w.fault('telegram', { call: 'banChatMember', kind: 'lost' });
    await w.lapse(membershipId);
    await w.settleDown();
    expect((await chat()).banned).toEqual([user]);
    const { payment: second } = await w.join(other, user);
    await w.settleDown();
    await w.due();
    expect([(await delivery(payment)).status, (await chat()).banned]).toEqual(['revoked', []]);
    await w.happens('telegram', { event: 'uses', link: (await delivery(second)).invite_url, user });
    expect((await chat()).members).toContain(user);
  });

  it('a renewal during a failing attempt is delivered', async () => {
    const user = String(++people);
    await w.happens('telegram', { event: 'never_started', user });
    const buyer = (await w.chain.wallet()) as never;
    const { payment } = await w.join(club, user, { buyer });
    await w.deliver();
    around('sendMessage', 'after', async () => {
      await w.happens('telegram', { event: 'starts', user });
      await w.join(club, user, { buyer });
      await w.deliver();
    });
    await w.settleDown();
    expect((await delivery(payment)).status).toBe('delivered');
  });

  it('a delivery is revoked by later attempts if its access ends during a failing attempt', async () => {
    const user = String(++people);
    await w.happens('telegram', { event: 'never_started', user });
    const { payment, membershipId } = await w.join(club, user);
    await w.deliver();
    around('sendMessage', 'after', async () => {
      await w.lapse(membershipId);
      await w.deliver();
    });
    await w.target();
    await w.fault('telegram', { call: 'revokeChatInviteLink', kind: 'broken' });
    expect(await w.target()).toEqual({ retried: 0 });
    expect(await delivery(payment)).toMatchObject({ status: 'pending', attempts: 1 });
    await w.due();
    expect([(await delivery(payment)).status, await readTypes(membershipId)]).toEqual([
      'revoked',
      ['delivery.failed', 'membership.access_revoked'],
    ]);
  });

  it('membership.access_revoked is emitted although the person renewed before the removal was recorded', async () => {
    const user = String(++people);
    const { payment, membershipId, buyer } = await inside(user);
    await w.lapse(membershipId);
    await w.deliver();
    around('unbanChatMember', 'after', async () => {
      await w.join(club, user, { buyer });
      await w.deliver();
    });
    await w.settleDown();
    expect((await delivery(payment)).status).toBe('delivered');
    expect(await readTypes(membershipId)).toEqual(['delivery.succeeded', 'membership.access_revoked', 'delivery.succeeded']);
  });

  it('an invitation that could not be stored because of another lease is not sent', async () => {
    const user = String(++people);
    const { payment, membershipId } = await w.join(club, user);
    await w.deliver();
    around('createChatInviteLink', 'after', () =>
      testEnv.DB.prepare('UPDATE placements SET lease_until = lease_until + 1 WHERE membership_id = ?').bind(membershipId).run(),
    );
    expect(await w.target()).toEqual({ retried: 1 });
    expect((await w.telegram()).messages.filter(({ to }) => to === user)).toEqual([]);
    await w.due();
    const { status, invite_url } = await delivery(payment);
    expect([status, (await w.telegram()).messages.filter(({ to }) => to === user).map(({ text }) => text)]).toEqual([
      'delivered',
      [`The club\n${invite_url}`],
    ]);
  });
});
