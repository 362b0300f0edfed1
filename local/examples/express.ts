import { check } from '../demo/narrator.ts';
import { inUsdc } from '../demo/purchase.ts';
import { runScript, startServer } from './project.ts';
import { createProduct, readUsdc, registerMerchant, type Stage, writeWallet } from './stage.ts';

const NAME = 'express';

export async function playExpress(stage: Stage): Promise<void> {
  const { api, chain, narrator } = stage;
  narrator.step('A merchant sells conversions, 0.01 USDC each');
  const merchant = await registerMerchant(stage, 'Ada’s Metres');
  const product = await createProduct(stage, merchant, {
    name: 'Conversion, one call',
    price: { asset: 'USDC', amount: '0.01' },
    live_mode_confirmed: true,
  });

  narrator.step('Her Express server starts, with three variables');
  const variables = { SVC_BASE_URL: api.baseUrl, SVC_API_KEY: merchant.key, SVC_PRODUCT: product.product_id };
  const { url } = await startServer(stage, NAME, ['server.ts'], variables);
  const statusOf = (path: string) => fetch(url + path).then(({ status }) => status);
  const statuses = [await statusOf('/'), await statusOf('/metres/parsec'), await statusOf('/metres/mile')];
  check(statuses.join() === '200,404,402', `Without a payment, the server answered ${statuses}`);
  narrator.proven('Without a payment: 200 for the list, 404 for an unknown unit, 402 for a conversion.');

  narrator.step('An agent buys one with an unmodified @x402/fetch');
  const agent = await writeWallet(stage, 'express-agent', 1_000_000n);
  const lines = await runScript(stage, NAME, ['buyer.ts', `${url}/metres/mile`], { WALLET_FILE: agent.file, RPC_URL: chain.url });
  check(lines.length === 1 && lines[0]!.startsWith('200 '), 'The agent was not served');
  const earned = await readUsdc(stage, merchant.payoutWallet);
  check(earned === 10_000n, `The merchant got ${earned} base units`);
  narrator.proven(`${inUsdc(earned)} in her wallet, straight from the agent.`);
}
