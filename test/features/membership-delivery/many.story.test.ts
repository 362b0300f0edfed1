// @module-tag volume
import { afterEach, describe, expect, it, vi } from 'vitest';
import { attemptPlacement } from '#features/membership-delivery/attempt.ts';
import { newCtx } from '#platform/context.ts';
import { Pace } from '#platform/providers/messaging/pace.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { MembersWorld } from '../../support/people/members.ts';
import { SOAK, testEnv } from '../../support/runner/env.ts';

const CHAT = '-9001';
const MEMBERS = SOAK > 1 ? 10_000 : 300;
/** Telegram's limit. */
const CALLS_PER_SECOND = 30;

const busiest = (moments: number[]): number => {
  const sorted = [...moments].sort((one, other) => one - other);
  return Math.max(...sorted.map((from) => sorted.filter((at) => at >= from && at < from + 1000).length));
};

describe(`${MEMBERS} memberships that lapse at once`, () => {
  afterEach(() => vi.restoreAllMocks());

  it('all are revoked in order, within the platform’s limit of calls per second', async () => {
    const w = new MembersWorld();
    const ada = await w.merchant();
    await w.claim(ada, 'telegram', CHAT);
    const club = await w.club(ada, { provider: 'telegram', chat_id: CHAT }, { grace_hours: 0 });
    const { membershipId } = await w.join(club, '9000');
    await w.settleDown();
    const copies = async (table: string, changed: Record<string, string>) => {
      const { results } = await testEnv.DB.prepare(`SELECT name FROM pragma_table_info('${table}')`).all<{ name: string }>();
      const names = results.map(({ name }) => name);
      const id = table === 'placements' ? 'membership_id' : 'id';
      const values = names.map((name) => changed[name] ?? (name === id ? "'m' || printf('%08d', n)" : `t.${name}`));
      await testEnv.DB.prepare(
        `WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ${MEMBERS})
          INSERT INTO ${table} (${names.join()}) SELECT ${values.join()} FROM c, ${table} t WHERE t.${id} = '${membershipId}'`,
      ).run();
    };
    const person = '9100000 + n';
    await copies('memberships', {
      customer_key: "'ref:m' || n",
      deliver_to: `json_set(t.deliver_to, '$.identity.providerUserId', CAST(${person} AS TEXT))`,
    });
    await copies('placements', {
      grant: `json_set(t."grant", '$.providerUserId', CAST(${person} AS TEXT))`,
      grant_key: `'telegram:${CHAT}:' || (${person})`,
      invite_url: "'https://t.me/+' || n",
    });
    await testEnv.DB.prepare("UPDATE memberships SET paid_through = 1 WHERE id LIKE 'm%'").run();
    await w.sweepAlone('memberships');
    await w.deliver();
    const due = w.placements.splice(0);
    expect(new Set(due.map(({ membershipId: id }) => id)).size).toBe(MEMBERS);

    // Simulated clock: the platform answers at once, and waits advance only the clock.
    let now = Date.now();
    const calls: { at: number; method: string; user: string }[] = [];
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      const body = JSON.parse(String(init?.body));
      calls.push({ at: now, method: String(input).split('/').at(-1)!, user: String(body.user_id ?? body.invite_link) });
      return Response.json({ ok: true, result: true });
    });
    const pace = new Pace(async (ms) => {
      now += ms;
    });
    for (let from = 0; from < due.length; from += 10) {
      const batch = due.slice(from, from + 10);
      await Promise.all(
        batch.map(({ membershipId: id }) => {
          const ctx = newCtx(w.env, { requestId: 'req_many', kind: 'attempt', now: Math.max(now, Date.now()), defer: () => {} });
          return attemptPlacement({ ...ctx, elapsedMs: () => Math.max(0, now - ctx.wallNow), leftMs: () => 30_000 }, id, pace);
        }),
      );
    }
    const left = await testEnv.DB.prepare(
      "SELECT count(*) AS n FROM placements WHERE membership_id LIKE 'm%' AND status <> 'revoked'",
    ).first<number>('n');
    expect(left).toBe(0);
    expect(calls.length).toBe(MEMBERS * 3);
    expect(busiest(calls.map(({ at }) => at).slice(0, 3000))).toBeLessThanOrEqual(CALLS_PER_SECOND);
    const ofOne = (user: string) => calls.filter((call) => call.user === user).map(({ method }) => method);
    for (const n of [1, 2, MEMBERS]) expect(ofOne(String(9_100_000 + n))).toEqual(['banChatMember', 'unbanChatMember']);
    const events = await prepareOnEvents(
      testEnv.DB,
      "SELECT count(*) AS n FROM events WHERE type = 'membership.access_revoked' AND membership_id LIKE 'm%'",
    ).first<number>('n');
    expect(events).toBe(MEMBERS);
  });

  it('twenty deliveries stay within the platform’s rate limit by its own clock', async () => {
    const w = new MembersWorld();
    const ada = await w.merchant();
    await w.claim(ada, 'telegram', '-9002');
    const club = await w.club(ada, { provider: 'telegram', chat_id: '-9002' });
    const sessions = await Promise.all(Array.from({ length: 20 }, (_, i) => w.join(club, String(9500 + i))));
    await w.deliver();
    await w.target();
    const { calls, messages } = await w.telegram();
    expect(messages).toHaveLength(sessions.length);
    expect(busiest(calls.map(({ at }) => at))).toBeLessThanOrEqual(CALLS_PER_SECOND);
  });
});
