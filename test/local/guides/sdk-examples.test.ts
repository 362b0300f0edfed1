import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAPTERS } from '../../../local/assets/docs/contents.ts';
import { tabbedExamplesIn } from '../../../local/assets/docs/render.ts';
import { Api } from '../../../local/cli/api.ts';
import { DevProcess } from '../dev/dev-process.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PAYOUT = 'Av7QWv6RRdrFxbb9GXWM1g8Gut59feSWcr9tRBia7xZa';
const run = promisify(execFile);

/** Examples with the SDK, in the order of the pages: each may use the variables of those before it. */
const examples = CHAPTERS.flatMap(({ pages }) => pages)
  .flatMap((page) => tabbedExamplesIn(readFileSync(join(ROOT, 'docs', `${page}.md`), 'utf8')))
  .flatMap(({ SDK }) => SDK ?? []);

describe('examples with the SDK', () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-sdk-examples-'));
  const dev = new DevProcess(join(home, 'state'));
  let env: Record<string, string>;

  beforeAll(async () => {
    const { baseUrl, rpcUrl } = await dev.ready();
    const api = new Api(baseUrl);
    const owner = { email: 'sdk@example.com', password: 'correct horse', display_name: 'Ada' };
    const { token } = await api.must<{ token: string }>('POST', '/v1/auth/register', { body: owner });
    const { raw_key: KEY } = await api.must<{ raw_key: string }>('POST', '/v1/keys', { credential: token, body: { name: 'server' } });
    const trial = { name: 'tests', sandbox_mode: true };
    const { raw_key: SANDBOX_KEY } = await api.must<{ raw_key: string }>('POST', '/v1/keys', { credential: token, body: trial });
    const body = { name: 'Weather API', price: { asset: 'USDC', amount: '5' }, access_period_days: 30, payout_wallet: PAYOUT };
    const made = await api.must<{ product_id: string; checkout_url: string }>('POST', '/v1/products', { credential: KEY, body });
    await run(process.execPath, [join(ROOT, 'local/pay.ts'), made.checkout_url, '--rpc', rpcUrl]);
    env = { BASE: baseUrl, KEY, PAYOUT, PRODUCT: made.product_id, SANDBOX_KEY };
    symlinkSync(join(ROOT, 'node_modules'), join(home, 'node_modules'));
    writeFileSync(join(home, 'package.json'), '{"type":"module"}');
  }, 60_000);
  afterAll(async () => {
    await dev.end();
    rmSync(home, { recursive: true, force: true });
  });

  it('all of them run as one file, and print what they show', async () => {
    expect(examples.length).toBeGreaterThanOrEqual(12);
    const sdk = JSON.stringify(join(ROOT, 'sdk/src/index.ts'));
    writeFileSync(join(home, 'try.ts'), examples.join('\n').replaceAll("'@paylatch/sdk'", sdk));
    const { stdout } = await run(process.execPath, ['--no-warnings', 'try.ts'], { cwd: home, env: { ...process.env, ...env } });
    expect(stdout.trim().split('\n')).toEqual([
      expect.stringMatching(/\/p\/weather-api[\w-]* CONFIRMED$/),
      expect.stringMatching(/^completed \d+$/),
      'true',
      expect.stringContaining('?handoff='),
      expect.stringMatching(/^whsec_/),
      'recovered CONFIRMED',
      'receipt_id',
      '[]',
    ]);
  });
});
