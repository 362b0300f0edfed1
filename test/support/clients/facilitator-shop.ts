import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { HTTPFacilitatorClient, x402ResourceServer } from '@x402/core/server';
import { paymentMiddleware } from '@x402/hono';
import { ExactSvmScheme } from '@x402/svm/exact/server';
import { Hono } from 'hono';
import { vi } from 'vitest';
import type { Env } from '#platform/context.ts';
import { NETWORKS } from '#solana/assets.ts';
import { app } from '../../../worker/app.ts';
import { type Agent, decoded, feePayerOf, newAgent, readyToBePaid } from '../people/agent.ts';
import { testEnv } from '../runner/env.ts';
import type { World } from '../world.ts';

const { caip2, usdcMint } = NETWORKS.devnet;

/** Service that shares only its bindings with others, as in one isolate. */
export type Isolate = Pick<typeof app, 'fetch'>;

async function pass(isolate: Isolate, request: Request, env: Env): Promise<Response> {
  const execution = createExecutionContext();
  const response = await isolate.fetch(request, env, execution);
  await waitOnExecutionContext(execution);
  return response;
}

/** Opens a merchant with a server of its own that uses the service as facilitator, and an agent who buys there. */
export async function openTill(w: World) {
  const merchant = await w.merchant();
  const agent: Agent = await newAgent(w);
  const payTo: string = merchant.wallet.address;
  await readyToBePaid(w, merchant);
  const setRail = (body: object) =>
    w.call('PUT', '/v1/access/rail-settings/x402_solana_usdc', {
      key: merchant.key,
      body,
      headers: { 'Idempotency-Key': crypto.randomUUID() },
    });
  await setRail({ payout_wallet: payTo });

  const requirements = (over: Record<string, unknown> = {}) => ({
    scheme: 'exact',
    network: caip2,
    asset: usdcMint,
    amount: '10000',
    payTo,
    maxTimeoutSeconds: 60,
    extra: { feePayer: feePayerOf(w) },
    ...over,
  });
  const bodyFor = async (asked: ReturnType<typeof requirements> = requirements()) => {
    const required = { x402Version: 2 as const, resource: { url: 'https://shop.test/weather' }, accepts: [asked] };
    const payment = await agent.payFor(required as unknown as Parameters<Agent['payFor']>[0]);
    return { x402Version: 2, paymentPayload: decoded(payment), paymentRequirements: asked };
  };
  const ask = (call: 'verify' | 'settle', body: unknown, { key = merchant.key, env = w.env } = {}) =>
    w.call('POST', `/v1/access/x402/facilitator/${call}`, { key, body, env });
  const askIsolate = async (isolate: Isolate, call: 'verify' | 'settle', body: unknown) => {
    const headers = { 'Content-Type': 'application/json', 'X-Svc-Key': merchant.key };
    const url = `https://svc.test/v1/access/x402/facilitator/${call}`;
    const response = await pass(isolate, new Request(url, { method: 'POST', headers, body: JSON.stringify(body) }), w.env);
    return (await response.json()) as { success?: boolean; isValid?: boolean; errorReason?: string; transaction?: string };
  };

  /** Loads the code `count` times, each with a memory of its own. */
  const newIsolates = async (count: number): Promise<Isolate[]> => {
    const isolates: Isolate[] = [];
    for (let i = 0; i < count; i++) {
      vi.resetModules();
      isolates.push((await import('../../../worker/app.ts')).app);
    }
    // The test runner reloads an object's code with its next call, and that call fails.
    const supported = new Request('https://svc.test/v1/access/x402/facilitator/supported');
    await pass(isolates[0]!, supported, w.env);
    await askIsolate(isolates[0]!, 'verify', {});
    return isolates;
  };

  /** Starts the merchant's server, which knows only our address and key. Its calls go to the real worker, one isolate after the other. */
  const startServer = (isolates: Isolate[] = [app]) => {
    const real = globalThis.fetch;
    const calls: string[] = [];
    let together = 1;
    const waiting: (() => void)[] = [];
    /** Holds the next settle calls until as many have arrived, so that all of them begin before one is answered. */
    const meet = () =>
      new Promise<void>((resolve) => {
        if (waiting.push(resolve) < together) return;
        together = 1;
        for (const proceed of waiting.splice(0)) proceed();
      });
    vi.stubGlobal('fetch', async (input: RequestInfo | URL, init?: RequestInit) => {
      const request = new Request(input, init);
      if (!request.url.startsWith('https://svc.test')) return real(request);
      calls.push(new URL(request.url).pathname.split('/').at(-1)!);
      if (calls.at(-1) === 'settle') await meet();
      return pass(isolates[calls.length % isolates.length]!, request, w.env);
    });
    const headers = { 'X-Svc-Key': merchant.key };
    const facilitator = new HTTPFacilitatorClient({
      url: 'https://svc.test/v1/access/x402/facilitator',
      createAuthHeaders: async () => ({ verify: headers, settle: headers, supported: {} }),
    });
    const server = new x402ResourceServer(facilitator).register(caip2, new ExactSvmScheme());
    const site = new Hono();
    let served = 0;
    const price = { scheme: 'exact', network: caip2, price: '$0.01', payTo };
    site.use(paymentMiddleware({ 'GET /weather': { accepts: price, description: 'Weather' } }, server));
    site.get('/weather', (c) => c.json({ served: ++served }));
    const visit = (async (input: RequestInfo | URL, init?: RequestInit) => site.fetch(new Request(input, init))) as typeof fetch;
    /** Pays for one visit. The returned function repeats the visit with that payment. */
    const buy = async () => {
      const { headers: asked } = await visit('https://shop.test/weather');
      const payment = await agent.pay(asked.get('PAYMENT-REQUIRED')!);
      return () => visit('https://shop.test/weather', { headers: { 'PAYMENT-SIGNATURE': payment } });
    };
    const settleTogether = (count: number): void => {
      together = count;
    };
    return { visit, buy, calls, servedTimes: () => served, settleTogether };
  };

  const settlements = async (): Promise<number> =>
    (await testEnv.DB.prepare(
      "SELECT count(*) AS n FROM settlements WHERE purpose = 'facilitator' AND status = 'settled' AND merchant_id = ?",
    )
      .bind(merchant.userId)
      .first<number>('n'))!;
  return { merchant, agent, payTo, setRail, requirements, bodyFor, ask, askOf: askIsolate, newIsolates, startServer, settlements };
}

export type Till = Awaited<ReturnType<typeof openTill>>;

export function reasonOf({ headers }: Response): string {
  const settled = headers.get('PAYMENT-RESPONSE');
  return settled ? decoded(settled).errorReason : decoded(headers.get('PAYMENT-REQUIRED')!).error;
}
