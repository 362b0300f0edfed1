import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Address,
  createClient,
  createKeyPairSignerFromPrivateKeyBytes,
  getBase64Decoder,
  getBase64Encoder,
  getTransactionDecoder,
  getTransactionEncoder,
  type KeyPairSigner,
  partiallySignTransaction,
} from '@solana/kit';
import { solanaLocalRpc } from '@solana/kit-plugin-rpc';
import { signer } from '@solana/kit-plugin-signer';
import { subscriptionsProgram } from '@solana/subscriptions';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DevProcess } from '../local/dev/dev-process.ts';
import { ClientChain, TOKEN_PROGRAM, USDC } from './chain.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of the service, checked by its own tests.
type Body = any;

/** Service of `npm run dev` with a merchant that sells a renewing product. */
class Service {
  readonly dev: DevProcess;
  readonly stateDir: string;
  baseUrl = '';
  key = '';
  chain!: ClientChain;
  merchant!: KeyPairSigner;
  product: Body;
  plan: Body;

  constructor() {
    this.stateDir = mkdtempSync(join(tmpdir(), 'svc-subscriptions-'));
    this.dev = new DevProcess(this.stateDir);
  }

  async start(): Promise<void> {
    const { baseUrl, rpcUrl } = await this.dev.ready();
    this.baseUrl = baseUrl;
    this.chain = new ClientChain(rpcUrl);
    const { merchant } = JSON.parse(readFileSync(join(this.stateDir, 'secrets.json'), 'utf8'));
    this.key = merchant.key;
    this.merchant = await createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(Buffer.from(merchant.payoutSeed, 'base64url')));
    await this.chain.call('local_fundSol', this.merchant.address, '1000000000');
    await this.chain.call('local_fundUsdc', this.merchant.address, '0');
    this.product = await this.call('POST', '/v1/products', {
      name: 'Forecasts',
      price: { asset: 'USDC', amount: '5' },
      renewal_mode: 'AUTOMATIC',
      payout_wallet: this.merchant.address,
      live_mode_confirmed: true,
    });
    const path = `/v1/access/products/${this.product.product_id}/subscription-plan`;
    const { transaction } = await this.call('POST', path);
    const wire = getTransactionDecoder().decode(getBase64Encoder().encode(transaction));
    const signed = getTransactionEncoder().encode(await partiallySignTransaction([this.merchant.keyPair], wire));
    const signature = await this.chain.call('sendTransaction', getBase64Decoder().decode(signed), { encoding: 'base64' });
    this.plan = await this.call('POST', `${path}/confirm`, { tx_signature: signature });
  }

  async call(method: string, path: string, body?: object): Promise<Body> {
    const headers = { 'X-Svc-Key': this.key, 'content-type': 'application/json', 'Idempotency-Key': crypto.randomUUID() };
    const answer = await fetch(this.baseUrl + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const read = (await answer.json()) as Body;
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(read)}`);
    return read;
  }

  readonly readAuthorization = (id: string) => this.call('GET', `/v1/access/native-subscriptions/${id}`);

  async end(): Promise<void> {
    await this.dev.end();
    rmSync(this.stateDir, { recursive: true, force: true });
  }
}

describe('public subscriptions client against the service', () => {
  const service = new Service();
  beforeAll(() => service.start(), 60_000);
  afterAll(() => service.end());

  it('a buyer who subscribes during a checkout and cancels is collected from and updated without calling the service', async () => {
    const { chain, merchant, product, plan } = service;
    const buyer = await chain.openWallet(20_000_000n);
    const bill = await service.call('POST', `/v1/products/p/${product.slug}/connect`, { wallet_address: buyer.address });
    expect(bill.subscription.steps.map(({ kind }: Body) => kind)).toEqual(['approve', 'subscribe']);
    const { authorization_id: id } = bill.subscription;

    const client = createClient()
      .use(signer(buyer.signer))
      .use(solanaLocalRpc({ rpcUrl: chain.url, rpcSubscriptionsUrl: chain.webSocketUrl as never }))
      .use(subscriptionsProgram());
    const { instructions } = client.subscriptions;
    const approval = { tokenMint: USDC, tokenProgram: TOKEN_PROGRAM, userAta: buyer.tokenAccount };
    await instructions.initSubscriptionAuthority(approval).sendTransaction();
    await instructions.subscribe({ merchant: merchant.address, planId: BigInt(plan.plan_id), tokenMint: USDC }).sendTransaction();

    await expect
      .poll(async () => (await service.call('GET', `/v1/payments/${bill.payment_id}`)).status, { timeout: 40_000 })
      .toBe('CONFIRMED');
    expect(await service.readAuthorization(id)).toMatchObject({ status: 'active', subscriber_wallet: buyer.address });
    expect(await chain.held(buyer.tokenAccount)).toBe(15_000_000n);

    await instructions.cancelSubscription({ planPda: plan.plan_address as Address }).sendTransaction();
    await expect.poll(async () => (await service.readAuthorization(id)).status, { timeout: 10_000 }).toBe('cancel_requested');
    expect(await chain.held(buyer.tokenAccount)).toBe(15_000_000n);
  }, 90_000);
});
