import { describe, expect, it } from 'vitest';
import { customerIdOf } from '#core/ids.ts';
import { watchCopy } from '../../support/people/entitlement-copy.ts';
import { completeErasures, findWord } from '../../support/people/erased-customer.ts';
import { MembersWorld } from '../../support/people/members.ts';

describe('membership delivery of an erased customer', () => {
  it('the platform takes the member out, then identity and invitation are erased', async () => {
    const w = new MembersWorld();
    const ada = await w.merchant();
    const [chat, user] = ['-1430000000000001', '430000000000002'];
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
    const { status } = await w.call('POST', `/v1/customers/${id}/erase`, { key: ada.token, body: { end_access: true } });
    expect(status).toBe(202);
    await w.settleDown();
    await completeErasures(w);
    await w.settleDown();
    await w.due();
    expect(await findWord(user)).toEqual([]);
    expect(await findWord('member-1')).toEqual([]);
    expect((await w.telegram()).chats.find((one) => one.id === chat)!.invites.every(({ isRevoked }) => isRevoked)).toBe(true);
  });
});
