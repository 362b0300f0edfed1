import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Address, address, createKeyPairSignerFromBytes, type KeyPairSigner } from '@solana/kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NETWORKS } from '#solana/assets.ts';
import { associatedTokenAccount, buildAtaTransaction, buildCheckoutTransaction, buildUnsigned } from '#solana/checkout-transaction.ts';
import { buildPlanTransaction, draftPlan } from '#solana/programs/subscriptions/publishing.ts';
import { callChain } from '../../local/chain/client.ts';
import { startChainServer } from '../../local/chain/rpc/server.ts';
import signing from '../../worker/pages/locales/signing/en.json' with { type: 'json' };
import { fromBase64 } from '../../worker/pages/parts/bytes.ts';
import { sayIn } from '../../worker/pages/parts/text.ts';
import { readTransaction } from '../../worker/pages/parts/transaction.ts';
import { stepTexts } from '../../worker/pages/signing/words.ts';

const { usdcMint: mint } = NETWORKS.devnet;
const OTHER = 'Av7QWv6RRdrFxbb9GXWM1g8Gut59feSWcr9tRBia7xZa';
const PULLER = 'JBCFBPmjUn9CSjHe2AxwUgQYF5zWP3nmckucfAaa97K';
const LIFETIME = { blockhash: OTHER, lastValidBlockHeight: 1n };
const describeStep = stepTexts(sayIn(signing), { locale: 'en', usdcMints: [mint] });
function linesOf(transaction: string) {
  const { signers, steps } = readTransaction(fromBase64(transaction));
  return { signers, lines: steps.map((step) => describeStep(step).replaceAll('\u00a0', ' ')), kinds: steps.map(({ kind }) => kind) };
}

const UNSIGNING = 'no keypair';

describe('npm run sign', () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-sign-'));
  const [keypair, file] = [join(home, 'id.json'), join(home, 'answer.json')];
  let signer: KeyPairSigner;
  let chain: Awaited<ReturnType<typeof startChainServer>>;
  beforeAll(async () => {
    // A private key in this form includes the public one.
    const { d, x } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
    const bytes = [d!, x!].flatMap((part) => [...Buffer.from(part, 'base64url')]);
    writeFileSync(keypair, JSON.stringify(bytes));
    signer = await createKeyPairSignerFromBytes(Uint8Array.from(bytes));
    chain = await startChainServer({ port: 0 });
    await callChain(chain.url, 'local_fundSol', [signer.address, '1000000000']);
  });
  afterAll(async () => {
    await chain.close();
    rmSync(home, { recursive: true });
  });

  const run = (answer: object | string, ...flags: string[]) =>
    new Promise<{ code: number; out: string; said: string }>((done) => {
      writeFileSync(file, typeof answer === 'string' ? answer : JSON.stringify(answer));
      const signs = flags.includes(UNSIGNING) ? [] : ['--keypair', keypair];
      const args = [join(import.meta.dirname, '../../local/sign.ts'), file, ...signs, ...flags.filter((flag) => flag !== UNSIGNING)];
      execFile(process.execPath, args, (error, out, said) => done({ code: error ? 1 : 0, out, said }));
    });
  const unknownTo = (wallet: string) =>
    buildUnsigned(wallet, [{ programAddress: address(OTHER), accounts: [], data: Uint8Array.of(9) }], LIFETIME);

  it('a plan to publish is described with its price, receiver and puller', () => {
    const terms = { productId: 'p', mint: mint as Address, amount: 5_000_000n, periodDays: 30, page: 'https://pay.example.com/p/x' };
    const plan = draftPlan({ ...terms, merchant: OTHER as Address, puller: PULLER as Address });
    const { lines, signers } = linesOf(buildPlanTransaction(plan, LIFETIME));
    expect(signers).toEqual([OTHER]);
    expect(lines).toEqual([
      `Publishes a subscription plan of ${OTHER}: 5.00 USDC every 30 days, without an end. Paid to ${OTHER}. Collected by ${PULLER}. ` +
        'Described at https://pay.example.com/p/x.',
    ]);
  });

  it('a refund is described with its amount and receiver, without control characters of its memo', async () => {
    const ata = await associatedTokenAccount(PULLER, mint);
    const merchant = { wallet: PULLER, ata, units: 4_000_000n, ataExists: false };
    const terms = { memo: 'svc-refund:1\u001b[2J', mint, decimals: 6, references: [], merchant, fee: null };
    const { lines, kinds } = linesOf(await buildCheckoutTransaction(terms, OTHER, LIFETIME));
    expect(kinds).not.toContain('unknown');
    expect(lines).toContain(`Sends 4.00 USDC of ${OTHER} to the account ${ata}.`);
    expect(lines).toContain(`Opens the USDC account of the wallet ${PULLER}. ${OTHER} pays its deposit, about 0.002 SOL.`);
    expect(lines).toContain('Writes the memo “svc-refund:1 [2J”.');
  });

  it('only the real USDC mint is called USDC', async () => {
    const merchant = { wallet: PULLER, ata: await associatedTokenAccount(PULLER, OTHER), units: 4n, ataExists: true };
    const terms = { memo: 'm', mint: OTHER, decimals: 6, references: [], merchant, fee: null };
    const { lines } = linesOf(await buildCheckoutTransaction(terms, PULLER, LIFETIME));
    expect(lines.join('\n')).toContain(`4 base units of the token ${OTHER}`);
    expect(lines.join('\n')).not.toContain('USDC');
  });

  it('a token account opening is signed and sent, and only its signature is printed', async () => {
    const { value } = await callChain<{ value: { blockhash: string } }>(chain.url, 'getLatestBlockhash', []);
    const lifetime = { blockhash: value.blockhash, lastValidBlockHeight: 1_000n };
    const transaction = await buildAtaTransaction(signer.address, mint, lifetime);
    const printed = await run({ create_ata_transaction: transaction });
    expect([printed.code, printed.said]).toEqual([0, expect.stringContaining(`Opens the USDC account of the wallet ${signer.address}`)]);
    expect(printed.out).toMatch(/^[\w+/]+=*\n$/);
    const sent = await run({ create_ata_transaction: transaction }, '--rpc', chain.url);
    expect(sent.out).toMatch(/^[1-9A-HJ-NP-Za-km-z]{64,90}\n$/);
    const account = await associatedTokenAccount(signer.address, mint);
    await expect
      .poll(async () => (await callChain<{ value: object | null }>(chain.url, 'getAccountInfo', [account, { encoding: 'base64' }])).value)
      .not.toBeNull();
  });

  it('an already signed transaction is sent without a keypair', async () => {
    const { value } = await callChain<{ value: { blockhash: string } }>(chain.url, 'getLatestBlockhash', []);
    const transaction = await buildAtaTransaction(signer.address, mint, { blockhash: value.blockhash, lastValidBlockHeight: 1_000n });
    const unsigned = await run(transaction, UNSIGNING, '--rpc', chain.url);
    expect([unsigned.code, unsigned.out]).toEqual([1, '']);
    expect(unsigned.said).toContain(`${signer.address} must sign. Set the keypair file with --keypair.`);
    const { out: wire } = await run(transaction);
    const sent = await run(wire, UNSIGNING, '--rpc', chain.url);
    expect([sent.code, sent.out]).toEqual([0, expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{64,90}\n$/)]);
  });

  it('an unknown instruction is described as able to do anything, and signed only on request', async () => {
    const refused = await run(unknownTo(signer.address));
    expect([refused.code, refused.out]).toEqual([1, '']);
    expect(refused.said).toContain(`Unknown: a step of the program ${OTHER} cannot be read. It may do anything that your wallet can.`);
    expect(refused.said).toContain('Nothing was signed.');
    expect((await run(unknownTo(signer.address), '--allow-unknown')).out).toMatch(/^[\w+/]+=*\n$/);
  });

  it('a priority fee that would drain the wallet is not signed', async () => {
    const budget = address('ComputeBudget111111111111111111111111111111');
    const step = (kind: number, value: bigint, bytes: number) => {
      const data = new Uint8Array(1 + bytes);
      data[0] = kind;
      for (let at = 0; at < bytes; at++) data[1 + at] = Number((value >> BigInt(8 * at)) & 255n);
      return { programAddress: budget, accounts: [], data };
    };
    const priced = (price: bigint) => buildUnsigned(signer.address, [step(2, 1_400_000n, 4), step(3, price, 8)], LIFETIME);
    const { code, out, said } = await run(priced(7_143_000n + 143n));
    expect([code, out]).toEqual([1, '']);
    expect(said).toContain('The transaction pays a priority fee of 10000401 lamports');
    expect((await run(priced(7_000_000n))).code).toBe(0);
  });

  it('a transaction that needs another wallet’s signature is not signed', async () => {
    const { code, out, said } = await run({ transaction: await buildAtaTransaction(OTHER, mint, LIFETIME) });
    expect([code, out]).toEqual([1, '']);
    expect(said).toContain(`${OTHER} must sign. Nothing was signed.`);
  });
});
