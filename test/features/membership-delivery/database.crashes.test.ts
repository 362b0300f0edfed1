import { beforeAll, describe, expect, it } from 'vitest';
import type { Job } from '#platform/context.ts';
import { withFaults, withRival } from '../../support/faults/faults.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { MembersWorld } from '../../support/people/members.ts';
import type { HeldPlacement } from '../../support/runner/invocation.ts';
import type { Merchant } from '../../support/world.ts';

const CHAT = '-7001';

describe('membership delivery with a failing database', () => {
  const w = new MembersWorld();
  let ada: Merchant;
  let club: { product_id: string; slug: string };
  let people = 7000;
  beforeAll(async () => {
    ada = await w.merchant();
    await w.claim(ada, 'telegram', CHAT);
    club = await w.club(ada, { provider: 'telegram', chat_id: CHAT }, { grace_hours: 0 });
  });

  const count = async (type: string, membershipId: string) =>
    (await prepareOnEvents(w.env.DB, 'SELECT count(*) AS n FROM events WHERE type = ? AND membership_id = ?')
      .bind(type, membershipId)
      .first<number>('n'))!;
  const delivery = async (payment: { payment_id: string }) => (await w.member(ada, payment.payment_id)).delivery;
  const readLinks = async (user: string) =>
    (await w.telegram()).messages.filter(({ to }) => to === user).map(({ text }) => text.split('\n')[1]!);

  /** Fails every round trip from number `from` on, before or after its work, as if the process had died there. */
  const cut = (how: 'before' | 'after', from: number) => withFaults(w.env, { [how]: ({ number }: { number: number }) => number >= from });
  /** Handles events and then deliveries with a failing database. Returns whether a fault occurred. Remaining messages are lost. */
  async function dieAt(how: 'before' | 'after', from: number, jobs: Job[], messages: HeldPlacement[]): Promise<boolean> {
    const { env, trips } = cut(how, from);
    if (jobs.length > 0) await w.deliver(jobs, env);
    await w.target([...messages, ...w.placements.splice(0)], env);
    w.queue.sent.length = 0;
    w.placements.length = 0;
    return trips.length >= from;
  }
  async function recover(): Promise<void> {
    await w.env.DB.prepare('UPDATE acts SET created_at = created_at - 3600000 WHERE fanned_out_at IS NULL').run();
    await w.sweepAlone('fanOut');
    await w.settleDown();
    for (let i = 0; i < 3; i++) await w.due();
  }

  it.each(['before', 'after'] as const)(
    'a delivery is granted once and revoked once if any round trip is the last, cut %s the work',
    async (how) => {
      let isCut = true;
      for (let from = 1; isCut; from++) {
        const user = String(++people);
        const { payment, membershipId } = await w.join(club, user);
        isCut = await dieAt(
          how,
          from,
          w.queue.sent.splice(0).map(({ job }) => job),
          [],
        );
        await recover();
        const { status, invite_url } = await delivery(payment);
        expect([from, status]).toEqual([from, 'delivered']);
        expect([from, new Set(await readLinks(user))]).toEqual([from, new Set([invite_url])]);
        expect([from, await count('delivery.succeeded', membershipId)]).toEqual([from, 1]);
        await w.happens('telegram', { event: 'uses', link: invite_url, user });
        await w.lapse(membershipId);
        await dieAt(
          how,
          from,
          w.queue.sent.splice(0).map(({ job }) => job),
          [],
        );
        await recover();
        const chat = (await w.telegram()).chats.find(({ id }) => id === CHAT)!;
        expect([from, chat.members.includes(user), chat.banned, (await delivery(payment)).status]).toEqual([from, false, [], 'revoked']);
        expect([from, chat.invites.find(({ link }) => link === invite_url)!.isRevoked]).toEqual([from, true]);
        expect([from, await count('membership.access_revoked', membershipId)]).toEqual([from, 1]);
      }
    },
  );

  it('a delivery is revoked if its access ends during the invitation', async () => {
    const { payment, membershipId } = await w.join(club, String(++people));
    await w.deliver();
    let isFirst = true;
    // The membership ends between the lease of the attempt and its record.
    const env = withRival(w.env, async () => {
      if (!isFirst) return;
      isFirst = false;
      await w.lapse(membershipId);
      await w.deliver();
    });
    await w.target(undefined, env);
    await w.settleDown();
    for (let i = 0; i < 2; i++) await w.due();
    expect((await delivery(payment)).status).toBe('revoked');
    expect(await count('membership.access_revoked', membershipId)).toBe(1);
  });
});
