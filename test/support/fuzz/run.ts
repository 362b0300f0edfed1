import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { CHANNEL_KEYS, fundChannels } from '../chain/live-channel.ts';
import { nameOf, type Target, targets } from '../clients/document.ts';
import { fillTables } from '../fixtures/load-generator.ts';
import { OPERATOR_SECRET, openStaff } from '../people/staff.ts';
import { pullerOf, SUBSCRIPTION_KEYS } from '../people/subscription-shop.ts';
import { openTenant, readTraces, type Tenant } from '../people/tenant.ts';
import { SOAK, testEnv } from '../runner/env.ts';
import { mailConfig } from '../servers/mail.ts';
import { World } from '../world.ts';
import { madeFor } from './made.ts';
import { OF_BUYER } from './made-buyers.ts';
import { CHANGES_PERSON } from './made-factors.ts';
import { asMeant, type Cast, describePlan, type Plan, plansOf, type Sent, send } from './requests.ts';

const SEED = Number(testEnv.TEST_FUZZ_SEED);
/** Total over all fuzz files: 3,400 requests in a test run, 200,000 in a soak. */
const RUNS = SOAK === 1 ? 40 : Math.ceil((2000 * SOAK) / targets.length);
const AT_ONCE = 8;
const SLOW = /^(?:POST \/v1\/auth\/(?:register|login)|PATCH \/v1\/account\/me\/security)$/;
const SLOW_RUNS = Math.ceil(RUNS / 5);
/** Rows of other merchants in every table. A request that scans a table exceeds its row limit. */
const FILL_ROWS = 5000;
const ROWS_MAX = 2000;
/** The number of deliveries to send again decides the rows read. */
const UNBOUNDED = new Set(['POST /v1/webhooks/endpoints/{endpoint_id}/recover']);

/** Routes that delete shared objects run last. */
const isLast = ({ method, path }: Target): boolean =>
  method === 'DELETE' || /\/(?:archive|security|logout|approve|rail-settings)/.test(path) || method === 'PATCH';

/** Every route is in exactly one part. Each part has a file and a world of its own. */
const PARTS = {
  access: /^\/v1\/access\//,
  sales: /^\/v1\/(?:products|pay|payments|receipts?|memberships)(?:\/|$)/,
  accounts: /^(?!\/v1\/(?:access|products|pay|payments|receipts?|memberships)(?:\/|$))/,
};

export function fuzzRoutes(part: keyof typeof PARTS): void {
  const chosen = targets.filter(({ path }) => PARTS[part].test(path));
  describe(`fuzzed API requests (seed ${SEED})`, () => {
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
      const otherMerchant = await w.merchant();
      // No filled row is under way on chain, so none of their keys counts as missing.
      await fillTables(w.env.DB, {
        to: FILL_ROWS,
        merchants: [otherMerchant.userId],
        products: ['00000000-0000-7000-8000-000000000000'],
        values: { settlements: { next_check_at: 'NULL' }, metered_sessions: { next_check_at: 'NULL' } },
      });
      for (const isPublic of [true, false])
        for (const [name, tenant, mode] of [
          ['stranger', stranger, 'live'],
          ['stranger', stranger, 'sandbox'],
          ['owner', owner, 'live'],
          ['owner', owner, 'sandbox'],
        ] as const)
          traces.set(`${name} ${mode} ${isPublic}`, await readTraces(tenant, mode, isPublic));
    }, 60_000);

    /** A caller with a credential must see nothing of the stranger. One without sees only public data. */
    const forbiddenTo = ({ isKnownCaller }: Sent): string[] =>
      [...traces].flatMap(([name, texts]) => {
        const [tenantName, , isPublic] = name.split(' ');
        if (isPublic === String(isKnownCaller)) return [];
        return tenantName === 'stranger' || !isKnownCaller ? texts : [];
      });
    /** Values that callers named themselves may be echoed, because they reveal nothing. */
    const named = new Set<string>();

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

    /** A route that ends an account or a session uses a spare one, and one that buys a plan uses an account without a plan. */
    const makeCaller = async ({ path }: Target): Promise<Tenant> => {
      if (path.endsWith('/resolve')) return { ...owner, merchant: await openStaff(w) };
      const isFor =
        /\/account\/(?:account|me\/security)$|\/auth\/switch$|\/activate\//.test(path) || CHANGES_PERSON.test(path) || OF_BUYER.test(path);
      return isFor ? { ...owner, merchant: await w.merchant('free') } : owner;
    };
    const ordered = [...chosen.filter((target) => !isLast(target)), ...chosen.filter(isLast)];
    it.each(ordered.map((target) => [nameOf(target), target] as const))(
      '%s answers as published, leaks no data of others and reads few rows',
      async (name, target) => {
        const caller = await makeCaller(target);
        const cast: Cast = { owner: caller, stranger, made: await madeFor(w, name, caller) };
        const numRuns = SLOW.test(name) ? SLOW_RUNS : RUNS;
        const rowsMax = UNBOUNDED.has(name) ? Number.POSITIVE_INFINITY : ROWS_MAX;
        // Sends the valid request first, so that the others are close to one that works.
        await ask(target, asMeant(target, cast), cast, rowsMax);
        const plans = fc.array(plansOf(target, cast), { minLength: AT_ONCE, maxLength: AT_ONCE });
        const areAnswered = fc.asyncProperty(plans, async (several) => {
          await Promise.all(
            several.map((plan) =>
              ask(target, plan, cast, rowsMax).catch((cause: Error) => {
                throw new Error(`${cause.message}\nto ${name} ${describePlan(plan)}`, { cause });
              }),
            ),
          );
        });
        await fc.assert(areAnswered, { seed: SEED, numRuns: Math.ceil(numRuns / AT_ONCE), endOnFailure: true });
        w.queue.sent.length = 0;
        w.attempts.length = 0;
      },
    );

    it('every route except provider callbacks succeeded at least once, and each kind of refusal occurred', () => {
      const done = [...answered].filter(([, statuses]) => [...statuses].some((status) => status < 300)).map(([name]) => name);
      const refusals = new Set([...answered.values()].flatMap((statuses) => [...statuses]));
      // A provider callback needs the cookie of the browser that began the sign-in.
      const isOfBrowser = (name: string) => name.endsWith('/callback');
      expect([...answered.keys()].filter((name) => !done.includes(name) && !isOfBrowser(name))).toEqual([]);
      for (const status of [401, 403, 404, 415, 422]) expect([...refusals]).toContain(status);
    });
  });
}
