import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DevProcess } from './dev-process.ts';

const ROOT = join(import.meta.dirname, '../../..');
const blocks = [...readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block!);

/** What is not pasted here, by how it begins, and why. */
const ASIDE: Record<string, string> = {
  'npm ci': 'installs; the demo has a run of its own in the pipeline',
  'npm test': 'this is it',
  'npm run dev': 'is running',
  'curl -s $BASE/v1/integrations/connectors': 'takes the secret of a connector of your own',
  'npx wrangler': 'takes an account at the platform',
  'OPERATOR_SECRET=…': 'takes a deployment',
  'curl -H "X-Svc-Operator-Secret': 'takes a deployment',
};

const home = mkdtempSync(join(tmpdir(), 'svc-readme-test-'));
let dev: DevProcess;
let baseUrl: string;
let rpcUrl: string;
beforeAll(async () => {
  dev = new DevProcess(join(home, 'state'));
  ({ baseUrl, rpcUrl } = await dev.ready());
}, 60_000);
afterAll(async () => {
  await dev.end();
  rmSync(home, { recursive: true, force: true });
});

it('sets aside only blocks that are there', () => {
  for (const begins of Object.keys(ASIDE))
    expect(
      blocks.filter((block) => block.startsWith(begins)),
      begins,
    ).not.toEqual([]);
});

it('what /docs tells a merchant to paste makes a product that is for sale, once it names a wallet', async () => {
  const html = await (await fetch(`${baseUrl}/docs`)).text();
  const shown = /<pre><code>(BASE=[\s\S]*?)<\/code><\/pre>/.exec(html)![1]!;
  const command = shown
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&gt;', '>')
    .replaceAll('&lt;', '<')
    .replaceAll('&amp;', '&');
  const named = command
    .replace(/^PAYOUT=.*$/m, 'PAYOUT=Av7QWv6RRdrFxbb9GXWM1g8Gut59feSWcr9tRBia7xZa')
    .replace('ada@example.com', 'grace@example.com');
  const { stdout } = await promisify(execFile)('bash', ['-e', '-o', 'pipefail', '-c', named], { cwd: home });
  const page = stdout.trim().split('\n').at(-1)!;
  expect(page).toMatch(/\/p\/weather-api[\w-]*$/);
  const { status } = await fetch(`${baseUrl}/v1/products${new URL(page).pathname}/connect`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  expect(status).toBe(200);
});

it('each block that needs nothing but this machine runs as it stands, one after the other, and a sale is made', async () => {
  const pasted = blocks.filter((block) => !Object.keys(ASIDE).some((begins) => block.startsWith(begins)));
  expect(pasted.length).toBeGreaterThanOrEqual(3);
  // Only the port of this run is another one. What a block writes goes into a folder of this test.
  const script = pasted.join('\n').replace('http://127.0.0.1:8787', baseUrl);
  for (const name of ['package.json', 'local', 'node_modules', 'worker']) symlinkSync(join(ROOT, name), join(home, name));
  const env = { ...process.env, CHAIN_PORT: new URL(rpcUrl).port };
  const { stdout } = await promisify(execFile)('bash', ['-e', '-o', 'pipefail', '-c', script], { cwd: home, env });
  expect(stdout).toMatch(/^CONFIRMED: http/m);
  expect(stdout).toMatch(/^CONFIRMED$/m);
  expect(stdout).toMatch(/\/p\/weather-api[\w-]*\?handoff=/);
  // The last call of an agent's setup: its plan is not paid, and the answer says so.
  expect(stdout).toContain('next_actions');
}, 120_000);
