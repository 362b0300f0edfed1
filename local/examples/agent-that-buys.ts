import { check } from '../demo/narrator.ts';
import { inUsdc } from '../demo/purchase.ts';
import { openPaidApi } from './paid-api.ts';
import { runScript } from './project.ts';
import { readUsdc, registerMerchant, type Stage, writeWallet } from './stage.ts';

const FUNDS = 25_000_000n;
const PLAN = 19_000_000n;

export async function playAgentThatBuys(stage: Stage): Promise<void> {
  const { api, chain, narrator } = stage;
  narrator.step('A merchant sells forecasts for 0.05 USDC and a report for 2 USDC');
  const merchant = await registerMerchant(stage, 'Ada’s Weather');
  const url = await openPaidApi(stage, merchant, { '/forecast': '0.05', '/report': '2' });

  narrator.step('An agent with 25 USDC opens an account, buys a plan and goes shopping');
  const { address, file } = await writeWallet(stage, 'agent', FUNDS);
  const variables = { SVC_BASE_URL: api.baseUrl, RPC_URL: chain.url, WALLET_FILE: file };
  const urls = ['/forecast', '/report', '/forecast', '/forecast'].map((path) => url + path);
  const lines = await runScript(stage, 'agent-that-buys', ['agent.ts', ...urls], variables);
  const expected = [
    /its manifest is ready/,
    /^Plan starter, paid through 20/,
    /refused by the service: 403 spend_limit_exceeded/,
    /^200 .*forecast/,
    /^Not bought, .*\/report: .*maxAmountPerPayment/,
    /^200 .*forecast/,
    /^Not bought, .*\/forecast: .*it would exceed the budget: 100000 of 120000/,
    /^Spent on purchases: 100000 /,
  ];
  const missing = expected.find((pattern, index) => !pattern.test(lines[index] ?? ''));
  check(missing === undefined, `The agent did not say ${missing}`);

  narrator.step('Its wallet has paid for one plan and two forecasts');
  const spent = FUNDS - (await readUsdc(stage, address));
  const earned = await readUsdc(stage, merchant.payoutWallet);
  check(spent === PLAN + 100_000n && earned === 100_000n, `The agent spent ${spent} base units, the merchant got ${earned}`);
  narrator.proven(
    `${inUsdc(spent)} were spent, of which ${inUsdc(earned)} are in the merchant’s wallet. Two purchases above the budget were not made.`,
  );
}
