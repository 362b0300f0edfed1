import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { generateKeyPairSigner, type KeyPairSigner } from '@solana/kit';
import { x402Client, x402HTTPClient } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm';
import { startChainServer } from '../../../local/chain/rpc/server.ts';
import { Api } from '../../../local/cli/api.ts';
import { openSecrets } from '../../../local/cli/secrets.ts';
import { Teardown } from '../../../local/cli/teardown.ts';
import { sign, WalletChain } from '../../../local/demo/wallet.ts';
import { startService } from '../../../local/service/service.ts';
import { readWallet } from '../../../local/service/wallet-of.ts';

const ROOT = join(import.meta.dirname, '../../..');
const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const PARTS = { database: 'wrangler/v3/d1', objects: 'wrangler/v3/do' } as const;

export interface Sold {
  key: string;
  merchant: string;
  productId: string;
  slug: string;
  apiProductId: string;
}

/** Service with state folders that can be copied and mixed, over one chain that outlives them. */
export class CopiedState {
  readonly home = mkdtempSync(join(tmpdir(), 'svc-restore-'));
  readonly #directory = new Teardown();
  chain!: WalletChain;
  payout!: KeyPairSigner;

  async open(): Promise<void> {
    this.#directory.defer(() => rmSync(this.home, { recursive: true, force: true }));
    const chain = await startChainServer();
    this.#directory.defer(() => chain.close());
    this.chain = new WalletChain(chain.url);
    const secrets = openSecrets(this.folder('state'));
    await this.chain.call('local_fundSol', await readWallet(secrets.feePayerKeys), '10000000000');
    this.payout = await generateKeyPairSigner();
    await this.chain.call('local_fundUsdc', this.payout.address, '1');
  }

  close(): Promise<void> {
    return this.#directory.run();
  }

  folder(name: string): string {
    return join(this.home, name);
  }

  copy(from: string, to: string): void {
    cpSync(this.folder(from), this.folder(to), { recursive: true });
  }

  /** Combines `state` with one part of an older copy. */
  mix(name: string, part: keyof typeof PARTS, old: string): void {
    this.copy('state', name);
    rmSync(join(this.folder(name), PARTS[part]), { recursive: true });
    cpSync(join(this.folder(old), PARTS[part]), join(this.folder(name), PARTS[part]), { recursive: true });
  }

  async during<T>(name: string, work: (service: RunningCopy) => Promise<T>): Promise<T> {
    const teardown = new Teardown();
    this.#directory.defer(() => teardown.run());
    const { baseUrl } = await startService({
      port: 0,
      chainPort: 0,
      stateDir: this.folder(name),
      teardown,
      variables: { RPC_URL: this.chain.url, LOCAL_CLOCK_URL: this.chain.url },
      onProgress: () => {},
      onProblem: () => {},
    });
    try {
      return await work(new RunningCopy(this, name, baseUrl));
    } finally {
      await teardown.run();
    }
  }
}

export class RunningCopy {
  readonly api: Api;
  readonly #state: CopiedState;
  readonly #name: string;

  constructor(state: CopiedState, name: string, baseUrl: string) {
    this.#state = state;
    this.#name = name;
    this.api = new Api(baseUrl);
  }

  async sell(): Promise<Sold> {
    const owner = { email: 'ada@example.com', password: 'correct horse battery', display_name: 'Ada' };
    const { token, user_id: merchant } = await this.api.must<{ token: string; user_id: string }>('POST', '/v1/auth/register', {
      body: owner,
    });
    const { raw_key: key } = await this.api.must<{ raw_key: string }>('POST', '/v1/keys', { credential: token, body: { name: 'shop' } });
    const terms = { price: { asset: 'USDC', amount: '1' }, payout_wallet: this.#state.payout.address, live_mode_confirmed: true };
    const sell = (body: object) =>
      this.api.must<{ product_id: string; slug: string }>('POST', '/v1/products', { credential: key, body: { ...terms, ...body } });
    const product = await sell({ name: 'Five uses', usage_units: 5 });
    const { product_id: apiProductId } = await sell({ name: 'One call', usage_units: 1 });
    return { key, merchant, productId: product.product_id, slug: product.slug, apiProductId };
  }

  async buy({ slug }: Sold, buyer: KeyPairSigner): Promise<{ paymentId: string; txSignature: string }> {
    const begun = await this.api.must<{ payment_id: string; transaction: string }>('POST', `/v1/products/p/${slug}/connect`, {
      body: { wallet_address: buyer.address },
    });
    const transaction = await sign(buyer, begun.transaction);
    await this.api.must('POST', `/v1/payments/${begun.payment_id}/transaction`, { body: { transaction } });
    const paid = await this.until(() =>
      this.api
        .must<{ status: string; tx_signature: string }>('GET', `/v1/payments/${begun.payment_id}`)
        .then((payment) => payment.status === 'CONFIRMED' && payment),
    );
    return { paymentId: begun.payment_id, txSignature: paid.tx_signature };
  }

  consume({ key, productId }: Sold, buyer: KeyPairSigner, idempotencyKey: string) {
    const body = { product_id: productId, customer: { wallet_address: buyer.address } };
    return this.api.must<{ remaining: number; consumption_id: string }>('POST', '/v1/access/entitlements/consume', {
      credential: key,
      body,
      idempotencyKey,
    });
  }

  /** Pays for one call by x402 as an agent. Returns the settling transaction. */
  async payForCall({ key, apiProductId }: Sold, agent: KeyPairSigner): Promise<string> {
    const body = { product_id: apiProductId, customer: { wallet_address: agent.address } };
    const headers = { 'content-type': 'application/json', 'x-svc-key': key, 'idempotency-key': crypto.randomUUID() };
    const url = `${this.api.baseUrl}/v1/access/entitlements/consume`;
    const refused = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    await refused.body?.cancel();
    const http = new x402HTTPClient(new x402Client().register(DEVNET, new ExactSvmScheme(agent, { rpcUrl: this.#state.chain.url })));
    const payload = await http.createPaymentPayload(http.getPaymentRequiredResponse((name) => refused.headers.get(name)));
    const payment_signature = http.encodePaymentSignatureHeader(payload)['PAYMENT-SIGNATURE'];
    const settled = await this.api.must<{ tx_signature: string }>('POST', '/v1/access/x402/settle', {
      credential: key,
      body: { product_id: apiProductId, payment_signature, consume_units: 1 },
      idempotencyKey: crypto.randomUUID(),
    });
    return settled.tx_signature;
  }

  async listed({ key, productId }: Sold): Promise<number | undefined> {
    const path = `/v1/access/entitlements?product_id=${productId}`;
    return (await this.api.must<{ items: { remaining: number }[] }>('GET', path, { credential: key })).items[0]?.remaining;
  }

  /** Runs `npm run admin -- reconcile`. Returns its output for any exit status. */
  async reconcile(since: string): Promise<string> {
    const args = ['--no-warnings', join(ROOT, 'local/admin.ts'), 'reconcile', since];
    const where = ['--url', this.api.baseUrl, '--state', this.#state.folder(this.#name)];
    const run = promisify(execFile)(process.execPath, [...args, ...where]);
    return run.then(
      ({ stdout }) => stdout,
      ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
    );
  }

  async until<T>(probe: () => Promise<T | false | undefined>): Promise<T> {
    for (;;) {
      const seen = await probe();
      if (seen) return seen;
      await sleep(50);
    }
  }
}
