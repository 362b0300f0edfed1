import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../cli/ports.ts';
import { check } from '../demo/narrator.ts';
import { inUsdc } from '../demo/purchase.ts';
import { buyAtCheckout, waitUntil } from './checkout-buyer.ts';
import { folderOfExample, runScript, startServer } from './project.ts';
import { BUILT_SDK } from './sdk.ts';
import { createEndpoint, createProduct, readUsdc, registerMerchant, type Stage } from './stage.ts';

const NAME = 'membership-next';
const NEXT = 'node_modules/next/dist/bin/next';

export async function playMembershipNext(stage: Stage): Promise<void> {
  const { api, chain, narrator } = stage;
  narrator.step('A merchant sells 30 days of a members’ page for 5 USDC');
  installNext((step) => narrator.say(step));
  const merchant = await registerMerchant(stage, 'The Tide Club');
  const product = await createProduct(stage, merchant, {
    name: 'The Tide Club, 30 days',
    price: { asset: 'USDC', amount: '5' },
    access_period_days: 30,
    usage_units: null,
    trusted_customer_ref: true,
  });
  const PORT = String(await freePort(0, 'PORT'));
  const variables = {
    SVC_BASE_URL: api.baseUrl,
    SVC_API_KEY: merchant.key,
    SVC_PRODUCT: product.product_id,
    SVC_WEBHOOK_SECRET: await createEndpoint(stage, merchant, `http://127.0.0.1:${PORT}/hooks`, ['membership.*']),
    NEXT_TELEMETRY_DISABLED: '1',
    PORT,
  };

  narrator.step('Her site is built and started');
  await runScript(stage, NAME, [NEXT, 'build'], variables);
  const { url, lines } = await startServer(stage, NAME, [NEXT, 'start', '--hostname', '127.0.0.1'], variables);
  const visit = (visitor: string, path: string, method = 'GET') =>
    fetch(url + path, { method, headers: { cookie: `user=${visitor}` }, redirect: 'manual' });
  const forged = await fetch(`${url}/hooks`, { method: 'POST', body: '{"type":"membership.activated"}' });
  const closed = await visit('grace', '/members');
  check(forged.status === 400 && closed.status === 307, `A forged webhook was answered ${forged.status}, a visitor ${closed.status}`);
  narrator.proven('A visitor who has not paid is sent away, and a forged webhook is refused.');

  narrator.step('Grace joins: the site sends her to the hosted checkout, and she pays');
  const checkout = new URL((await visit('grace', '/join', 'POST')).headers.get('location') ?? '');
  narrator.fact('checkout', checkout.origin + checkout.pathname);
  const buyer = await chain.newBuyer(25_000_000n);
  await buyAtCheckout(stage, product.slug, buyer, { handoff_token: checkout.searchParams.get('handoff') });
  await waitUntil('the webhook arrives', () => lines.find((line) => line === 'membership.activated: grace'));
  const page = await visit('grace', '/members');
  const isWelcome = page.status === 200 && /Welcome, (?:<!-- -->)?grace/.test(await page.text());
  check(isWelcome, `After the payment, the members’ page was answered ${page.status}`);
  const stranger = await visit('mallory', '/members');
  check(stranger.status === 307, `A stranger was answered ${stranger.status}`);
  const earned = await readUsdc(stage, merchant.payoutWallet);
  check(earned === 5_000_000n, `The merchant got ${earned} base units`);
  narrator.proven(`She reads the members’ page, another visitor does not. The merchant has ${inUsdc(earned)}.`);
}

/** Installs the example's packages from its own lockfile, if the lockfile or the SDK is newer than what is installed. */
function installNext(onProgress: (step: string) => void): void {
  const folder = folderOfExample(NAME);
  const installed = join(folder, 'node_modules/.package-lock.json');
  const changedAt = Math.max(...[join(folder, 'package-lock.json'), BUILT_SDK].map((path) => statSync(path).mtimeMs));
  if (existsSync(installed) && statSync(installed).mtimeMs > changedAt) return;
  onProgress('Installing Next.js, in the folder of the example');
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
}
