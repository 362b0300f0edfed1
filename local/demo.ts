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
import { openShop, type Story } from './demo/shop.ts';
import { PROVIDER_SECRET, payUnseen } from './demo/unreported-payments.ts';
import { WalletChain } from './demo/wallet.ts';
import { openMailbox, readMail } from './demo/webhooks.ts';
import { startService } from './service/service.ts';

/** `npm run demo`: the main job, end to end, on a service and a chain that were started for it alone. */
const narrator = new Narrator();
const teardown = new Teardown();
endOnSignals(teardown, 1);

/** Tells the whole story; answers with its last line. */
async function tell(): Promise<string> {
  const startedAt = Date.now();
  const stateDir = mkdtempSync(join(tmpdir(), 'svc-demo-'));
  teardown.defer(() => rmSync(stateDir, { recursive: true, force: true }));
  const service = await startService({
    port: 0,
    chainPort: 0,
    stateDir,
    teardown,
    // The local chain confirms within a second; there is no reason to be asked as rarely as on a real one.
    variables: { POLL_AFTER_MS: '30:400,120:1000,86400:5000', RPC_WEBHOOK_SECRET: PROVIDER_SECRET },
    onProgress: (step) => narrator.say(step),
    onProblem: (problem) => narrator.say(problem),
  });
  const end = service.gaveUp.then((lastWords) => Promise.reject(new Error(lastWords)));
  narrator.say(`The service is at ${service.baseUrl}, the chain at ${service.rpcUrl}.`);
  const story: Story = { api: new Api(service.baseUrl), chain: new WalletChain(service.rpcUrl), narrator };
  await Promise.race([play(story), end]);
  return `demo ok — one sale confirmed once, its receipt proven, its event delivered, two cheats refused, no payment unseen, an agent served once per unit paid, another in business by itself, in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`;
}

async function play(story: Story): Promise<void> {
  const shop = await openShop(story);
  const mailbox = await openMailbox(story, shop, teardown);
  const sale = await buy(story, shop);
  await proveReceipt(story, sale);
  await readMail(story, shop, mailbox, sale);
  await tryToCheat(story, shop, sale);
  await payUnseen(story, shop);
  await sellPerRequest(story, shop, teardown);
  await letAgentSetUp(story, teardown);
}

try {
  const lastLine = await tell();
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
