import { beforeAll, describe, expect, it } from 'vitest';
import { hashSetupSecret } from '#features/agent-setup/secret.ts';
import { newCtx } from '#platform/context.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { BOOTSTRAP, goodManifest, Setup } from '../../support/people/bootstrap.ts';
import { SOAK } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

const NOWHERE = '01900000-0000-7000-8000-000000000000';

describe('setup secret guesses', () => {
  const w = new World();
  let mine: Setup;
  let theirs: Setup;
  let over: Setup;
  let manifest: Record<string, unknown>;

  beforeAll(async () => {
    [mine, theirs, over] = await Promise.all([Setup.create(w), Setup.create(w), Setup.create(w)]);
    await over.runOut();
    await w.sweepAlone('setups');
    manifest = await goodManifest(w);
  });

  const call = (step: string, id: string, secret: unknown, env = w.env) =>
    w.call('POST', `${BOOTSTRAP}/${id}/${step}`, { body: { setup_secret: secret, ...(step === 'manifest' ? manifest : {}) }, env });
  const other = (secret: string) => secret.slice(0, -1) + (secret.endsWith('A') ? 'E' : 'A');
  const named = (id: string) => `svc_setup_${id.replaceAll('-', '')}_`;

  const guesses = (): [string, string, string][] => [
    ['a secret with one character changed', mine.id, other(mine.secret)],
    ['the right secret under another setup', theirs.id, mine.secret],
    ['the right secret under nobody’s setup', NOWHERE, mine.secret],
    ['another setup’s secret', mine.id, theirs.secret],
    ['another setup’s random part under this id', mine.id, named(mine.id) + theirs.secret.slice(-43)],
    ['a well-formed secret of nobody', NOWHERE, `${named(NOWHERE)}${'A'.repeat(43)}`],
    ['a well-formed secret of nobody under a setup that exists', mine.id, `${named(NOWHERE)}${'A'.repeat(43)}`],
    ['nothing', mine.id, ''],
    ['garbage', mine.id, 'garbage'],
    ['the sandbox key', mine.id, mine.created.sandbox_api_key],
    ['the id', mine.id, mine.id],
    ['the secret with a space after it', mine.id, `${mine.secret} `],
    ['the secret without its last character', mine.id, mine.secret.slice(0, -1)],
    ['the secret in capitals', mine.id, mine.secret.toUpperCase()],
    ['a prefix alone', mine.id, named(mine.id)],
    ['the stored hash', mine.id, hashSetupSecret(newCtx(w.env, { requestId: 'req_guess', defer: () => {} }), mine.secret)],
    ['a wrong secret of a setup that is over', over.id, other(over.secret)],
  ];

  it.each(['status', 'manifest', 'approve'])('%s gives the same answer to every wrong guess', async (step) => {
    const bodies = new Set<string>();
    for (const [what, id, secret] of guesses()) {
      const { status, body, headers } = await call(step, id, secret);
      expect([what, status]).toEqual([what, 404]);
      const { request_id: _id, ...rest } = body;
      bodies.add(JSON.stringify([rest, headers.get('X-RateLimit-Limit'), headers.get('Cache-Control')]));
    }
    expect([...bodies]).toHaveLength(1);
    expect((await mine.row()).status).toBe('created');
  });

  it('an unknown setup costs the same database reads as a wrong secret', async () => {
    const listTrips = async (id: string, secret: string) => {
      const { env, trips } = withFaults(w.env);
      await call('status', id, secret, env);
      return trips.map(({ kind }) => kind);
    };
    const wrong = await listTrips(mine.id, other(mine.secret));
    expect(wrong).toEqual(['read']);
    expect(await listTrips(NOWHERE, `${named(NOWHERE)}${'A'.repeat(43)}`)).toEqual(wrong);
    expect(await listTrips(theirs.id, mine.secret)).toEqual(wrong);
    expect(await listTrips(NOWHERE, mine.secret)).toEqual(wrong);
  });

  it('random guesses find nothing, and the right secret still works', async () => {
    const tries = await Promise.all(
      Array.from({ length: 20 * SOAK }, () => {
        const random = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))));
        return call('status', mine.id, named(mine.id) + random.replaceAll('+', '-').replaceAll('/', '_').slice(0, 43));
      }),
    );
    expect(new Set(tries.map(({ status }) => status))).toEqual(new Set([404]));
    expect((await mine.call('status')).status).toBe(200);
  });

  it('guesses are limited per address across setups, and other addresses are not affected', async () => {
    const env = { ...w.env, RATE_MULTIPLIER: '1' };
    const guess = (id: string, address: string) =>
      w.call('POST', `${BOOTSTRAP}/${id}/approve`, { body: { setup_secret: 'x' }, env, headers: { 'CF-Connecting-IP': address } });
    const answers = [];
    for (let i = 0; i < 22; i++) answers.push((await guess(i % 2 ? theirs.id : mine.id, '203.0.113.9')).status);
    expect(answers).toEqual([...Array(20).fill(404), 429, 429]);
    expect((await guess(mine.id, '203.0.113.10')).status).toBe(404);
  });

  it('the right secret works even from an address that guessed too often', async () => {
    const env = { ...w.env, RATE_MULTIPLIER: '1' };
    const headers = { 'CF-Connecting-IP': '203.0.113.77' };
    const show = (setup: Setup, secret: string) =>
      w.call('POST', `${BOOTSTRAP}/${setup.id}/status`, { body: { setup_secret: secret }, env, headers });
    const activate = (secret: string) =>
      w.call('POST', '/v1/access/x402/activate/starter', { env, headers: { ...headers, 'X-Svc-Setup-Secret': secret } });
    const guessed = [];
    for (let i = 0; i < 22; i++) guessed.push((await show(i % 2 ? theirs : mine, 'x')).status);
    expect(guessed).toEqual([...Array(20).fill(404), 429, 429]);
    expect((await activate(other(mine.secret))).status).toBe(429);
    expect((await show(mine, mine.secret)).status).toBe(200);
    expect([401, 429]).not.toContain((await activate(mine.secret)).status);
  });

  it('a secret appears only in the answer that created it', async () => {
    const setup = await (await Setup.create(w)).ready();
    const approved = await setup.approveLive();
    const later = [await setup.call('status'), await setup.call('approve'), await setup.approveLive()];
    const text = JSON.stringify([later.map(({ body }) => body), await setup.row()]);
    for (const secret of [setup.secret, setup.created.sandbox_api_key, approved.body.live_api_key])
      expect(text).not.toContain(secret.slice(-20));
  });
});
