import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tabbedExamplesIn } from '../../../local/assets/docs/render.ts';
import { callChain } from '../../../local/chain/client.ts';
import { Api } from '../../../local/cli/api.ts';
import { JOURNEYS } from '../../../worker/published/site/journeys.ts';
import { DevProcess } from './dev-process.ts';

const ROOT = join(import.meta.dirname, '../../..');
function guide(name: string): string {
  return `docs/${name}.md`;
}
/** README.md and the guides, in an order in which each may use the variables of the pages before it. */
const PAGES = [
  'README.md',
  ...['quickstart', 'checkout', 'pay-per-request', 'facilitator', 'metered-sessions', 'subscriptions', 'membership-delivery'].map(guide),
  ...[
    'webhooks',
    'sandbox',
    'unmatched-and-refunds',
    'sandbox-in-a-box',
    'go-live',
    'books-and-taxes',
    'without-an-sdk',
    'agents',
    'customers',
    'account',
    'keys-for-servers',
    'secure-your-account',
    'work-as-a-team',
    'audit-log',
    'email-and-receipts',
    'guarantees',
  ].map(guide),
  ...['deploy', 'integrations', 'secrets', 'monitoring', 'incidents', 'upgrade', 'backup', 'cost', 'data-retention'].map((name) =>
    guide(`operations/${name}`),
  ),
];
const text = PAGES.map((path) => readFileSync(join(ROOT, path), 'utf8')).join('\n');
const blocksOf = (language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, block]) => block!);
const blocks = blocksOf('sh');

/** Blocks that are not run, by their beginning, with the reason. */
const ASIDE: Record<string, string> = {
  'npm ci': 'installs; the demo has a run of its own in the pipeline',
  'npm i @paylatch/sdk': 'installs; test/local/dev/fresh-projects.test.ts does',
  'npm pack --workspace @paylatch/sandbox': 'builds a package; `npm run sdk:check` packs, installs and runs it',
  'npm test': 'this is it',
  'npm run dev': 'is running',
  '# TX_SIGNATURE': 'takes the signature of a wallet of your own',
  'curl -s $BASE/v1/integrations/connectors': 'takes the secret of a connector of your own',
  'npx wrangler': 'takes an account at the platform',
  'OPERATOR_SECRET=…': 'takes a deployment',
  'npm run admin -- partitions': 'takes a deployment with several databases',
  'curl -H "X-Svc-Operator-Secret': 'takes a deployment',
};

const home = mkdtempSync(join(tmpdir(), 'svc-readme-test-'));
let dev: DevProcess;
let baseUrl: string;
let rpcUrl: string;
beforeAll(async () => {
  dev = new DevProcess(join(home, 'state'), ['--world']);
  ({ baseUrl, rpcUrl } = await dev.ready());
}, 60_000);
afterAll(async () => {
  await dev.end();
  rmSync(home, { recursive: true, force: true });
});

it('every exempted block exists, and they are of at most twelve kinds', () => {
  expect(Object.keys(ASIDE).length).toBeLessThanOrEqual(12);
  for (const begins of Object.keys(ASIDE))
    expect(
      blocks.filter((block) => block.startsWith(begins)),
      begins,
    ).not.toEqual([]);
});

it('the commands on /docs create a product for sale, and each journey runs to its end once a wallet is set', async () => {
  const wallet = 'Av7QWv6RRdrFxbb9GXWM1g8Gut59feSWcr9tRBia7xZa';
  await callChain(rpcUrl, 'local_fundUsdc', [wallet, '0']);
  const html = await (await fetch(`${baseUrl}/docs`)).text();
  const shown = [...html.matchAll(/<pre[^>]*><code class="language-sh">([\s\S]*?)<\/code><\/pre>/g)].map(([, block]) =>
    block!.replaceAll('&#x3C;', '<').replaceAll('&#x26;', '&'),
  );
  expect(shown.length).toBe(1 + JOURNEYS.length);
  const named = shown.join('\necho --\n').replace(/^PAYOUT=.*$/m, `PAYOUT=${wallet}`);
  const { stdout } = await promisify(execFile)('bash', ['-e', '-o', 'pipefail', '-c', named], { cwd: home });
  const [page, ...answers] = stdout.split('--\n').map((part) => part.trim());
  expect(page).toMatch(/\/p\/weather-api[\w-]*$/);
  expect(Object.fromEntries(JOURNEYS.map(({ id }, index) => [id, answers[index]]))).toEqual({
    checkout: expect.stringContaining(`${page}?ps=`),
    memberships: '0',
    webhooks: expect.stringMatching(/^whsec_/),
    x402: 'entitlement_missing',
    subscriptions: expect.stringMatching(/^[\w+/]{400,}=*$/),
    metered: expect.stringMatching(/^http/),
    refunds: '0',
    sandbox: expect.stringMatching(/^[0-9a-f-]{36}$/),
    'going-live': 'true',
  });
  const { status } = await fetch(`${baseUrl}/v1/products${new URL(page!).pathname}/connect`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  expect(status).toBe(200);
});

it('every block for a single machine runs as written, in order, and makes a sale', async () => {
  const pasted = blocks.filter((block) => !Object.keys(ASIDE).some((begins) => block.startsWith(begins)));
  expect(pasted.length).toBeGreaterThanOrEqual(3);
  // Only the port differs. Written files go into a test folder.
  const script = pasted.join('\n').replace('http://127.0.0.1:8787', baseUrl);
  for (const name of ['package.json', 'local', 'node_modules', 'sdk', 'worker']) symlinkSync(join(ROOT, name), join(home, name));
  const env = { ...process.env, CHAIN_PORT: new URL(rpcUrl).port, SHOP_PORT: '0' };
  const { stdout } = await promisify(execFile)('bash', ['-e', '-o', 'pipefail', '-c', script], { cwd: home, env });
  expect(stdout).toMatch(/^CONFIRMED: http/m);
  expect(stdout).toMatch(/^CONFIRMED$/m);
  expect(stdout).toMatch(/\/p\/weather-api[\w-]*\?handoff=/);
  expect(stdout).toMatch(/^\w+ has play money: .*\/buyer\.json$/m);
  expect(stdout).toMatch(
    /The Telegram user 4711 \(grace\) presses start\n\w+ pays 10 USDC\nCONFIRMED: http.*\nReceipt: http.*\n[\d-]+T[\d:.]+Z$/m,
  );
  expect(stdout).toContain('"kind":"recovered"');
  expect(stdout).toMatch(/402 without a payment\n200 with a payment from \w+: \{"sky":"clear"\}$/m);
  // The last setup call has an unpaid plan, and the answer says so.
  expect(stdout).toContain('next_actions');
}, 120_000);

/** Program around a code example, and its expected final output. */
interface Around {
  before: string;
  after: string;
  prints: string;
}

describe('code examples in a surrounding program', () => {
  const PAYOUT = 'Av7QWv6RRdrFxbb9GXWM1g8Gut59feSWcr9tRBia7xZa';
  const inTabs = new Set(tabbedExamplesIn(text).map(({ SDK }) => SDK));
  const code = [...blocksOf('ts'), ...blocksOf('js')].filter((block) => !inTabs.has(block.trimEnd()));
  let shop: { key: string; product: string };
  let delivery: { rawBody: string; headers: IncomingHttpHeaders; secret: string };

  beforeAll(async () => {
    const api = new Api(baseUrl);
    const owner = { email: 'code@example.com', password: 'correct horse', display_name: 'Code' };
    const { token } = await api.must<{ token: string }>('POST', '/v1/auth/register', { body: owner });
    const { raw_key: key } = await api.must<{ raw_key: string }>('POST', '/v1/keys', { credential: token, body: { name: 'code' } });
    await callChain(rpcUrl, 'local_fundUsdc', [PAYOUT, '1']);
    const body = { name: 'Forecast', price: { asset: 'USDC', amount: '0.01' }, payout_wallet: PAYOUT, live_mode_confirmed: true };
    const { product_id: product } = await api.must<{ product_id: string }>('POST', '/v1/products', { credential: key, body });
    shop = { key, product };
    delivery = await receive(api, key);
  }, 60_000);

  async function receive(api: Api, credential: string): Promise<typeof delivery> {
    const arrived = Promise.withResolvers<{ rawBody: string; headers: IncomingHttpHeaders }>();
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      response.end();
      arrived.resolve({ rawBody: Buffer.concat(chunks).toString(), headers: request.headers });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const body = { url: `http://127.0.0.1:${port}/hooks`, event_types: ['payment.*'] };
    const made = await api.must<{ endpoint_id: string; secret: string }>('POST', '/v1/webhooks/endpoints', { credential, body });
    await api.must('POST', `/v1/webhooks/endpoints/${made.endpoint_id}/test`, { credential, body: {} });
    const got = await arrived.promise;
    server.close();
    return { ...got, secret: made.secret };
  }

  const WALLET = `import { generateKeyPairSigner } from '@solana/kit';
    import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
    const wallet = await generateKeyPairSigner();
    for (const [method, units] of [['local_fundUsdc', '100000000'], ['local_fundSol', '1000000000']])
      await globalThis.fetch(process.env.RPC_URL, { method: 'POST', headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [wallet.address, units] }) });
    const BASE = process.env.BASE;
    const rpcUrl = process.env.RPC_URL;
  `;
  /** Surrounding programs, keyed by text that occurs in exactly one code example. */
  const AROUND: Record<string, () => Around> = {
    'protect({ client': () => ({
      before: "import { Hono } from 'hono';\nconst app = new Hono();\nconst forecast = () => ({ sky: 'clear' });",
      after: "console.log((await app.request('/forecast')).status);",
      prints: '402',
    }),
    verifyWebhook: () => ({
      before: `const { rawBody, headers, secret } = ${JSON.stringify(delivery)};`,
      after: 'console.log(event.type);',
      prints: 'webhook.test',
    }),
    constructEvent: () => ({
      before: `import Stripe from 'stripe';\nimport { Webhook } from 'standardwebhooks';
        const { rawBody, headers, secret } = ${JSON.stringify(delivery)};`,
      after: "console.log('both verify');",
      prints: 'both verify',
    }),
    'setSpendControls({': () => ({
      before: `${WALLET} import { ExactSvmScheme } from '@x402/svm';
        const real = globalThis.fetch;
        let status;
        globalThis.fetch = async (input, init) => {
          const answer = await real(input, init);
          if ((input.url ?? String(input)).includes('/activate/')) status = answer.status;
          return answer;
        };`,
      after: 'console.log(status);',
      prints: '200',
    }),
    createSIWxClientExtension: () => ({
      before: `${WALLET} import { ExactSvmScheme } from '@x402/svm';
        import { Hono } from 'hono';
        import { createClient } from ${JSON.stringify(join(ROOT, 'sdk/src/index.ts'))};
        import { protect } from ${JSON.stringify(join(ROOT, 'sdk/src/hono.ts'))};
        const svc = createClient({ baseUrl: BASE, key: process.env.SVC_API_KEY });
        await svc.railSettings.update('x402_solana_usdc', { origins: ['https://api.shop.example'] });
        const terms = { price: { asset: 'USDC', amount: '0.03' }, payout_wallet: '${PAYOUT}', live_mode_confirmed: true };
        const { product_id: product } = await svc.products.create({ name: 'Three reports', usage_units: 3, ...terms });
        const app = new Hono();
        app.get('/report', protect({ client: svc, product }), (c) => c.json(c.get('svc')));
        const client = new x402Client().register('solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', new ExactSvmScheme(wallet, { rpcUrl }));
        const fetch = async (input, init) => app.request(new Request(input, init));`,
      after: `const left = [];
        for (let i = 0; i < 3; i++) left.push((await (await call('https://api.shop.example/report')).json()).remaining);
        console.log(left.join());`,
      prints: '2,1,0',
    }),
    'protect({ metered': () => ({
      before: `import { Hono } from 'hono';
        import { createClient } from ${JSON.stringify(join(ROOT, 'sdk/src/index.ts'))};
        import { protect } from ${JSON.stringify(join(ROOT, 'sdk/src/hono.ts'))};
        const client = createClient({ baseUrl: process.env.BASE, key: process.env.SVC_API_KEY });
        const terms = { price: { asset: 'USDC', amount: '1' }, payout_wallet: '${PAYOUT}', live_mode_confirmed: true };
        const { product_id: product } = await client.products.create({ name: 'Text by the token', ...terms });
        const app = new Hono();
        const writeAbout = (subject) => [subject];`,
      after: `const answer = await app.request('/write/tides');
        console.log(answer.status, answer.headers.get('www-authenticate')?.split(' ')[0] ?? (await answer.text()));`,
      prints: '402 Payment',
    }),
    HTTPFacilitatorClient: () => ({
      before: `${WALLET} import { Hono } from 'hono';
        import { HTTPFacilitatorClient, x402ResourceServer } from '@x402/core/server';
        import { paymentMiddleware } from '@x402/hono';
        import { ExactSvmScheme } from '@x402/svm/exact/server';
        import { ExactSvmScheme as Pays } from '@x402/svm';
        const app = new Hono();`,
      after: `app.get('/forecast', (c) => c.json({ sky: 'clear' }));
        const ask = wrapFetchWithPayment(async (input, init) => app.request(new Request(input, init)),
          new x402Client().register(network, new Pays(wallet, { rpcUrl })));
        const answer = await ask('http://shop.example/forecast');
        console.log(answer.status, (await answer.json()).sky);`,
      prints: '200 clear',
    }),
  };
  /** Examples that run in another test, with a service of its own. */
  const ELSEWHERE = { createSessionFetch: 'test/clients/metered-session.test.ts', createPaymentPayload: 'test/package/sandbox.ts' };

  it('every code example has exactly one surrounding program', () => {
    const names = [...Object.keys(AROUND), ...Object.keys(ELSEWHERE)];
    for (const piece of code) expect([piece, names.filter((name) => piece.includes(name)).length]).toEqual([piece, 1]);
    expect(code).toHaveLength(names.length);
  });

  it.each(Object.keys(AROUND))('the example runs: %s', async (name) => {
    const piece = code.find((one) => one.includes(name))!;
    const { before, after, prints } = AROUND[name]!();
    const own = piece
      .replaceAll("'@paylatch/sdk'", JSON.stringify(join(ROOT, 'sdk/src/index.ts')))
      .replace(/'@paylatch\/sdk\/(\w+)'/g, (_, entry) => JSON.stringify(join(ROOT, `sdk/src/${entry}.ts`)))
      .replaceAll('https://pay.example.com', baseUrl)
      .replaceAll('<product_id>', shop.product)
      .replaceAll('<your payout wallet>', PAYOUT);
    const file = join(home, `${name.replace(/\W/g, '')}.mjs`);
    writeFileSync(file, `${before}\n${own}\n${after}\n`);
    const setup = JSON.parse(readFileSync(join(home, 'setup.json'), 'utf8')) as { setup_intent_id: string; setup_secret: string };
    const env = {
      ...process.env,
      BASE: baseUrl,
      RPC_URL: rpcUrl,
      SVC_API_KEY: shop.key,
      ID: setup.setup_intent_id,
      SECRET: setup.setup_secret,
    };
    const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', file], { cwd: home, env });
    expect(stdout.trim()).toBe(prints);
  });
});
