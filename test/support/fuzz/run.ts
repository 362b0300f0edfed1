import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { CHANNEL_KEYS, fundChannels } from '../chain/live-channel.ts';
import { nameOf, type Target, targets } from '../clients/document.ts';
import { fillTables } from '../fixtures/load-generator.ts';
import { OPERATOR_SECRET, openStaff } from '../people/staff.ts';
import { pullerOf, SUBSCRIPTION_KEYS } from '../people/subscription-shop.ts';
import { openTenant, type Tenant, tracesOf } from '../people/tenant.ts';
import { SOAK, testEnv } from '../runner/env.ts';
import { mailConfig } from '../servers/mail.ts';
import { World } from '../world.ts';
import { madeFor } from './made.ts';
import { asMeant, type Cast, type Plan, plansOf, type Sent, send, told } from './requests.ts';

const SEED = Number(testEnv.TEST_FUZZ_SEED);
/** Over all files of the fuzz: 3,400 requests in a test run, 200,000 in a soak. */
const RUNS = SOAK === 1 ? 40 : Math.ceil((2000 * SOAK) / targets.length);
/** So many are under way together. */
const AT_ONCE = 8;
/** Where a password is hashed on the way. */
const SLOW = /^(?:POST \/v1\/auth\/(?:register|login)|PATCH \/v1\/account\/me\/security)$/;
const SLOW_RUNS = Math.ceil(RUNS / 5);
/** Rows of other merchants in every table: who reads a table to its end reads more than a request may. */
const CROWD = 5000;
const ROWS_MAX = 2000;
/** How much there is to send again decides what these read. */
const UNBOUNDED = new Set(['POST /v1/webhooks/endpoints/{endpoint_id}/recover']);

/** What ends what others need comes last. */
const isLast = ({ method, path }: Target): boolean =>
  method === 'DELETE' || /\/(?:archive|security|logout|approve|rail-settings)/.test(path) || method === 'PATCH';

/** Every route is in exactly one part; each part has a file, and so a world, of its own. */
const PARTS = {
  access: /^\/v1\/access\//,
  sales: /^\/v1\/(?:products|pay|payments|receipts?|memberships)(?:\/|$)/,
  accounts: /^(?!\/v1\/(?:access|products|pay|payments|receipts?|memberships)(?:\/|$))/,
};

/** One test for each route of this part of the document. */
export function fuzzRoutes(part: keyof typeof PARTS): void {
  const chosen = targets.filter(({ path }) => PARTS[part].test(path));
  describe(`whatever a caller sends, from seed ${SEED}`, () => {
    const w = new World({
      RPC_WEBHOOK_SECRET: 'the-secret-of-the-chain-provider',
      ALLOW_INSECURE_WEBHOOKS: 'true',
      CHANNEL_KEYS,
      SUBSCRIPTION_KEYS,
      OPERATOR_SECRET,
      ...mailConfig(),
    });
    let owner: Tenant;
    let stranger: Tenant;
    const traces = new Map<string, string[]>();

    beforeAll(async () => {
      await fundChannels(w);
      await w.chain.call('local_fundSol', pullerOf(w), '1000000000');
      owner = await openTenant(w, 'owner-of-the-shop');
      stranger = await openTenant(w, 'a-stranger-to-it');
      const crowd = await w.merchant();
      // Of the crowd nothing is under way on the chain, so that no key of theirs is missed.
      await fillTables(w.env.DB, {
        to: CROWD,
        merchants: [crowd.userId],
        products: ['00000000-0000-7000-8000-000000000000'],
        values: { settlements: { next_check_at: 'NULL' }, metered_sessions: { next_look_at: 'NULL' } },
      });
      for (const isPublic of [true, false])
        for (const [name, tenant, mode] of [
          ['stranger', stranger, 'live'],
          ['stranger', stranger, 'sandbox'],
          ['owner', owner, 'live'],
          ['owner', owner, 'sandbox'],
        ] as const)
          traces.set(`${name} ${mode} ${isPublic}`, await tracesOf(tenant, mode, isPublic));
    }, 60_000);

    /** Who calls with a credential sees nothing of the stranger; who calls without one sees only what is public, of anybody. */
    const forbiddenTo = ({ isKnownCaller }: Sent): string[] =>
      [...traces].flatMap(([name, texts]) => {
        const [whose, , isPublic] = name.split(' ');
        if (isPublic === String(isKnownCaller)) return [];
        return whose === 'stranger' || !isKnownCaller ? texts : [];
      });
    /** What callers have named themselves may come back to them: it is what they said, and tells them nothing. */
    const named = new Set<string>();

    /** What each route was answered with. */
    const answered = new Map<string, Set<number>>();

    const check = (target: Target, sent: Sent) => {
      const { status, body } = sent.answer;
      answered.set(nameOf(target), (answered.get(nameOf(target)) ?? new Set<number>()).add(status));
      expect(status, JSON.stringify(body)).toBeLessThan(500);
      const said = JSON.stringify(body);
      const leaked = forbiddenTo(sent).filter((trace) => said.includes(trace) && !named.has(trace));
      expect(leaked, said).toEqual([]);
    };
    const ask = async (target: Target, plan: Plan, cast: Cast, rowsMax: number) => {
      const sent = await send(w, target, plan, cast, rowsMax, (text) => {
        for (const texts of traces.values()) for (const trace of texts) if (text.includes(trace)) named.add(trace);
      });
      check(target, sent);
    };

    /** What ends an account ends one that nothing else needs, and what buys a plan is bought by one that has none. */
    const callerOf = async ({ path }: Target): Promise<Tenant> => {
      if (path.endsWith('/resolve')) return { ...owner, merchant: await openStaff(w) };
      const isFor = /\/account\/(?:account|me\/security)$|\/activate\//.test(path);
      return isFor ? { ...owner, merchant: await w.merchant('free') } : owner;
    };
    const ordered = [...chosen.filter((target) => !isLast(target)), ...chosen.filter(isLast)];
    it.each(ordered.map((target) => [nameOf(target), target] as const))(
      '%s is answered as published, shows nothing of others and reads little',
      async (name, target) => {
        const caller = await callerOf(target);
        const cast: Cast = { owner: caller, stranger, made: await madeFor(w, name, caller) };
        const numRuns = SLOW.test(name) ? SLOW_RUNS : RUNS;
        const rowsMax = UNBOUNDED.has(name) ? Number.POSITIVE_INFINITY : ROWS_MAX;
        // First as it is meant, so that all the others are near to something that works.
        await ask(target, asMeant(target, cast), cast, rowsMax);
        const plans = fc.array(plansOf(target, cast), { minLength: AT_ONCE, maxLength: AT_ONCE });
        const areAnswered = fc.asyncProperty(plans, async (several) => {
          await Promise.all(
            several.map((plan) =>
              ask(target, plan, cast, rowsMax).catch((cause: Error) => {
                throw new Error(`${cause.message}\nto ${name} ${told(plan)}`, { cause });
              }),
            ),
          );
        });
        await fc.assert(areAnswered, { seed: SEED, numRuns: Math.ceil(numRuns / AT_ONCE), endOnFailure: true });
        w.queue.sent.length = 0;
        w.attempts.length = 0;
      },
    );

    it('begins with what each route is for, and is refused in every way there is', () => {
      const done = [...answered].filter(([, statuses]) => [...statuses].some((status) => status < 300)).map(([name]) => name);
      const refusals = new Set([...answered.values()].flatMap((statuses) => [...statuses]));
      // The way back from a provider takes the cookie of the browser that began it.
      const isOfBrowser = (name: string) => name.endsWith('/callback');
      expect([...answered.keys()].filter((name) => !done.includes(name) && !isOfBrowser(name))).toEqual([]);
      for (const status of [401, 403, 404, 415, 422]) expect([...refusals]).toContain(status);
    });
  });
}
