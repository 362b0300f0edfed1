/**
 * `npm run sign -- <file> --keypair <path>`: describes a prepared transaction, signs it with the wallet's keypair, and sends or prints it.
 * Used to publish plans, open token accounts and refund payments.
 * @module
 */

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import signing from '../worker/pages/locales/signing/en.json' with { type: 'json' };
import { fromBase64 } from '../worker/pages/parts/bytes.ts';
import { sayIn } from '../worker/pages/parts/text.ts';
import { PRIORITY_FEE_MAX, type ReadTransaction, readTransaction } from '../worker/pages/parts/transaction.ts';
import { findPrepared, type Prepared } from '../worker/pages/signing/prepared.ts';
import { stepTexts } from '../worker/pages/signing/words.ts';
import { NETWORKS } from '../worker/solana/assets.ts';
import { callChain } from './chain/client.ts';
import { Api } from './cli/api.ts';
import { readKeyFile } from './cli/key-file.ts';
import { Refusal } from './cli/options.ts';
import { sign } from './demo/wallet.ts';

const USAGE = `npm run sign -- <file with the response, or with the transaction alone> --keypair <keypair file of the Solana CLI>
       without --keypair       sends a signed transaction: set --rpc or --url
       with --url <BASE_URL>   sends the payment of a checkout through the service
       with --rpc <URL>        sends any other transaction through a Solana node; otherwise the signed transaction is printed
       with --allow-unknown    signs even if an instruction is unknown`;

function readPrepared(path: string): Prepared {
  const prepared = findPrepared(readFileSync(path, 'utf8'));
  if (prepared === null) throw new Refusal(`${path} contains no prepared transaction.`);
  return prepared;
}

const textOf = stepTexts(sayIn(signing), { locale: 'en', usdcMints: Object.values(NETWORKS).map(({ usdcMint }) => usdcMint) });

function readOrder(args: string[]) {
  const options = {
    keypair: { type: 'string' },
    url: { type: 'string' },
    rpc: { type: 'string' },
    'allow-unknown': { type: 'boolean', default: false },
  } as const;
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
  const [file] = positionals;
  if (file === undefined || positionals.length > 1) throw new Refusal(`The file is missing.\nUsage: ${USAGE}`);
  return { ...values, file };
}

/** Signs with the given keypair. Returns a signed transaction unchanged. */
async function signed(transaction: string, { signers, unsigned }: ReadTransaction, keypair: string | undefined): Promise<string> {
  if (unsigned.length === 0) return transaction;
  if (keypair === undefined) throw new Refusal(`${unsigned.join(', ')} must sign. Set the keypair file with --keypair.\nUsage: ${USAGE}`);
  const signer = await readKeyFile(keypair);
  if (!signers.includes(signer.address))
    throw new Refusal(`${keypair} is the keypair of ${signer.address}, but ${signers.join(', ')} must sign. Nothing was signed.`);
  const wire = await sign(signer, transaction);
  console.error(`Signed by ${signer.address}.`);
  return wire;
}

async function main(): Promise<void> {
  const order = readOrder(process.argv.slice(2));
  const { transaction, paymentId } = readPrepared(order.file);
  const known = readTransaction(fromBase64(transaction));
  const { signers, steps, priorityFee } = known;
  const lines = steps.map((step, index) => `  ${index + 1}. ${textOf(step)}`);
  console.error(['This transaction:', ...lines, `Network fee paid by ${signers[0]}.`].join('\n'));
  if (steps.some(({ kind }) => kind === 'unknown') && !order['allow-unknown'])
    throw new Refusal('One instruction is unknown. Nothing was signed.');
  if (priorityFee > PRIORITY_FEE_MAX)
    throw new Refusal(
      `The transaction pays a priority fee of ${priorityFee} lamports, which the service never prepares. Nothing was signed.`,
    );
  const wire = await signed(transaction, known, order.keypair);
  if (order.url !== undefined && paymentId !== null) {
    await new Api(order.url).must('POST', `/v1/payments/${paymentId}/transaction`, { body: { transaction: wire } });
    console.error(`Sent. ${order.url}/v1/payments/${paymentId} has the result.`);
  } else if (order.rpc !== undefined) {
    // Standard output contains only the signature, for use in scripts.
    console.log(await callChain<string>(order.rpc, 'sendTransaction', [wire, { encoding: 'base64' }]));
  } else {
    console.error('The service does not send transactions of this kind. Send it through a node (--rpc):');
    console.log(wire);
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
