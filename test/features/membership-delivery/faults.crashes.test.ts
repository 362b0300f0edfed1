import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Fault } from '../../../local/outside/messaging.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { MembersWorld } from '../../support/people/members.ts';
import type { Merchant } from '../../support/world.ts';

const CHAT = '-2001';

describe('Telegram delivery with a faulty platform', () => {
  const w = new MembersWorld();
  let ada: Merchant;
  let club: { product_id: string; slug: string };
  let people = 2000;
  let user: string;
  beforeAll(async () => {
    ada = await w.merchant();
    await w.claim(ada, 'telegram', CHAT);
    club = await w.club(ada, { provider: 'telegram', chat_id: CHAT }, { grace_hours: 0 });
  });
  beforeEach(() => {
    user = String(++people);
  });
  afterEach(() => void vi.restoreAllMocks());

  const messages = async () => (await w.telegram()).messages.filter(({ to }) => to === user).map(({ text }) => text);
  const invites = async () => (await w.telegram()).chats.find(({ id }) => id === CHAT)?.invites ?? [];
  const delivery = async (payment: { payment_id: string }) => (await w.member(ada, payment.payment_id)).delivery;
  const count = async (type: string, membershipId: string) =>
    (await prepareOnEvents(w.env.DB, 'SELECT count(*) AS n FROM events WHERE type = ? AND membership_id = ?')
      .bind(type, membershipId)
      .first<number>('n'))!;

  it.each<[string, Fault, number]>([
    ['asks for a moment', { call: 'createChatInviteLink', kind: 'busy', retryAfter: 1 }, 1],
    ['is broken for a moment', { call: 'createChatInviteLink', kind: 'broken' }, 1],
    ['does not answer the message, having sent it', { call: 'sendMessage', kind: 'lost' }, 2],
    ['is broken between link and message', { call: 'sendMessage', kind: 'broken' }, 1],
    ['hangs up before anything is done', { call: 'createChatInviteLink', kind: 'down' }, 1],
  ])('a delivery makes one invitation if the platform %s', async (_what, fault, messageCount) => {
    const before = (await invites()).length;
    await w.fault('telegram', fault);
    const { payment, membershipId } = await w.join(club, user);
    await w.settleDown();
    expect(await delivery(payment)).toMatchObject({ status: 'pending', attempts: 1, last_error: expect.any(String) });
    expect((await w.call('GET', `/v1/payments/${payment.payment_id}`)).body.status).toBe('CONFIRMED');
    await w.due();
    const { status, attempts, invite_url } = await delivery(payment);
    expect([status, attempts]).toEqual(['delivered', 2]);
    // A message with a lost answer is sent again with the same invitation.
    expect(await messages()).toEqual(Array(messageCount).fill(`The club\n${invite_url}`));
    expect((await invites()).length - before).toBe(1);
    expect([await count('delivery.succeeded', membershipId), await count('delivery.failed', membershipId)]).toEqual([1, 0]);
  });

  it.each([
    ['invitation', 'createChatInviteLink', false, 1, 1],
    ['invitation, which it made', 'createChatInviteLink', true, 2, 1],
    ['message', 'sendMessage', false, 1, 1],
    ['message, which it sent', 'sendMessage', true, 1, 2],
  ])('a delivery is retried later if the platform never answers the %s', async (_what, call, isDone, made, messageCount) => {
    const before = (await invites()).length;
    const { payment } = await w.join(club, user);
    await w.deliver();
    const network = globalThis.fetch;
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      if (!String(input).endsWith(`/${call}`)) return network(input, init);
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
    const { status, attempts, invite_url } = await delivery(payment);
    expect([status, attempts]).toEqual(['delivered', 2]);
    // An invitation with a lost answer is never sent. The buyer gets the stored one.
    expect(await messages()).toEqual(Array(messageCount).fill(`The club\n${invite_url}`));
    expect((await invites()).length - before).toBe(made);
  });

  it('a lost answer leaves at most one live invitation, and none once access has ended', async () => {
    const before = (await invites()).length;
    await w.fault('telegram', { call: 'createChatInviteLink', kind: 'lost' });
    const { payment, membershipId } = await w.join(club, user);
    await w.settleDown();
    await w.due();
    const { invite_url } = await delivery(payment);
    expect((await invites()).length - before).toBe(2);
    expect(await messages()).toEqual([`The club\n${invite_url}`]);
    await w.lapse(membershipId);
    await w.settleDown();
    expect((await invites()).find(({ link }) => link === invite_url)!.isRevoked).toBe(true);
  });

  it.each<[string, Record<string, string>, RegExp]>([
    ['the buyer never started the bot', { event: 'never_started' }, /403 .*initiate conversation/],
    ['the buyer blocked the bot', { event: 'blocks' }, /403 .*blocked/],
  ])('a delivery fails once if %s, the page still shows the invitation, and a retry delivers', async (_why, change, error) => {
    await w.happens('telegram', { ...change, user });
    const { payment, membershipId, session } = await w.join(club, user);
    await w.settleDown();
    const failed = await delivery(payment);
    expect([failed.status, failed.attempts]).toEqual(['failed', 1]);
    expect(failed.last_error).toMatch(error);
    await w.due();
    expect([await count('delivery.failed', membershipId), (await delivery(payment)).attempts]).toEqual([1, 1]);
    const page = await w.call('GET', `/v1/payments/${payment.payment_id}`, { headers: { 'X-Svc-Identity-Session': session } });
    expect(page.body.delivery).toEqual({ status: 'failed', invite_url: failed.invite_url, last_error: failed.last_error });
    await w.happens('telegram', { event: 'starts', user });
    const retry = () => w.call('POST', `/v1/memberships/${membershipId}/retry-delivery`, { key: ada.key });
    expect((await retry()).body.delivery).toMatchObject({ status: 'pending', attempts: 0 });
    expect((await retry()).status).toBe(200);
    if (change.event === 'blocks') return;
    await w.settleDown();
    expect((await delivery(payment)).status).toBe('delivered');
    expect((await retry()).body.delivery.status).toBe('delivered');
    expect(await messages()).toHaveLength(1);
  });

  it('a delivery is retried after 1, 5 and 30 minutes, 2 and 12 hours, and then fails', async () => {
    const { payment, membershipId } = await w.join(club, user);
    const waits: number[] = [];
    await w.deliver();
    for (let attempt = 1; attempt <= 6; attempt++) {
      await w.fault('telegram', { call: attempt === 1 ? 'createChatInviteLink' : 'createChat', kind: 'broken' });
      const asked = Date.now();
      if (attempt === 1) await w.settleDown();
      else await w.due();
      const next = await w.env.DB.prepare('SELECT next_attempt_at AS at FROM placements WHERE membership_id = ?')
        .bind(membershipId)
        .first<number>('at');
      if (next !== null) waits.push(Math.round((next - asked) / 60_000));
    }
    expect(waits).toEqual([1, 5, 30, 120, 720]);
    expect(await delivery(payment)).toMatchObject({ status: 'failed', attempts: 6 });
    expect(await count('delivery.failed', membershipId)).toBe(1);
  });

  it.each<[string, Fault]>([
    ['the revoked link', { call: 'revokeChatInviteLink', kind: 'lost' }],
    ['the ban', { call: 'banChatMember', kind: 'lost' }],
    ['the end of the ban', { call: 'unbanChatMember', kind: 'broken' }],
  ])('a revocation finishes although the answer to %s was lost and the member renewed in between', async (_step, fault) => {
    const buyer = (await w.chain.wallet()) as never;
    const { payment, membershipId } = await w.join(club, user, { buyer });
    await w.settleDown();
    await w.fault('telegram', fault);
    await w.lapse(membershipId);
    await w.settleDown();
    expect((await delivery(payment)).status).toBe('delivered');
    await w.join(club, user, { buyer });
    await w.settleDown();
    await w.due();
    expect((await delivery(payment)).status).toBe('delivered');
    const chat = (await w.telegram()).chats.find(({ id }) => id === CHAT)!;
    expect(chat.banned).not.toContain(user);
    const links = (await messages()).map((text) => text.split('\n')[1]!);
    expect(links).toHaveLength(2);
    const open = chat.invites.filter(({ link, isRevoked }) => links.includes(link) && !isRevoked);
    expect(open.map(({ link }) => link)).toEqual([links[1]]);
  });

  it('eight concurrent messages make one attempt', async () => {
    const { membershipId } = await w.join(club, user);
    await w.deliver();
    const message = w.placements.splice(0)[0]!;
    await w.target(Array.from({ length: 8 }, () => message));
    expect(await messages()).toHaveLength(1);
    expect(await count('delivery.succeeded', membershipId)).toBe(1);
  });

  it('the sweep finds a delivery after its message was lost, and after its attempt crashed', async () => {
    const { payment, membershipId } = await w.join(club, user);
    await w.deliver();
    w.placements.length = 0;
    await w.env.DB.prepare('UPDATE placements SET lease_until = ? WHERE membership_id = ?')
      .bind(Date.now() + 60_000, membershipId)
      .run();
    await w.sweepAlone('placements');
    expect(w.placements).toEqual([]);
    await w.due();
    expect((await delivery(payment)).status).toBe('delivered');
  });

  it('a delivery fails with the platform’s error if the bot was removed', async () => {
    await w.happens('telegram', { event: 'bot_kicked', chat: CHAT });
    const { payment } = await w.join(club, user);
    await w.settleDown();
    const { status, last_error } = await delivery(payment);
    expect([status, last_error]).toEqual(['failed', '403 Forbidden: bot was kicked from the supergroup chat']);
    await w.happens('telegram', { event: 'bot_demoted', chat: CHAT });
    const other = await w.join(club, `${people}9`);
    await w.settleDown();
    expect((await delivery(other.payment)).last_error).toMatch(/400 Bad Request: not enough rights/);
    await w.happens('telegram', { event: 'bot_back', chat: CHAT });
  });
});
