import { check } from '../demo/narrator.ts';
import { inUsdc } from '../demo/purchase.ts';
import { runScript, startServer } from './project.ts';
import { createProduct, readUsdc, registerMerchant, type Stage, writeWallet } from './stage.ts';

const NAME = 'streaming-tokens';
const FUNDS = 1_000_000n;
const TOKEN_UNITS = 2n;

export async function playStreamingTokens(stage: Stage): Promise<void> {
  const { api, chain, narrator } = stage;
  narrator.step('A merchant sells text, 0.000002 USDC a token');
  const merchant = await registerMerchant(stage, 'Ada’s Texts');
  const product = await createProduct(stage, merchant, {
    name: 'Text by the token',
    price: { asset: 'USDC', amount: '1' },
    live_mode_confirmed: true,
  });
  const variables = { SVC_BASE_URL: api.baseUrl, SVC_API_KEY: merchant.key, SVC_PRODUCT: product.product_id };
  const server = await startServer(stage, NAME, ['server.ts'], variables);
  const { status } = await fetch(`${server.url}/write/bees`);
  check(status === 402, `Without a session, the server answered ${status}`);
  narrator.proven('A request without a session is answered 402.');

  narrator.step('A reader deposits 0.01 USDC and reads two texts with an unmodified @solana/mpp');
  const { address, file } = await writeWallet(stage, 'reader', FUNDS);
  const urls = ['bees', 'tides'].map((subject) => `${server.url}/write/${subject}`);
  const lines = await runScript(stage, NAME, ['reader.ts', ...urls], { WALLET_FILE: file, RPC_URL: chain.url });
  const counts = lines.map((line) => BigInt(/^(\d+) tokens, /.exec(line)?.[1] ?? 0));
  check(counts.length === 2 && counts.every((count) => count > 10n), 'The reader did not get two texts');
  const before = await readUsdc(stage, merchant.payoutWallet);
  narrator.proven(`Two answers, two vouchers, no transaction yet: the merchant has ${inUsdc(before)}.`);

  narrator.step('The merchant ends the server, which closes the session');
  await server.stop();
  const price = TOKEN_UNITS * counts.reduce((sum, count) => sum + count);
  const earned = await readUsdc(stage, merchant.payoutWallet);
  const spent = FUNDS - (await readUsdc(stage, address));
  check(before === 0n && earned === price && spent === price, `Of ${price} base units, ${earned} arrived and ${spent} were paid`);
  narrator.proven(`${inUsdc(earned)} arrived, for exactly the tokens that were read. The rest of the deposit is back.`);
}
