import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Api } from './cli/api.ts';
import { endOnSignals } from './cli/signals.ts';
import { Teardown } from './cli/teardown.ts';
import { sellPerRequest } from './demo/agents.ts';
import { letAgentSetUp } from './demo/bootstrap.ts';
import { Narrator } from './demo/narrator.ts';
import { buy } from './demo/purchase.ts';
import { proveReceipt } from './demo/receipt-proof.ts';
import { tryToCheat } from './demo/refusals.ts';
import { type DemoContext, openShop } from './demo/shop.ts';
import { PROVIDER_SECRET, payUnseen } from './demo/unreported-payments.ts';
import { WalletChain } from './demo/wallet.ts';
import { openMailbox, readMail } from './demo/webhooks.ts';
import { startService } from './service/service.ts';

/** `npm run demo`: complete purchase flow on a fresh service and chain. */
const narrator = new Narrator();
const teardown = new Teardown();
endOnSignals(teardown, 1);

async function runDemo(): Promise<string> {
  const startedAt = Date.now();
  const stateDir = mkdtempSync(join(tmpdir(), 'svc-demo-'));
  teardown.defer(() => rmSync(stateDir, { recursive: true, force: true }));
  const service = await startService({
    port: 0,
    chainPort: 0,
    stateDir,
    teardown,
    // The local chain confirms within a second, so it is polled more often than a real one.
    variables: { POLL_AFTER_MS: '30:400,120:1000,86400:5000', RPC_WEBHOOK_SECRET: PROVIDER_SECRET },
    onProgress: (step) => narrator.say(step),
    onProblem: (problem) => narrator.say(problem),
  });
  const end = service.gaveUp.then((lastOutput) => Promise.reject(new Error(lastOutput)));
  narrator.say(`The service is at ${service.baseUrl}, the chain at ${service.rpcUrl}.`);
  const demo: DemoContext = { api: new Api(service.baseUrl), chain: new WalletChain(service.rpcUrl), narrator };
  await Promise.race([play(demo), end]);
  return `demo ok — one sale confirmed once, its receipt proven, its event delivered, two cheats refused, no payment unseen, an agent served once per unit paid, another in business by itself, in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`;
}

async function play(demo: DemoContext): Promise<void> {
  const shop = await openShop(demo);
  const mailbox = await openMailbox(demo, shop, teardown);
  const sale = await buy(demo, shop);
  await proveReceipt(demo, sale);
  await readMail(demo, shop, mailbox, sale);
  await tryToCheat(demo, shop, sale);
  await payUnseen(demo, shop);
  await sellPerRequest(demo, shop, teardown);
  await letAgentSetUp(demo, teardown);
}

try {
  const lastLine = await runDemo();
  await teardown.run();
  narrator.end(lastLine);
} catch (error) {
  if (teardown.hasBegun) await teardown.run();
  else {
    narrator.fail(`demo failed: ${error instanceof Error ? error.message : String(error)}`);
    await teardown.run();
  }
  process.exitCode = 1;
}
process.exit();
