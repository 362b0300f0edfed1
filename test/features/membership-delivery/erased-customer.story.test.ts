import { describe, expect, it } from 'vitest';
import { customerIdOf } from '#core/ids.ts';
import { watchCopy } from '../../support/people/entitlement-copy.ts';
import { completeErasures, findWord } from '../../support/people/erased-customer.ts';
import { MembersWorld } from '../../support/people/members.ts';
import { testEnv } from '../../support/runner/env.ts';

describe('membership delivery of an erased customer', () => {
  async function member(chat: string, user: string) {
    const w = new MembersWorld();
    const ada = await w.merchant();
    await w.claim(ada, 'telegram', chat);
    const club = await w.club(ada, { provider: 'telegram', chat_id: chat }, { grace_hours: 0 });
    const storeCopy = await watchCopy(w, ada, club.product_id, { customerRef: 'member-1' });
    await w.join(club, user, { input: { customer_ref: 'member-1' } });
    await w.settleDown();
    for (let round = 0; round < 3; round++) {
      await storeCopy();
      await w.settleDown();
    }
    await w.sweepAlone('analytics');
    expect(await findWord(user)).not.toEqual([]);
    const id = customerIdOf(ada.userId, true, { customerRef: 'member-1' });
    const erase = async () => {
      const { status } = await w.call('POST', `/v1/customers/${id}/erase`, { key: ada.token, body: { end_access: true } });
      expect(status).toBe(202);
      await w.settleDown();
    };
    const readInvites = async () => (await w.telegram()).chats.find((one) => one.id === chat)!.invites;
    return { w, chat, erase, readInvites };
  }

  it('the platform takes the member out, then identity and invitation are erased', async () => {
    const user = '430000000000002';
    const { w, erase, readInvites } = await member('-1430000000000001', user);
    await erase();
    await completeErasures(w);
    await w.settleDown();
    await w.due();
    expect(await findWord(user)).toEqual([]);
    expect(await findWord('member-1')).toEqual([]);
    expect((await readInvites()).every(({ isRevoked }) => isRevoked)).toBe(true);
  });

  it('access at a platform that does not answer in time is taken after the erasure, and then forgotten', async () => {
    const user = '430000000000004';
    const { w, erase, readInvites } = await member('-1430000000000003', user);
    await testEnv.DB.prepare('UPDATE placements SET lease_until = 9e15').run();
    await erase();
    await testEnv.DB.prepare('UPDATE placements SET next_attempt_at = 9e15').run();
    await completeErasures(w);
    expect(await findWord('member-1')).toEqual([]);
    expect(await findWord(user)).toEqual(['placements.grant', 'placements.grant_key']);
    await w.due();
    expect([await findWord(user), (await readInvites()).every(({ isRevoked }) => isRevoked)]).toEqual([[], true]);
  });

  it('a platform that refuses until the end of the schedule leaves nothing of the customer', async () => {
    const user = '430000000000006';
    const { w, chat, erase } = await member('-1430000000000005', user);
    await testEnv.DB.prepare('UPDATE placements SET lease_until = 9e15').run();
    await erase();
    await testEnv.DB.prepare('UPDATE placements SET next_attempt_at = 9e15').run();
    await completeErasures(w);
    await w.happens('telegram', { event: 'bot_kicked', chat });
    for (let attempt = 0; attempt < 12; attempt++) await w.due();
    expect(await findWord(user)).toEqual([]);
  });
});
