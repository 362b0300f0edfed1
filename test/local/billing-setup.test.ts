import { afterEach, expect, it, vi } from 'vitest';
import { setUpBilling } from '../../local/admin/billing-setup.ts';
import { startOutside } from '../../local/outside/outside.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

it('setup creates the processor objects once and prints the configuration, and a rerun omits only the secret', async () => {
  const { url, close } = await startOutside();
  try {
    const key = 'sk_test_setup';
    const lines: string[] = [];
    vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
    const run = async (host: string) => {
      lines.length = 0;
      await setUpBilling(['--url', host], { PROCESSOR_API_KEY: key, PROCESSOR_API_URL: url });
      return Object.fromEntries(
        lines.flatMap((line) => [/^(PROCESSOR_\w+)='(.+)'$/.exec(line)?.slice(1, 3) as [string, string]].filter(Boolean)),
      );
    };
    const first = await run('https://svc.example');
    const names = ['API_KEY', 'WEBHOOK_SECRETS', 'PRICE_STARTER', 'PRICE_GROWTH', 'PRICE_SCALE', 'PORTAL_CONFIGURATION'];
    expect(Object.keys(first)).toEqual(names.map((name) => `PROCESSOR_${name}`));
    const { PROCESSOR_WEBHOOK_SECRETS: _, ...again } = first;
    expect(await run('https://svc.example')).toEqual(again);
    // Another deployment gets its own endpoint and secret, with the same prices and portal.
    expect(await run('https://other.example')).toEqual({ ...again, PROCESSOR_WEBHOOK_SECRETS: expect.any(String) });

    const ask = async (path: string, form?: Record<string, string>) => {
      const body = form ? { method: 'POST', body: new URLSearchParams(form) } : {};
      const answer = await fetch(`${url}/v1${path}`, { ...body, headers: { authorization: `Bearer ${key}` } });
      return { status: answer.status, body: (await answer.json()) as { id: string; data: { url: string }[] } };
    };
    const { data: endpoints } = (await ask('/webhook_endpoints')).body;
    const path = '/v1/billing/webhooks/processor';
    expect(endpoints.map((one) => one.url)).toEqual([`https://svc.example${path}`, `https://other.example${path}`]);
    const { id: customer } = (await ask('/customers', {})).body;
    expect((await ask('/billing_portal/sessions', { customer })).status).toBe(400);
    const configuration = first.PROCESSOR_PORTAL_CONFIGURATION!;
    expect((await ask('/billing_portal/sessions', { customer, configuration })).status).toBe(200);
  } finally {
    await close();
  }
});

it('setup without its arguments prints its usage', async () => {
  await expect(setUpBilling([], {})).rejects.toThrow('Usage: PROCESSOR_API_KEY=');
});
