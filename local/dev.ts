import { completeNames } from './admin/rebuild-names.ts';
import { callChain } from './chain/client.ts';
import { Api } from './cli/api.ts';
import { compactLog } from './cli/log-lines.ts';
import { type DevOptions, Refusal, readOptions } from './cli/options.ts';
import { openSecrets } from './cli/secrets.ts';
import { endOnSignals } from './cli/signals.ts';
import { Teardown } from './cli/teardown.ts';
import { type DemoMerchant, openDemoMerchant } from './service/merchant.ts';
import { type Service, startService } from './service/service.ts';

const teardown = new Teardown();

endOnSignals(teardown);

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2), process.env);
  const toShow = options.verbose ? (line: string) => line : compactLog();
  const show = (line: string, stream: 'stdout' | 'stderr') => {
    const text = toShow(line, stream);
    if (text !== null && !teardown.hasBegun) console.log(text);
  };
  const service = await startService({ ...options, teardown, onProgress: console.log, onLine: show, onProblem: console.error });
  if (options.databases > 1) await completeNames(service.baseUrl, openSecrets(options.stateDir).operatorSecret);
  const merchant = await openMerchant(service, options).catch((error: unknown) => {
    // The service continues without the demo merchant, because developers need it most when a part is broken.
    console.error(`The demo merchant is missing: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  });
  console.log(`\nready ${service.baseUrl} chain ${service.rpcUrl}\n`);
  if (merchant) introduce(service, merchant, options);
  const lastOutput = await service.gaveUp;
  if (teardown.hasBegun) return;
  throw new Refusal(lastOutput);
}

async function openMerchant({ baseUrl, rpcUrl }: Service, { stateDir }: DevOptions): Promise<DemoMerchant> {
  const merchant = await openDemoMerchant(new Api(baseUrl), stateDir);
  // Sales per request need a payout wallet with a USDC account, and each chain starts empty.
  await callChain(rpcUrl, 'local_fundUsdc', [merchant.payoutWallet, '0']);
  return merchant;
}

function introduce({ baseUrl, rpcUrl }: Service, { email, password, key, payoutWallet, product }: DemoMerchant, options: DevOptions): void {
  const { name, slug, price } = product;
  console.log(`  Demo merchant   ${email}, password ${password}`);
  console.log(`  Live key        ${key}`);
  console.log(`  Product         ${name}, ${price.amount} ${price.asset}, paid to ${payoutWallet}`);
  console.log(`  Checkout        ${baseUrl}/p/${slug} (with a demo wallet: click through a payment)`);
  console.log(`  Passkeys        ${baseUrl.replace('127.0.0.1', 'localhost')} (browsers refuse them on an IP address)`);
  console.log(`  E-mails         ${baseUrl}/dev/mail (unless --vars names another provider)`);
  const chats = options.world ? 'a chat appears with its first sale' : '--world adds chats with members';
  console.log(`  Telegram        ${baseUrl}/dev/telegram (post a code, press start; ${chats})`);
  console.log(`  Fund a wallet   curl ${rpcUrl} -H 'content-type: application/json' \\`);
  console.log(`                    -d '{"jsonrpc":"2.0","id":1,"method":"local_fundUsdc","params":["<wallet>","25000000"]}'`);
  console.log(`  API             ${baseUrl}/v1/openapi.json`);
  console.log(`  State           ${options.stateDir} (delete it to begin anew)`);
  console.log('\nA whole purchase, step by step: npm run demo. Ctrl-C ends everything.\n');
}

main().catch(async (error: unknown) => {
  if (teardown.hasBegun) return;
  console.error(error instanceof Refusal ? error.message : error);
  await teardown.run();
  process.exit(1);
});
