// @module-tag quick
import { describe, expect, it } from 'vitest';
import type { Env } from '#platform/context.ts';
import { type Trip, withFaults } from '../../support/faults/faults.ts';
import { activate, newSpender, openTreasury } from '../../support/people/activation.ts';
import { BOOTSTRAP, goodManifest, Setup } from '../../support/people/bootstrap.ts';
import { REPEATED, testEnv } from '../../support/runner/env.ts';
import { type Answer, World } from '../../support/world.ts';

const w = new World();

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;
const works = async (key: string): Promise<boolean> => (await w.call('GET', '/v1/products', { key })).status === 200;
const statuses = (answers: Answer<Body>[]): number[] => answers.map(({ status }) => status).sort();
const rows = async (): Promise<number[]> =>
  Promise.all(
    ['accounts', 'api_keys', 'setup_intents'].map(
      async (table) => (await testEnv.DB.prepare(`SELECT count(*) AS n FROM ${table}`).first<{ n: number }>())!.n,
    ),
  );

describe('agent setup', () => {
  it('an agent gets from its first call to a live key and pays its plan by x402, without a person', async () => {
    await openTreasury(w);
    const setup = await Setup.create(w, { plan: 'starter' });
    expect((await setup.call('manifest', await goodManifest(w, { contact_email: 'nobody' }))).body.status).toBe('changes_required');
    const ready = await setup.call('manifest', await goodManifest(w));
    const [buy] = ready.body.next_actions;
    expect([ready.body.status, buy.action, buy.path]).toEqual(['ready', 'activate_plan', '/v1/access/x402/activate/starter']);
    expect((await setup.approveLive()).body.code).toBe('setup_not_ready');
    const paid = await activate(w, await newSpender(w), 'starter', { secret: setup.secret });
    expect([paid.status, paid.body.plan, paid.body.account_id]).toEqual([200, 'starter', setup.created.account_id]);
    const paidSetup = (await setup.call('status')).body;
    expect([paidSetup.active_plan, paidSetup.plan_paid_through, paidSetup.expires_at]).toEqual([
      'starter',
      paid.body.paid_through,
      undefined,
    ]);
    expect(paidSetup.next_actions[0].action).toBe('issue_live_key');
    const approved = await setup.approveLive();
    expect([approved.status, await works(approved.body.live_api_key)]).toEqual([200, true]);
    await w.sweepAlone('setups');
    expect(await works(setup.created.sandbox_api_key)).toBe(true);
  });

  it('an agent spends no more than its manifest allows', async () => {
    const setup = await Setup.create(w);
    const usdc = (amount: string) => ({ asset: 'USDC', amount });
    await setup.call('manifest', await goodManifest(w, { spend_limits: { per_payment: usdc('20') } }));
    const spender = await newSpender(w);
    const paid = await activate(w, spender, 'starter', { secret: setup.secret });
    expect(paid.status).toBe(200);
    await expect(activate(w, spender, 'growth', { secret: setup.secret })).rejects.toThrow(/spend_limit_exceeded/);
  });
});

describe('concurrent calls', REPEATED, () => {
  it('concurrent approvals issue one live key', async () => {
    const setup = await (await Setup.create(w)).ready();
    const answers = await Promise.all(Array.from({ length: 8 }, () => setup.approveLive()));
    expect(statuses(answers)).toEqual([200, ...Array(7).fill(409)]);
    const { body } = answers.find(({ status }) => status === 200)!;
    expect(await setup.liveKeys()).toEqual([body.live_key_id]);
    expect(await works(body.live_api_key)).toBe(true);
    for (const refused of answers.filter(({ status }) => status === 409)) expect(refused.body.code).toBe('state_conflict');
  });

  it('concurrent replacements of one key issue one new key', async () => {
    const setup = await (await Setup.create(w)).ready();
    const first = (await setup.approveLive()).body;
    const answers = await Promise.all(Array.from({ length: 8 }, () => setup.approveLive({ replace_live_key_id: first.live_key_id })));
    expect(statuses(answers)).toEqual([200, ...Array(7).fill(409)]);
    const { body } = answers.find(({ status }) => status === 200)!;
    expect(await setup.liveKeys()).toEqual([body.live_key_id]);
    expect([await works(first.live_api_key), await works(body.live_api_key)]).toEqual([false, true]);
  });

  it('concurrent manifests: the stored evaluation belongs to the stored manifest', async () => {
    const setup = await Setup.create(w);
    const [good, bad] = [await goodManifest(w), await goodManifest(w, { requested_permissions: ['admin'] })];
    const answers = await Promise.all([setup.call('manifest', good), setup.call('manifest', bad)]);
    expect(statuses(answers)).toEqual([200, 200]);
    expect(answers.map(({ body }) => body.status)).toEqual(['ready', 'changes_required']);
    const row = await setup.row();
    const isGood = JSON.parse(row.manifest).requested_permissions[0] === 'read';
    expect([row.status, JSON.parse(row.evaluation).findings.length === 0, row.version]).toEqual([
      isGood ? 'ready' : 'changes_required',
      isGood,
      3,
    ]);
  });

  it('an approval concurrent with a new manifest approves the one it read, or none', async () => {
    const setup = await (await Setup.create(w)).ready();
    const bad = await goodManifest(w, { requested_permissions: ['admin'] });
    const [approved, changed] = await Promise.all([setup.approveLive(), setup.call('manifest', bad)]);
    const { status } = await setup.row();
    expect([approved.status, changed.status, status]).toEqual(
      approved.status === 200 ? [200, 409, 'approved'] : [409, 200, 'changes_required'],
    );
    expect(await setup.liveKeys()).toHaveLength(approved.status === 200 ? 1 : 0);
  });

  it('concurrent sweeps expire a setup once', async () => {
    const setup = await Setup.create(w);
    await setup.runOut();
    await Promise.all([w.sweepAlone('setups'), w.sweepAlone('setups'), w.sweepAlone('setups')]);
    await w.sweepAlone('setups');
    const row = await setup.row();
    expect([row.status, row.version]).toEqual(['expired', 2]);
    expect(await works(setup.created.sandbox_api_key)).toBe(false);
  });
});

/** Fails every database trip from `trip` on, as if the process died before or after that trip. */
const diesAt = (trip: number, moment: 'before' | 'after', env: Env = w.env): Env => {
  const isLater = ({ number }: Trip) => number > trip;
  const isThis = ({ number }: Trip) => number === trip;
  return withFaults(env, moment === 'before' ? { before: (at) => isThis(at) || isLater(at) } : { before: isLater, after: isThis }).env;
};

describe('crash safety', REPEATED, () => {
  it('a new setup is stored completely or not at all', async () => {
    const create = (env: Env) => w.call('POST', BOOTSTRAP, { body: { agent_name: 'x' }, env });
    const before = await rows();
    const lost = await create(withFaults(w.env, { before: ({ kind }) => kind === 'batch' }).env);
    expect([lost.status, lost.body.code, await rows()]).toEqual([503, 'temporarily_unavailable', before]);
    const stored = await create(withFaults(w.env, { after: ({ kind }) => kind === 'batch' }).env);
    expect([stored.status, await works(stored.body.sandbox_api_key)]).toEqual([201, true]);
    expect(await rows()).toEqual(before.map((count) => count + 1));
    const dead = await create(diesAt(1, 'after'));
    expect([dead.status, dead.body.setup_secret]).toEqual([503, undefined]);
    expect(await rows()).toEqual(before.map((count) => count + 2));
  });

  it('a manifest is stored once if only the answer of the database was lost', async () => {
    const setup = await Setup.create(w);
    let losses = 1;
    const { env } = withFaults(w.env, { after: ({ kind }) => kind === 'batch' && losses-- > 0 });
    const { status, body } = await setup.call('manifest', await goodManifest(w), { env });
    expect([status, body.status, (await setup.row()).version]).toEqual([200, 'ready', 2]);
  });

  it('the issued live key works if only the answer of the database was lost', async () => {
    const setup = await (await Setup.create(w)).ready();
    let losses = 1;
    const { env } = withFaults(w.env, { after: ({ kind }) => kind === 'batch' && losses-- > 0 });
    const { status, body } = await setup.approveLive({}, { env });
    expect([status, await works(body.live_api_key), await setup.liveKeys()]).toEqual([200, true, [body.live_key_id]]);
  });

  it.each([1, 2, 3, 4].flatMap((trip) => (['before', 'after'] as const).map((moment) => [trip, moment] as const)))(
    'an approval that crashed at trip %d, %s its effect, can be repeated',
    async (trip, moment) => {
      const setup = await (await Setup.create(w)).ready();
      const died = await setup.approveLive({}, { env: diesAt(trip, moment) });
      const again = await setup.approveLive();
      const { live_key_id: orphan } = again.body.meta ?? {};
      // In the worst case a key is listed that no caller received. It can be named and replaced.
      const mended = again.status === 200 ? again : await setup.approveLive({ replace_live_key_id: orphan });
      const key = died.status === 200 && again.status !== 200 ? died.body.live_api_key : mended.body.live_api_key;
      if (died.status !== 200) expect(died.status).toBe(503);
      expect(mended.status).toBe(200);
      expect(await setup.liveKeys()).toEqual([mended.body.live_key_id]);
      expect(await works(mended.body.live_api_key ?? key)).toBe(true);
    },
  );

  it('the next sweep completes an interrupted expiry', async () => {
    const setup = await Setup.create(w);
    await setup.runOut();
    await w.sweepAlone('setups', withFaults(w.env, { before: ({ kind }) => kind === 'batch' }).env);
    expect([(await setup.row()).status, await works(setup.created.sandbox_api_key)]).toEqual(['created', true]);
    await w.sweepAlone('setups');
    expect([(await setup.row()).status, await works(setup.created.sandbox_api_key)]).toEqual(['expired', false]);
  });
});
