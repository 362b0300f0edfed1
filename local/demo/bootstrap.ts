import type { KeyPairSigner } from '@solana/kit';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm';
import { Hono } from 'hono';
import type { ApiFailure } from '../cli/api.ts';
import type { Teardown } from '../cli/teardown.ts';
import { DEVNET, listen, type Seller, sellToAgent } from './facilitator-shop.ts';
import { check } from './narrator.ts';
import type { DemoContext } from './shop.ts';
import { sign } from './wallet.ts';

const FIXES_MAX = 5;

type Own = Record<string, string>;

interface Action {
  action: string;
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: Record<string, unknown>;
}

interface Setup {
  setup_intent_id: string;
  setup_secret: string;
  sandbox_api_key: string;
  account_id: string;
  status: string;
  evaluation?: { score: number; findings: { severity: string; code: string; path: string; suggestion: string }[] };
  next_actions: Action[];
  live_api_key?: string;
}

interface Readiness {
  ready: boolean;
  product_id: string;
  rails: { rail_id: string; ready: boolean }[];
  checks: { code: string; status: string; message: string; fix: (Omit<Action, 'action'> & { transaction?: string }) | null }[];
}

/** `ready` refers to the default rail, plain checkout. This agent sells per request. */
const isReadyForX402 = ({ rails }: Readiness) => rails.some(({ rail_id, ready }) => rail_id === 'x402_solana_usdc' && ready);

/** Turns an agent into a merchant: each step follows from the previous answer. */
export async function letAgentSetUp(demo: DemoContext, teardown: Teardown): Promise<void> {
  const wallet = await demo.chain.newWallet();
  const setup = await describeItself(demo, wallet, teardown);
  await buyPlan(demo, setup);
  const seller = await openForBusiness(demo, setup, wallet);
  await sellToAgent(demo, seller, teardown);
}

async function describeItself({ api, narrator }: DemoContext, wallet: KeyPairSigner, teardown: Teardown): Promise<Setup> {
  narrator.step('An agent wants to sell tide tables, and nobody is there to sign it up');
  const body = { agent_name: 'Tide tables', intended_use: 'Sell tide tables by the request', plan: 'starter' };
  const setup = await api.must<Setup>('POST', '/v1/access/agent-bootstrap', { body });
  narrator.fact('account', `${setup.account_id} (no e-mail, no password, no person)`);
  narrator.fact('sandbox key', `${setup.sandbox_api_key.slice(0, 13)}… (shown once, like its setup secret)`);

  narrator.step('It says what it sells, and gets two things wrong');
  const ears = new Hono().post('/hooks', (c) => c.text('thanks'));
  const resource = { method: 'GET', url: 'https://tides.example.com/table', product_ref: 'tides', units: 1 };
  const product = { external_product_id: 'tide-table', name: 'Tide table', price: { asset: 'USDC', amount: '0' }, usage_units: 1 };
  const manifest = {
    manifest_version: '1',
    name: 'Tide tables',
    description: 'High and low water, by the request.',
    homepage_url: 'https://tides.example.com',
    contact_email: 'agent@tides.example.com',
    resources: [resource],
    products: [product],
    payout: { rail_id: 'x402_solana_usdc', wallet_address: wallet.address },
    webhooks: [{ url: `${await listen(ears, teardown)}/hooks`, event_types: ['payment.*'] }],
    spend_limits: { per_payment: { asset: 'USDC', amount: '19' }, per_day: { asset: 'USDC', amount: '19' } },
    live_requested: true,
  };
  const submit = (): Promise<Setup> =>
    api.must('POST', `/v1/access/agent-bootstrap/${setup.setup_intent_id}/manifest`, {
      body: { setup_secret: setup.setup_secret, ...manifest },
    });
  const refused = await submit();
  const errors = refused.evaluation?.findings.filter(({ severity }) => severity === 'error') ?? [];
  check(refused.status === 'changes_required' && errors.length === 2, `The manifest is ${refused.status}: ${JSON.stringify(refused)}`);
  for (const { path, suggestion } of errors) narrator.fact('finding', `${path}: ${suggestion}`);
  resource.product_ref = product.external_product_id;
  product.price = { asset: 'USDC', amount: '0.02' };
  const ready = await submit();
  check(ready.status === 'ready', `The mended manifest is ${ready.status}: ${JSON.stringify(ready.evaluation)}`);
  narrator.proven(`Mended as suggested: ${ready.status}, score ${refused.evaluation?.score} → ${ready.evaluation?.score}.`);
  return { ...ready, setup_secret: setup.setup_secret };
}

/** Buys the plan by x402 as the service describes. */
async function buyPlan({ api, chain, narrator }: DemoContext, setup: Setup): Promise<void> {
  narrator.step('It asks for a live key, and has to buy a plan first');
  const body = { setup_secret: setup.setup_secret, issue_live_key: true, live_mode_confirmed: true };
  const approve = `/v1/access/agent-bootstrap/${setup.setup_intent_id}/approve`;
  const { status, body: failure } = await api.call<ApiFailure>('POST', approve, { body });
  const [buy] = setup.next_actions;
  check(
    status === 409 && failure.code === 'setup_not_ready' && buy?.action === 'activate_plan',
    `The answer was ${status} ${failure.code}`,
  );
  narrator.proven(`${status} ${failure.code} (${failure.meta.reason}). What to do next: ${buy.method} ${buy.path}.`);

  const payer = await chain.newBuyer(25_000_000n);
  const client = new x402Client().register(DEVNET, new ExactSvmScheme(payer, { rpcUrl: chain.url }));
  const headers = { 'X-Svc-Setup-Secret': setup.setup_secret };
  const pay = () => wrapFetchWithPayment(fetch, client)(`${api.baseUrl}${buy.path}`, { method: buy.method, headers });
  const asked = await fetch(`${api.baseUrl}${buy.path}`, { method: buy.method, headers });
  const { meta } = (await asked.json()) as { meta: { client_setting: string } };
  const [, most] = /maxAmountPerPayment: '(.+)'/.exec(meta.client_setting) ?? [];
  check(asked.status === 402 && most !== undefined, `Asking for the price was answered ${asked.status}`);
  const unasked = await pay().then(String, (error: Error) => error.message);
  check(/maxAmountPerPayment|spend/i.test(unasked), `Unasked, the public client did not mind: ${unasked}`);
  client.setSpendControls({ maxAmountPerPayment: most });
  const paid = await pay();
  const activation = (await paid.json()) as { plan: string; paid_through: string };
  check(paid.status === 200 && activation.plan === 'starter', `The activation was answered ${paid.status}: ${JSON.stringify(activation)}`);
  narrator.fact('client setting', meta.client_setting);
  narrator.proven(`Its @x402/fetch paid ${most} once it was allowed to: ${activation.plan} until ${activation.paid_through}.`);
}

/** Makes the suggested next calls until the service reports that an x402 sale would work. */
async function openForBusiness(demo: DemoContext, setup: Setup, wallet: KeyPairSigner): Promise<Seller> {
  const { api, chain, narrator } = demo;
  narrator.step('It has its live key, and follows its next actions');
  const path = `/v1/access/agent-bootstrap/${setup.setup_intent_id}/approve`;
  const body = { setup_secret: setup.setup_secret, issue_live_key: true, live_mode_confirmed: true };
  const approved = await api.must<Setup>('POST', path, { body });
  const key = approved.live_api_key ?? '';
  narrator.fact('live key', `${key.slice(0, 13)}… (shown once)`);
  const own = { '<live_api_key>': key, '<address of your Solana wallet>': wallet.address };
  const answers = new Map<string, unknown>();
  for (const action of approved.next_actions) {
    answers.set(action.action, await follow(demo, action, own));
    narrator.fact(action.action, `${action.method} ${action.path}`);
  }
  const product = answers.get('create_product') as Seller['product'];

  narrator.step('Readiness says what is still missing, with the call that mends it');
  let readiness = answers.get('check_readiness') as Readiness;
  for (let mended = 0; !isReadyForX402(readiness); mended++) {
    const broken = readiness.checks.find(({ status }) => status === 'fail');
    check(mended < FIXES_MAX && broken?.fix != null, `It does not get ready: ${JSON.stringify(readiness)}`);
    const { transaction } = broken.fix;
    if (transaction) await chain.waitUntilConfirmed(await chain.send(await sign(wallet, transaction)));
    else await follow(demo, { ...broken.fix, headers: { 'X-Svc-Key': key, 'Idempotency-Key': crypto.randomUUID() } }, own);
    const how = transaction ? 'signed the transaction it came with, and sent it' : `${broken.fix.method} ${broken.fix.path}`;
    narrator.fact('missing', `${broken.code}: ${how}`);
    readiness = await api.must('GET', `/v1/access/setup/readiness?product_id=${product.product_id}`, { credential: key });
  }
  narrator.proven('x402_solana_usdc is ready: true, and nobody has signed in for any of it.');
  return { key, wallet, product };
}

/** Makes a suggested call with the agent's values for <angle brackets>. */
async function follow({ api }: DemoContext, { method, path, headers, body }: Omit<Action, 'action'>, own: Own): Promise<unknown> {
  const mine = { ...own, '<8 to 255 visible characters, new for every request>': crypto.randomUUID() };
  const fill = (text: string) => Object.entries(mine).reduce((left, [blank, value]) => left.replaceAll(blank, value), text);
  const response = await fetch(`${api.baseUrl}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...JSON.parse(fill(JSON.stringify(headers ?? {}))) },
    body: body ? fill(JSON.stringify(body)) : null,
  });
  const answer: unknown = await response.json();
  check(response.ok, `${method} ${path} answered ${response.status}: ${JSON.stringify(answer)}`);
  return answer;
}
