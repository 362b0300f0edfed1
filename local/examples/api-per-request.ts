import { check } from '../demo/narrator.ts';
import { inUsdc } from '../demo/purchase.ts';
import { runScript, startWorker } from './project.ts';
import { createProduct, readUsdc, registerMerchant, type Stage, writeWallet } from './stage.ts';

const NAME = 'api-per-request';

export async function playApiPerRequest(stage: Stage): Promise<void> {
  const { api, chain, narrator } = stage;
  narrator.step('A merchant sells forecasts, 0.01 USDC each');
  const merchant = await registerMerchant(stage, 'Ada’s Weather');
  const product = await createProduct(stage, merchant, {
    name: 'Forecast, one call',
    price: { asset: 'USDC', amount: '0.01' },
    live_mode_confirmed: true,
  });

  narrator.step('Her Worker starts, with three variables');
  const variables = { SVC_BASE_URL: api.baseUrl, SVC_API_KEY: merchant.key, SVC_PRODUCT: product.product_id };
  const url = await startWorker(stage, NAME, variables);
  narrator.say(`It answers at ${url}.`);
  const statusOf = (path: string) => fetch(url + path).then(({ status }) => status);
  const statuses = [await statusOf('/'), await statusOf('/forecast/atlantis'), await statusOf('/forecast/lisbon')];
  check(statuses.join() === '200,404,402', `Without a payment, the Worker answered ${statuses}`);
  narrator.proven('Without a payment: 200 for the list, 404 for an unknown city, 402 for a forecast.');

  narrator.step('An agent buys two forecasts with an unmodified @x402/fetch');
  const agent = await writeWallet(stage, 'agent', 1_000_000n);
  const urls = ['lisbon', 'bergen'].map((city) => `${url}/forecast/${city}`);
  const lines = await runScript(stage, NAME, ['buyer.ts', ...urls], { WALLET_FILE: agent.file, RPC_URL: chain.url });
  check(lines.length === 2 && lines.every((line) => line.startsWith('200 ')), 'The agent was not served twice');

  narrator.step('The money is in her wallet');
  const earned = await readUsdc(stage, merchant.payoutWallet);
  const query = new URLSearchParams({ product_id: product.product_id, status: 'CONFIRMED' });
  const { total } = await api.must<{ total: number }>('GET', `/v1/payments?${query}`, { credential: merchant.key });
  check(earned === 20_000n && total === 2, `The merchant got ${earned} base units in ${total} payments`);
  narrator.proven(`${inUsdc(earned)} in ${total} confirmed payments, straight from the agent.`);
}
