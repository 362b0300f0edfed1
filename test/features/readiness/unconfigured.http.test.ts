import { describe, expect, it } from 'vitest';
import { mailConfig } from '../../support/servers/mail.ts';
import { World } from '../../support/world.ts';

const w = new World();
const NAMES = ['GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET', 'GITHUB_CLIENT_ID', 'GITHUB_CLIENT_SECRET', 'PROCESSOR_API_KEY'] as const;
const without = (...names: string[]) => ({ ...w.env, ...mailConfig(), ...Object.fromEntries(names.map((name) => [name, ''])) });

describe('missing configuration', () => {
  it.each([
    [[], {}],
    [['GITHUB_CLIENT_SECRET'], { github: ['GITHUB_CLIENT_SECRET'] }],
    [['GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET'], { google: ['GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET'] }],
    [['PROCESSOR_PRICE_GROWTH'], { processor: ['PROCESSOR_PRICE_GROWTH'] }],
    [['MAIL_PROVIDER', 'MAIL_FROM'], { mail: ['MAIL_PROVIDER', 'MAIL_FROM'] }],
    [['RESEND_API_KEY'], { mail: ['RESEND_API_KEY'] }],
  ])('missing variables are named in health, in readiness and by the call that needs them: %j', async (names, missing) => {
    const env = without(...names);
    const merchant = await w.merchant('free');
    const health = await w.call('GET', '/health', { env });
    const readiness = await w.call('GET', '/v1/access/setup/readiness', { key: merchant.key, env });
    expect([health.status, health.body.not_configured, readiness.status, readiness.body.not_configured]).toEqual([
      200,
      missing,
      200,
      missing,
    ]);
    expect(health.body.status).toBe('ok');
    const { body } = await w.call('GET', '/v1/auth/oauth/providers', { env });
    const lacking = body.providers.filter(({ configured }: { configured: boolean }) => !configured);
    expect(Object.fromEntries(lacking.map((one: { provider: string; missing: string[] }) => [one.provider, one.missing]))).toEqual(
      Object.fromEntries(Object.entries(missing).filter(([name]) => name === 'google' || name === 'github')),
    );
    expect(readiness.body.blocking).not.toContain('not_configured');
  });

  it('a call that needs a missing variable is 503 with the names of health', async () => {
    const env = without(...NAMES, 'MAIL_PROVIDER');
    const merchant = await w.merchant('free');
    const { body: health } = await w.call('GET', '/health', { env });
    const asked = {
      github: await w.call('GET', '/v1/auth/oauth/github/start', { env }),
      processor: await w.call('POST', '/v1/billing/portal/processor', { key: merchant.token, env }),
      mail: await w.call('POST', '/v1/account/email/verification', { key: merchant.token, env }),
    };
    for (const [name, { status, body }] of Object.entries(asked))
      expect([name, status, body.meta.missing]).toEqual([name, 503, health.not_configured[name]]);
  });

  it('health contains no configured value', async () => {
    const { body } = await w.call('GET', '/health', { env: without('GITHUB_CLIENT_ID') });
    expect(JSON.stringify(body)).not.toContain(String(w.env.GITHUB_CLIENT_SECRET));
  });
});
