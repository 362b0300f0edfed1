import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tabbedExamplesIn } from '../../../local/assets/docs/render.ts';
import { callChain } from '../../../local/chain/client.ts';
import { Api } from '../../../local/cli/api.ts';
import { freePort } from '../../../local/cli/ports.ts';
import { WalletChain } from '../../../local/demo/wallet.ts';
import { DevProcess } from '../dev/dev-process.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PAYOUT = 'Av7QWv6RRdrFxbb9GXWM1g8Gut59feSWcr9tRBia7xZa';
const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const run = promisify(execFile);

interface Language {
  name: 'Python' | 'Go' | 'PHP';
  /** Command that shows if the language is installed. */
  probe: [string, string];
  start: (port: string) => [command: string, ...args: string[]];
}

const LANGUAGES: readonly Language[] = [
  { name: 'Python', probe: ['python3', '--version'], start: () => ['python3', 'shop.py'] },
  { name: 'Go', probe: ['go', 'version'], start: () => ['./shop'] },
  { name: 'PHP', probe: ['php', '--version'], start: (port) => ['php', '-S', `127.0.0.1:${port}`, 'shop.php'] },
];

function isInstalled({ probe: [command, arg] }: Language): boolean {
  try {
    execFileSync(command, [arg], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const examples = tabbedExamplesIn(readFileSync(join(ROOT, 'docs/without-an-sdk.md'), 'utf8'));

describe('docs/without-an-sdk.md', () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-without-an-sdk-'));
  const dev = new DevProcess(join(home, 'state'));
  const started: ChildProcess[] = [];
  let api: Api;
  let key: string;
  let rpcUrl: string;
  let baseUrl: string;

  beforeAll(async () => {
    ({ baseUrl, rpcUrl } = await dev.ready());
    api = new Api(baseUrl);
    const owner = { email: 'languages@example.com', password: 'correct horse', display_name: 'Ada' };
    const { token } = await api.must<{ token: string }>('POST', '/v1/auth/register', { body: owner });
    ({ raw_key: key } = await api.must<{ raw_key: string }>('POST', '/v1/keys', { credential: token, body: { name: 'server' } }));
    await callChain(rpcUrl, 'local_fundUsdc', [PAYOUT, '1']);
  }, 60_000);
  afterAll(async () => {
    for (const child of started) child.kill();
    await dev.end();
    rmSync(home, { recursive: true, force: true });
  });

  const sellForecasts = async (): Promise<string> => {
    const terms = { price: { asset: 'USDC', amount: '0.01' }, live_mode_confirmed: true, payout_wallet: PAYOUT };
    const body = { name: 'Forecast, one call', ...terms };
    return (await api.must<{ product_id: string }>('POST', '/v1/products', { credential: key, body })).product_id;
  };

  /** Writes the files of a language, each named by its first line, into a folder of their own. */
  function writeFiles(name: Language['name']): string {
    const folder = join(home, name);
    mkdirSync(folder);
    for (const example of examples) {
      const text = example[name]!;
      const [, file] = /^(?:#|\/\/|<\?php \/\/) (\w+\.\w+)\n/.exec(text)!;
      writeFileSync(join(folder, file!), `${text}\n`);
    }
    return folder;
  }

  async function startShop({ name, start }: Language, port: number, variables: Record<string, string>): Promise<string> {
    const folder = writeFiles(name);
    if (name === 'Go')
      await run('go', ['build', '-o', 'shop', 'verify.go', 'shop.go'], {
        cwd: folder,
        env: { ...process.env, GOCACHE: join(home, 'go-cache') },
      });
    const [command, ...args] = start(String(port));
    started.push(spawn(command, args, { cwd: folder, env: { ...process.env, ...variables, PORT: String(port) }, stdio: 'ignore' }));
    const url = `http://127.0.0.1:${port}`;
    for (let tries = 0; tries < 200; tries++) {
      const isUp = await fetch(`${url}/hooks`, { method: 'POST', body: '{}' }).then(
        () => true,
        () => false,
      );
      if (isUp) return url;
      await sleep(50);
    }
    throw new Error(`${name} does not listen`);
  }

  it('the page has each program in Python, Go and PHP', () => {
    expect(examples.map((example) => Object.keys(example))).toEqual([
      ['Python', 'Go', 'PHP'],
      ['Python', 'Go', 'PHP'],
    ]);
    expect(isInstalled(LANGUAGES[0]!)).toBe(true);
  });

  it.for(LANGUAGES)('$name sells one request for one payment and accepts only signed webhooks', async (language, { skip }) => {
    skip(!isInstalled(language), `${language.name} is not installed`);
    const port = await freePort(0, 'PORT');
    const hook = { url: `http://127.0.0.1:${port}/hooks`, event_types: ['payment.*'] };
    const path = '/v1/webhooks/endpoints';
    const endpoint = await api.must<{ endpoint_id: string; secret: string }>('POST', path, { credential: key, body: hook });
    const variables = { BASE: baseUrl, KEY: key, CALL: await sellForecasts(), WEBHOOK_SECRET: endpoint.secret };
    const url = await startShop(language, port, variables);

    const agent = await new WalletChain(rpcUrl).newBuyer(1_000_000n);
    const asked: Request[] = [];
    const send = async (input: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> => {
      asked.push(new Request(input, init));
      return fetch(asked.at(-1)!.clone());
    };
    const client = new x402Client().register(DEVNET, new ExactSvmScheme(agent, { rpcUrl }));
    const answer = await wrapFetchWithPayment(send, client)(`${url}/forecast`);
    expect([answer.status, await answer.json(), asked.length]).toEqual([200, { sky: 'clear' }, 2]);
    expect(answer.headers.get('payment-response')).toMatch(/^[\w+/]+=*$/);
    const [unpaid, again] = await Promise.all(asked.map(async (request) => fetch(request)));
    expect([unpaid!.status, unpaid!.headers.has('payment-required'), again!.status]).toEqual([402, true, 409]);

    const tested = await api.must<{ response_status: number }>('POST', `${path}/${endpoint.endpoint_id}/test`, {
      credential: key,
      body: {},
    });
    expect(tested.response_status).toBe(200);
    const now = String(Math.floor(Date.now() / 1000));
    const forged = { 'webhook-id': 'evt', 'webhook-timestamp': now, 'webhook-signature': 'v1,AAAA' };
    for (const headers of [{}, forged, { ...forged, 'webhook-timestamp': '1' }])
      expect((await fetch(`${url}/hooks`, { method: 'POST', body: '{"type":"payment.confirmed"}', headers })).status).toBe(400);
    await api.must('PATCH', `${path}/${endpoint.endpoint_id}`, { credential: key, body: { status: 'disabled' } });
  });
});
